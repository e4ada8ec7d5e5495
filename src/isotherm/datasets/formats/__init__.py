"""The files that data sets come in, and the one in which they are kept.

`planetoid`, `snap` and `netset` read what these sites offer; `labelled_graph` is the format of the
cache. Below them: `archives`, `unpickle` and `arrays` make bytes of strangers into arrays.
"""

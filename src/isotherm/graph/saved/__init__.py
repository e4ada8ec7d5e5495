"""Graphs in files that are opened, not read: mapped into memory, page by page as they are used.

`header` says what is in a file and where, `writer` writes one, `file` maps one and notices when it
is written over, `mapped` opens one as a Graph, `names` and `lookup` find names without loading
them, and `check` reads all of a file to see if it is sound.
"""

from isotherm.graph.saved.mapped import open_graph
from isotherm.graph.saved.writer import save_graph

__all__ = ["open_graph", "save_graph"]

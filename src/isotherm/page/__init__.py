"""The labelling page: a server on this machine, its journal, and the model behind it.

A request goes through `security` to a handler of `app`. What a person says goes through
`labelling` into the `journal` before it is acknowledged, and from there to the two threads of
`model`: one folds it in and answers, the other thinks ahead (suggestions, accuracy, suspects). What
they find is a `snapshot`, which nobody changes, so that handlers read it without waiting; `events`
tells all open pages that there is a new one.
"""

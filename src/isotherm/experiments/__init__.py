"""The paper's experiments, and those that go past it: one file each, run by one protocol.

An experiment declares its settings and makes the rows of one repeat of one of them; it neither
loops nor writes. `isotherm.experiments.protocol` repeats it, in parallel and resumably, and
`isotherm.report` shows what came out.
"""

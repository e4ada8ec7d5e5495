"""Rows, some at a time → files of each format. `isotherm.read.formats` has the table of these."""

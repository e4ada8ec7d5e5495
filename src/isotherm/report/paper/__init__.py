"""Records of the paper's experiments → its tables, its figures and one page."""

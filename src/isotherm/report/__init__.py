"""Records → tables, figures and pages. The only place where numbers are formatted for people."""

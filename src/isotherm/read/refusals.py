"""Why files of some formats are not read, and what to do: ends of sentences with "is"."""

WEB_PAGE = (
    "a web page, not a workbook, as some programs export it; open it in a spreadsheet and save it "
    "as .xlsx or CSV"
)
OPEN_DOCUMENT = "an OpenDocument file, which isotherm does not read; save it as .xlsx or CSV"
OFFICE = (
    "a workbook with a password, or from Excel before 2007, and isotherm reads neither; save it as "
    ".xlsx without a password, or as CSV"
)
OTHER_XML = (
    "XML, but its outermost element is neither <graphml> nor <gexf>, so isotherm does not read it; "
    "save it as GraphML, or as a list of edges in CSV"
)
PICKLE = (
    "a pickle, which can run any program when it is opened, so isotherm does not open it. If you "
    "trust it, load it in Python and pass the graph to Graph.from_networkx or "
    "Graph.from_igraph, or write it as GraphML or a list of edges"
)
HDF5 = "an HDF5 file, which isotherm does not read; save it as Parquet or CSV"
PAJEK_FILE = (
    "a Pajek file, which isotherm does not read: its dialects are too many to be sure that the "
    "graph is the one you mean. Open it in Pajek, Gephi or igraph (Graph.Read_Pajek) and save it "
    "as GraphML or as a list of edges"
)

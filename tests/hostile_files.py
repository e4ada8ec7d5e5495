"""Files made to harm who reads them: `python hostile_files.py FOLDER GIB` reads them all.

The process may have so many GiB of addresses. It prints a line for each file, with what became of
it: the name of the error and its message, or how many nodes were read.
"""

import io
import resource
import sys
import time
import warnings
import zipfile
from pathlib import Path

import numpy as np
from numpy.lib import format as npy

LARGE = 100_000  # bytes of a default, nodes, and so on
DEEP = 1_000_000


def npz(members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(f"{name}.npy", data)
    return file.getvalue()


def array(values):
    file = io.BytesIO()
    npy.write_array(file, np.asarray(values), allow_pickle=True)
    return file.getvalue()


def promise(shape, descr="<i8", held=b""):
    """An array that says it has this shape, and has these bytes."""
    file = io.BytesIO()
    npy.write_array_header_1_0(file, {"descr": descr, "fortran_order": False, "shape": shape})
    return file.getvalue() + held


def data_set(**changes):
    arrays = {"indptr": array([0, 1, 2]), "indices": array([1, 0]), "labels": array([0, 1])}
    return npz(arrays | changes)


def coo(shape, row, column):
    parts = {"format": b"coo", "shape": shape, "row": row, "col": column, "data": [1.0]}
    return npz({name: array(value) for name, value in parts.items()})


def graphml(inside, before="", keys=""):
    head = f"{before}<graphml xmlns='http://graphml.graphdrawing.org/xmlns'>{keys}"
    return f"{head}<graph edgedefault='undirected'>{inside}</graph></graphml>"


def gexf(inside, before="", graph=""):
    head = f"{before}<gexf xmlns='http://www.gexf.net/1.2draft'><graph {graph}>"
    return f"{head}{inside}</graph></gexf>"


def nodes(count=LARGE):
    return "".join(f"<node id='{k}'/>" for k in range(count))


def own_attributes(count=20_000):
    keys = "".join(f"<key id='k{k}' for='node' attr.name='a{k}'/>" for k in range(count))
    values = "".join(f"<node id='{k}'><data key='k{k}'>1</data></node>" for k in range(count))
    return graphml(values, keys=keys)


LAUGHS = "<!DOCTYPE graphml [<!ENTITY a0 'ha'>" + "".join(
    f"<!ENTITY a{k} '{f'&a{k - 1};' * 10}'>" for k in range(1, 10)
)
DEFAULT = f"<!DOCTYPE graphml [<!ATTLIST node x CDATA '{'x' * LARGE}'>]>"
OUTSIDE = "<!DOCTYPE graphml [<!ENTITY a SYSTEM 'file:///etc/hostname'>]>"
MATRIX = "%%MatrixMarket matrix coordinate real general\n"
WORKBOOK = {"[Content_Types].xml": b"<Types/>", "xl/workbook.xml": b"<workbook/>"}


def workbook(**more):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in (WORKBOOK | more).items():
            archive.writestr(name, data)
    return file.getvalue()


def hostile():
    """Name → contents. None of them is a graph that anybody means."""
    return {
        "default attributes.graphml": graphml(nodes(), DEFAULT),
        "default attributes.gexf": gexf(f"<nodes>{nodes()}</nodes>", DEFAULT),
        "billion laughs.graphml": graphml("<node id='&a9;'/>", f"{LAUGHS}]>"),
        "billion laughs in utf16.graphml": graphml("<node id='&a9;'/>", f"{LAUGHS}]>").encode(
            "utf-16"
        ),
        "one large entity.graphml": graphml(
            "<node id='&a;'/>" * 20_000, f"<!DOCTYPE g [<!ENTITY a '{'x' * 200_000}'>]>"
        ),
        "a file from elsewhere.graphml": graphml("<node id='&a;'/>", OUTSIDE),
        "a million deep.graphml": graphml("<x>" * DEEP + "</x>" * DEEP),
        "a million deep.gexf": gexf("<x>" * DEEP + "</x>" * DEEP),
        "groups in groups.graphml": graphml(
            "<node id='a' yfiles.foldertype='group'><graph>" * 3000 + "</graph></node>" * 3000
        ),
        "nodes in nodes.gexf": gexf("<nodes><node id='a'>" * 3000 + "</node></nodes>" * 3000),
        "a tag that never ends.graphml": "<graphml a='" + "x" * (20 * DEEP),
        "a remark that never ends.graphml": "<graphml><!--" + "x" * (20 * DEEP),
        "attributes of their own.graphml": own_attributes(),
        "a text that never ends.gml": 'graph [ a "' + "x" * (20 * DEEP),
        "lists in lists.gml": "graph [ node [ id 1 " + "x [ " * LARGE + "] " * LARGE + "] ]",
        "a long number.gml": f"graph [ node [ id {'9' * LARGE} ] ]",
        "a large number.gml": "graph [ node [ id 1 ] edge [ source 1 target 1 weight 1e999 ] ]",
        "a program.edgelist": "a b {'weight': 1}\na b {'weight': __import__('os').getpid()}\n",
        "braces in braces.edgelist": "a b {'weight': 1}\na b " + "{" * LARGE + "\n",
        "vertices.net": "*Vertices 99999999999999\n1 a\n*Edges\n1 2\n",
        "lists in lists.json": "[" * DEEP,
        "objects in objects.json": '{"nodes":' * DEEP,
        "a large matrix.mtx": f"{MATRIX}9 9 99999999999999\n",
        "many rows.mtx": f"{MATRIX}99999999999 99999999999 1\n1 1 1\n",
        "many rows.npz": coo([2 * 10**9] * 2, [0], [1]),
        "far more rows.npz": coo([10**12] * 2, [0], [1]),
        "an entry outside.npz": coo([2, 2], [0], [99_999_999]),
        "a promise.npz": data_set(labels=promise((10**11,))),
        "a smaller promise.npz": data_set(labels=promise((10**9,))),
        "a promise of texts.npz": data_set(names=promise((2,), "<U999999999", b"x" * 8)),
        "texts without letters.npz": data_set(names=promise((10**15,), "<U0")),
        "no entries of too many.npz": data_set(labels=promise((0, 2**64))),
        "fewer than none.npz": data_set(labels=promise((-1,))),
        "a pickle.npz": data_set(labels=array(np.array([0, {"a": 1}], dtype=object))),
        "records.npz": data_set(labels=array(np.zeros(2, dtype="i4,i4"))),
        "zeros.npz": data_set(labels=b"\0" * (300 << 20)),
        "no workbook.xlsx": workbook(),
        "a sheet of entities.xlsx": workbook(**{"xl/a.xml": b"<!DOCTYPE a [<!ENTITY a 'b'>]>"}),
        "zeros.xlsx": workbook(**{"xl/sharedStrings.xml": b"\0" * (300 << 20)}),
    }


def main(folder, gib):
    """Write each file, read it, and say what became of it."""
    files = hostile()
    resource.setrlimit(resource.RLIMIT_AS, (gib << 30, gib << 30))
    from isotherm import IsothermError, read_graph

    warnings.simplefilter("ignore")
    for name, data in files.items():
        path = Path(folder) / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        started = time.perf_counter()
        try:
            found = f"{read_graph(path).n_nodes} nodes"
        except IsothermError as error:
            found = f"{type(error).__name__}: {error}"
        except BaseException as error:  # what must not be
            found = f"NOT OURS: {type(error).__name__}: {error}"
        path.unlink()
        seconds = time.perf_counter() - started
        print(f"{name}\t{seconds:.1f}\t{found[:300]!r}", flush=True)  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))

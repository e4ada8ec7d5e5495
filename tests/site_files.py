"""Small files in the formats of the sites that data sets come from."""

import dataclasses
import gzip
import io
import pickle
import tarfile
from collections import defaultdict

import numpy as np
from scipy import sparse

from isotherm.datasets import catalogue

FROM_NETWORK = [name for name, info in catalogue.KNOWN.items() if not info.bundled]


def forget_checksums(monkeypatch):
    """Have any file accepted at the first download: these here are not those of the sites."""
    for name, info in catalogue.KNOWN.items():
        known = dataclasses.replace(info, files=dict.fromkeys(info.files))
        monkeypatch.setitem(catalogue.KNOWN, name, known)


class Python2Pickler(pickle._Pickler):
    """Writes what Python 2 wrote: one type for bytes and text, the old names of modules."""

    dispatch = dict(pickle._Pickler.dispatch)  # noqa: RUF012 - as in its base

    def save_bytes(self, data):
        self.write(pickle.BINSTRING + len(data).to_bytes(4, "little") + data)
        self.memoize(data)

    dispatch[bytes] = save_bytes

    def save_text(self, text):
        self.save_bytes(text.encode("latin-1"))

    dispatch[str] = save_text


def python2_pickle(value):
    file = io.BytesIO()
    Python2Pickler(file, protocol=2).dump(value)
    return file.getvalue().replace(b"cnumpy._core.", b"cnumpy.core.")


def planetoid_files(name):
    """Six nodes: 0 – 3 have their labels in ally, 4 and 5 are tested, in the order 5, 4."""
    graph = defaultdict(list, {0: [1, 1, 3], 1: [0, 2], 2: [1, 2], 3: [0], 4: [5], 5: [4]})
    return {
        f"ind.{name}.graph": python2_pickle(graph),
        f"ind.{name}.ally": python2_pickle(np.eye(3, dtype=np.int32)[[0, 1, 2, 0]]),
        f"ind.{name}.ty": python2_pickle(np.eye(3, dtype=np.int32)[[1, 2]]),
        f"ind.{name}.test.index": b"5\n4\n",
    }


def npy(array):
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def save_npz(matrix):
    file = io.BytesIO()
    sparse.save_npz(file, matrix)
    return file.getvalue()


def tar(members):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for name, data in members:
            member = name if isinstance(name, tarfile.TarInfo) else tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return file.getvalue()


def netset_members(*, names=("pi", "e", "τ")):
    directed = sparse.csr_matrix(np.array([[0, 1, 0], [0, 0, 2], [0, 0, 1]]))
    return [
        ("./adjacency.npz", save_npz(directed)),
        ("./labels.npy", npy(np.array([0, 1, -1]))),
        ("./names.npy", npy(np.array(names, dtype=object))),
        ("./names_labels.npy", npy(np.array(["odd", "even"]))),
        ("./meta.p", pickle.dumps(print)),  # never looked at
    ]


SNAP = {
    "email-Eu-core.txt.gz": gzip.compress(b"0 1\n1 0\n2 1\n2 2\n"),
    "email-Eu-core-department-labels.txt.gz": gzip.compress(b"0 7\n1 7\n2 3\n3 0\n"),
}


def real_files(name):
    info = catalogue.KNOWN[name]
    if info.site == "planetoid":
        return planetoid_files(name)
    return SNAP if info.site == "snap" else {next(iter(info.files)): tar(netset_members())}


def cached(**changes):
    """A file of the cache: a path of three nodes, the last with a self loop."""
    arrays = {
        "indptr": np.array([0, 1, 3, 5]),
        "indices": np.array([1, 0, 2, 1, 2]),
        "labels": np.array([0, -1, 1]),
    }
    file = io.BytesIO()
    given = {key: array for key, array in (arrays | changes).items() if array is not None}
    np.savez_compressed(file, **given)
    return file.getvalue()

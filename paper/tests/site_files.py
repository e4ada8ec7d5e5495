"""Small files in the formats of the sites that data sets come from."""

import gzip
import io
import pickle
import tarfile
from collections import defaultdict

import numpy as np
from scipy import sparse

from npz_files import npy, save_npz


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


def files_of(name, source):
    """What a site has of a data set."""
    if len(source.files) == 4:
        return planetoid_files(name)
    return SNAP if len(source.files) == 2 else {source.files[0]: tar(netset_members())}

"""Small files of arrays, in the formats of NumPy, of SciPy and of data sets."""

import io
import zipfile

import numpy as np
from scipy import sparse


def npy(array):
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def npz_of(**members):
    """An archive of members as they are, whatever they hold."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in members.items():
            archive.writestr(f"{name}.npy", data)
    return file


def save_npz(matrix):
    file = io.BytesIO()
    sparse.save_npz(file, matrix)
    return file.getvalue()


def dataset_file(**changes):
    """A data set: a path of three nodes, the last with a self loop."""
    arrays = {
        "indptr": np.array([0, 1, 3, 5]),
        "indices": np.array([1, 0, 2, 1, 2]),
        "labels": np.array([0, -1, 1]),
    }
    file = io.BytesIO()
    given = {key: array for key, array in (arrays | changes).items() if array is not None}
    np.savez_compressed(file, **given)
    return file.getvalue()

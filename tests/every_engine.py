"""Every engine that the same tests are run on. A new one joins by a line here."""

import pytest

from dense_engine import DenseEngine
from isotherm.engines import ENGINES
from isotherm.engines.cuda.device import find_device
from isotherm.errors import DeviceError, MissingLibrary
from stand_in_device import StandInEngine


def why_no_gpu():
    """Why there is no GPU to test on; empty if there is one."""
    try:
        find_device()
    except (MissingLibrary, DeviceError) as error:
        return str(error)
    return ""


needs_gpu = pytest.mark.skipif(bool(why_no_gpu()), reason=f"no GPU: {why_no_gpu()}")

# The last two are not of the package: an engine needs no more than is written in `dense_engine`,
# and the other is the cuda engine with NumPy instead of a GPU.
EVERY_ENGINE = [
    *(pytest.param(name, id=name) for name in ["auto", *ENGINES]),
    pytest.param("cuda", id="cuda", marks=needs_gpu),
    pytest.param(DenseEngine(), id="dense"),
    pytest.param(StandInEngine(), id="stand-in"),
]

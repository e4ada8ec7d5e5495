"""The GPU, by way of CuPy: arrays on it, copies to and from it, and what to say if there is none.

Only this and `isotherm.engines.cuda.kernels` know of CuPy.
"""

from __future__ import annotations

import importlib.util
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.compiled import n_threads
from isotherm.errors import DeviceError, MissingLibrary, NotEnoughMemory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from isotherm.engines.cuda.kernels import CudaKernels

STAGE = 1 << 25  # bytes that are copied at once, through memory that is pinned
LEAST_COMPUTE = 70  # compute capability × 10: what has half precision and independent threads
FOR_ONE_THREAD = 1 << 22  # bytes
INSTALL = "pip install 'isotherm[cuda]'"


def is_installed() -> bool:
    """Whether CuPy is there; it is not loaded for that."""
    return importlib.util.find_spec("cupy") is not None


@cache
def find_device() -> Device:
    """The GPU that CuPy is set to use.

    Raises
    ------
    MissingLibrary
        CuPy is not installed.
    DeviceError
        It is, but there is no GPU that it can use; the message says why.
    """
    if not is_installed():
        raise MissingLibrary(f"the cuda engine needs CuPy, which is not installed: {INSTALL}")
    try:
        import cupy

        count = cupy.cuda.runtime.getDeviceCount()
        device = cupy.cuda.Device()
        compute = int(device.compute_capability) if count else 0
        cupy.zeros(1) + 1  # compiles, and runs
    except Exception as error:  # of the driver, of CuPy or of a library that it loads
        raise DeviceError(f"the cuda engine found no GPU to use: {_reason(error)}") from error
    if compute < LEAST_COMPUTE:
        raise DeviceError(
            f"the GPU is too old: its compute capability is {compute / 10}, and at least "
            f"{LEAST_COMPUTE / 10} is needed"
        )
    return Device(cupy)


def _reason(error: Exception) -> str:
    """The first line of what CuPy says, with what usually helps."""
    text = (str(error).strip() or type(error).__name__).splitlines()[0]
    lower = text.lower()
    if "insufficient" in lower or "driver version" in lower:
        return f"{text}. Update the NVIDIA driver, or install CuPy for an older CUDA version"
    if "no cuda-capable device" in lower or "nodevice" in lower:
        return text
    if isinstance(error, ImportError | OSError | RuntimeError) and "lib" in lower:
        return f"{text}. Install the CuPy for your CUDA version: cupy-cuda12x or cupy-cuda13x"
    return text


class Device:
    """One GPU.

    Parameters
    ----------
    cupy : module
    """

    def __init__(self, cupy: Any) -> None:
        self.xp = cupy
        self._own = threading.local()  # the stream of a thread, on which its work is done in order

    @property
    def name(self) -> str:
        """What its maker calls it."""
        found = self.xp.cuda.runtime.getDeviceProperties(self.xp.cuda.Device().id)["name"]
        return found.decode() if isinstance(found, bytes) else str(found)

    @property
    def free_bytes(self) -> int:
        """Memory that is still to be had, with what CuPy has set aside and does not use."""
        free, _ = self.xp.cuda.runtime.memGetInfo()
        return int(free) + int(self.xp.get_default_memory_pool().free_bytes())

    @property
    def kernels(self) -> CudaKernels:
        """What it can do."""
        from isotherm.engines.cuda.kernels import CudaKernels

        return CudaKernels.on(self)

    def empty(self, shape: Any, dtype: Any) -> Any:
        """An array of any numbers."""
        return self.xp.empty(shape, dtype)

    def zeros(self, shape: Any, dtype: Any) -> Any:
        """An array of zeros."""
        return self.xp.zeros(shape, dtype)

    def upload(self, array: NDArray[Any]) -> Any:
        """A copy on the device."""
        array = np.ascontiguousarray(array)
        found = self.xp.empty(array.shape, array.dtype)
        self.copy_in(array, found)
        return found

    def copy_in(self, array: NDArray[Any], to: Any) -> None:
        """Copy to an array on the device, in pieces.

        Pinned memory is copied thirty times faster than other memory, but is dear to get: pieces
        go through two pinned buffers, one being filled while the other is on its way.
        """
        source = array.reshape(-1).view(np.uint8)
        if source.nbytes <= STAGE // 8:
            to.set(array)
            return
        runtime, target = self.xp.cuda.runtime, to.data.ptr
        stream = self.xp.cuda.get_current_stream()
        for k, (stage, done) in zip(_pieces(source.nbytes), self._turns(), strict=False):
            piece = source[k : k + STAGE]
            done.synchronize()
            _copy(piece, stage[: len(piece)])
            runtime.memcpyAsync(
                target + k, stage.ctypes.data, len(piece), runtime.memcpyHostToDevice, stream.ptr
            )
            done.record(stream)

    def download(self, array: Any, out: NDArray[Any]) -> None:
        """Copy from the device into an array of the host, which is of the same type and shape."""
        target = out.reshape(-1)
        if not np.shares_memory(target, out):
            raise ValueError("only an array in one piece can be copied into")
        target = target.view(np.uint8)
        if target.nbytes <= STAGE // 8:
            array.get(out=out)
            return
        runtime, source = self.xp.cuda.runtime, array.data.ptr
        stream = self.xp.cuda.get_current_stream()
        waiting: list[tuple[int, NDArray[np.uint8], Any]] = []
        for k, (stage, done) in zip(_pieces(target.nbytes), self._turns(), strict=False):
            if len(waiting) == 2:
                _land(target, waiting.pop(0))
            size = min(STAGE, target.nbytes - k)
            runtime.memcpyAsync(
                stage.ctypes.data, source + k, size, runtime.memcpyDeviceToHost, stream.ptr
            )
            done.record(stream)
            waiting.append((k, stage[:size], done))
        for one in waiting:
            _land(target, one)

    def wait(self) -> None:
        """Until all work of this thread is done."""
        self.xp.cuda.get_current_stream().synchronize()

    def _turns(self) -> Iterator[tuple[NDArray[np.uint8], Any]]:
        """Pinned buffers, in turn, each with the event after which it may be used again."""
        if not hasattr(self._own, "stages"):
            self._own.stages = [self._stage() for _ in range(2)]
        while True:
            yield from self._own.stages

    def _stage(self) -> tuple[NDArray[np.uint8], Any]:
        memory = self.xp.cuda.alloc_pinned_memory(STAGE)
        done = self.xp.cuda.Event(disable_timing=True)
        return np.frombuffer(memory, np.uint8, STAGE), done

    @contextmanager
    def overlapping(self) -> Iterator[Overlap]:
        """For copies that go on beside the work."""
        yield Overlap(self.xp)

    def say(self, error: Exception, doing: str) -> Exception:
        """What to raise for an error of CuPy's; the error itself if it is none."""
        if isinstance(error, self.xp.cuda.memory.OutOfMemoryError):
            return NotEnoughMemory(
                f"the GPU has too little free memory for {doing}. Close other programs that use "
                "it, use engine='native', or use a smaller graph or fewer classes"
            )
        if type(error).__module__.startswith(("cupy", "cupy_backends")):
            return DeviceError(
                f"the GPU failed while {doing}: {_reason(error)}. Use engine='native'"
            )
        return error

    @contextmanager
    def at_work(self, doing: str) -> Iterator[None]:
        """Everything on the device is done within this; errors of CuPy's become ours."""
        try:
            if not hasattr(self._own, "stream"):
                self._own.stream = self.xp.cuda.Stream(non_blocking=True)
            with self._own.stream:
                yield
        except Exception as error:
            told = self.say(error, doing)
            if told is error:
                raise
            raise told from error


class Overlap:
    """Copies into two buffers in turn, on a stream of their own."""

    def __init__(self, cupy: Any) -> None:
        self._work = cupy.cuda.get_current_stream()
        self._copies = cupy.cuda.Stream(non_blocking=True)
        self._arrived = [cupy.cuda.Event(disable_timing=True) for _ in range(2)]
        self._departed = [cupy.cuda.Event(disable_timing=True) for _ in range(2)]
        for event in self._departed:
            event.record(self._work)

    @contextmanager
    def arrival(self, buffer: int) -> Iterator[None]:
        """Copies into a buffer: not before the work on it is done, and work waits for them."""
        self._copies.wait_event(self._departed[buffer])
        with self._copies:
            yield
        self._arrived[buffer].record(self._copies)
        self._work.wait_event(self._arrived[buffer])

    def departed(self, buffer: int) -> None:
        """The work on a buffer has been asked for."""
        self._departed[buffer].record(self._work)


def _pieces(size: int) -> range:
    return range(0, size, STAGE)


def _land(target: NDArray[np.uint8], one: tuple[int, NDArray[np.uint8], Any]) -> None:
    k, stage, done = one
    done.synchronize()
    _copy(stage, target[k : k + len(stage)])


def _copy(source: NDArray[np.uint8], target: NDArray[np.uint8]) -> None:
    """On several threads: memory that is touched for the first time comes slowly to one."""
    size = len(source)
    if size < FOR_ONE_THREAD:
        np.copyto(target, source)
        return
    parts = [slice(k, k + FOR_ONE_THREAD) for k in range(0, size, FOR_ONE_THREAD)]
    for _ in _copiers().map(lambda part: np.copyto(target[part], source[part]), parts):
        pass


@cache
def _copiers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(min(8, n_threads()), thread_name_prefix="isotherm-copy")

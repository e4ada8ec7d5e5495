"""The CUDA engine: one NVIDIA GPU, by way of CuPy."""

from isotherm.engines.cuda.engine import CudaEngine

__all__ = ["CudaEngine"]

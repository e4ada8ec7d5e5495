"""The native engine: the C++ core in `native/`, on all processors."""

from isotherm.engines.native.engine import NativeEngine

__all__ = ["NativeEngine"]

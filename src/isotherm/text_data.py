"""What the bytes of a column of text tell of all its texts at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

AT_ONCE = 1 << 22  # bytes looked at


def may_have(column: pa.Array, characters: str) -> bool:
    """Whether a text may have one of these characters, which are of ASCII; False is certain.

    That of a slice is that of the whole column.

    Examples
    --------
    >>> import pyarrow as pa
    >>> may_have(pa.array(["a", "b c"]), " "), may_have(pa.array(["a", "b c"]), ",;")
    (True, False)
    """
    data = column.buffers()[-1]
    if data is None:
        return False
    view, wanted = memoryview(data), [character.encode("ascii") for character in characters]
    for first in range(0, len(view), AT_ONCE):
        some = view[first : first + AT_ONCE].tobytes()
        if any(byte in some for byte in wanted):
            return True
    return False

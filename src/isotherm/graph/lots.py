"""Lots drawn for nodes by their names: the same wherever a node stands, however it was read."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.graph.nodes import NodeIndex


def draw_lots(nodes: NodeIndex, purpose: str, random_state: int) -> NDArray[np.float64]:
    """A number between 0 and 1 for each node, as if drawn at random: a hash of its id as text.

    Parameters
    ----------
    nodes : NodeIndex
    purpose : str
        Lots of different purposes have nothing to do with each other.
    random_state : int
        Nor have those of different states.

    Examples
    --------
    >>> from isotherm.graph.nodes import NodeIndex
    >>> numbers, texts = NodeIndex(np.array([3, 7])), NodeIndex(np.array(["7", "3"], dtype=object))
    >>> a, b = (draw_lots(nodes, "doctest", 0) for nodes in (numbers, texts))
    >>> bool((a == b[::-1]).all())
    True
    """
    keyed = blake2b(digest_size=8, key=f"{purpose} {random_state}".encode()[:64])
    found = bytearray()
    for node in nodes.ids.tolist():
        one = keyed.copy()
        one.update(str(node).encode("utf-8", "surrogatepass"))
        found += one.digest()
    whole = np.frombuffer(bytes(found), dtype="<u8")
    return np.asarray((whole >> np.uint64(11)) + 0.5) * 2.0**-53

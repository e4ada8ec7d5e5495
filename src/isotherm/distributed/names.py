"""Names of nodes → numbers, each rank keeping those names that are hashed to it.

No rank ever has all names. A rank that meets some asks their owners, all ranks at the same time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from isotherm.distributed.texts import hash_texts, send_texts
from isotherm.graph.texts import TextNumbers, find_texts

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from isotherm.engines.mpi.ranks import Ranks

HALF = np.int64(32)  # bits of a key for the place on its rank
PLACE = np.int64((1 << 32) - 1)


class Names:
    """The names that ranks have met, shared out by hash.

    A name has a *key*, known at once: its rank, and its place among the names of that. Once all
    names are there it has a *number*, from 0 on, rank by rank.

    Parameters
    ----------
    ranks : Ranks
    """

    def __init__(self, ranks: Ranks) -> None:
        self.ranks = ranks
        self._own = TextNumbers()
        self._texts: pa.Array | None = None

    def keys(self, texts: pa.Array) -> NDArray[np.int64]:
        """The key of each text, also of new ones; all ranks ask at once."""
        return self._ask(texts, self._own.encode)

    def find(self, texts: pa.Array) -> NDArray[np.int64]:
        """The number of each text, −1 of one that is no name; all ranks ask at once."""
        own = self.own()
        keys = self._ask(texts, lambda wanted: find_texts(wanted, own).astype(np.int32))
        return np.where(keys < 0, -1, self.numbers(np.maximum(keys, 0)))

    def own(self) -> pa.Array:
        """The names of this rank, once all are there."""
        if self._texts is None:
            self._texts = self._own.texts()
            self._own = TextNumbers()  # no more will come, and the table is large
            counts = self.ranks.gathered(np.int64(len(self._texts)))
            self._first = np.cumsum(counts) - counts
        return self._texts

    def forget(self) -> None:
        """Give the names back: no more will be asked for."""
        self._texts = pa.array([], pa.large_string())

    @property
    def first(self) -> int:
        """The number of the first own name."""
        self.own()
        return int(self._first[self.ranks.rank])

    def numbers(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers that keys stand for, once all names are there."""
        self.own()
        return np.asarray(self._first[keys >> HALF] + (keys & PLACE))

    def _ask(
        self, texts: pa.Array, answer: Callable[[pa.Array], NDArray[np.int32]]
    ) -> NDArray[np.int64]:
        """The keys that the owners of texts give to them; −1 where they have none."""
        coded = texts.cast(pa.large_string()).dictionary_encode()
        different = coded.dictionary
        owner = (hash_texts(different) % np.uint64(self.ranks.size)).astype(np.int64)
        order = np.argsort(owner, kind="stable")
        cuts = np.searchsorted(owner[order], np.arange(self.ranks.size + 1))
        ordered = different.take(pa.array(order))
        parts = [
            ordered.slice(first, last - first)
            for first, last in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)
        ]
        replies = [answer(part) for part in send_texts(self.ranks, parts)]
        places = np.concatenate(self.ranks.exchange(replies, "the numbers of nodes")).astype(
            np.int64
        )
        keys = np.empty(len(different), dtype=np.int64)
        keys[order] = np.where(places < 0, -1, (owner[order] << HALF) | places)
        return np.asarray(keys[coded.indices.to_numpy(zero_copy_only=False)])

"""Labels drawn at random: they alone say how often the labels of other nodes are right.

Labels that were chosen, such as those of nodes in doubt, are of nodes unlike the others. Where it
is known which labels were drawn, only these are judged; by fewer than 20 nothing is said.

An interval is Wilson's, for fewer seeds than there are: labels that are wrong are often
neighbours, and what is asked for is a share of so many free nodes, itself a matter of chance.
`tests/test_drawn.py` checks that it holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from isotherm.trust.interval import proportion

if TYPE_CHECKING:
    from isotherm.trust.interval import Interval

FEWEST = 20  # labels drawn at random, or nothing is said by them
ALIKE = 1.5  # seeds that are worth one independent seed
IF_DRAWN = "if the labels were drawn at random"


class Basis(NamedTuple):
    """What scores of seeds left out rest on: every share of judged seeds gets its interval here.

    Attributes
    ----------
    n_drawn : int or None
        How many seeds drawn at random can be judged; None if it is not known which were drawn.
    n_free : int
        Free nodes that get a label: a share of these is asked for where seeds were drawn. If there
        are none, it is the share of any number of such nodes.
    """

    n_drawn: int | None = None
    n_free: int = 0

    @property
    def worth(self) -> float:
        """How many independent seeds a judged seed is worth; 0 if too few were drawn."""
        if self.n_drawn is None:
            return 1.0
        if self.n_drawn < FEWEST:
            return 0.0
        return 1 / (ALIKE + (self.n_drawn / self.n_free if self.n_free else 0.0))

    def share(self, n_right: int, n_judged: int) -> Interval:
        """The share of some judged seeds that is right: NaN, from 0 to 1, if too few were drawn.

        Examples
        --------
        >>> print(Basis(40, 10_000).share(36, 40))
        0.900 (0.732 to 0.967)
        >>> print(Basis(19, 10_000).share(19, 19))
        nan (0.000 to 1.000)
        >>> print(Basis().share(9, 10))
        0.900 (0.596 to 0.982)
        """
        return proportion(n_right * self.worth, n_judged * self.worth)

    def among(self, n_judged: int, n_free: int) -> Basis:
        """The basis for nodes of some kind, if so many judged seeds and free nodes are.

        Examples
        --------
        >>> print(Basis(40, 10_000).among(15, 3_000).share(15, 15))
        nan (0.000 to 1.000)
        """
        return self if self.n_drawn is None else Basis(n_judged, n_free)


NOT_KNOWN = Basis()  # which seeds were drawn


def in_words(score: object, n_drawn: int | None) -> str:
    """A score with what it rests on: so many labels drawn at random; None if that is not known.

    Examples
    --------
    >>> in_words("0.900 (0.769 to 0.960)", 40)
    '0.900 (0.769 to 0.960), by 40 labels drawn at random'
    >>> in_words("0.900 (0.769 to 0.960)", None)
    '0.900 (0.769 to 0.960), if the labels were drawn at random'
    >>> in_words("nan", 7)
    'not known (7 labels drawn at random can be judged, 20 are needed)'
    """
    if n_drawn is None:
        return f"{score}, {IF_DRAWN}"
    labels = f"{n_drawn:,} label{'' if n_drawn == 1 else 's'} drawn at random"
    if n_drawn < FEWEST:
        return f"not known ({labels} can be judged, {FEWEST} are needed)"
    return f"{score}, by {labels}"

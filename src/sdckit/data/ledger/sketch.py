"""What is kept of a release: for each set of columns the digests of its combinations, and how often each occurs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sdckit.data.ledger.digests import places, starts

# What a part is of. "counts": combinations of columns; "candidates": the values of the last column that are possible
# for a combination of the others; "people": the id that stands first, and the combination it has.
Kind = Literal["counts", "candidates", "people"]
Place = tuple[str, ...]  # the kind, then the columns


@dataclass(frozen=True, eq=False)
class Part:
    """Digests (K, 16) in the order of their `starts`, and a number of each.

    Of "counts" the records; of "candidates" how many values are possible for the combination; of "people" the place
    of the combination among those of its "counts".
    """

    digests: NDArray[np.uint8]
    numbers: NDArray[np.uint32]

    def of(self, wanted: NDArray[np.uint8]) -> NDArray[np.int64]:
        """The number of each digest wanted; 0 where it is not there."""
        at = places(self.digests, wanted)
        return np.where(at >= 0, self.numbers[at], 0).astype(np.int64) if len(self.numbers) else at * 0

    @cached_property
    def total(self) -> int:
        """All numbers together."""
        return int(self.numbers.sum(dtype=np.int64))


def sorted_part(digests: NDArray[np.uint8], numbers: NDArray[Any]) -> tuple[Part, NDArray[np.int64]]:
    """The part, and where each digest given stands in it."""
    order = np.argsort(starts(digests), kind="stable")
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return Part(digests[order], np.asarray(numbers)[order].astype(np.uint32)), place


@dataclass(frozen=True, eq=False)
class Sketch:
    """The parts of one release by kind and columns."""

    parts: Mapping[Place, Part]

    def sets(self) -> list[tuple[str, ...]]:
        """The sets of columns whose combinations are counted, the widest first."""
        found = [place[1:] for place in self.parts if place[0] == "counts"]
        return sorted(found, key=lambda columns: (-len(columns), columns))

    def get(self, kind: Kind, columns: Sequence[str]) -> Part | None:
        """A part; None where the sketch has none."""
        return self.parts.get((kind, *columns))

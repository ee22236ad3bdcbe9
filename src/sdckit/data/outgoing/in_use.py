"""The categories a column declares, and which of them some record has."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class InUse:
    """The categories of one column."""

    declared: list[Any]  # in their order
    used: NDArray[np.bool_]  # shape (number declared,)

    @property
    def all_used(self) -> bool:
        """Whether there is nothing to take out."""
        return bool(self.used.all())

    @property
    def places(self) -> NDArray[np.int64]:
        """Places of those in use."""
        return np.flatnonzero(self.used)

    @property
    def kept(self) -> list[Any]:
        """Those in use, in their order."""
        return [self.declared[i] for i in self.places]

    @property
    def new_place(self) -> NDArray[np.int64]:
        """The place of each among those kept; it means nothing where one is not used."""
        return np.cumsum(self.used) - 1

    def joined(self, other: InUse) -> InUse:
        """What is used here or there."""
        return replace(self, used=self.used | other.used)


def in_use(declared: list[Any], codes: NDArray[Any]) -> InUse:
    """Count which of the declared categories occur among the codes of the records that have one.

    >>> in_use(["S", "M", "L"], np.array([2, 0, 2])).kept
    ['S', 'L']
    """
    return InUse(declared, np.bincount(codes, minlength=len(declared)) > 0)

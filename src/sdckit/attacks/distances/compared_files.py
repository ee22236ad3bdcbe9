"""An original, its releases and perhaps a control file, encoded for distances between any two of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sdckit.attacks.attack_files import AttackFiles
from sdckit.numerics.array_types import Floats
from sdckit.numerics.coding import Encoded, gower, stacked_ranges
from sdckit.numerics.quantile_bins import quantile_bins

CLASSES = 10  # of a number, for its entropy


@dataclass(frozen=True, eq=False)
class ComparedFiles:
    """The files of one call, and what of them is compared."""

    opened: AttackFiles
    numbers: tuple[str, ...]
    categories: tuple[str, ...]

    @property
    def variables(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.numbers, *self.categories)

    def ranges(self) -> Floats:
        """Largest minus smallest value of each number over the real people: original and control together."""
        real = [0, -1] if self.opened.has_control else [0]
        return stacked_ranges([[self.opened.numbers(name)[f] for f in real] for name in self.numbers])

    def encoded(self, weights: Sequence[float] | None = None) -> tuple[Encoded, ...]:
        """Original, releases, control: Gower's distance, differences of numbers as shares of `ranges`."""
        return gower(
            [self.opened.numbers(name) for name in self.numbers],
            [self.opened.codes(name).codes for name in self.categories],
            weights=weights,
            ranges=self.ranges(),
        )

    def rarity(self) -> list[float] | None:
        """Weight of each variable, 1 / entropy in the original (ten classes of numbers); 0 where it is constant.

        None where every variable is constant.
        """
        found = []
        for name in self.variables:
            if name in self.numbers:
                values = self.opened.numbers(name)[0]
                known = ~np.isnan(values)
                codes = (
                    quantile_bins([values], CLASSES).codes(values)
                    if known.any()
                    else np.zeros(len(values), int)
                )
            else:
                codes = self.opened.codes(name).codes[0]
            share = np.bincount(codes) / len(codes)
            share = share[share > 0]
            found.append(float(-(share * np.log(share)).sum()))
        weights = [1 / one if one > 0 else 0.0 for one in found]
        return weights if any(weights) else None

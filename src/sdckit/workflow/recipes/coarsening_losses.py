"""What a recipe lost by making keys coarser, as a figure to be minimised: of `generalization_loss`, by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sdckit.cells.pair import IN_BANDS, Pair, Recoded, open_files
from sdckit.data.frames import open_frame
from sdckit.data.hierarchy import Hierarchy
from sdckit.data.replace import open_eager, with_levels
from sdckit.data.scenarios.roles import read_hierarchies
from sdckit.errors import DataError
from sdckit.utility.losses.generalization_loss import generalization_loss

if TYPE_CHECKING:
    from sdckit.data.scenarios.scenario import Scenario

# Of precision what it lacks to 1.
BY_COLUMN = ("loss", "precision", "entropy_share")  # sums over the keys
BY_CLASS = ("discernibility", "average_class_size", "ambiguity")
COARSENING = (*BY_COLUMN, *BY_CLASS)


@dataclass(frozen=True, eq=False)
class CoarseningLoss:
    """A figure of what a release lost by making its keys coarser and taking values out; less is better.

    Keys have the hierarchies of the scenario, those without one that of what their values became. A key that is left
    out lost all its values.
    """

    figure: str
    scenario: Scenario

    @cached_property
    def hierarchies(self) -> dict[str, Hierarchy]:
        """The hierarchies of the keys, by key."""
        return read_hierarchies(self.scenario, self.scenario.all_keys)

    def __call__(self, data: Any, release: Any) -> float:
        """The figure of a release; `DataError` where a key was changed otherwise, too."""
        keys = self.scenario.all_keys
        pair = self.pair(data, release, keys)
        found = generalization_loss(pair, hierarchies=self.hierarchies, aligned=True)
        if lacking := [key for key in keys if key not in found.columns]:
            raise DataError(found.notes[lacking[0]])
        value = float(getattr(found, self.figure))
        return 1 - value if self.figure == "precision" else value

    def pair(self, data: Any, release: Any, keys: Sequence[str]) -> Pair:
        """Both files, the keys that are left out without any value, and those without a hierarchy to be judged, too."""
        before, after = open_eager(data, {}), open_eager(release, {})
        if gone := [key for key in keys if key not in after.columns]:
            nowhere = np.full(len(before), -1)
            empty: Any = open_frame(with_levels(before, {key: ([], nowhere) for key in gone}))
            after = after.with_columns(*(empty[key] for key in gone))
        recoded = tuple(
            Recoded(key, IN_BANDS if before.schema[key].is_numeric() else "", "recipe")
            for key in keys
            if key not in self.hierarchies
        )
        return replace(open_files(before.to_native(), after.to_native()), recoded=recoded)

"""One recoding as it can be done to any file: a step of a recipe, bands, or groups of values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from sdckit.data.columns import distinct_values, float_values
from sdckit.data.replace import open_eager, with_levels
from sdckit.data.seeds import Mixed
from sdckit.errors import DataError
from sdckit.protect.recoding.bands import Bands
from sdckit.protect.recoding.recode import regroup
from sdckit.workflow.recipes.recipe_checks import StepLike
from sdckit.workflow.recipes.recipe_running import run_step

NO_DRAWS = Mixed(bytes(16))  # a recoding draws nothing


class Recoding(Protocol):
    """Recodes one column of a frame."""

    @property
    def column(self) -> str:
        """The column."""

    @property
    def kind(self) -> str:
        """What is done, in words."""

    def apply(self, data: Any) -> Any:
        """Recode a frame in memory; the frame given is not modified."""


@dataclass(frozen=True, eq=False)
class Repeated:
    """A step of a recipe; `own_values` says that it takes something from the values of the file itself."""

    number: int
    step: StepLike
    folder: Path | None = None
    own_values: str = ""

    @property
    def column(self) -> str:
        """The column."""
        return str(self.step.arguments["column"])

    @property
    def kind(self) -> str:
        """What is done, in words."""
        given = self.step.arguments
        if self.step.method == "round_to":
            return "numbers rounded"
        if self.step.method == "top_bottom_code":
            ends = [word for end, word in (("top", "largest"), ("bottom", "smallest")) if end in given]
            return f"the {' and '.join(ends)} numbers brought to a limit"
        if "bands" in given:
            return "numbers in bands"
        return "values in groups" if "groups" in given else "values up a hierarchy"

    def apply(self, data: Any) -> Any:
        """Run the step."""
        return run_step(self.number, self.step, data, scenario=None, folder=self.folder, mixed=NO_DRAWS).data

    def elsewhere(self) -> Recoding:
        """The same for another file than the one that the release was made from.

        Raises `DataError`: the step takes edges or means from the file that it is applied to.
        """
        if self.own_values:
            raise DataError(
                f"the control file cannot be recoded alike: {self.step.place(self.number)} takes {self.own_values} "
                "from the file's own values; write the numbers into the recipe, or leave the column out"
            )
        return self


@dataclass(frozen=True, eq=False)
class Banded:
    """Numbers in bands; a number in none gets its own name where `keep`, else it is missing."""

    column: str
    bands: Bands
    keep: bool = False
    kind: str = "numbers in bands"

    def apply(self, data: Any) -> Any:
        """Put the numbers into their bands."""
        frame = open_eager(data, {"column": [self.column]})
        values = float_values(frame[self.column], "bands:")
        codes, labels = self.bands.codes(values), list(self.bands.labels)
        beyond = (codes < 0) & ~np.isnan(values)
        if self.keep and beyond.any():
            others, place = np.unique(values[beyond], return_inverse=True)
            codes[beyond] = len(labels) + place
            labels += [f"{value:.12g}" for value in others.tolist()]
        return with_levels(frame, {self.column: (labels, codes)}, ordered=True)


@dataclass(frozen=True, eq=False)
class Grouped:
    """Values in groups; a value in no group is kept where `keep`, else it is missing."""

    column: str
    new_of: Mapping[Any, Any]
    keep: bool = False
    kind: str = "values in groups"

    def apply(self, data: Any) -> Any:
        """Give each value its group."""
        frame = open_eager(data, {"column": [self.column]})
        found = regroup(
            distinct_values(frame[self.column]), self.column, self.new_of,
            outside="keep" if self.keep else "missing", what="no group",
        )  # fmt: skip
        return with_levels(frame, {self.column: (found.levels, found.codes)})

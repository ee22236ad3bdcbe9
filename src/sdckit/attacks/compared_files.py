"""An original, its releases and perhaps a control file, encoded for distances between any two of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.cells.pair import Pair, open_pair
from sdckit.data.frames import open_frame
from sdckit.data.nearest import did_you_mean
from sdckit.data.roles import column_names
from sdckit.data.scenario import Scenario
from sdckit.errors import ColumnError, SdcError
from sdckit.numerics.encode import Encoded, gower, stacked_ranges
from sdckit.numerics.quantile_bins import quantile_bins

__all__ = ["ComparedFiles", "compared_files"]

Floats = NDArray[np.float64]
CLASSES = 10  # of a number, for its entropy


@dataclass(frozen=True, eq=False)
class ComparedFiles:
    """The files of one call.

    Attributes
    ----------
    pair : Pair
        The original and its releases.
    everything : Pair
        The same with the control file behind them, if there is one.
    control : bool
        Whether there is a control file.
    numbers, categories : tuple of str
        The variables compared.
    """

    pair: Pair
    everything: Pair
    control: bool
    numbers: tuple[str, ...]
    categories: tuple[str, ...]

    @property
    def variables(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.numbers, *self.categories)

    @property
    def n_control(self) -> int:
        """Records of the control file."""
        return self.everything.sizes[-1] if self.control else 0

    def ranges(self) -> Floats:
        """Largest minus smallest value of each number over the real people: original and control together."""
        real = [0, -1] if self.control else [0]
        return stacked_ranges([[self.everything.numbers(name)[f] for f in real] for name in self.numbers])

    def encoded(self, weights: Sequence[float] | None = None) -> tuple[Encoded, ...]:
        """Original, releases, control: Gower's distance, differences of numbers as shares of `ranges`."""
        return gower(
            [self.everything.numbers(name) for name in self.numbers],
            [self.everything.codes(name).codes for name in self.categories],
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
                values = self.pair.numbers(name)[0]
                codes = quantile_bins([values], CLASSES).codes(values)
            else:
                codes = self.pair.codes(name).codes[0]
            share = np.bincount(codes) / len(codes)
            share = share[share > 0]
            found.append(float(-(share * np.log(share)).sum()))
        weights = [1 / one if one > 0 else 0.0 for one in found]
        return weights if any(weights) else None


def compared_files(
    original: Any,
    released: Any,
    control: Any,
    *,
    variables: Sequence[str] | None,
    numeric: Sequence[str] | None,
    by: Sequence[str] = (),
    scenario: Scenario | None,
    id: str | None,
) -> ComparedFiles:
    """Open the files and settle which variables are compared, and which of them as numbers.

    Raises
    ------
    ColumnError, DataError
        As `distance_to_closest_record`.
    """
    names = _variables(original, variables, by, scenario, id)
    declared = column_names(numeric, "numeric")
    if declared is None and scenario is not None:
        declared = tuple(name for name in scenario.numeric if name in names)
    if declared is not None and (other := [name for name in declared if name not in names]):
        raise ColumnError(f"numeric: {other[0]!r} is none of the variables; {did_you_mean(other[0], names)}")
    if declared is None:
        pair, everything = _open(original, released, control, {"variables": names, "by": by}, {}, id)
        declared = tuple(name for name in names if everything.codes(name).kind == "numbers")
        original, released, id = pair, None, pair.id
    rest = tuple(name for name in names if name not in declared)
    pair, everything = _open(
        original, released, control, {"variables": rest, "by": by}, {"numeric": declared}, id
    )
    return ComparedFiles(pair, everything, control is not None, declared, rest)


def _variables(
    original: Any,
    variables: Sequence[str] | None,
    by: Sequence[str],
    scenario: Scenario | None,
    id: str | None,
) -> tuple[str, ...]:
    """The columns compared: those given, those of the scenario, or all that say something of a person."""
    names = column_names(variables, "variables")
    if names is None and scenario is not None:
        names = tuple(dict.fromkeys([*scenario.keys, *scenario.sensitive, *scenario.numeric]))
    if names is None:
        frame = original.original if isinstance(original, Pair) else open_frame(original)
        own_id = id if id is not None or not isinstance(original, Pair) else original.id
        names = tuple(name for name in frame.collect_schema().names() if name not in {own_id, *by})
    if not names:
        raise ColumnError("no variable to compare: name them in variables=[...]")
    return names


def _open(
    original: Any,
    released: Any,
    control: Any,
    categories: Mapping[str, Sequence[str]],
    numeric: Mapping[str, Sequence[str]],
    id: str | None,
) -> tuple[Pair, Pair]:
    """The pair, and the pair with the control file as if it were one more release."""
    pair = open_pair(original, released, categories=categories, numeric=numeric, id=id)
    if control is None:
        return pair, pair
    plain = {role: names for role, names in categories.items() if role != "by"}
    try:
        everything = open_pair(pair.original, [*pair.released, control], categories=plain, numeric=numeric)
    except SdcError as error:
        raise type(error)(_renamed(str(error), pair.m)) from None
    return pair, everything


def _renamed(message: str, m: int) -> str:
    """The message of a file that is no release."""
    message = message.replace(f"release {m + 1}", "the control file")
    return message.replace("release 1", "the release") if m == 1 else message

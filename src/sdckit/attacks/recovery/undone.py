"""The release with what it gives back put back, and who can be recognised in that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.attacks.recovery.recovered import Recovered
from sdckit.cells.as_cells import tabulate_roles
from sdckit.data.frames import open_frame
from sdckit.data.replace import take_rows, with_levels, with_some_numbers
from sdckit.data.scenarios.roles import Roles
from sdckit.numerics.array_types import Bools
from sdckit.numerics.risk_kernel import census_risk, exact_risk


@dataclass(frozen=True)
class Undone:
    """Who can be recognised: the smallest class, records alone with their keys, those expected to be re-identified.

    `below_k`: records in classes smaller than each k. `above_risk`: records whose risk is above the limit; None
    without one.
    """

    k: int
    uniques: int
    expected: float
    below_k: dict[int, int]
    above_risk: int | None


def put_back(frame: Any, found: Mapping[str, Recovered], use: Mapping[str, Bools]) -> Any:
    """The release with the values restored in the records of `use`, by column."""
    out = frame
    for name, one in found.items():
        hit = use[name]
        if not hit.any():
            continue
        column = one.target.column
        if one.values is None:
            first = np.zeros(column.n_levels + 1, np.int64)
            present = np.flatnonzero(column.codes)
            first[column.codes[present]] = present
            rows = np.where(hit, first[one.codes], np.arange(len(hit)))
            native = take_rows(out, {name: rows})
        elif out[name].dtype.is_numeric():
            native = with_some_numbers(out, {name: (hit, one.values[hit])})
        elif column.coded.kind == "date":
            continue  # a day may be restored, but how the file writes it is not known
        else:
            native = with_levels(out, {name: _labelled(one, hit)})
        out = open_frame(native)
    return out


def _labelled(one: Recovered, hit: Bools) -> tuple[list[str], NDArray[np.int64]]:
    """Labels of the release and, behind them, the numbers restored."""
    assert one.values is not None
    column = one.target.column
    labels = column.labels()
    place = {label: i for i, label in enumerate(labels)}
    codes = column.codes.astype(np.int64) - 1
    values, of = np.unique(one.values[hit], return_inverse=True)
    texts = [f"{value:.10g}" for value in values]
    for text in texts:
        place.setdefault(text, len(place))
    codes[hit] = np.array([place[text] for text in texts])[of]
    return list(place), codes


def recognised(data: Any, roles: Roles, *, k: Sequence[int], risk: float | None) -> Undone:
    """Count who can be recognised in a file."""
    cells = tabulate_roles(data, roles)
    sizes = cells.values("sample_frequency")
    if "population_frequency" in cells.columns and not cells.count_short():
        cells = cells.with_column("risk", exact_risk, "sample_frequency", "population_frequency")
    else:
        cells = cells.with_column("risk", census_risk, "sample_frequency")
    risks = cells.values("risk")
    below = sizes.count_below([*k, 1 + 1e-9])
    return Undone(
        int(sizes.extremes()[0]), below[-1], risks.total(), dict(zip(k, below, strict=False)),
        None if risk is None else risks.count_above([risk])[0],
    )  # fmt: skip

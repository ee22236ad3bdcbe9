"""C2: how far the sensitive values of the records of one key are from those of the whole file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sdckit.attribute.closeness.cell_classes import (
    ClassResult,
    Spread,
    count_violations,
    open_classes,
    violation_figures,
)
from sdckit.attribute.closeness.earth_movers import (
    branches_of,
    distance_by_branches,
    distance_by_order,
    order_of,
    steps_of,
)
from sdckit.cells.record_result import IntervalKind, breakdown
from sdckit.data import arguments
from sdckit.data.missing_values.missing import MissingRule
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError
from sdckit.result import FileFigure

# "equal", "ordered", "numeric", a list of levels in order, or a hierarchy {level: [parents, ...]}
Distance: TypeAlias = "str | Sequence[Any] | Mapping[Any, Sequence[Any]]"
NAMES = ("equal", "ordered", "numeric")


# --- kernel: numbers in, numbers out ------------------------------------------------------------------


def closeness(spread: Spread, distance: Distance) -> NDArray[np.float64]:
    """Earth mover's distance of each class from the file."""
    levels = spread.levels
    if distance == "equal":
        return distance_by_branches(spread, np.arange(len(levels.codes), dtype=np.int64)[None, :])
    if isinstance(distance, Mapping):
        return distance_by_branches(spread, branches_of(levels, distance))
    rank = order_of(levels, None if isinstance(distance, str) else distance)
    return distance_by_order(spread, rank, steps_of(levels, rank, numeric=distance == "numeric"))


# --- result -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class TCloseness(ClassResult):
    """t-closeness of each sensitive variable.

    Attributes
    ----------
    n : int
        Records.
    variables : tuple of str
        The sensitive variables.
    distances : dict of str to str
        The distance between values of each: "equal", "ordered", "numeric" or "hierarchy".
    level : dict of str to float
        The largest distance of a class from the file, 0 to 1: the t that the file satisfies.
    quartiles : dict of str to tuple of float
        Lower quartile, median and upper quartile over the records.
    violations : dict
        ``violations[variable][t]``: records in a class that is farther than t.
    records : frame
        ``t_<variable>``, the distance of a record's class.
    table : frame
        A row per cell, the worst first; for the session only.
    """

    measure: ClassVar[str] = "t_closeness"
    figures: ClassVar[tuple[str, ...]] = (
        "n",
        "level",
        "quartiles",
        "violations",
        "violation_rates",
        "resting_on_missing",
    )
    distances: dict[str, str] = field(default_factory=dict)
    limits: tuple[float, ...] = ()

    @cached_property
    def level(self) -> dict[str, float]:
        """Largest distance of a class from the file, by variable."""
        return self._largest("t")

    @cached_property
    def quartiles(self) -> dict[str, tuple[float, ...]]:
        """Quartiles over the records, by variable."""
        shares = [0.25, 0.5, 0.75]
        return {name: tuple(self.cells.values(f"t_{name}").quantiles(shares)) for name in self.variables}

    @cached_property
    def violations(self) -> dict[str, dict[float, int]]:
        """Records in a class farther than each t, by variable."""
        return {name: count_violations(self.cells, f"t_{name}", self.limits) for name in self.variables}

    def file_figures(self) -> tuple[FileFigure, ...]:
        """What the figures of the file are figures of."""
        return violation_figures(
            {f"[{name}]": f"t_{name}" for name in self.variables}, self.limits, {"level": "t"}, self.variables
        )


# --- measure ------------------------------------------------------------------------------------------


def t_closeness(
    data: Any,
    *,
    keys: Sequence[str] | None = None,
    sensitive: Sequence[str] | str | None = None,
    distance: Distance | Mapping[str, Distance] = "equal",
    limits: Sequence[float] | float = (0.1, 0.2),
    missing: MissingRule | None = None,
    by: Sequence[str] | str | None = None,
    interval: IntervalKind | None = None,
    seed: arguments.Seed = None,
    scenario: Scenario | None = None,
    id: str | None = None,
    prefix: str = "",
) -> TCloseness:
    """Measure how far the values of a sensitive variable among the records of one key are from the whole file.

    Parameters
    ----------
    data : data frame or Cells
    keys : sequence of str
        Variables that an intruder could know.
    sensitive : str or sequence of str
        Variables that they would learn.
    distance : {"equal", "ordered", "numeric"}, list, hierarchy, or a dict of these by variable
        How far two values are apart, 0 to 1. "equal": any two are at distance 1. "ordered": places between
        them in the order of the values, over the number of values less one; for numbers, dates and ordered
        categories, or a list of the levels from lowest to highest. "numeric": difference over the range. A
        hierarchy ``{level: [parent, its parent, ...]}`` with the same number of parents for all: height of
        the lowest common group over the height of the tree (a root above all is added where the last
        parents differ).
    limits : float or sequence of float
        Values t to count violations of, above 0.
    missing : {"category", "wildcard", "error"} or dict, optional
        What a missing *key* value is; default a category. As a wildcard, the class of a record is all
        records that match it: classes grow and come closer to the file.
    by : str or sequence of str, optional
        Columns whose combinations are subgroups; see ``by_group``. A missing value is a group of its own.
    interval : "bootstrap", optional
        95 % percentile intervals of means and sums over the records, from 200 resamples of the records (of whole
        households where they are declared). A record keeps what it has in this file: drawing it twice does not make
        its class less rare.
    seed : int or Generator, optional
        Of the bootstrap.
    scenario : Scenario, optional
        Gives what is not given here.
    id, prefix : str, optional
        Column carried along in `.records`; text before the names of result columns.

    Returns
    -------
    TCloseness
        ``level``, ``quartiles``, ``violations``, ``records``, ``table``.

    Raises
    ------
    ColumnError
        As `key_frequencies`; a sensitive variable that is a key.
    DataError
        As `key_frequencies`; a sensitive variable without any value; "ordered" for text without an order;
        "numeric" for what is no finite number; a list or hierarchy that does not cover the values of the file or
        contradicts itself; a limit not above 0.
    ScenarioError
        No sensitive variable.

    Notes
    -----
    A missing sensitive value is one more value, at distance 1 from every other; under "ordered" and
    "numeric" what is moved to and from it is taken from the others in proportion, which may cost more than
    the cheapest way. One value only in the file: 0. Levels listed that no record has take no place in the
    order.

    References
    ----------
    Li, N., Li, T. and Venkatasubramanian, S. (2007). t-closeness: privacy beyond k-anonymity and
    l-diversity. ICDE 2007.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"sex": ["f", "f", "m", "m"], "income": [3, 5, 9, 11]})
    >>> result = t_closeness(survey, keys=["sex"], sensitive="income", distance="ordered")
    >>> result.level["income"], result.violations["income"]
    (0.3333333333333333, {0.1: 4, 0.2: 4})
    """
    arguments.text(prefix, "prefix")
    asked = arguments.amounts_above(limits, "limits", "are values of t that a class may reach")
    scenario = arguments.scenario_or_none(scenario)
    broken = breakdown(data, by, TCloseness, interval=interval, seed=seed, scenario=scenario, on_engine=True)
    classes = open_classes(data, keys=keys, sensitive=sensitive, missing=missing, scenario=scenario, id=id)
    chosen = {name: _distance_of(name, distance, classes.variables) for name in classes.variables}
    columns = {f"t_{name}": closeness(classes.spread(name), one) for name, one in chosen.items()}
    result = TCloseness(
        classes.with_columns(columns).cells, classes.variables, tuple(columns), prefix, classes.notes,
        {name: _called(one) for name, one in chosen.items()}, asked,
    )  # fmt: skip
    return broken.of(result)


def _distance_of(name: str, distance: Any, variables: Sequence[str]) -> Distance:
    """The distance of one variable, where several may be given by name."""
    if isinstance(distance, Mapping) and (
        set(distance) == set(variables) or any(isinstance(one, (str, Mapping)) for one in distance.values())
    ):
        if set(distance) != set(variables):
            words = "distance by variable names every sensitive variable once, and no other"
            raise DataError(words, argument="distance")
        distance = distance[name]
    if isinstance(distance, str) and distance not in NAMES:
        words = f"distance {distance!r} is unknown; use {', '.join(NAMES)}, a list or a hierarchy"
        raise DataError(words, argument="distance")
    if not isinstance(distance, (str, Mapping, list, tuple)) or len(distance) == 0:
        words = "distance is a name, a list of levels in their order, or a hierarchy of them"
        raise DataError(words, argument="distance")
    found: Distance = distance
    return found


def _called(distance: Distance) -> str:
    if isinstance(distance, str):
        return distance
    return "hierarchy" if isinstance(distance, Mapping) else "ordered"

"""F5: how far protected values, records and correlations lie from the original ones."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sdckit.cells.pair import Pair, PairResult, mean_figures, open_pair
from sdckit.data import arguments
from sdckit.data.frames import frame_of
from sdckit.data.scenarios.scenario import Scenario
from sdckit.display import releases_have
from sdckit.errors import ColumnError, DataError, ScenarioError
from sdckit.numerics.array_types import Floats
from sdckit.utility.losses.loss_release import (
    UNDEFINED,
    Release,
    paired_table,
    release_figures,
    variable_table,
)

Ordered = Sequence[str] | Mapping[str, Sequence[Any]]
MISSING_RULE = (
    "a value missing in one file is as far away as any, one missing in both no difference (il_variables); cells with "
    "a missing value are left out elsewhere"
)


# --- result -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class InformationLoss(PairResult):
    """What protecting the values has changed; 0 throughout for an unchanged file.

    Attributes
    ----------
    n : int
        Records.
    il1 : float
        Sum over all cells of the difference in per cent of the original value, those of 0 left out. This
        and all that follow are means over the releases.
    il1_mean : float
        The same per cell summed.
    il1s : float
        Sum over all cells of the difference divided by √2 standard deviations of the original variable.
    il1s_mean : float
        The same per cell.
    eigenvalues, robust_eigenvalues : float
        Sum of the relative differences of the eigenvalues of the correlation matrix; of a robust correlation
        matrix (minimum covariance determinant).
    il_correl : float
        Distance between the inverse correlation matrices' diagonals, 0 to 1.
    il_variables : float
        Mean distance of a record's values from the original ones, 0 to 1, over all variables.
    covariance_difference, correlation_difference : float
        Mean over the pairs of variables of the difference of their covariances, in standard deviations of
        the original (variances included); of their correlations.
    variable_distances : dict of str to float
        What each variable has in `il_variables`.
    mean_differences, median_differences : dict of str to float
        Released minus original, of each numeric variable.
    variables, pairs : frame
        A row per numeric variable (means, medians, standard deviations); per pair (covariances,
        correlations); means over the releases.
    records : frame
        ``distance`` of each record.
    """

    measure: ClassVar[str] = "information_loss"
    figures: ClassVar[tuple[str, ...]] = (
        "n", "il1", "il1_mean", "il1s", "il1s_mean", "eigenvalues", "robust_eigenvalues", "il_correl", "il_variables",
        "covariance_difference", "correlation_difference", "variable_distances", "mean_differences",
        "median_differences",
    )  # fmt: skip
    dropped: ClassVar[tuple[str, ...]] = ("pair", "distance")
    distance: Floats = field(default_factory=lambda: np.empty(0), repr=False)
    tables: dict[str, dict[str, list[Any]]] = field(default_factory=dict, repr=False)
    n: int = 0
    il1: float = math.nan
    il1_mean: float = math.nan
    il1s: float = math.nan
    il1s_mean: float = math.nan
    eigenvalues: float = math.nan
    robust_eigenvalues: float = math.nan
    il_correl: float = math.nan
    il_variables: float = math.nan
    covariance_difference: float = math.nan
    correlation_difference: float = math.nan
    variable_distances: dict[str, float] = field(default_factory=dict)
    mean_differences: dict[str, float] = field(default_factory=dict)
    median_differences: dict[str, float] = field(default_factory=dict)
    prefix: str = field(default="", repr=False)

    @cached_property
    def records(self) -> Any:
        """A row per record, in the caller's order and frame type."""
        return self.pair.records({"distance": self.distance}, prefix=self.prefix)

    @property
    def variables(self) -> Any:
        """A row per numeric variable."""
        return frame_of(self.tables["variables"], self._backend())

    @property
    def pairs(self) -> Any:
        """A row per pair of numeric variables, a variable with itself included."""
        return frame_of(self.tables["pairs"], self._backend())


# --- measure ------------------------------------------------------------------------------------------


def information_loss(
    original: Any,
    released: Any = None,
    *,
    numeric: Sequence[str] | None = None,
    categorical: Sequence[str] = (),
    ordered: Ordered = (),
    robust: bool = True,
    seed: int | np.random.Generator | None = None,
    scenario: Scenario | None = None,
    id: str | None = None,
    prefix: str = "",
) -> InformationLoss:
    """Measure how far protected values, and what is computed from them, lie from the original ones.

    Parameters
    ----------
    original : data frame or Pair
    released : data frame or sequence of data frames
        One release or m of them; row i was made from row i of the original, or has its `id`.
    numeric : sequence of str
        Numeric variables.
    categorical : sequence of str
        Variables whose values are the same or not.
    ordered : sequence of str, or dict of str to sequence
        Variables whose levels have an order: ascending, or as the dict lists them.
    robust : bool
        Whether to compute `robust_eigenvalues`, which takes most of the time.
    seed : int or Generator, optional
        Of the subsets that the minimum covariance determinant starts from.
    scenario : Scenario, optional
        Gives the numeric variables where they are not given here.
    id, prefix : str, optional
        Column that says which rows belong together; text before the names of result columns.

    Returns
    -------
    InformationLoss
        ``il1``, ``il1s``, ``eigenvalues``, ``robust_eigenvalues``, ``il_correl``, ``il_variables``,
        differences of means, medians, covariances and correlations, ``records``.

    Raises
    ------
    ColumnError
        A variable that a file does not have, is listed twice or in two roles.
    DataError
        Files of different lengths without `id`; a variable without numbers or with infinite ones; a level
        that the order given does not list.
    ScenarioError
        No variables.

    Notes
    -----
    With x the original and x′ the released value, s the original's standard deviation (ddof 1), e and e′ the
    eigenvalues, largest first, and d the diagonal of the inverse correlation matrix:
    ``il1 = Σ 100 |x - x′|/|x|``, ``il1s = Σ |x - x′|/(√2 s)``, ``eigenvalues = Σ |e - e′|/e``,
    ``il_correl = ‖d/‖d‖ - d′/‖d′‖‖/√2``; `il_variables` is the mean of 0 or 1 for categories, of the
    places between ordered levels divided by the levels minus 1, and of ``(2/π) atan |x - x′|`` for numbers,
    which depends on their unit. Sums grow with the file: compare the means per cell. Correlations and
    eigenvalues use the records complete in both files.

    References
    ----------
    Yancey, W. E., Winkler, W. E. and Creecy, R. H. (2002). Disclosure risk assessment in perturbative
    microdata protection. LNCS 2316. Domingo-Ferrer, J. and Torra, V. (2001). Disclosure control methods and
    information loss for microdata. Mlodak, A. (2020). Information loss resulting from statistical disclosure
    control of output data. Wiadomosci Statystyczne 65(9). Templ, M. and Meindl, B. (2008). Robust statistics
    meets SDC. LNCS 5262.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"income": [10.0, 20.0, 40.0], "hours": [40.0, 38.0, 20.0]})
    >>> release = survey.with_columns(income=pl.Series([11.0, 20.0, 38.0]))
    >>> result = information_loss(survey, release, numeric=["income", "hours"], robust=False)
    >>> result.il1, result.mean_differences["hours"], result.records["distance"].round(3).to_list()
    (15.0, 0.0, [0.25, 0.0, 0.352])
    """
    arguments.text(prefix, "prefix")
    drawn = arguments.seed_number(seed)
    arguments.flag(robust, "robust")
    scenario = arguments.scenario_or_none(scenario)
    roles, orders = _roles(numeric, categorical, ordered, scenario)
    pair = open_pair(
        original, released, categories={"categorical": roles["categorical"], "ordered": roles["ordered"]},
        numeric={"numeric": roles["numeric"]}, aligned=True, id=id,
    )  # fmt: skip
    ranks = {name: _ranks(pair, name, orders.get(name)) for name in roles["ordered"]}
    found = [
        release_figures(pair, j, roles["numeric"], roles["categorical"], ranks, robust=robust, seed=drawn)
        for j in range(pair.m)
    ]
    notes = _notes(pair, roles, found, robust=robust)
    per_release = tuple(one.figures for one in found)
    means = mean_figures(per_release, notes)
    spread: dict[str, dict[str, float]] = {
        group: {name: means.pop(f"{group}[{name}]") for name in names}
        for group, names in (
            ("variable_distances", tuple(name for part in roles.values() for name in part)),
            ("mean_differences", roles["numeric"]),
            ("median_differences", roles["numeric"]),
        )
    }
    fields: dict[str, Any] = {**means, **spread}
    return InformationLoss(
        pair, per_release, MISSING_RULE, notes, distance=np.mean([one.distance for one in found], axis=0),
        tables={"variables": variable_table(roles["numeric"], found), "pairs": paired_table(roles["numeric"], found)},
        n=pair.n, prefix=prefix, **fields,
    )  # fmt: skip


def _roles(
    numeric: Sequence[str] | None, categorical: Sequence[str], ordered: Ordered, scenario: Scenario | None
) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """Columns by role, and the levels of ordered ones where they are listed."""
    orders: dict[str, tuple[str, ...]] = {}
    if isinstance(ordered, Mapping):
        orders = {name: tuple(map(str, levels)) for name, levels in ordered.items()}
        ordered = tuple(ordered)
    names = arguments.names(numeric, "numeric")
    if names is None and scenario is not None:
        names = scenario.numeric
    roles = {
        "numeric": names or (),
        "categorical": arguments.names(categorical, "categorical") or (),
        "ordered": arguments.names(ordered, "ordered") or (),
    }
    every = [name for part in roles.values() for name in part]
    if not every:
        raise ScenarioError(
            "say which variables to compare: numeric=[...], categorical=[...] or ordered=[...]",
            argument="numeric",
        )
    if twice := sorted({name for name in every if every.count(name) > 1}):
        where = " and ".join(role for role, part in roles.items() if twice[0] in part)
        raise ColumnError(f"{twice[0]!r} is listed as {where}; a variable is one of them")
    return roles, orders


def _ranks(
    pair: Pair, name: str, levels: tuple[str, ...] | None
) -> tuple[tuple[NDArray[np.int32], ...], int]:
    """Codes of an ordered variable in each file, 0 where missing, and how many levels there are."""
    shared = pair.codes(name)
    if levels is None:
        return shared.codes, shared.n_levels
    place = {level: j + 1 for j, level in enumerate(levels)}
    labels = shared.labels()[1:]
    if unknown := sum(label not in place for label in labels):
        raise DataError(
            f"ordered: {unknown} values of {name!r} are not among the levels listed for it",
            argument="ordered",
        )
    if len(place) < len(levels):
        raise DataError(f"ordered: a level of {name!r} is listed more than once", argument="ordered")
    rank = np.array([0, *(place[label] for label in labels)], np.int32)
    return tuple(rank[codes] for codes in shared.codes), len(levels)


def _notes(
    pair: Pair, roles: Mapping[str, Sequence[str]], found: Sequence[Release], *, robust: bool
) -> dict[str, str]:
    notes: dict[str, str] = {}
    if same := sum(not one.distance.any() and one.same for one in found):
        notes["released"] = (
            f"{releases_have(same, pair.m)} the original's values of these variables, row by row"
        )
    for figure, reason in UNDEFINED.items():
        if any(math.isnan(one.figures[figure]) for one in found):
            notes[figure] = reason if roles["numeric"] else "no numeric variables"
    if not robust and roles["numeric"]:
        notes["robust_eigenvalues"] = "not asked for (robust=False)"
    if gone := max(one.n_incomplete for one in found):
        notes["missing"] = (
            f"up to {gone} of {pair.n} records have a missing number in one of the files: not in correlations and "
            "eigenvalues"
        )
    return notes

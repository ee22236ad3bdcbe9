"""A3: the probability that a record is correctly re-identified by its key."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sdckit.cells.as_cells import is_cells, tabulate_given
from sdckit.cells.record_result import CellsResult, IntervalKind, breakdown
from sdckit.data import arguments
from sdckit.data.missing_values.missing import MissingRule
from sdckit.data.scenarios.scenario import Scenario
from sdckit.display import counted
from sdckit.errors import DataError
from sdckit.identity.key_frequencies import frequency_columns
from sdckit.numerics.risk_kernel import approximate_risk, census_risk, exact_risk, worst_case_risk
from sdckit.result import FileFigure

Method = Literal["exact", "approx", "worst_case"]
KERNELS = {"exact": exact_risk, "approx": approximate_risk, "worst_case": worst_case_risk}
NAMED_THRESHOLDS = ("upper_quartile", "mad")
MAD_FACTOR = 1.4826  # makes the median absolute deviation estimate a standard deviation


# --- household risk: numbers in, numbers out -----------------------------------------------


@np.errstate(divide="ignore")
def log_survival(risk: NDArray[np.float64]) -> NDArray[np.float64]:
    """log(1 - r): in logarithms small risks keep their digits."""
    return np.log1p(-risk)


def household_risk(sum_of_logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 - prod(1 - r) over the members of each household, from the sum of their log(1 - r).

    Examples
    --------
    >>> household_risk(log_survival(np.array([0.02, 0.03, 0.03])).sum(keepdims=True)).round(6).tolist()
    [0.077918]
    """
    return -np.expm1(sum_of_logs)


# --- result -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class IndividualRisk(CellsResult):
    """Individual, household and file-level risk of re-identification.

    Attributes
    ----------
    global_risk : float
        Mean individual risk: the expected share of records re-identified.
    expected_reidentifications : float
        Its sum: the expected number of records re-identified.
    max_risk : float
        The largest individual risk.
    threshold, n_above : float and int, or None
        The threshold asked for and the records above it.
    household_risk, expected_household_reidentifications : float or None
        Mean and sum over records of the risk that some member of the household is re-identified.
    resting_on_missing : int
        Records whose frequency, and so risk, counts other records' missing values as matches.
    method : str
        "exact", "approx", "worst_case" or "census".
    records : frame
        The columns of `key_frequencies`, ``risk`` and, with a household, ``household_risk``.
    """

    measure: ClassVar[str] = "individual_risk"
    figures: ClassVar[tuple[str, ...]] = (
        "n", "global_risk", "expected_reidentifications", "max_risk", "threshold", "n_above",
        "household_risk", "expected_household_reidentifications", "resting_on_missing",
    )  # fmt: skip
    method: str
    asked: float | str | None = None
    has_household: bool = False

    @cached_property
    def expected_reidentifications(self) -> float:
        """Expected number of records re-identified."""
        return self.cells.values("risk").total()

    @cached_property
    def global_risk(self) -> float:
        """Expected share of records re-identified (R1)."""
        return self.expected_reidentifications / self.n

    @cached_property
    def max_risk(self) -> float:
        """Largest individual risk."""
        return self.cells.values("risk").extremes()[1]

    @cached_property
    def resting_on_missing(self) -> int:
        """Records whose frequency, and so risk, counts other records' missing values as matches."""
        return self.cells.count_helped()

    @cached_property
    def threshold(self) -> float | None:
        """The threshold asked for, as a number."""
        risk = self.cells.values("risk")
        if self.asked == "upper_quartile":
            return risk.quantiles([0.75])[0]
        if self.asked == "mad":
            median, deviation = risk.median_and_deviation()
            return median + 3 * MAD_FACTOR * deviation
        return None if self.asked is None else float(self.asked)

    @cached_property
    def n_above(self) -> int | None:
        """Records whose risk exceeds the threshold."""
        return None if self.threshold is None else self.count_above(self.threshold)

    @cached_property
    def expected_household_reidentifications(self) -> float | None:
        """Expected number of records in households of which some member is re-identified."""
        return self.cells.values("household_risk").total() if self.has_household else None

    @cached_property
    def household_risk(self) -> float | None:
        """Mean household risk over the records."""
        total = self.expected_household_reidentifications
        return None if total is None else total / self.n

    def count_above(self, threshold: float) -> int:
        """Records whose individual risk exceeds a threshold."""
        return self.cells.values("risk").count_above([threshold])[0]

    def count_households_above(self, threshold: float) -> int:
        """Records whose household risk exceeds a threshold."""
        return self.cells.values("household_risk").count_above([threshold])[0]

    def histogram(self, edges: Sequence[float]) -> tuple[int, ...]:
        """Records with a risk from ``edges[i]`` to below ``edges[i + 1]``; the last bin takes its edge too."""
        return self._histogram("risk", edges)

    def household_histogram(self, edges: Sequence[float]) -> tuple[int, ...]:
        """The same for household risk."""
        return self._histogram("household_risk", edges)

    def _histogram(self, name: str, edges: Sequence[float]) -> tuple[int, ...]:
        values = self.cells.values(name)
        below = [*values.count_below(list(edges[:-1])), self.n - values.count_above([edges[-1]])[0]]
        return tuple(high - low for low, high in itertools.pairwise(below))

    def threshold_for(self, global_risk: float) -> float:
        """Find the individual risk to bring records down to so that the global risk falls below a target.

        Parameters
        ----------
        global_risk : float
            Target for the mean individual risk, above 0.

        Returns
        -------
        float
            The largest observed risk t such that the sum of risks, each cut at t, is below
            ``global_risk * n``; NaN where even the smallest risk is too large.
        """
        if not global_risk > 0:
            words = "global_risk is the expected share of records re-identified"
            raise DataError(f"{words}; give a number above 0")
        cap = self.cells.values("risk").cap_for(global_risk * self.n)
        if math.isnan(cap):
            words = "even with every risk brought down to the smallest one the target is missed"
            self.notes["threshold_for"] = words
        return cap

    def plot(self, *, internal: bool = False, household: bool = False) -> Any:
        """Draw the records by their risk, protected unless `internal`: a chart can be saved and passed on.

        Parameters
        ----------
        internal : bool
            Exact counts.
        household : bool
            Draw the household risk instead; with ``internal=True`` only.

        Returns
        -------
        altair.Chart

        Raises
        ------
        DataError
            `household` without ``internal=True``, or of a risk measured without households; a file of fewer than 50
            records, unless internal.
        """
        if arguments.flag(household, "household") and not self.has_household:
            says = "no household risk was measured; give individual_risk the column: household="
            raise DataError(says, argument="household")
        return self._plot("household" if household else "", internal=internal)

    def file_figures(self) -> tuple[FileFigure, ...]:
        """The record column behind each file-level figure, and how it is summarised."""
        figures = [
            FileFigure("global_risk", "risk"),
            FileFigure("expected_reidentifications", "risk", "sum"),
            FileFigure("max_risk", "risk", "max"),
        ]
        if self.threshold is not None:
            figures.append(FileFigure("n_above", "risk", "sum", above=self.threshold))
        if self.has_household:
            figures.append(FileFigure("household_risk", "household_risk"))
            figures.append(FileFigure("expected_household_reidentifications", "household_risk", "sum"))
        return tuple(figures)

    @property
    def records(self) -> Any:
        """A row per record, in the caller's order and frame type."""
        names = [*frequency_columns(self.cells), "risk"]
        return self.cells.records(names + ["household_risk"] * self.has_household, prefix=self.prefix)


# --- measure ----------------------------------------------------------------------------------------


def individual_risk(
    data: Any,
    *,
    keys: Sequence[str] | None = None,
    weight: str | None = None,
    sampling_fraction: float | None = None,
    household: str | None = None,
    person: str | None = None,
    method: Method = "exact",
    missing: MissingRule | None = None,
    alpha: float | None = None,
    threshold: float | Literal["upper_quartile", "mad"] | None = None,
    by: Sequence[str] | str | None = None,
    interval: IntervalKind | None = None,
    seed: arguments.Seed = None,
    scenario: Scenario | None = None,
    id: str | None = None,
    prefix: str = "",
) -> IndividualRisk:
    """Estimate the probability that each record is correctly re-identified by its key.

    Parameters
    ----------
    data : data frame or Cells
    keys : sequence of str
        Variables that an intruder could know.
    weight : str, optional
        Column of sampling weights, persons that a record stands for. Weights must count persons:
        those scaled to mean 1 are refused.
    sampling_fraction : float, optional
        Share of the population in the file, in (0, 1], instead of a weight.
    household : str, optional
        Column that tells which records share a household.
    person : str, optional
        Column that tells whose row it is.
    method : {"exact", "approx", "worst_case"}
        E[1/F | f] (default), sdcMicro's closed-form approximation, 1/F. Without weight and fraction the
        file is taken for the population and every method gives 1/f.
    missing, alpha
        As in `key_frequencies`.
    threshold : float, "upper_quartile" or "mad", optional
        Risk above which records are counted; "mad" is the median plus three robust standard deviations.
    by : str or sequence of str, optional
        Columns whose combinations are subgroups; see ``by_group``. A missing value is a group of its own.
    interval : "bootstrap", optional
        95 % percentile intervals of means and sums over the records, from 200 resamples of the records (of whole
        households where they are declared). A record keeps what it has in this file: drawing it twice does not make
        its key less rare.
    seed : int or Generator, optional
        Of the bootstrap.
    scenario : Scenario, optional
        Gives what is not given here.
    id, prefix : str, optional
        Column carried along in `.records`; text before the names of result columns.

    Returns
    -------
    IndividualRisk
        ``global_risk``, ``expected_reidentifications``, ``max_risk``, ``n_above``, ``household_risk``,
        ``expected_household_reidentifications``, ``threshold_for()``, ``records``, ``by_group``, ``intervals``.

    Raises
    ------
    ColumnError, ScenarioError
        As `key_frequencies`.
    DataError
        As `key_frequencies`; also weights that sum to less than the records of a cell, an unknown
        method or threshold.

    Notes
    -----
    Other names of these figures: prosecutor risk 1/f (no weights), journalist risk 1/F (worst case),
    marketer risk (global risk). sdcMicro's ``indivRisk(method="approx")`` is up to 0.5 % higher from
    f = 3 on and leaves 0 where alpha makes f fractional below 2; here those records get the exact form.

    References
    ----------
    Benedetti, R. and Franconi, L. (1998). Statistical and technological solutions for controlled data
    dissemination. Franconi, L. and Polettini, S. (2004). Individual risk estimation in mu-Argus: a
    review. LNCS 3050, 262-272.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"sex": ["f", "f", "m"], "w": [180.0, 180.0, 215.0]})
    >>> risk = individual_risk(survey, keys=["sex"], weight="w", threshold=0.02)
    >>> risk.records["risk"].round(9).to_list(), risk.n_above
    ([0.00542452, 0.00542452, 0.025096439], 1)
    """
    arguments.choice(method, "method", tuple(KERNELS))
    if threshold is not None and threshold not in NAMED_THRESHOLDS:
        arguments.share(threshold, "threshold", "is a probability, 'upper_quartile' or 'mad'")
    asked = breakdown(data, by, IndividualRisk, interval, seed, scenario, prefix, on_engine=True)
    given = scenario.household if household is None and scenario is not None else household
    if given is None and is_cells(data):
        given = data.roles.household
    cells = tabulate_given(
        data, keys=keys, weight=weight, sampling_fraction=sampling_fraction, household=given, person=person,
        missing=missing, alpha=alpha, scenario=scenario, id=id,
    )  # fmt: skip
    cells, used = _with_risk(cells, method)
    if given is not None:
        kernels = {"before": log_survival, "after": household_risk}
        cells = cells.with_household("household_risk", "risk", given, **kernels)
        if not is_cells(data):  # a plan sums them now; of cells that are given, with those of its other rules
            cells.values("household_risk")
    return asked.of(IndividualRisk(cells, used, threshold, given is not None, prefix=prefix))


def _with_risk(cells: Any, method: str) -> tuple[Any, str]:
    if "population_frequency" not in cells.columns:
        return cells.with_column("risk", census_risk, "sample_frequency"), "census"
    refuse_short(cells)
    return cells.with_column("risk", KERNELS[method], "sample_frequency", "population_frequency"), method


def refuse_short(cells: Any) -> None:
    """Refuse weights that cannot count persons."""
    if short := cells.count_short():
        raise DataError(
            f"in {counted(short, 'cell')} the weights sum to less than the number of records: weights must count "
            "persons; weights scaled to mean 1 do not (multiply them by population over records)"
        )

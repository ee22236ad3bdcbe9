"""Records of nobody, planted in a training file to see whether a synthesizer remembers them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.attacks.planted.canary_exposure import CanaryExposure, canary_exposure
from sdckit.data import arguments
from sdckit.data.append_rows import appended, mixed_rows
from sdckit.data.columns import code_column, days_values
from sdckit.data.nearest import did_you_mean
from sdckit.data.replace import open_eager
from sdckit.data.scenarios.scenario import Scenario
from sdckit.data.seeds import open_rng
from sdckit.display import Displayed, table_html
from sdckit.errors import ColumnError, DataError
from sdckit.numerics.coding import Encoded, gower, stacked_ranges
from sdckit.numerics.search.neighbours import prepare

CANDIDATES = 20  # drawn for each canary wanted
ORDERED = ("integer", "number", "date")


@dataclass(frozen=True, eq=False)
class Canaries(Displayed):
    """A training file with planted records, and what is needed to look for them afterwards.

    Attributes
    ----------
    data : frame
        The file to train on: the caller's, and the planted records behind it.
    planted, held_out : frame
        The records planted, and their like that were not: records of nobody.
    n_planted, n_held_out, copies : int
        How many, and how often each is in `data`.
    nearest : float
        The smallest distance of any of them to a real record, 0 to 1.
    variables : tuple of str
        Variables compared afterwards.
    seed : int
        Makes the same records again from the same file: for whoever may know which are planted.
    """

    instead_of_a_frame = "give its .data"

    data: Any = field(repr=False)
    planted: Any = field(repr=False)
    held_out: Any = field(repr=False)
    n_planted: int
    n_held_out: int
    copies: int
    nearest: float
    variables: tuple[str, ...]
    numeric: tuple[str, ...]
    ranges: NDArray[np.float64] = field(repr=False)
    both: Any = field(repr=False)
    seed: int = field(repr=False)

    def _repr_html_(self) -> str:
        """Without the distance to a real record, which is one record's."""
        rows = [["planted", str(self.n_planted)], ["held out", str(self.n_held_out)], ["copies", str(self.copies)],
                ["variables", ", ".join(self.variables)]]  # fmt: skip
        return table_html(["canaries", ""], rows)

    def exposure(self, released: Any, *, level: float = 0.95) -> CanaryExposure:
        """Measure how much nearer a release comes to the planted records than to those held back.

        Parameters
        ----------
        released : data frame or sequence of data frames
            One release or m of them, made from `data`.
        level : float
            Confidence of the intervals.

        Returns
        -------
        CanaryExposure

        Raises
        ------
        ColumnError, DataError
            A release without one of the variables, or with values that cannot be compared.
        """
        arguments.level(level)
        return canary_exposure(
            self.both, released, n_planted=self.n_planted, numbers=self.numeric,
            categories=[name for name in self.variables if name not in self.numeric], ranges=self.ranges,
            level=float(level),
        )  # fmt: skip


def canaries(
    data: Any,
    *,
    n: int = 50,
    copies: int = 1,
    variables: Sequence[str] | None = None,
    numeric: Sequence[str] | None = None,
    scenario: Scenario | None = None,
    seed: arguments.Seed = None,
    id: str | None = None,
) -> Canaries:
    """Plant rare records of nobody in a file before synthesis; `.exposure(released)` measures them afterwards.

    Every value is one of the file, every combination is nobody's: each column's value comes from another
    record. Of 20 times as many those farthest from every real record are kept; half of them, drawn at
    random, are planted and half are held back. A synthesizer without memory comes as near to the one as to
    the other.

    Parameters
    ----------
    data : data frame
        The file that would be trained on.
    n : int
        Records planted (as many are held back), 5 or more. They change the file: few beside its records.
    copies : int
        How often each is planted.
    variables : sequence of str, optional
        Variables compared; all but `id` unless given.
    numeric : sequence of str, optional
        Those whose differences count; those that the scenario calls numeric, else all numbers, dates and times,
        unless given. The others are equal or not.
    scenario : Scenario, optional
        Says which variables are numbers.
    seed : int, Generator or None
        Same seed, same canaries, so keep it with them; without one, one is made up, kept in `seed`.
    id : str, optional
        Column of whole numbers or text in which planted records get values that nobody has.

    Returns
    -------
    Canaries

    Raises
    ------
    ColumnError
        A variable that the data does not have.
    DataError
        Too few combinations that nobody has; a number that is infinite; `n` or `copies` out of range; a plan
        instead of data in memory.

    References
    ----------
    Carlini, N., Liu, C., Erlingsson, Ú., Kos, J. and Song, D. (2019). The secret sharer: evaluating and
    testing unintended memorization in neural networks. USENIX Security 28. Newcombe, R. G. (2006).
    Confidence intervals for an effect size measure based on the Mann-Whitney statistic. Statistics in
    Medicine 25.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"age": range(20, 60), "pay": [x * x for x in range(40)]})
    >>> made = canaries(survey, n=5, seed=1)
    >>> len(made.data), made.exposure(made.data).auc
    (45, 1.0)
    """
    arguments.count(n, "n", "counts canaries", at_least=5)
    arguments.count(copies, "copies", "counts how often each is planted")
    arguments.scenario_or_none(scenario)
    arguments.column_or_none(id, "id")
    rng, started = open_rng(seed)
    frame = open_eager(data, {"id": [id] if id is not None else []})
    columns = [name for name in frame.columns if name != id]
    names = arguments.names(variables, "variables") or tuple(columns)
    for name in names:
        if name not in columns:
            near = did_you_mean(name, columns)
            raise ColumnError(f"variables: no column {name!r} in the data; {near}", argument="variables")
    coded = {name: code_column(frame.get_column(name)) for name in names}
    chosen = _numbers(arguments.names(numeric, "numeric"), scenario, names, coded)
    numbers = [days_values(frame.get_column(name), file="the data") for name in chosen]
    codes = [coded[name].codes() for name in names if name not in chosen]
    source = {name: rng.integers(0, len(frame), 2 * n * CANDIDATES) for name in columns}
    mixed_numbers = [values[source[name]] for name, values in zip(chosen, numbers, strict=True)]
    rest = [name for name in names if name not in chosen]
    mixed_codes = [values[source[name]] for name, values in zip(rest, codes, strict=True)]
    real, made = gower(
        list(zip(numbers, mixed_numbers, strict=True)), list(zip(codes, mixed_codes, strict=True))
    )
    rows, nearest = _farthest(real, made, 2 * n)
    rows = rng.permutation(rows)  # which are planted is settled by lot
    both = mixed_rows(frame, {name: where[rows] for name, where in source.items()}, id=id)
    planted, held_out = both[list(range(n))], both[list(range(n, 2 * n))]
    return Canaries(
        appended(frame, planted, times=copies), planted.to_native(), held_out.to_native(), n, n, copies, nearest,
        names, tuple(chosen), stacked_ranges([[one] for one in numbers]), both, started,
    )  # fmt: skip


def _numbers(
    declared: tuple[str, ...] | None, scenario: Scenario | None, names: Sequence[str], coded: dict[str, Any]
) -> tuple[str, ...]:
    if declared is None and scenario is not None and scenario.numeric:
        declared = tuple(name for name in scenario.numeric if name in names)
    if declared is None:
        return tuple(name for name in names if coded[name].kind in ORDERED)
    if other := [name for name in declared if name not in names]:
        near = did_you_mean(other[0], names)
        raise ColumnError(f"numeric: {other[0]!r} is none of the variables; {near}", argument="numeric")
    if other := [name for name in declared if coded[name].kind not in (*ORDERED, "empty")]:
        raise DataError(f"numeric {other[0]!r} holds neither numbers nor dates; convert it first")
    return declared


def _farthest(real: Encoded, made: Encoded, n: int) -> tuple[NDArray[np.int64], float]:
    """Of the artificial records n different ones, those farthest from every real record."""
    distance = prepare(real).nearest(made, 1).distance[:, 0]
    different = prepare(made).rows.first
    free = np.sort(different[distance[different] > real.metric.tolerance])
    if len(free) < n:
        raise DataError(
            f"only {len(free)} combinations that nobody has were found, {n} are needed (half to be held back); ask for "
            "fewer, or compare more variables"
        )
    rows = free[np.argsort(-distance[free], kind="stable")[:n]]
    return rows, float(distance[rows].min())

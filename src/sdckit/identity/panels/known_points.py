"""A9: how many of a person's rows somebody must know to find them alone in a panel, a diary or a visit table."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from sdckit.cells import as_cells, pair_result
from sdckit.cells.pair import Pair, open_files, read_pair, released_files
from sdckit.cells.record_result import IntervalKind, PairRecordResult, breakdown
from sdckit.data import arguments
from sdckit.data.files.readers import read_file
from sdckit.data.missing_values.missing import MissingRule, describe_rule
from sdckit.data.scenarios.roles import resolve_roles
from sdckit.data.scenarios.scenario import Scenario
from sdckit.data.scenarios.scenario_checks import Children
from sdckit.display import printable
from sdckit.errors import ColumnError, DataError, ScenarioError
from sdckit.identity.panels import event_index, point_files
from sdckit.identity.panels.regular_panel import Tally, regular_panel
from sdckit.numerics.array_types import Floats
from sdckit.result import FileFigure

USUAL = 2  # known points that the figure of the file is told of, where they were asked for
HALF = 0.5
IN_FILE = "alone in this file: of a sample of people that is not alone in the population"
NOT_LINKED = (
    "which released person is which of the original is not known: neither rows nor ids belong together; "
    "give id=, the column that says which rows do"
)
NOBODY = "nobody has so many points"
FOLLOWED = "identifiers of people change, and what stays the same of a person leads from one to the next: {}"
NOT_FOLLOWED = "identifiers of people change, and no other column that stays the same of a person leads to the next"


# --- result -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PointsKnown:
    """What knowing so many points of a person tells; of m releases the means.

    Attributes
    ----------
    points : int
        Points known of each person.
    n_persons : float
        Persons of the original who have so many, and were looked at.
    n_subsets, n_alone : float
        Subsets of their points that were looked at; those with a single candidate.
    alone : float
        Mean over these persons of the share of their own subsets that have a single candidate.
    expected : float
        The same mean of 1 / candidates, 0 where there is none.
    below_k : float
        The same mean of the share of subsets with 1 to k - 1 candidates.
    standard_error : float
        Of `alone`, 0 where all subsets of all persons were looked at.
    alone_right, success, lost : float
        Of a release: the share with a single candidate, who is the person; the chance that a candidate drawn at random
        is; the share in which the person is no candidate. NaN for a file by itself.
    """

    points: int
    n_persons: float
    n_subsets: float
    n_alone: float
    alone: float
    expected: float
    below_k: float
    standard_error: float
    alone_right: float = math.nan
    success: float = math.nan
    lost: float = math.nan

    @property
    def figures(self) -> dict[str, float]:
        """All but the number of points."""
        return {name: value for name, value in asdict(self).items() if name != "points"}


MEANS = "alone", "expected", "below_k"
OF_RELEASE = "alone_right", "success", "lost"


@dataclass(frozen=True, eq=False, repr=False)
class KnownPoints(PairRecordResult):
    """How many known points of a person find them alone.

    Attributes
    ----------
    n : int
        Records of the original.
    n_persons : int
        Persons in it.
    curve : tuple of PointsKnown
        For each number of known points; of a release, people of the original looked for in the release.
    original : tuple of PointsKnown
        The same people looked for in the original itself; empty for a file by itself.
    points : int
        The number of known points of the figures of the file: 2, or the smallest asked for.
    alone, n_alone, n_subsets, expected, below_k, alone_right, success, lost : float
        Those of `points`, see `PointsKnown`.
    points_to_half : float
        The smallest number of known points asked for with which half of the people or more are found alone; NaN where
        it is larger.
    worst_times : tuple of tuple of str and float
        Of a panel with few waves each wave, and `alone` where nothing of it is known; the wave that lowers it most
        comes first.
    by_points : dict of int to dict of str to float
        `curve` as plain numbers.
    records : frame
        A row per person, in ascending order of the column of persons: their ``n_points``, and for each number of
        known points p the share of their subsets in ``alone_p`` and ``below_k_p``, the mean of 1 / candidates in
        ``expected_p``, and of a release ``alone_right_p``, ``success_p`` and ``lost_p``; NaN where they have fewer
        points or were not drawn.
    """

    measure: ClassVar[str] = "known_points"
    figures: ClassVar[tuple[str, ...]] = (
        "n", "n_persons", "points", "alone", "n_alone", "n_subsets", "expected", "below_k", "points_to_half",
        "alone_right", "success", "lost", "by_points",
    )  # fmt: skip
    dropped: ClassVar[tuple[str, ...]] = ("pair", "columns", "first")
    person: str = field(default="", kw_only=True)
    k: int = field(default=3, kw_only=True)
    n_persons: int = field(default=0, kw_only=True)
    points: int = field(default=USUAL, kw_only=True)
    alone: float = field(default=math.nan, kw_only=True)
    n_alone: float = field(default=math.nan, kw_only=True)
    n_subsets: float = field(default=math.nan, kw_only=True)
    expected: float = field(default=math.nan, kw_only=True)
    below_k: float = field(default=math.nan, kw_only=True)
    alone_right: float = field(default=math.nan, kw_only=True)
    success: float = field(default=math.nan, kw_only=True)
    lost: float = field(default=math.nan, kw_only=True)
    curve: tuple[PointsKnown, ...] = field(default=(), kw_only=True)
    original: tuple[PointsKnown, ...] = field(default=(), kw_only=True)
    worst_times: tuple[tuple[str, float], ...] = field(default=(), kw_only=True)
    columns: Mapping[str, Floats] = field(default_factory=dict, repr=False, kw_only=True)
    first: Any = field(default=None, repr=False, kw_only=True)

    def of_points(self, points: int) -> PointsKnown:
        """The figures of one number of known points.

        Parameters
        ----------
        points : int

        Returns
        -------
        PointsKnown

        Raises
        ------
        DataError
            It was not asked for.
        """
        for known in self.curve:
            if known.points == points:
                return known
        asked = ", ".join(str(known.points) for known in self.curve)
        raise DataError(f"points: measured of {asked} known points only; ask for others by points=", argument="points")

    @property
    def points_to_half(self) -> float:
        """The smallest number of known points with which half of the people or more are alone; NaN where larger."""
        return next((float(known.points) for known in self.curve if known.alone >= HALF), math.nan)

    @property
    def by_points(self) -> dict[int, dict[str, float]]:
        """The curve as plain numbers."""
        return {known.points: known.figures for known in self.curve}

    def file_figures(self) -> tuple[FileFigure, ...]:
        """The record column behind each file-level figure, and how it is summarised."""
        names = [("alone", f"alone_{self.points}")]
        others = [known.points for known in self.curve if known.points != self.points]
        names += [(f"by_points[{points}][alone]", f"alone_{points}") for points in others]
        told = ("expected", "below_k", *(() if math.isnan(self.success) else OF_RELEASE[:2]))
        names += [(name, f"{name}_{self.points}") for name in told]
        return tuple(FileFigure(name, column, of="persons with so many points", base="") for name, column in names)

    def told_frame(self) -> tuple[Any, Any]:
        """The original, and a row of each person."""
        return self.pair.original, self.first

    @cached_property
    def records(self) -> Any:
        """A row per person, in the caller's frame type."""
        return self.pair.records(self.columns, rows=self.first, prefix=self.prefix, show=(self.person,))


# --- measure ------------------------------------------------------------------------------------------


def known_points(
    data: Any,
    released: Any = None,
    *,
    person: str | None = None,
    keys: Sequence[str] | None = None,
    time: str | None = None,
    points: Sequence[int] | int = (1, 2, 3),
    also_known: Sequence[str] | None = None,
    children: Any = None,
    tolerance: Mapping[str, float] | None = None,
    missing: MissingRule | None = None,
    most_subsets: int = 200,
    most_persons: int = 10_000,
    k: int = 3,
    by: Sequence[str] | str | None = None,
    interval: IntervalKind | None = None,
    seed: arguments.Seed = None,
    scenario: Scenario | None = None,
    id: str | None = None,
    prefix: str = "",
) -> KnownPoints:
    """Measure how often somebody who knows a few rows of a person finds that person alone.

    Parameters
    ----------
    data : data frame or Pair
        Several rows for each person: waves of a panel, days of a diary, visits, members of a household.
    released : data frame or sequence of data frames, optional
        One release or m of them: what is known is of the original, and the person is looked for in the release.
    person : str
        Column that says whose row it is.
    keys : sequence of str
        Variables that an intruder could know of a row.
    time : str, optional
        Column of the wave or the day; without it rows are known, but not when.
    points : int or sequence of int
        How many rows of a person are known, each 1 or more.
    also_known : sequence of str, optional
        Columns that are known besides, constant within a person.
    children : data frame or sequence of data frames, optional
        Another file with the rows, by the same column of persons, and `data` has what is also known of each; with
        releases one for each file, that of the original first.
    tolerance : dict of str to float, optional
        How far a known number, or date in days, may be off by column: ``{"date": 7}``. Such a column has no missing
        values.
    missing : {"wildcard", "category", "error"} or dict, optional
        What a missing key value is: any value (default), a level of its own, an error; or per key.
    most_subsets : int
        Where a person has more subsets of rows, so many are drawn.
    most_persons : int
        Where somebody has several rows at one time, or none has a time, and there are more persons, so many are drawn.
    k : int
        `below_k` counts subsets with fewer candidates.
    by : str or sequence of str, optional
        Columns whose combinations are subgroups; see ``by_group``. A person is in that of their first row.
    interval : "bootstrap", optional
        95 % percentile intervals of means over the persons, from 200 resamples of the persons.
    seed : int or Generator, optional
        Of the subsets drawn, and of the bootstrap.
    scenario : Scenario, optional
        Gives what is not given here: person, time, keys, the rule for missing values; and with neither person, keys nor
        children, those of its `Children`, of which its keys are also known.
    id, prefix : str, optional
        Column that says which rows of original and release belong together; text before the names of result columns.

    Returns
    -------
    KnownPoints
        ``curve``, ``alone``, ``expected``, ``below_k``, ``points_to_half``, ``worst_times``, ``records``, ``by_group``.

    Raises
    ------
    ColumnError
        A column is absent; the person or the time is a key.
    DataError
        A row without a person or a time, what is also known differs within a person; several identifiers of a person
        without a time.
    ScenarioError
        No keys, or no column of persons.

    Notes
    -----
    Of p known rows of a person the candidates are the persons who have a row at each of these times whose keys are
    equal, or missing on either side where that is a wildcard. A row that is not there matches nothing. A wholly
    suppressed row may be anybody's, so that suppressing a value never makes another person alone; `key_frequencies`
    counts it for nobody. Persons with fewer rows than p are not in the figures of p.

    Where a release gives a person several identifiers over time, people are followed as whoever has it can: what is
    the same in all of their rows (sex, birth, a weight), or moves with the time (age), leads from one identifier to
    the next where no two of those that agree have the same time; 90 % of the people are enough. So does a value that
    the rows of one person alone share (an exact wage of two years, or one that stands as last year's in the next wave),
    where rows tell who is who and most of those that it joins are one person; of these who is found rightly counts.
    What merely resembles (a wage that grows) is not used.

    References
    ----------
    de Montjoye, Y.-A., Hidalgo, C., Verleysen, M. and Blondel, V. (2013). Unique in the crowd. Scientific Reports 3.
    de Montjoye, Y.-A. et al. (2015). Unique in the shopping mall. Science 347.

    Examples
    --------
    >>> import polars as pl
    >>> visits = pl.DataFrame({"who": [1, 1, 2, 2, 3, 3], "year": [1, 2] * 3, "job": ["a", "a", "a", "b", "b", "b"]})
    >>> result = known_points(visits, person="who", time="year", keys=["job"], points=(1, 2))
    >>> [(known.n_alone, known.n_subsets, known.alone) for known in result.curve]
    [(2.0, 6.0, 0.3333333333333333), (3.0, 3.0, 1.0)]
    """
    asked = Asked(
        arguments.counts(points, "points", "are how many rows are known", at_least=1),
        arguments.count(most_subsets, "most_subsets", "is how many subsets of a person are looked at"),
        arguments.count(most_persons, "most_persons", "is how many persons are looked at", at_least=2),
        arguments.count(k, "k", "is how many candidates hide a person", at_least=2), arguments.seed(seed),
    )  # fmt: skip
    if not asked.points:
        raise DataError("points are how many rows are known: give one at least", argument="points")
    scenario = arguments.scenario_or_none(scenario)
    place = (
        None if scenario is None or not (person is None and keys is None and children is None) else scenario.children
    )
    if scenario is not None and place is not None:
        children = _rows_named(scenario, place, data, released)
        person, keys, time = place.key, place.keys, place.time if time is None else time
        also_known = scenario.keys if also_known is None else also_known
    columns = _columns(person, keys, time, also_known, tolerance, missing, scenario)
    broken = breakdown(data, by, KnownPoints, interval, seed, scenario, prefix)
    pair = _opened(data, released, columns, broken.also, id, apart=children is not None)
    files = point_files.read_points(pair, columns, _listed(children))
    start = copy.deepcopy(asked.rng)
    tallies = _tallies(files, columns, asked)
    if files.followed is not None:
        files = _led_on(files, tallies, pair, columns, replace(asked, rng=start))
    itself = _tallies(replace(files, files=files.files[:1]), columns, asked) if pair.m else {}
    curves = [[_known(p, sums[j]) for p, sums in tallies.items()] for j in range(max(1, pair.m))]
    notes: dict[str, str] = {"alone": IN_FILE}
    per_release = tuple({f"{name}[{known.points}]": value for known in curve for name, value in known.figures.items()}
                        for curve in curves)  # fmt: skip
    curve = tuple(PointsKnown(of_p[0].points, **pair_result.mean_figures([known.figures for known in of_p]))
                  for of_p in zip(*curves, strict=True))  # fmt: skip
    notes |= {f"{known.points} points": NOBODY for known in curve if not known.n_persons}
    if any(file.owner is None for file in files.files):
        notes["alone_right"] = NOT_LINKED
    if files.followed is not None:
        notes["person"] = FOLLOWED.format(", ".join(map(printable, files.followed))) if files.followed else NOT_FOLLOWED
    if any(tally.drawn for sums in tallies.values() for tally in sums):
        notes["subsets"] = f"where there are more than {asked.most_subsets:,} sets of so many rows, so many are drawn"
    if any(known.n_persons == asked.most_persons < files.files[0].n_persons for known in curve):
        notes["persons"] = f"{asked.most_persons:,} of the people who have so many rows are drawn"
    usual = next(known for known in curve if known.points == asked.usual)
    told = {name: value for name, value in asdict(usual).items() if name in KnownPoints.figures and name != "n_persons"}
    rule = describe_rule((*columns.keys, *columns.also), columns.rules, 1.0)
    of_person = _by_person(files, tallies)
    result = KnownPoints(
        pair, per_release, rule, notes, n=pair.n, prefix=prefix, person=columns.person, k=asked.k,
        n_persons=files.files[0].n_persons, curve=curve,
        columns={name: values.mean(axis=0) for name, values in of_person.items()},
        original=tuple(_known(p, sums[0]) for p, sums in itself.items()), first=files.files[0].first,
        worst_times=_worst(files.times, tallies[usual.points]), **told,
    )  # fmt: skip
    return broken.of(result, of_person)


@dataclass(frozen=True)
class Asked:
    """What is measured: numbers of known points, how many subsets and persons are looked at, and k."""

    points: tuple[int, ...]
    most_subsets: int
    most_persons: int
    k: int
    rng: np.random.Generator

    @property
    def usual(self) -> int:
        """The number of known points of the figures of the file."""
        return USUAL if USUAL in self.points else self.points[0]


def _rows_named(scenario: Scenario, place: Children, data: Any, released: Any) -> list[Any]:
    """The rows of the people that a scenario names: of the original, then of each release."""
    m = data.m if isinstance(data, Pair) else 0 if released is None else len(released_files(released))
    if m and len(place.released) != m:
        says = "the scenario does not name the file with the rows of each release; write released = [...] in [children]"
        raise ScenarioError(says, argument="children")
    files = [place.file, *(place.released if m else ())]
    how: dict[str, Any] = {"columns": place.columns, "missing": scenario.missing_codes}
    return [read_file(scenario.folder / file, **how) for file in files]


def _columns(
    person: str | None, keys: Sequence[str] | None, time: str | None, also_known: Sequence[str] | None,
    tolerance: Mapping[str, float] | None, missing: MissingRule | None, scenario: Scenario | None,
) -> point_files.PointColumns:  # fmt: skip
    """Check which columns are what."""
    arguments.column_or_none(time, "time")
    also = arguments.names(also_known, "also_known") or ()
    roles = resolve_roles(scenario=scenario, keys=keys, person=person, missing=missing)
    if time is None and scenario is not None:
        time = scenario.time
    if roles.person is None:
        raise ScenarioError("say whose row each is: person=", argument="person")
    known = roles.keys
    if keys is None:  # the keys of a scenario are of records, which have a time, too
        known = tuple(name for name in known if name not in (time, roles.person, *also))
    for role, name in (("person", roles.person), ("time", time), *(("also_known", name) for name in also)):
        if name in known:
            raise ColumnError(f"{role}: {name!r} is a key, too; leave it out of the keys", argument=role)
    widths = {} if tolerance is None else arguments.mapping(tolerance, "tolerance", "is a number by column")
    arguments.present(widths, (*known, *(() if time is None else (time,))), "tolerance", argument="tolerance",
                      within="the keys and the time")  # fmt: skip
    widths = {name: arguments.amount(width, "tolerance", "is a distance") for name, width in widths.items()}
    rules = resolve_roles(scenario=scenario, keys=(*known, *also), missing=missing).rules
    return point_files.PointColumns(roles.person, time, known, also, widths, rules)


def _opened(
    data: Any, released: Any, columns: point_files.PointColumns, by: Sequence[str], id: str | None, *, apart: bool
) -> Pair:  # fmt: skip
    """The files in memory; `apart`: the rows are in files of their own."""
    wanted = {"person": (columns.person,)} if apart else columns.of_points
    wanted = {**wanted, "also_known": columns.also}
    if released is None and not isinstance(data, Pair):
        arguments.column_or_none(id, "id")
        of_id = () if id is None else (id,)
        frame, brought = as_cells.columns_in_memory(data, {**wanted, "by": by, "id": of_id})
        return Pair(frame, (), aligned=False, id=id, brought=brought, orders=())
    return read_pair(open_files(data, released, id=id), wanted, also=by, aligned=False)


def _listed(children: Any) -> Sequence[Any] | None:
    return children if children is None or isinstance(children, list | tuple) else [children]


def _tallies(files: point_files.PointFiles, columns: point_files.PointColumns, asked: Asked) -> dict[int, list[Tally]]:
    """The sums over subsets of each number of points, for each file that people are looked for in."""
    most, k, rng, panel = asked.most_subsets, asked.k, asked.rng, regular_panel(files)
    if panel is not None:
        out = {p: panel.tallies(p, most, k, rng, by_wave=p == asked.usual) for p in asked.points}
    else:
        events = event_index.EventIndex(files, tuple(columns.tolerance.values()), timed=columns.time is not None)
        out = {p: events.tallies(p, most, asked.most_persons, k, rng) for p in asked.points}
    for sums in out.values():
        for tally in sums:  # what is not known of one release is not known of their mean
            tally.linked = all(other.linked for other in sums)
    return out


def _led_on(
    files: point_files.PointFiles, tallies: Mapping[int, Sequence[Tally]], pair: Pair,
    columns: point_files.PointColumns, asked: Asked,
) -> point_files.PointFiles:  # fmt: skip
    """The files with the columns, too, of which a value leads on to some people; who is found by it enters `tallies`.

    Of the others they say nothing: whoever is alone among the few who are led to may be somebody else.
    """
    led = point_files.read_points(pair, columns, None, by_values=True)
    if led.followed == files.followed:
        return files
    for p, sums in _tallies(led, columns, asked).items():
        for tally, more in zip(tallies[p], sums, strict=True):
            for name in ("alone", "expected", "below_k", "alone_right", "success"):
                setattr(tally, name, np.maximum(getattr(tally, name), more.alone_right))
            tally.lost = np.minimum(tally.lost, more.lost)
    return replace(files, followed=led.followed)


def _known(points: int, tally: Tally) -> PointsKnown:
    """The figures of one number of points in one file."""
    there = tally.n > 0
    n = tally.n[there]
    if not len(n):
        return PointsKnown(points, 0.0, 0.0, 0.0, *[math.nan] * 4)
    told = MEANS + OF_RELEASE if tally.linked else MEANS
    shares = {name: float((getattr(tally, name)[there] / n).mean()) for name in told}
    n_alone = float(tally.alone.sum())
    return PointsKnown(points, float(len(n)), float(n.sum()), n_alone, standard_error=tally.error, **shares)


def _by_person(files: point_files.PointFiles, tallies: Mapping[int, Sequence[Tally]]) -> dict[str, Floats]:
    """Values of each person, a row for each file that people are looked for in."""
    out = {"n_points": np.bincount(files.files[0].person, minlength=files.files[0].n_persons)[None].astype(np.float64)}
    for points, sums in tallies.items():
        for name in MEANS + OF_RELEASE if sums[0].linked else MEANS:
            totals = np.stack([getattr(tally, name) for tally in sums])
            n = np.stack([tally.n for tally in sums])
            out[f"{name}_{points}"] = np.divide(totals, n, out=np.full(n.shape, np.nan), where=n > 0)
    return out


def _worst(times: Sequence[str], tallies: Sequence[Tally]) -> tuple[tuple[str, float], ...]:
    """Each wave and the share alone where nothing of it is known, ascending."""
    if not times or any(tally.of_wave is None for tally in tallies):
        return ()
    without = np.mean([tally.without() for tally in tallies], axis=0)
    return tuple((times[at], float(without[at])) for at in np.argsort(without, kind="stable"))

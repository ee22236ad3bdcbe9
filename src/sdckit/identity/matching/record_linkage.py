"""B2: whether a released record is closest to the original it was made from.

People drawn may be linked where the original is too large to be brought: it passes by in blocks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from sdckit.cells import as_cells, shared_coding
from sdckit.cells.pair import Pair, check_present, open_files, open_pair
from sdckit.cells.plans.lazy import TooMuchError
from sdckit.cells.plans.pair_cells import check_ids
from sdckit.cells.record_result import Breakdown, IntervalKind, PairRecordResult, breakdown, group_columns
from sdckit.data import arguments, drawn_rows, frames
from sdckit.data.columns import code_column, first_rows, float_values
from sdckit.data.nearest import did_you_mean
from sdckit.data.scenarios.scenario import Scenario
from sdckit.display import counted, same_note
from sdckit.errors import ColumnError, DataError, ScenarioError
from sdckit.numerics.array_types import Floats, Ints, Values
from sdckit.numerics.coding import Encoded, differences, gower, ranks, whitened
from sdckit.numerics.search.neighbours import Neighbours, paired, pairwise, prepare
from sdckit.result import FileFigure

BLOCK = 1_000_000  # records of the original at a time


@dataclass(frozen=True, eq=False)
class Compared:
    """How records are compared: numbers and categories, their weights in this order, and the power; None is Gower's."""

    numbers: tuple[str, ...]
    categories: tuple[str, ...]
    weights: Sequence[float] | None
    power: int | None

    @property
    def names(self) -> tuple[str, ...]:
        """All variables, the numbers first."""
        return (*self.numbers, *self.categories)

    def encode(self, known: Any, masked: Any, ends: Floats) -> tuple[Encoded, Encoded]:
        """Two frames on the scale of the whole files; `ends` (2, p): the least and the largest value of each number."""
        values = [
            (float_values(known[name], "numeric"), np.append(float_values(masked[name], "numeric"), ends[:, j]))
            for j, name in enumerate(self.numbers)
        ]
        codes = []
        for name in self.categories:
            sides = [(column, column.codes()) for column in (code_column(known[name]), code_column(masked[name]))]
            mine, theirs = shared_coding.share_coding(name, sides, ("the original", "the release")).codes
            codes.append((mine, np.append(theirs, [0] * len(ends))))
        if self.power is None:
            first, second = gower(values, codes, weights=self.weights)
        else:
            first, second = differences(values, codes, power=self.power, weights=self.weights)
        return first, second.take(np.arange(len(masked)))


@dataclass(frozen=True, eq=False)
class PeopleDrawn:
    """People drawn with their rows in original and releases, in one order; how many are of the whole file.

    `rows`: their places in the original as its ids came; `n_original`: its records.
    """

    pair: Pair
    rows: Ints
    n: int
    n_original: int
    ends: Floats

    def links(self, j: int, plan: Any, compared: Compared, n_best: int) -> Links:
        """The originals that the people's records in release j are linked to."""
        masked, k = self.pair.released[j], max(n_best, 2)
        people = compared.encode(self.pair.original, masked, self.ends)
        nearest, start = None, 0
        for block in frames.blocks(plan, compared.names, BLOCK):
            known, query = compared.encode(block, masked, self.ends)
            part = prepare(known).nearest(query, min(k, known.n))
            part = Neighbours(part.distance, part.index + start, part.n_closer, part.n_tied, part.tolerance)
            nearest = part if nearest is None else merged(nearest, part, k)
            start += known.n
        assert nearest is not None  # there are records
        return _links(nearest, paired(*reversed(people)), n_best, self.n_original, people[0].unit)


def merged(a: Neighbours, b: Neighbours, k: int) -> Neighbours:
    """The nearest rows of two parts of a file together, from the nearest of each: k of them, or all it has.

    >>> one = Neighbours(np.array([[0.0, 2.0]]), np.array([3]), np.array([1]), np.array([4]), 1e-12)
    >>> two = Neighbours(np.array([[1.0, 2.0]]), np.array([9]), np.array([1]), np.array([2]), 1e-12)
    >>> both = merged(one, two, 2)
    >>> both.distance.tolist(), both.index.tolist(), both.n_closer.tolist(), both.n_tied.tolist()
    ([[0.0, 1.0]], [3], [1], [1])
    """
    distance = np.sort(np.concatenate([a.distance, b.distance], axis=1), axis=1)[:, :k]
    last, tolerance = distance[:, -1:], a.tolerance
    closer, tied = np.zeros(len(distance), np.int64), np.zeros(len(distance), np.int64)
    for part in (a, b):
        listed = part.distance
        # all of its rows up to there are listed, or it has no others
        all_listed = (listed[:, -1] > last[:, 0] + tolerance) | (part.k < k)
        closer += np.where(all_listed, (listed < last - tolerance).sum(axis=1), part.n_closer)
        tied += np.where(all_listed, (np.abs(listed - last) <= tolerance).sum(axis=1), part.n_tied)
    index = np.where(a.distance[:, 0] <= b.distance[:, 0] + tolerance, a.index, b.index)
    return Neighbours(distance, index, closer, tied, tolerance)


def draw_people(
    opened: Pair, compared: Compared, k: int, key: bytes, by: Sequence[str], also: Sequence[str]
) -> PeopleDrawn:
    """Draw people by the hash of their id, and read their rows and the ends of the numbers; ids alone are brought."""
    id = str(opened.id)
    labels, names = opened.names, compared.names
    wanted_of = {"variables": names, "id": (id,)}
    check_present([(frame, wanted_of, label) for frame, label in zip(opened.frames, labels, strict=True)])
    plans: list[Any] = [frame for frame in opened.frames if frames.is_lazy(frame)]
    check_ids(plans, id, [label for frame, label in zip(opened.frames, labels, strict=True) if frames.is_lazy(frame)])
    ids, _ = as_cells.columns_in_memory(opened.original, {"id": (id,), "by": by})
    rows, n = drawn_rows.draw_rows(ids.get_column(id), k, key, group_columns(ids, by)[1] if by else None)
    wanted = ids.get_column(id)[rows.tolist()].to_list()
    n_original = len(ids)
    del ids
    ends = np.full((2, len(compared.numbers)), np.nan)
    files = []
    for number, (frame, label) in enumerate(zip(opened.frames, labels, strict=True)):
        more = tuple(name for name in also if name not in (*names, id)) if not number else ()
        read, size = _rows(frame, (id, *names, *more), id, wanted, compared.numbers, ends, label)
        if len(read) != len(wanted) or size != n_original:
            raise DataError(f"{label} has not the ids of the original; an id names the same rows in every file")
        files.append(read)
    pair = Pair(files[0], tuple(files[1:]), True, id, True, (None,) * opened.m, plans=opened.frames)
    return PeopleDrawn(pair, rows, n, n_original, ends)


def _rows(
    frame: Any, columns: Sequence[str], id: str, wanted: Sequence[Any], numbers: Sequence[str], ends: Floats, label: str
) -> tuple[Any, int]:
    """The rows of some ids in their order, and the number of all; the ends of the numbers are widened in place."""
    size, empty = 0, set(numbers)

    def passing() -> Iterator[Any]:
        nonlocal size
        for block in frames.blocks(frame, columns, BLOCK):
            size += len(block)
            for j, name in enumerate(numbers):
                values = float_values(block[name], "numeric")
                if np.isinf(values).any():
                    raise DataError(f"{label}: numeric {name!r} is infinite in {first_rows(np.isinf(values))}")
                if not np.isnan(values).all():
                    empty.discard(name)
                ends[0, j] = np.fmin.reduce(values, initial=ends[0, j])
                ends[1, j] = np.fmax.reduce(values, initial=ends[1, j])
            yield block

    together = frames.rows_among(passing(), id, wanted)
    if empty:
        raise DataError(f"{label}: numeric {next(name for name in numbers if name in empty)!r} has no value at all")
    place = {value: number for number, value in enumerate(wanted)}
    return together[np.argsort([place[value] for value in together[id].to_list()]).tolist()], size


def are_numbers(opened: Pair, names: Sequence[str]) -> tuple[str, ...]:
    """Those of some columns that the original stores as numbers."""
    kinds = opened.original.collect_schema()
    return tuple(name for name in names if name in frames.column_names(opened.original) and kinds[name].is_numeric())


Method = Literal["nearest", "rank", "assignment"]
Distance = Literal["gower", "euclidean", "manhattan", "mahalanobis"]
METHODS: tuple[Method, ...] = get_args(Method)
DISTANCES: tuple[Distance, ...] = get_args(Distance)
Weights = Mapping[str, float] | Sequence[float] | None


@dataclass(frozen=True)
class Options:
    """Method, distance, number of candidates and weights, checked without the data."""

    method: Method
    distance: Distance
    n_best: int
    weights: Weights

    @property
    def numbers_only(self) -> bool:
        """Whether the method takes numeric variables only."""
        return self.method == "rank" or self.distance != "gower"


def options(method: Method, distance: Distance, n_best: int, weights: Weights) -> Options:
    """Check what can be checked before the files are opened."""
    arguments.choice(method, "method", METHODS)
    arguments.choice(distance, "distance", DISTANCES)
    if method == "rank" and distance != "gower":
        raise DataError("method='rank' has a distance of its own; leave distance= out", argument="distance")
    arguments.count(n_best, "n_best", "counts candidates")
    if method == "assignment" and n_best != 1:
        raise DataError("method='assignment' links each record to one original; leave n_best= out", argument="n_best")
    if weights is not None and method != "rank" and distance == "mahalanobis":
        raise DataError("distance='mahalanobis' weighs by the covariance; leave weights= out", argument="weights")
    return Options(method, distance, int(n_best), weights)


def linked_variables(
    original: Any, released: Any, *, variables: Sequence[str] | None, numeric: Sequence[str] | None, chosen: Options,
    scenario: Scenario | None, id: str | None, also: Sequence[str] = (),
) -> tuple[Pair, tuple[str, ...], tuple[str, ...]]:  # fmt: skip
    """Open the files; the numeric variables, and all variables. `also`: further columns of the original."""
    names, declared = _named(variables, numeric, chosen, scenario)
    if declared is None:
        pair = open_pair(original, released, categories={"variables": names}, also=also, aligned=True, id=id)
        declared = tuple(name for name in names if pair.codes(name).kind == "numbers")
        original, released, id = pair, None, pair.id
    if chosen.numbers_only and (rest := [name for name in names if name not in declared]):
        what = "method='rank'" if chosen.method == "rank" else f"distance={chosen.distance!r}"
        words = f"{what} compares numbers; {rest[0]!r} is none"
        raise DataError(f"{words}: leave it out, or use distance='gower'")
    roles = {"categories": [name for name in names if name not in declared]}
    pair = open_pair(
        original, released, categories=roles, numeric={"numeric": declared}, also=also, aligned=True, id=id
    )
    if chosen.distance == "mahalanobis":
        _check_complete(pair, declared)
    return pair, declared, names


def _named(
    variables: Sequence[str] | None, numeric: Sequence[str] | None, chosen: Options, scenario: Scenario | None
) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
    """The variables, and those that are declared as numbers, None where nobody says so."""
    scenario = arguments.scenario_or_none(scenario)
    names, declared = arguments.names(variables, "variables"), arguments.names(numeric, "numeric")
    if names is None and scenario is not None:
        names = tuple(dict.fromkeys([*scenario.keys, *(declared or scenario.numeric)]))
    if not names:
        words = "say which variables the intruder knows: variables=[...] or scenario="
        raise ScenarioError(words, argument="variables")
    if declared is None and scenario is not None and not chosen.numbers_only:
        declared = tuple(name for name in scenario.numeric if name in names)
    if declared is not None and (other := [name for name in declared if name not in names]):
        words = f"numeric: {other[0]!r} is none of the variables; {did_you_mean(other[0], names)}"
        raise ColumnError(words, argument="numeric")
    arguments.weights(chosen.weights, names)
    return names, declared


def encoders(
    pair: Pair, names: Sequence[str], numbers: Sequence[str], chosen: Options
) -> Callable[[int], tuple[Encoded, Encoded]]:
    """A function that encodes the original and release j (from 0) on a common scale."""
    ordered = [*numbers, *(name for name in names if name not in numbers)]
    given = arguments.weights(chosen.weights, names)
    weights = None if chosen.weights is None else [given[name] for name in ordered]

    def encode(j: int) -> tuple[Encoded, Encoded]:
        values = [(pair.numbers(name)[0], pair.numbers(name)[j + 1]) for name in numbers]
        codes = [(c[0], c[j + 1]) for c in (pair.codes(name).codes for name in ordered[len(numbers) :])]
        if chosen.method == "rank":
            values = [(ranks(known), ranks(masked)) for known, masked in values]
            known, masked = differences(values, power=1, weights=weights)
        elif chosen.distance == "gower":
            known, masked = gower(values, codes, weights=weights)
        elif chosen.distance == "mahalanobis":
            encoded = whitened(values)
            if encoded is None:
                words = "the covariance of the variables is singular: one does not vary, or follows from the others"
                raise DataError(f"{words}; leave it out, or use another distance")
            known, masked = encoded
        else:
            power = 2 if chosen.distance == "euclidean" else 1
            known, masked = differences(values, power=power, weights=weights)
        return known, masked

    return encode


def _check_complete(pair: Pair, numbers: Sequence[str]) -> None:
    faults = [
        f"{label}: {name!r} is missing in {counted(int(np.isnan(values).sum()), 'row')}"
        for name in numbers
        for label, values in zip(pair.names, pair.numbers(name), strict=True)
        if np.isnan(values).any()
    ]
    if faults:
        words = "use distance='gower', or leave these records out of both files"
        raise DataError(f"{'; '.join(faults)}; distance='mahalanobis' needs every value: {words}")


ASSIGNED_ROWS = 5_000  # optimal assignment holds all distances at once: 200 MB for as many rows
OF_LINK = {"correct": "correct", "distance": "distance", "second_distance": "second"}
MISSING_RULE = "a missing value is 0 from a missing one, and from any other as far as two values can be"


# --- kernel: numbers in, numbers out ------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Links:
    """For each released record, the original it is linked to."""

    row: Ints  # the original, from 0
    correct: Floats  # the chance that the right one is found
    distance: Floats  # of that original
    second: Floats  # the smallest distance of any other


def nearest_links(original: Encoded, released: Encoded, n_best: int, rows: Ints | None = None) -> Links:
    """Link each released record, or those in some `rows`, to its nearest originals, drawn at random where equally near.

    Examples
    --------
    >>> from sdckit.numerics.coding import differences
    >>> files = differences([(np.array([0.0, 1.0, 9.0]), np.array([0.5, 1.0, 8.0]))], power=1)
    >>> nearest_links(*files, 1).correct.tolist()
    [0.5, 1.0, 1.0]
    """
    if rows is not None:
        released = released.take(rows)
    true = paired(released, original if rows is None else original.take(rows))
    nearest = prepare(original).nearest(released, min(max(n_best, 2), original.n))
    return _links(nearest, true, n_best, original.n, original.unit)


def _links(nearest: Neighbours, true: Floats, n_best: int, n: int, unit: float) -> Links:
    """The links of released records to the nearest of n originals; `true`: how far the right one is, in `unit`."""
    if n_best > 1 or n == 1:
        correct = nearest.chance(true)
    else:  # of the two nearest only the first counts: with how many others does it share its place?
        first, second = nearest.distance.T
        sharing = np.where(second > first + nearest.tolerance, 1, nearest.n_closer + nearest.n_tied)
        correct = np.where(true <= first + nearest.tolerance, 1.0 / sharing, 0.0)
    second = nearest.distance[:, 1] if n > 1 else np.full(n, np.nan)
    return Links(nearest.index, correct, nearest.distance[:, 0] * unit, second * unit)


def assigned_links(original: Encoded, released: Encoded) -> Links:
    """Link one to one, with the smallest sum of distances; equal originals are interchangeable."""
    from scipy.optimize import linear_sum_assignment

    n = original.n
    matrix = pairwise(released, original)
    row = linear_sum_assignment(matrix)[1].astype(np.int64)
    at = np.arange(n)
    distance = matrix[at, row]
    matrix[at, row] = np.inf
    second = matrix.min(axis=1) if n > 1 else np.full(n, np.nan)
    same = prepare(original).rows
    correct = (same.of_row[row] == same.of_row) / same.size[same.of_row]
    return Links(row, correct, distance * original.unit, second * original.unit)


# --- result -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class RecordLinkage(PairRecordResult):
    """How many released records can be linked to their originals.

    Attributes
    ----------
    n : int
        Records, or those of people drawn by their id.
    correct_links : float
        Released records expected to be linked to the right original; this and all that follow are means
        over the releases.
    rate : float
        The same as a share of the records.
    baseline : float
        Share that guessing would link: `n_best` by the records of the original.
    mean_distance : float
        Mean distance between linked records.
    records : frame
        ``linked_row`` (from 1; of several originals equally near the first), ``correct`` (the chance that the
        right one is among those drawn), ``distance`` and ``second_distance`` (to another original). With
        several releases their means, without ``linked_row``.
    records_by_release : frame
        The same for each ``release`` and ``row``, both from 1.
    intervals : dict of str to tuple of float
        95 % intervals, where asked for or where people were drawn.
    """

    measure: ClassVar[str] = "record_linkage"
    figures: ClassVar[tuple[str, ...]] = ("n", "correct_links", "rate", "baseline", "mean_distance")
    dropped: ClassVar[tuple[str, ...]] = ("pair", "links", "rows")
    links: tuple[Links, ...] = field(default=(), repr=False)
    rows: Ints | None = field(default=None, repr=False)  # of the original, where people were drawn
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict, kw_only=True)
    correct_links: float = math.nan
    rate: float = math.nan
    baseline: float = math.nan
    mean_distance: float = math.nan

    def file_figures(self) -> tuple[FileFigure, ...]:
        """The record column behind each file-level figure, and how it is summarised."""
        return (
            FileFigure("rate", "correct"),
            FileFigure("correct_links", "correct", "sum"),
            FileFigure("mean_distance", "distance", higher="reference"),
            FileFigure("baseline", higher="reference"),
        )

    def told(self, column: str) -> Values:
        """Record-level values of a column, a row for each release."""
        return np.stack([getattr(link, column) for link in self.links])

    @cached_property
    def records(self) -> Any:
        """A row per record, in the original's order and frame type."""
        one_release, links = self.pair.m == 1, self.links
        columns: dict[str, Values] = {"linked_row": links[0].row + 1} if one_release else {}
        for name, attribute in OF_LINK.items():
            columns[name] = np.mean([getattr(link, attribute) for link in links], axis=0)
        return self.pair.records(columns, prefix=self.prefix)

    @property
    def records_by_release(self) -> Any:
        """A row per record and release."""
        n, m, links = self.pair.n, self.pair.m, self.links
        rows = np.arange(n) if self.rows is None else self.rows
        return self.pair.table(
            {
                "row": np.tile(rows + 1, m),
                "release": np.repeat(np.arange(1, m + 1), n),
                "linked_row": np.concatenate([link.row + 1 for link in links]),
                **{name: np.concatenate([getattr(link, at) for link in links]) for name, at in OF_LINK.items()},
            }
        )


# --- measure ------------------------------------------------------------------------------------------


def record_linkage(
    original: Any,
    released: Any = None,
    *,
    variables: Sequence[str] | None = None,
    numeric: Sequence[str] | None = None,
    method: Method = "nearest",
    distance: Distance = "gower",
    n_best: int = 1,
    weights: Mapping[str, float] | Sequence[float] | None = None,
    by: Sequence[str] | str | None = None,
    interval: IntervalKind | None = None,
    seed: arguments.Seed = None,
    scenario: Scenario | None = None,
    id: str | None = None,
    prefix: str = "",
    targets: int | None = None,
) -> RecordLinkage:
    """Link every released record to the closest original and count how often that is the right one.

    Parameters
    ----------
    original : data frame or Pair
    released : data frame or sequence of data frames
        One release or m of them; row i was made from row i of the original, or has its `id`.
    variables : sequence of str
        Variables that the intruder knows of the originals.
    numeric : sequence of str, optional
        Those of them that are numbers. Unless given: those that the scenario calls numeric; without a
        scenario, and for distances of numbers only, those stored as numbers.
    method : {"nearest", "rank", "assignment"}
        The nearest original; the nearest by ranks (each file ranked by itself, Manhattan distance of the
        ranks as shares); one to one with the smallest sum of distances, up to 5,000 records.
    distance : {"gower", "euclidean", "manhattan", "mahalanobis"}
        Gower's takes any variables: weighted mean of |x - y| over the range in both files, 0 and 1 for
        categories. Euclidean and Manhattan take numbers as they are, Mahalanobis by the covariance of both
        files stacked.
    n_best : int
        A link is correct when the right original is among the `n_best` nearest.
    weights : dict of str to float, or sequence of float, optional
        Of the variables (1 where none is given), not negative; for "gower", "euclidean", "manhattan" and
        ranks.
    by : str or sequence of str, optional
        Columns of the original whose combinations are subgroups; see ``by_group``. A missing value is a group of its
        own.
    interval : "bootstrap", optional
        95 % percentile intervals of means and sums over the records, from 200 resamples of the records (of whole
        households where they are declared). A record keeps what it has in this file: drawing it twice does not make
        it less rare.
    seed : int or Generator, optional
        Of the bootstrap, or of the people drawn.
    scenario : Scenario, optional
        Gives the variables where they are not given here: its keys, and what it calls numeric.
    id, prefix : str, optional
        Column that says which rows belong together; text before the names of result columns.
    targets : int, optional
        So many people drawn by a hash of `id`, 1,000 or more where there are subgroups, which get as many each. Their
        released records are linked with the whole original, and all figures are of them, with 95 % intervals; the same
        ones in whatever order rows come.

    Returns
    -------
    RecordLinkage
        ``correct_links``, ``rate``, ``baseline``, ``mean_distance``, ``records``, ``records_by_release``.

    Raises
    ------
    ColumnError
        A variable that a file does not have, of types that do not compare, or listed twice; a weight for
        none of the variables.
    DataError
        Files of different lengths without `id`; a variable without numbers where numbers are needed; an
        unknown method or distance; weights out of range; `n_best` larger than the file; an assignment of
        more than 5,000 records; for "mahalanobis", missing values or variables that determine each other; `targets`
        without `id`, with an assignment or with `interval`.
    ScenarioError
        No variables.

    Notes
    -----
    Credit is exact: where several originals are equally near (to 1e-12 of the largest possible distance),
    the chance that the right one is among those drawn. A missing value is 0 from a missing one and, from
    any other, as far as two values can be (1 for Gower, else the range). Links go from the released record
    to the original.

    References
    ----------
    Domingo-Ferrer, J. and Torra, V. (2003). Disclosure risk assessment in statistical data protection.
    Journal of Computational and Applied Mathematics 164. Herranz, J., Nin, J., Rodriguez, P. and Tassa, T.
    (2015). Revisiting distance-based record linkage for privacy-preserving release. Data & Knowledge
    Engineering 100.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"age": [20, 40, 60], "sex": ["f", "m", "f"]})
    >>> result = record_linkage(survey, survey.with_columns(age=pl.Series([25, 38, 30])), variables=["age", "sex"])
    >>> result.correct_links, result.records["linked_row"].to_list()
    (2.0, [1, 2, 1])
    """
    chosen = options(method, distance, n_best, weights)
    rng = arguments.seed(seed)
    broken = breakdown(original, by, RecordLinkage, interval, rng, scenario, prefix)
    drawn = drawn_rows.people_drawn(targets, broken.by)
    if drawn is not None and (interval is not None or method == "assignment"):
        given = "interval=" if interval is not None else "method='assignment'"
        raise DataError(f"{given} takes all records, and targets= draws some; leave one out", argument="targets")
    opened = open_files(original, released, id=id)
    try:
        pair, numbers, names = linked_variables(
            opened, None, variables=variables, numeric=numeric, chosen=chosen, scenario=scenario, id=None,
            also=broken.also,
        )  # fmt: skip
    except TooMuchError:
        if drawn is None or chosen.method != "nearest" or chosen.distance == "mahalanobis":
            raise
        named = _named(variables, numeric, chosen, scenario)
        return broken.of(_streamed(opened, drawn, chosen, named, broken, rng, prefix))
    if n_best > pair.n:
        raise DataError(f"n_best={n_best} of {pair.n} originals: ask for no more than there are", argument="n_best")
    if method == "assignment" and pair.n > ASSIGNED_ROWS:
        words = f"method='assignment' takes up to {ASSIGNED_ROWS} records, these are {pair.n}"
        raise DataError(f"{words}; use method='nearest', or a sample of the records", argument="method")
    notes = {"numeric": f"compared as numbers: {', '.join(numbers)}"} if numbers else {}
    notes |= same_note(sum(pair.identical(names)), pair.m)
    rows, n = (None, pair.n) if drawn is None else _drawn(pair, drawn, rng.bytes(drawn_rows.KEY_BYTES), broken.by)
    encode = encoders(pair, names, numbers, chosen)
    files = (encode(j) for j in range(pair.m))
    links = [assigned_links(*two) if method == "assignment" else nearest_links(*two, n_best, rows) for two in files]
    if pair.n == 1:
        notes["second_distance"] = "there is one original only"
    if rows is not None:
        return broken.of(_of_people(_people(pair, rows), links, rows, n, pair.n, n_best, notes, prefix))
    figures = tuple(_figures(link, pair.n, pair.n, n_best) for link in links)
    return broken.of(RecordLinkage.of(pair, figures, MISSING_RULE, notes, links=tuple(links), prefix=prefix))


def _figures(link: Links, n: int, n_original: int, n_best: int) -> dict[str, float]:
    return {
        "correct_links": float(link.correct[:n].sum()),
        "rate": float(link.correct[:n].mean()),
        "baseline": n_best / n_original,
        "mean_distance": float(link.distance[:n].mean()),
    }


def _of_people(
    pair: Pair, links: Sequence[Links], rows: Ints, n: int, n_original: int, n_best: int, notes: dict[str, str],
    prefix: str,
) -> RecordLinkage:  # fmt: skip
    """The result on people drawn, of whom the first n are of the whole file."""
    figures = tuple(_figures(link, n, n_original, n_best) for link in links)
    notes |= drawn_rows.drawn_note(n, n_original)
    intervals = _intervals(links, n) if n < n_original else {}
    own = {"n": n, "links": tuple(links), "rows": rows, "prefix": prefix, "intervals": intervals}
    return RecordLinkage.of(pair, figures, MISSING_RULE, notes, **own)


def _streamed(
    opened: Pair, k: int, chosen: Options, named: tuple[tuple[str, ...], tuple[str, ...] | None], broken: Breakdown,
    rng: np.random.Generator, prefix: str,
) -> RecordLinkage:  # fmt: skip
    """Link people drawn where the files are too large to be brought: the original passes by in blocks."""
    drawn_rows.people_drawn(k, id=opened.id)
    names, declared = named
    numbers = are_numbers(opened, names) if declared is None else declared
    categories = tuple(name for name in names if name not in numbers)
    if categories and chosen.numbers_only:
        raise DataError(f"distance={chosen.distance!r} compares numbers; {categories[0]!r} is none: leave it out")
    given = arguments.weights(chosen.weights, names)
    weights = None if chosen.weights is None else [given[name] for name in (*numbers, *categories)]
    power = {"gower": None, "euclidean": 2, "manhattan": 1}[chosen.distance]
    compared = Compared(numbers, categories, weights, power)
    people = draw_people(opened, compared, k, rng.bytes(drawn_rows.KEY_BYTES), broken.by, broken.also)
    links = [people.links(j, opened.original, compared, chosen.n_best) for j in range(opened.m)]
    notes = {"numeric": f"compared as numbers: {', '.join(numbers)}"} if numbers else {}
    return _of_people(people.pair, links, people.rows, people.n, people.n_original, chosen.n_best, notes, prefix)


def _drawn(pair: Pair, k: int, key: bytes, by: Sequence[str]) -> tuple[Ints, int]:
    """Rows of the people drawn, those of the whole file first, and how many these are."""
    drawn_rows.people_drawn(k, id=pair.id)
    groups = group_columns(pair.original, by)[1] if by else None
    return drawn_rows.draw_rows(pair.original.get_column(str(pair.id)), k, key, groups)


def _people(pair: Pair, rows: Ints) -> Pair:
    """The files with some people of the original alone, who have a row in each."""
    places = (rows if order is None else order[rows] for order in pair.orders)
    released = tuple(frame[own.tolist()] for frame, own in zip(pair.released, places, strict=True))
    return replace(
        pair, original=pair.original[rows.tolist()], released=released, orders=(None,) * pair.m, memo={}, raw=None,
        with_control={},
    )  # fmt: skip


def _intervals(links: Sequence[Links], n: int) -> dict[str, tuple[float, float]]:
    """95 % intervals of figures of n people drawn; with several releases the means of their ends."""
    rates = np.mean([drawn_rows.share_interval(link.correct[:n]) for link in links], axis=0).tolist()
    distances = np.mean([drawn_rows.mean_interval(link.distance[:n]) for link in links], axis=0).tolist()
    low, high = rates
    return {"rate": (low, high), "correct_links": (n * low, n * high), "mean_distance": tuple(distances)}

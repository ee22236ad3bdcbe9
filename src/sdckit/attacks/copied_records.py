"""Copied records: released records equal to one original record that is like no other, beyond what chance makes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import Any, ClassVar, TypeAlias

import numpy as np

from sdckit.attacks import equal_records
from sdckit.attacks.equal_records import EqualRecords
from sdckit.cells import as_cells, comparable_files, pair_result
from sdckit.cells.pair import Pair, count_pair, open_files, read_pair
from sdckit.cells.plans import lazy, pair_cells
from sdckit.cells.plans.record_hashes import EqualCounts, HashedFiles, hash_files, mean_size
from sdckit.data import arguments
from sdckit.data.columns import days_values, float_values
from sdckit.data.frames import Frame, count_records, is_lazy
from sdckit.data.packaged import sentences
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import ColumnError
from sdckit.numerics import array_types, grouping, intervals

# Values as they are printed: numbers with the decimals of the release.


MOST_DECIMALS = 9
FEW_VALUES = 10  # of a number are those of a category: none is near another


def _rounded(values: array_types.Floats, decimals: int) -> array_types.Floats:
    """Numbers with so many decimals; those that are too large to be rounded as they are."""
    with np.errstate(over="ignore"):
        rounded = np.round(values, decimals)
    np.copyto(rounded, values, where=np.isinf(rounded))
    return rounded


def decimals_shown(values: array_types.Floats) -> int | None:
    """Decimals that numbers are written with; None where they have more than nine.

    >>> decimals_shown(np.array([1.5, np.nan, 2.25])), decimals_shown(np.array([1 / 3]))
    (2, None)
    """
    known = values[np.isfinite(values)]
    shown = (decimals for decimals in range(MOST_DECIMALS + 1) if np.array_equal(_rounded(known, decimals), known))
    return next(shown, None)


def _types(pair: Pair, name: str) -> list[Any]:
    frames = [*pair.frames, *([] if pair.control is None else [pair.control])]
    return [frame.collect_schema()[name] for frame in frames]


def _values(pair: Pair, name: str, chosen: Sequence[int]) -> list[array_types.Floats]:
    """Numbers, or dates in days, of a column in original, one release and control, in the rows of `Pair.codes`."""
    frames = [*pair.frames, *([] if pair.control is None else [pair.control])]
    series = [frames[file].get_column(name) for file in chosen]
    values = [
        days_values(column, file="") if column.dtype.is_temporal() else float_values(column, "variables")
        for column in series
    ]
    if (order := pair.orders[chosen[1] - 1]) is not None:
        values[1] = values[1][order]
    return values


def _on_a_scale(pair: Pair, name: str, chosen: Sequence[int]) -> tuple[array_types.Floats, array_types.Floats] | None:
    """The values of a column, and where they lie on the scale of the original's; None for no numbers, or for few."""
    types = _types(pair, name)
    if not (all(kind.is_numeric() for kind in types) or all(kind.is_temporal() for kind in types)):
        return None
    own, *others = _values(pair, name, chosen)
    known = own[np.isfinite(own)]
    if all(len(np.unique(some)) <= FEW_VALUES for some in (known[: 100 * FEW_VALUES], known)):
        return None
    together = np.concatenate([own, *others])
    return together, equal_records.on_a_scale(together, own, None if pair.times is None else pair.times[0])


def _codes(pair: Pair, name: str, chosen: Sequence[int]) -> array_types.Codes:
    """Codes of a column in original, one release and control, one after the other; a missing value is a category."""
    types = _types(pair, name)
    measured = any(kind.is_float() or kind.is_decimal() for kind in types)
    if not (measured and all(kind.is_numeric() for kind in types)):
        shared = pair.codes(name, control=True).codes
        return np.concatenate([shared[file] for file in chosen])
    values = _values(pair, name, chosen)
    decimals = decimals_shown(values[1])
    together = np.concatenate(values)
    printed = (together if decimals is None else _rounded(together, decimals)) + 0.0  # -0.0 prints as 0
    printed[np.isnan(printed)] = np.nan  # one missing value, whatever its bits
    return grouping.group(printed.view(np.uint64)).of_row


# What chance makes, and the lower bound of what lies beyond it.


@dataclass(frozen=True)
class Beyond:
    """Share of released records that are copies, the share that chance makes, and the bound of the difference."""

    share: float
    chance: float
    low: float


def beyond_control(equal: EqualRecords, n_released: float, n_control: float, level: float) -> Beyond:
    """Copies beyond those of the control file: difference of two proportions, with the lower end of its interval.

    The hybrid score interval of Newcombe (1998, method 10), one-sided.

    >>> equal = EqualRecords(copies=60, control=20, once=100, twice=0, thrice=0)
    >>> round(beyond_control(equal, 100, 100, 0.975).low, 3)
    0.268
    """
    share, chance = equal.copies / n_released, equal.control / n_control
    two_sided = 2 * level - 1
    low = intervals.wilson(equal.copies, n_released, two_sided).low
    high = intervals.wilson(equal.control, n_control, two_sided).high
    return Beyond(share, chance, share - chance - math.hypot(share - low, high - chance))


def beyond_good_turing(equal: EqualRecords, n: float, n_released: float, level: float) -> Beyond:
    """Copies beyond those to be expected of other people, by how often combinations occur in the original.

    Good and Turing (Good 1953): the probability that a further person has a combination which one of n has is
    estimated by 2 f2 / n. The error of that estimate has the mean 0 and, where combinations occur independently of
    each other (Poisson), the variance (4 f2 + 6 f3) / n². Its upper end is that of a score interval, which is above 0
    where f2 and f3 are 0; both errors are put together as Newcombe's hybrid does (Zou & Donner 2008).

    >>> equal = EqualRecords(copies=60, control=0, once=100, twice=10, thrice=0)
    >>> beyond = beyond_good_turing(equal, 100, 100, 0.975)
    >>> beyond.chance, round(beyond.low, 3)
    (0.2, 0.205)
    """
    share, chance = equal.copies / n_released, 2 * equal.twice / n
    low = intervals.wilson(equal.copies, n_released, 2 * level - 1).low
    z2 = NormalDist().inv_cdf(level) ** 2
    margin = (z2 + math.sqrt(z2 * (4 * equal.twice + 6 * equal.thrice + z2))) / n
    return Beyond(share, chance, share - chance - math.hypot(share - low, margin))


def _beyond(equal: EqualRecords, sizes: Sequence[int], cluster: float, level: float, *, by_control: bool) -> Beyond:
    """Copies beyond chance, where `cluster` records count as one; `sizes` of original, release and control file."""
    n, n_released, n_control = (size / cluster for size in sizes)
    if by_control:
        return beyond_control(equal.over(cluster), n_released, n_control, level)
    return beyond_good_turing(equal.over(cluster), n, n_released, level)


def _overlaps(equal: EqualRecords, sizes: Sequence[int], cluster: float, level: float) -> bool:
    """Whether the control file itself has copies beyond chance: it holds people of the original then."""
    n, _, n_control = sizes
    return _beyond(replace(equal, copies=equal.control), (n, n_control, 0), cluster, level, by_control=False).low > 0


MISSING_RULE = "a missing value is a category of its own"
_Counts: TypeAlias = dict[str, tuple[EqualRecords, Sequence[int]]]  # and the records of the files they are counted in
SINGLE = "there is one column only"
SAYS = sentences("attacks/copied_records.toml")
FEWEST_GIVEN = 3  # extreme values of a column
IN_ALL, BUT_ONE = "all columns", "all columns but one, now this, now that"
BUT_NUMBERS = "all columns, but for numbers that moved a little"
ALL, NEAR = "", "all numbers within {:.1%} of the records"
RARELY = 0.01  # chance makes as many, with one more expected than is estimated, as chance is known roughly
FEWEST_CHANGED = 10  # copies with one changed column, whichever it is: fewer are there by chance
NOT_SHARED = "no released value of them is in the original, so they are left out like ids: {}"


@dataclass(frozen=True, eq=False, repr=False)
class CopiedRecords(pair_result.PairResult):
    """Released records that are copies, beside what chance makes. Means over the releases.

    Attributes
    ----------
    n, n_released : float
        Records of the original, and of a release.
    copies, copies_by_chance, copies_beyond : float
        Share of the released records equal, in all columns, to an original record alone with its combination; the
        same of people who were never in the file; the difference.
    near_copies, near_copies_by_chance, near_copies_beyond : float
        The same without the one column where the lower bound of the difference is largest.
    moved_copies, moved_copies_by_chance : float
        The share equal but for two columns of numbers that are near, or for all numbers, whichever has the largest
        bound of the difference; NaN where there are no numbers.
    lower_bound : float
        The largest of the lower bounds of these differences; the confidence holds for all that was tried together.
    copied_records : float
        `lower_bound`, 0 where it is below: the share of the released records that are copies beyond chance, at least.
    chance : str
        "control" or "Good-Turing": where the share that chance makes comes from.
    variables : tuple of str
        The columns compared.
    not_compared : tuple of str
        Columns of a release that the original, or another release, does not have.
    left_out : tuple of str or None
        For each release the column without which `near_copies` are counted.
    moved : tuple of str or None
        For each release the two columns, or how near all numbers are, of which `moved_copies` are counted.
    doubtful : tuple of (float, str)
        Shares of released records that chance does not explain, where the bound is not above 0, with why that is.
    """

    measure: ClassVar[str] = "copied_records"
    figures: ClassVar[tuple[str, ...]] = (
        "n", "n_released", "copies", "copies_by_chance", "copies_beyond", "near_copies", "near_copies_by_chance",
        "near_copies_beyond", "moved_copies", "moved_copies_by_chance", "lower_bound", "copied_records",
    )  # fmt: skip
    n: int = field(kw_only=True)
    n_released: float = field(kw_only=True)
    copies: float = field(kw_only=True)
    copies_by_chance: float = field(kw_only=True)
    copies_beyond: float = field(kw_only=True)
    near_copies: float = field(kw_only=True)
    near_copies_by_chance: float = field(kw_only=True)
    near_copies_beyond: float = field(kw_only=True)
    moved_copies: float = field(kw_only=True)
    moved_copies_by_chance: float = field(kw_only=True)
    lower_bound: float = field(kw_only=True)
    copied_records: float = field(kw_only=True)
    chance: str = field(kw_only=True)
    variables: tuple[str, ...] = field(kw_only=True)
    not_compared: tuple[str, ...] = field(kw_only=True)
    left_out: tuple[str | None, ...] = field(kw_only=True)
    moved: tuple[str | None, ...] = field(kw_only=True)
    doubtful: tuple[tuple[float, str], ...] = field(kw_only=True)


def copied_records(
    original: Any,
    released: Any = None,
    *,
    control: Any = None,
    variables: Sequence[str] | None = None,
    level: float = 0.95,
    scenario: Scenario | None = None,
    id: str | None = None,
) -> CopiedRecords:
    """Measure which share of the released records are copies of one original record, beyond what chance makes.

    Parameters
    ----------
    original : data frame or Pair
    released : data frame or sequence of data frames
        One release or m of them; rows need not belong to rows of the original.
    control : data frame, optional
        People of the same population who were never used to make the release: how many of them equal an original is
        what chance makes. Without it that is estimated from the original.
    variables : sequence of str, optional
        Columns compared; all that the files share unless given, without `id` and the scenario's identifiers, weight,
        person and household.
    level : float
        Confidence of the lower bound, 0.5 to below 1.
    scenario : Scenario, optional
        Says which columns are ids and weights, and which records belong to one person or household.
    id : str, optional
        Column that numbers the records, not compared.

    Returns
    -------
    CopiedRecords
        ``copies``, ``copies_by_chance``, ``near_copies`` with one column left out, ``moved_copies`` with numbers that
        are near, ``lower_bound``, ``copied_records``, all 0 to 1 but the bound.

    Raises
    ------
    ColumnError
        No column in common, or values that cannot be compared.
    DataError
        No release, a file without records, `level` out of range.

    Notes
    -----
    Numbers with decimals are compared at the decimals that the release shows, up to nine. The bound of each difference
    is one-sided, with 1 - `level` divided by the number of differences (Bonferroni). Records of one person or
    household count as that many times fewer independent ones (Kish 1965, clusters of equal records).

    References
    ----------
    Good, I. J. (1953). The population frequencies of species and the estimation of population parameters. Biometrika
    40, 237-264. Newcombe, R. G. (1998). Interval estimation for the difference between independent proportions.
    Statistics in Medicine 17, 873-890. Zou, G. Y. and Donner, A. (2008). Construction of confidence limits about
    effect measures. Statistics in Medicine 27, 1693-1702.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": range(20, 80), "pay": range(900, 960)})
    >>> copied_records(people, people.with_columns(pay=pl.lit(900))).near_copies
    1.0
    """
    level = arguments.within(level, "level", "is the confidence of a lower bound", 0.5, 1, "[)")
    arguments.scenario_or_none(scenario)
    notes: dict[str, str] = {}
    opened = open_files(original, released, control, id=id)
    pair, names, others = _open(opened, arguments.names(variables, "variables"), scenario, notes)
    cluster = _cluster_size(pair, scenario)
    judged = [_judge(pair, j, names, cluster, level, notes) for j in range(1, pair.m + 1)]
    if variables is None:
        apart = notes.get("variables", "").removeprefix(NOT_SHARED.format("")).split(", ")
        original = opened.plans[0] if opened.plans else opened.original
        comparable_files.warn_of_numbers(original, [name for name in names if name not in apart])
    per_release, left_out, moved, by_control, doubts = zip(*judged, strict=True)
    return CopiedRecords(
        pair, per_release, MISSING_RULE, notes, n=pair.n, **pair_result.mean_figures(per_release, notes),
        chance="control" if all(by_control) else "Good-Turing", variables=names, not_compared=others,
        left_out=left_out, moved=moved, doubtful=tuple(doubt for some in doubts for doubt in some),
    )  # fmt: skip


def _open(
    opened: Pair, named: tuple[str, ...] | None, scenario: Scenario | None, notes: dict[str, str]
) -> tuple[Pair, tuple[str, ...], tuple[str, ...]]:
    """Bring the columns to compare into memory, and name those released that are not compared.

    Of plans, of which only declared columns were read, all are brought.
    """
    ids = () if scenario is None else scenario.not_compared
    if opened.plans:  # they are as collected: a column recoded since is not comparable
        ids = (*ids, *(recoded.column for recoded in opened.recoded))
        first, *releases = opened.plans
        opened = replace(opened, original=first, released=tuple(releases), memo={}, with_control={})  # type: ignore[arg-type]
        opened = replace(opened, orders=(None,) * opened.m)
    shared, others = opened.shared_columns(ids)
    going_out = {name for frame in opened.released for name in frame.collect_schema().names()}
    others = [name for name in others if name in going_out]
    names = tuple(shared) if named is None else named
    if not names:
        raise ColumnError("original and release have no column in common that is compared", argument="variables")
    if opened.control is not None:
        present = opened.control.collect_schema().names()
        if lacking := [name for name in names if name not in present]:
            notes["control"] = SAYS["lacking"].format(", ".join(lacking))
            opened = replace(opened, control=None)
    columns = {"variables": names}
    here = opened.control is None or not is_lazy(opened.control)
    try:
        pair = count_pair(opened, columns, aligned=False) if here else None
        if pair is None:
            also = _clusters(opened.original, scenario)
            pair = read_pair(opened, columns, also=also, aligned=False, control=True, attack=True)
    except lazy.TooMuchError:
        if any(_hashed(opened, j, names) is None for j in range(1, opened.m + 1)):
            raise
        pair_cells.check_records(opened._sizes, opened.names)
        pair = opened
    return pair, names, tuple(others)


def _hashed(pair: Pair, j: int, names: Sequence[str]) -> HashedFiles | None:
    """Original, release j (from 1) and control file where they stay on one engine, which can count equal records."""
    control = [] if pair.control is None else [pair.control]
    return pair.once(
        ("hashed", j, names), lambda: hash_files([pair.original, pair.released[j - 1], *control], names, MOST_DECIMALS)
    )


def _clusters(original: Frame, scenario: Scenario | None) -> tuple[str, ...]:
    """The column of the original that says which records belong to one household, or person; () where none does."""
    named = () if scenario is None else (scenario.household, scenario.person)
    present = original.collect_schema().names()
    return tuple(name for name in named if name is not None and name in present)[:1]


def _cluster_size(pair: Pair, scenario: Scenario | None) -> float:
    """How many records share the household, or person, of a record on average; 1 where nothing is declared."""
    original: Frame = pair.original if pair.times is None else pair.plans[0]
    clusters = _clusters(original, scenario)
    if not clusters:
        return 1.0
    if is_lazy(pair.original):
        return mean_size(original, clusters[0])
    sizes = as_cells.group_sizes(original, clusters, pair.n).astype(np.float64)
    return float((sizes**2).sum() / sizes.sum())


def _count_hashed(hashed: HashedFiles, sizes: Sequence[int], notes: dict[str, str]) -> list[_Counts]:
    """What is counted by the engine of the files: nothing that moved."""

    def equal(counts: EqualCounts) -> EqualRecords:
        copies, *control = counts.others
        return EqualRecords(copies, sum(control), *counts.times)

    apart: tuple[str, ...] = ()
    whole = hashed.count()
    if not whole.shared:  # no record of both files is equal, so that a column may have no value of both
        without = {name: [own for own in hashed.columns if own != name] for name in hashed.columns}
        found = [name for name, others in without.items() if not hashed.count(others).shared]
        if 0 < len(found) < len(hashed.columns):
            apart, whole = tuple(found), hashed.count(found)
            notes["variables"] = NOT_SHARED.format(", ".join(apart))
    names = tuple(name for name in hashed.columns if name not in apart)
    counted = {name: equal(hashed.count([*apart, name])) for name in names if len(names) > 1}
    if any(kind.is_numeric() or kind.is_temporal() for name, kind in hashed.kinds.items() if name in names):
        notes["moved_copies"] = SAYS["on_engine"]
    return [{how: (count, sizes) for how, count in {ALL: equal(whole), **counted}.items()}]


def _size_of(control: Frame | None) -> int:
    if control is None:
        return 0
    return count_records(control.to_native()) if is_lazy(control) else len(control)  # type: ignore[arg-type]


def _is_shared(codes: array_types.Codes, rows: Sequence[int]) -> bool:
    """Whether some value of a column is in the original and in the release."""
    present = np.zeros(int(codes.max(initial=0)) + 1, np.bool_)
    present[codes[: rows[0]]] = True
    return bool(present[codes[rows[0] :][: rows[1]]].any())


def _count_here(
    pair: Pair, j: int, names: Sequence[str], sizes: Sequence[int], notes: dict[str, str]
) -> tuple[list[_Counts], dict[str, equal_records.Extremes]]:
    """What is counted of files in memory, and of the ends of columns of numbers."""
    chosen = (0, j) if pair.control is None else (0, j, pair.m + 1)
    coded = {name: _codes(pair, name, chosen) for name in names}
    rows = (len(pair.original), len(pair.released[j - 1]), sizes[2])
    apart = [name for name, codes in coded.items() if not _is_shared(codes, rows)]
    if 0 < len(apart) < len(names):
        notes["variables"] = NOT_SHARED.format(", ".join(apart))
        coded = {name: codes for name, codes in coded.items() if name not in apart}
    times = None if pair.times is None else np.concatenate([pair.times[0], pair.times[j], np.ones(sizes[2], np.int64)])
    names, columns = tuple(coded), list(coded.values())
    places, extremes = {}, {}
    for at, name in enumerate(names):
        if (on_scale := _on_a_scale(pair, name, chosen)) is not None:
            values, places[at] = on_scale
            extremes[name] = equal_records.given_extremes(values, columns[at], rows, times)
    equal = zip((ALL, *names), equal_records.count_equal(columns, rows, times), strict=False)
    pairs = equal_records.count_moved(columns, places, rows, times).items()
    near = equal_records.count_near(columns, places, rows, times).items()
    counted: list[_Counts] = [
        {how: (count, sizes) for how, count in equal},
        {f"{names[first]}, {names[second]}": (count, sizes) for (first, second), count in pairs},
        {NEAR.format(radius): counts for radius, counts in near},
    ]
    return [family for family in counted if family], extremes


def _judge(
    pair: Pair, j: int, names: Sequence[str], cluster: float, level: float, notes: dict[str, str]
) -> tuple[dict[str, float], str | None, str | None, bool, list[tuple[float, str]]]:
    """Figures of release j (from 1), the column left out, what moved, whether chance is the control's, and doubts."""
    sizes = (pair.n, pair.sizes[j - 1], _size_of(pair.control))
    hashed = _hashed(pair, j, names) if is_lazy(pair.original) else None
    if hashed is None:
        families, extremes = _count_here(pair, j, names, sizes, notes)
    else:
        families, extremes = _count_hashed(hashed, sizes, notes), {}
    level = 1 - (1 - level) / sum(map(len, families))
    by_control = sizes[2] > 0 and not any(_overlaps(equal, sizes, cluster, level) for equal, _ in families[0].values())
    if sizes[2] and not by_control:
        notes["control"] = SAYS["overlapping"]
    equal, *moved = (
        {how: _beyond(count, own, cluster, level, by_control=by_control and own[2] > 0) for how, (count, own) in some}
        for some in map(dict.items, families)
    )
    whole = equal.pop(ALL)
    left, near = _largest(equal)
    if left is None:
        notes["near_copies"] = SINGLE
    how, farthest = _largest({how: beyond for family in moved for how, beyond in family.items()})
    low = max(whole.low, near.low, farthest.low)
    figures = {
        "n_released": float(sizes[1]), "copies": whole.share, "copies_by_chance": whole.chance,
        "copies_beyond": whole.share - whole.chance, "near_copies": near.share, "near_copies_by_chance": near.chance,
        "near_copies_beyond": near.share - near.chance, "moved_copies": farthest.share,
        "moved_copies_by_chance": farthest.chance, "lower_bound": low, "copied_records": max(low, 0.0),
    }  # fmt: skip
    doubts = [] if hashed is None or "moved_copies" not in notes else [(1.0, SAYS["on_engine"])]
    if given := _given(extremes):
        doubts.append((sum(extremes[name].given for name in given) / sizes[1], SAYS["given"].format(", ".join(given))))
    if low <= 0:
        released = (own[1] for family in families[1:] for _, own in family.values())
        among = list(zip((beyond for family in moved for beyond in family.values()), released, strict=True))
        doubts += _doubts(whole, equal.values(), among, sizes[1])
    return figures, left, how, by_control, doubts


def _largest(beyond: Mapping[str, Beyond]) -> tuple[str | None, Beyond]:
    """The one whose bound is largest, and where."""
    how = max(beyond, key=lambda how: beyond[how].low, default=None)
    return how, Beyond(math.nan, math.nan, -math.inf) if how is None else beyond[how]


def _given(extremes: Mapping[str, equal_records.Extremes]) -> list[str]:
    """Columns of which the release gives several extreme values, more than chance makes."""
    from scipy.special import pdtrc

    return [
        name
        for name, ends in extremes.items()
        if ends.given >= FEWEST_GIVEN and pdtrc(ends.given - 1, ends.by_chance) <= RARELY / len(extremes)
    ]


def _doubts(
    whole: Beyond, but_one: Iterable[Beyond], moved: Sequence[tuple[Beyond, int]], n_released: int
) -> list[tuple[float, str]]:
    """Shares equal in all columns, in all but any one, or nearly, that are twice what chance makes: maybe copies.

    No bound says so of a few, the less where members of households count as one: chance is known too roughly. `moved`:
    with the released records among which they were counted.
    """
    from scipy.special import pdtrc

    changed = [(max(near.share - whole.share, 0.0), max(near.chance - whole.chance, 0.0)) for near in but_one]
    share, chance = (math.fsum(parts) for parts in zip(*changed, strict=True)) if changed else (0.0, 0.0)
    some = [(whole.share, whole.chance, n_released, 1, RARELY, IN_ALL)]
    if whole.chance * n_released <= 1:  # else many are equal in all but one because they are equal in all by chance
        some.append((share, chance, n_released, FEWEST_CHANGED, RARELY, BUT_ONE))
    rarely = RARELY / max(1, len(moved))
    near = [(beyond, n) for beyond, n in moved if beyond.chance * n <= 1]
    some += [(beyond.share, beyond.chance, n, FEWEST_CHANGED, rarely, BUT_NUMBERS) for beyond, n in near]
    doubts = {
        words: share - chance
        for share, chance, n, fewest, rarely, words in some
        if share * n >= max(fewest - 0.5, 2 * chance * n)
        and pdtrc(round(share * n) - 1, chance * n + 1) <= rarely  # so many or more, by Poisson
    }
    if len(doubts) > 1:  # they are near in numbers, too
        doubts.pop(BUT_NUMBERS, None)
    return [(share, SAYS["not_sure"].format(words)) for words, share in doubts.items()]

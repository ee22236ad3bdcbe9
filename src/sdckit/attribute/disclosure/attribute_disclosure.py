"""C4: attribute disclosure of a target by a release, to an intruder who knows the keys."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sdckit.attribute.disclosure import target_roles
from sdckit.attribute.disclosure.target_roles import Bins, KeyTarget
from sdckit.cells.packing import SharedGroups, group_files
from sdckit.cells.pair import Pair
from sdckit.cells.parted_pair import open_or_part
from sdckit.cells.record_result import WHOLE, Breakdown, ColumnResult, IntervalKind, breakdown
from sdckit.cells.shared_coding import SharedCoding
from sdckit.data import arguments
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import ColumnError, DataError
from sdckit.numerics.array_types import Bools, Codes, Floats, Ints, Values
from sdckit.numerics.grouping import sum_of_equal
from sdckit.result import FileFigure

# Checks for disclosures that may be common knowledge: of one level of the target, or one implied by a key level.


# The defaults of synthpop's `disclosure`: more records than the first, and a larger share than the second.
ONE_WAY = (50, 0.90)
TWO_WAY = (4, 0.80)


@dataclass(frozen=True)
class DisclosureCheck:
    """A finding to look at before the figures are believed.

    Attributes
    ----------
    release : int
        Which release, from 1.
    target_level : str
        Level of the target, as it prints.
    key, key_level : str
        Level of a key that it goes with; "" where one level of the target alone stands out.
    records : int
        Records correctly disclosed with it.
    share : float
        Its share of all records correctly disclosed; or, with a key level, of the original's records that
        have this key level.
    """

    release: int
    target_level: str
    key: str
    key_level: str
    records: int
    share: float


def one_way(release: int, target: SharedCoding, by_level: Floats) -> list[DisclosureCheck]:
    """Check whether one level of the target makes up nearly all correct disclosures: the records with each level."""
    most, total = int(by_level.argmax()), by_level.sum()
    if by_level[most] <= ONE_WAY[0] or by_level[most] <= ONE_WAY[1] * total:
        return []
    records = int(by_level[most])
    return [DisclosureCheck(release, target.label(most), "", "", records, records / float(total))]


LargePairs: TypeAlias = "list[tuple[Ints, Floats]]"


def large_pairs(width: np.int64, table: KeyTarget, key_codes: Sequence[Codes], correct: Ints) -> LargePairs:
    """Of each key the pairs of its level and a target level in the larger cells disclosed, with the records disclosed.

    `key_codes` are the levels, key by key, of each group of keys. `correct` is as in `one_way`.
    """
    large = np.flatnonzero(correct > TWO_WAY[0])
    group, level = table.key[large], table.target[large]
    return [sum_of_equal(codes[group] * width + level, correct[large]) for codes in key_codes]


def two_way(
    release: int, target: SharedCoding, keys: Sequence[SharedCoding], found: LargePairs, parts: Iterable[Pair]
) -> list[DisclosureCheck]:
    """Find key levels that nearly determine the target in the original, among the larger cells disclosed."""
    width = np.int64(target.n_levels + 1)
    checks = []
    both_of = [np.zeros(len(pairs), np.int64) for pairs, _ in found]
    for part in parts if any(len(pairs) for pairs, _ in found) else ():
        learnt = target if target.cut is not None else part.codes(target.name)
        for at, (key, (pairs, _)) in enumerate(zip(keys, found, strict=True)):
            both_of[at] += _records_of(pairs, width, key if key.cut is not None else part.codes(key.name), learnt)
    for key, (pairs, records), both in zip(keys, found, both_of, strict=True):
        share = both / key.counts[0][pairs // width]
        for at in np.flatnonzero(share > TWO_WAY[1]).tolist():
            key_code, code = divmod(int(pairs[at]), int(width))
            labels = target.label(code), key.name, key.label(key_code)
            checks.append(DisclosureCheck(release, *labels, int(records[at]), float(share[at])))
    return checks


def _records_of(pairs: Ints, width: np.int64, key: SharedCoding, target: SharedCoding) -> Ints:
    """Number of the original's records with each pair of key level and target level; `pairs` ascend."""
    if not len(pairs):
        return np.zeros(0, np.int64)
    of_row = key.codes[0] * width + target.codes[0]
    times = None if key.times is None else key.times[0]
    domain = (key.n_levels + 1) * int(width)
    if domain <= len(of_row):
        return np.bincount(of_row, times, domain)[pairs].astype(np.int64)
    at = np.minimum(np.searchsorted(pairs, of_row), len(pairs) - 1)
    own = pairs[at] == of_row
    return np.bincount(at[own], None if times is None else times[own], len(pairs)).astype(np.int64)


# Exclusions: records not counted as disclosed, because what they reveal is no secret.


PAIR = 3


@dataclass(frozen=True)
class Exclusions:
    """The exclusions as the caller gives them."""

    levels: tuple[Any, ...] = ()  # of the target
    missing_target: bool = False
    missing_keys: tuple[str, ...] = ()
    pairs: tuple[tuple[str, Any, Any], ...] = ()  # key, level of the key, level of the target
    max_cell: int | None = None  # records of one key and target are left out where a file has more than this


def check_exclusions(
    keys: Sequence[str], *, levels: Sequence[Any], missing_target: bool, missing_keys: Sequence[str],
    pairs: Sequence[tuple[str, Any, Any]], max_cell: int | None,
) -> Exclusions:  # fmt: skip
    """Check the exclusions as far as possible without the data."""
    for name, given in (("exclude_levels", levels), ("exclude_pairs", pairs)):
        if isinstance(given, str) or not isinstance(given, Sequence):
            raise DataError(f"{name} is a list, not {type(given).__name__}", argument=name)
    named = arguments.names(missing_keys, "exclude_missing_keys") or ()
    if any(isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != PAIR for pair in pairs):
        words = "exclude_pairs is a list of (key, level of the key, level of the target)"
        raise DataError(words, argument="exclude_pairs")
    for role, used in (("exclude_missing_keys", named), ("exclude_pairs", [pair[0] for pair in pairs])):
        if unknown := [name for name in used if name not in keys]:
            raise ColumnError(f"{role}: {unknown[0]!r} is not one of the keys", argument=role)
    if any(value is None for value in levels):
        words = "exclude_levels names levels; for a missing target give exclude_missing_target=True"
        raise DataError(words, argument="exclude_levels")
    if max_cell is not None:
        arguments.count(max_cell, "max_cell", "counts the records of one key and target")
    without = arguments.flag(missing_target, "exclude_missing_target")
    return Exclusions(tuple(levels), without, named, tuple(pairs), max_cell)


def find_levels(
    given: Exclusions, columns: Mapping[str, SharedCoding], target: SharedCoding
) -> tuple[list[int], list[tuple[str, int, int]]]:
    """Codes of the target levels, and of the pairs, that are excluded."""
    levels = [target_roles.find_level(target, value, "exclude_levels", i) for i, value in enumerate(given.levels, 1)]
    pairs = []
    for i, (key, key_level, level) in enumerate(given.pairs, 1):
        key_code = target_roles.find_level(columns[key], key_level, "exclude_pairs", i)
        pairs.append((key, key_code, target_roles.find_level(target, level, "exclude_pairs", i)))
    return levels, pairs


def excluded_cells(
    given: Exclusions, columns: Mapping[str, SharedCoding], target: SharedCoding, keys: SharedGroups, table: KeyTarget
) -> dict[str, Bools]:
    """For each reason, which combinations of key and target it excludes from every file."""
    levels, pairs = find_levels(given, columns, target)

    def key_level(name: str) -> Codes:
        return target_roles.codes_of_groups(keys, columns[name].codes)[table.key]

    excluded: dict[str, Bools] = {}
    if levels:
        excluded["level of the target"] = np.isin(table.target, levels)
    if given.missing_target:
        excluded["missing target"] = table.target == 0
    if given.missing_keys:
        excluded["missing key"] = np.any([key_level(name) == 0 for name in given.missing_keys], axis=0)
    if pairs:
        excluded["pair of key and target"] = np.any(
            [(key_level(name) == a) & (table.target == b) for name, a, b in pairs], axis=0
        )
    return excluded


def counted(
    table: KeyTarget, excluded: Mapping[str, Bools], max_cell: int | None, file: int
) -> tuple[Ints, dict[str, int]]:
    """Counted records of each combination in a file, and the excluded ones by the first reason that holds."""
    left = table.count[file].copy()
    removed = {}
    large = {} if max_cell is None else {"large cell": table.count[file] > max_cell}
    for reason, mask in (dict(excluded) | large).items():
        removed[reason] = int(left[mask].sum())
        left[mask] = 0
    return left, removed


SHARES = (
    "disclosive_in_original", "keys_in_released", "disclosed", "correctly_disclosed", "disclosed_and_disclosive",
)  # fmt: skip
Columns = dict[str, Floats]


# --- kernel: numbers in, numbers out ------------------------------------------------------------------


def disclosure_flags(table: KeyTarget, file: int) -> dict[str, Bools]:
    """For each combination of key and target, which disclosures hold for its original records, given one release."""
    own, there = table.sole(0), table.sole(file)
    of_key = np.zeros(len(table.key_size[0]), np.bool_)
    of_key[table.key[there]] = True
    return {
        "disclosive_in_original": own,
        "keys_in_released": (table.key_size[file] > 0)[table.key],
        "disclosed": of_key[table.key],
        "correctly_disclosed": there,
        "disclosed_and_disclosive": there & own,
    }


def _guesses(table: KeyTarget, d: Ints, s: Ints) -> tuple[Floats, Floats, NDArray[np.intp]]:
    """Share of each target level in its key, in the original and in a release; released records with the key."""
    k = len(table.key_size[0])
    d_key, s_key = (np.bincount(table.key, counts, k)[table.key] for counts in (d, s))
    return target_roles.shares(d, d_key), target_roles.shares(s, s_key), s_key


def tally(table: KeyTarget, file: int, d: Ints, s: Ints) -> dict[str, float]:
    """What adds up over parts of the files, of one release, from the counted records of the original (d) and of it (s).

    Sums of the chances of a right guess drawn from the records with the key, of the records counted, are among it.
    """
    flags = disclosure_flags(table, file)
    p_d, p_s, s_key = _guesses(table, d, s)
    cells = d[flags["correctly_disclosed"] & (d > 0)]
    return {
        "n_counted": int(d.sum()),
        "n_released_counted": int(s.sum()),
        "sole_in_released": int(s[table.sole(file)].sum()),
        **{name: int(d[flag].sum()) for name, flag in flags.items()},
        "cells": len(cells),
        "largest": float(cells.max(initial=0)),
        "original_average": float(p_d @ d),
        "released_average": float(p_s @ s),
        "average": float(p_s @ d),
        "matched": float(d[s_key > 0].sum()),
    }


def release_figures(tallies: Sequence[Mapping[str, float]], target: SharedCoding, file: int) -> dict[str, float]:
    """All figures of one release from the tallies of all parts."""
    n, n_s = int(target.counts[0].sum()), int(target.counts[file].sum())
    sums = {name: math.fsum(own[name] for own in tallies) for name in tallies[0]}
    margin = target.counts[0] / n
    correct, cells = sums["correctly_disclosed"], sums["cells"]
    return {
        "n_counted": int(sums["n_counted"]),
        "n_released": n_s,
        "n_released_counted": int(sums["n_released_counted"]),
        "disclosive_in_original": sums["disclosive_in_original"] / n,
        "disclosive_in_released": sums["sole_in_released"] / n_s,
        **{name: sums[name] / n for name in SHARES[1:]},
        "largest_disclosed_cell": max(own["largest"] for own in tallies) if cells else math.nan,
        "mean_disclosed_cell": correct / cells if cells else math.nan,
        "original_average": sums["original_average"] / n,
        "released_average": sums["released_average"] / n_s,
        "average": sums["average"] / n,
        "baseline": float(margin @ margin),
        "tcap_of_disclosed": correct / sums["disclosed"] if sums["disclosed"] else math.nan,
        "tcap_of_keys_in_released": correct / sums["matched"] if sums["matched"] else math.nan,
    }


# --- result -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class AttributeDisclosure(ColumnResult):
    """What a release tells about a target. Shares are of the `n` records of the original, also after exclusions.

    Attributes
    ----------
    n : int
        Records of the original.
    n_counted : float
        Those left after exclusions.
    n_released, n_released_counted : float
        The same for a release; these and all that follow are means over the releases.
    disclosive_in_original : float
        Dorig: records whose key has a single target level in the original.
    disclosive_in_released : float
        Dsyn: the same within the release, as a share of its records.
    keys_in_released : float
        iS: records whose key the release has.
    disclosed : float
        DiS: records whose key has a single target level in the release, right or wrong.
    correctly_disclosed : float
        DiSCO: those for whom it is right.
    disclosed_and_disclosive : float
        DiSDiO: those of them whose key has a single level in the original, too.
    largest_disclosed_cell, mean_disclosed_cell : float
        Size of the groups of correctly disclosed records that share key and target.
    original_average, released_average, average : float
        Chance of a right guess drawn from the records with the key: the original about itself, the release
        about itself, the release about the original.
    baseline : float
        Chance of a right guess drawn from the target's distribution in the original.
    tcap_of_disclosed : float
        ``correctly_disclosed / disclosed``: how often a clear answer is right.
    tcap_of_keys_in_released : float
        Correctly disclosed records over the records whose key the release has (synthpop's TCAP).
    n_checks : float
        Entries of `checks` per release.
    excluded : dict of str to int
        Records of the original left out, by the first reason that holds.
    checks : tuple of DisclosureCheck
        Levels that may be common knowledge rather than disclosure.
    records : frame
        The five shares of the original's records, per record: 1 where it holds, a share of the releases.
    """

    measure: ClassVar[str] = "attribute_disclosure"
    figures: ClassVar[tuple[str, ...]] = (
        "n", "n_counted", "n_released", "n_released_counted", "disclosive_in_original", "disclosive_in_released",
        "keys_in_released", "disclosed", "correctly_disclosed", "disclosed_and_disclosive",
        "largest_disclosed_cell", "mean_disclosed_cell", "original_average", "released_average", "average",
        "baseline", "tcap_of_disclosed", "tcap_of_keys_in_released", "n_checks", "excluded",
    )  # fmt: skip
    target: str = ""
    n_counted: float = math.nan
    n_released: float = math.nan
    n_released_counted: float = math.nan
    disclosive_in_original: float = math.nan
    disclosive_in_released: float = math.nan
    keys_in_released: float = math.nan
    disclosed: float = math.nan
    correctly_disclosed: float = math.nan
    disclosed_and_disclosive: float = math.nan
    largest_disclosed_cell: float = math.nan
    mean_disclosed_cell: float = math.nan
    original_average: float = math.nan
    released_average: float = math.nan
    average: float = math.nan
    baseline: float = math.nan
    tcap_of_disclosed: float = math.nan
    tcap_of_keys_in_released: float = math.nan
    n_checks: float = 0
    excluded: dict[str, int] = field(default_factory=dict)
    checks: tuple[DisclosureCheck, ...] = ()

    def file_figures(self) -> tuple[FileFigure, ...]:
        """The record column behind each file-level figure, and how it is summarised."""
        return (
            FileFigure("correctly_disclosed", "correctly_disclosed"),
            *(FileFigure(name, name) for name in SHARES if name != "correctly_disclosed"),
            FileFigure("disclosive_in_released", of="released records", base="n_released"),
            FileFigure("average", "average"),
            FileFigure("original_average", "original_average", higher="reference"),
            FileFigure("released_average", of="released records", base="n_released", higher="reference"),
            FileFigure("baseline", higher="reference"),
            FileFigure(
                "tcap_of_disclosed", "correctly_disclosed", among="disclosed", of="records disclosed", base=""
            ),
            FileFigure(
                "tcap_of_keys_in_released", "correctly_disclosed", among="matched",
                of="records counted whose key the release has", base="",
            ),
        )  # fmt: skip


# --- measure ------------------------------------------------------------------------------------------


def attribute_disclosure(
    original: Any,
    released: Any = None,
    *,
    keys: Sequence[str] | None = None,
    target: str | None = None,
    numeric: Sequence[str] = (),
    bins: Bins = 5,
    exclude_levels: Sequence[Any] = (),
    exclude_missing_target: bool = False,
    exclude_missing_keys: Sequence[str] = (),
    exclude_pairs: Sequence[tuple[str, Any, Any]] = (),
    max_cell: int | None = None,
    by: Sequence[str] | str | None = None,
    interval: IntervalKind | None = None,
    seed: arguments.Seed = None,
    scenario: Scenario | None = None,
    id: str | None = None,
    prefix: str = "",
) -> AttributeDisclosure:
    """Measure for which records a release names their target, and for how many of them rightly.

    Parameters
    ----------
    original : data frame or Pair
    released : data frame or sequence of data frames
        One release or m of them; sizes may differ from the original's.
    keys : sequence of str
        Variables that an intruder could know; a missing value is a level of its own.
    target : str
        Variable that they would learn; a missing value is a level of its own.
    numeric : sequence of str
        Keys and target that are cut into classes; others are taken value by value, also where they are
        numbers.
    bins : int or dict of str to int
        Classes of each of them, 2 or more, cut at the quantiles of all files pooled. A dict gives a number per
        column, and its columns are cut whether `numeric` names them or not.
    exclude_levels : sequence
        Levels of the target that are no secret (not having an illness): such records are not counted.
    exclude_missing_target : bool
        Whether records without a target value are not counted.
    exclude_missing_keys : sequence of str
        Keys; records without a value of one of them are not counted.
    exclude_pairs : sequence of (key, level of the key, level of the target)
        Combinations that anybody knows (children are unmarried): not counted; None stands for missing.
    max_cell : int, optional
        Records whose key and target more than this many records of their file share are not counted.
    by : str or sequence of str, optional
        Columns of the original whose combinations are subgroups; see ``by_group``. A missing value is a group of its
        own.
    interval : "bootstrap", optional
        95 % percentile intervals of means and sums over the records, from 200 resamples of the records (of whole
        households where they are declared). A record keeps what it has in this file: drawing it twice does not make
        it less rare.
    seed : int or Generator, optional
        Of the bootstrap.
    scenario : Scenario, optional
        Gives the keys, and the target where it has one sensitive variable.
    id, prefix : str, optional
        Column carried along in `.records`; text before the names of result columns.

    Returns
    -------
    AttributeDisclosure

    Raises
    ------
    ColumnError
        A column that a file does not have or of types that do not compare; a target among the keys.
    DataError
        No release, a file without records, a level to be excluded that no file has, `bins` below 2.
    ScenarioError
        No keys or no target.

    Notes
    -----
    Always ``disclosed_and_disclosive <= correctly_disclosed <= disclosed <= keys_in_released``. Whether a key
    has a single level, or is in the release, is judged on all records; an exclusion only takes records out
    of the counts, and ``n`` stays the denominator. The averages and the TCAP are of the records counted,
    the baseline of all.

    References
    ----------
    Raab, G. M., Nowok, B. and Dibben, C. (2024). Practical privacy metrics for synthetic data. Privacy in
    Statistical Databases. Taub, J. and Elliot, M. (2019). The synthetic data challenge. UNECE work session.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"sex": ["f", "f", "m", "m"], "ill": ["yes", "yes", "no", "yes"]})
    >>> release = pl.DataFrame({"sex": ["f", "f", "m", "m"], "ill": ["yes", "no", "no", "no"]})
    >>> result = attribute_disclosure(survey, release, keys=["sex"], target="ill")
    >>> result.disclosive_in_original, result.disclosed, result.correctly_disclosed
    (0.5, 0.5, 0.25)
    """
    names, (learnt,) = target_roles.known_and_learnt(keys, target, scenario)
    cut = target_roles.bins_by_name(bins, numeric, (*names, learnt))
    left_out = check_exclusions(
        names, levels=exclude_levels, missing_target=exclude_missing_target, missing_keys=exclude_missing_keys,
        pairs=exclude_pairs, max_cell=max_cell,
    )  # fmt: skip
    roles = {"keys": [name for name in names if name not in cut], "target": [learnt] if learnt not in cut else []}
    broken = breakdown(original, by, AttributeDisclosure, interval, seed, scenario, prefix)
    pair = open_or_part(
        original, released, categories=roles, numeric={"numeric": list(cut)}, also=broken.also, id=id,
        records=broken.drawn,
    )  # fmt: skip
    columns = target_roles.coded_columns(pair, (*names, learnt), cut)
    return disclosure_of(pair, names, learnt, columns, left_out, prefix, broken)


def disclosure_of(
    pair: Pair, keys: Sequence[str], target: str, columns: Mapping[str, SharedCoding], left_out: Exclusions,
    prefix: str = "", broken: Breakdown = WHOLE,
) -> AttributeDisclosure:  # fmt: skip
    """Measure the disclosure of one target."""
    mark = "attribute disclosure", tuple(keys), target
    whole_levels = all(columns[name].cut is None for name in (*keys, target))
    again = whole_levels and left_out == Exclusions() and not broken.wanted  # for one target, and in the table of all
    measured = pair.memo.get(mark) if again else None
    if measured is None:
        measured = _measured(pair, keys, target, columns, left_out, each=broken.wanted)
    if again:
        pair.memo[mark] = measured
    notes = _notes(pair, [*keys, target], measured.per_release)
    result = AttributeDisclosure.of(
        pair, measured.per_release, target_roles.MISSING_RULE, notes, target=target, excluded=measured.excluded,
        checks=measured.checks, columns=measured.columns, prefix=prefix,
    )  # fmt: skip
    return broken.of(result, measured.each)


@dataclass(frozen=True, eq=False)
class _Measured:
    """What a result is made of; `each`: values of each record by release, if asked for, or what tells a part's."""

    per_release: list[dict[str, float]]
    checks: tuple[DisclosureCheck, ...]
    columns: dict[str, Any]
    excluded: dict[str, int]
    each: Columns | Callable[[Pair], Columns]


def _measured(
    pair: Pair, keys: Sequence[str], target: str, columns: Mapping[str, SharedCoding], left_out: Exclusions, *,
    each: bool,
) -> _Measured:  # fmt: skip
    learnt, files = columns[target], range(1, pair.m + 1)
    width = np.int64(learnt.n_levels + 1)
    tallies: list[list[dict[str, float]]] = [[] for _ in files]
    by_level = [np.zeros(int(width)) for _ in files]
    pairs: list[list[LargePairs]] = [[] for _ in files]
    by_release: list[Columns] = []
    excluded: Counter[str] = Counter()
    for part in pair.parts():
        table, codes, without = _tabulated(part, keys, target, columns, left_out)
        d, removed = counted(table, without, left_out.max_cell, 0)
        excluded.update(removed)
        for at, file in enumerate(files):
            s, _ = counted(table, without, left_out.max_cell, file)
            tallies[at].append(tally(table, file, d, s))
            correct = d * table.sole(file)
            by_level[at] += np.bincount(table.target, weights=correct, minlength=int(width))
            pairs[at].append(large_pairs(width, table, codes, correct))
            if part is pair:
                by_release.append(_record_values(table, file, d, s))
    per_release, checks = [], []
    for at, file in enumerate(files):
        large = [
            sum_of_equal(*map(np.concatenate, zip(*of_key, strict=True))) for of_key in zip(*pairs[at], strict=True)
        ]
        new_checks = one_way(file, learnt, by_level[at])
        new_checks += two_way(file, learnt, [columns[name] for name in keys], large, pair.parts())
        per_release.append({**release_figures(tallies[at], learnt, file), "n_checks": len(new_checks)})
        checks += new_checks

    def told(part: Pair) -> Columns:
        table, _, without = _tabulated(part, keys, target, columns, left_out)
        d, *of_releases = (counted(table, without, left_out.max_cell, file)[0] for file in (0, *files))
        return _stacked([_record_values(table, file, d, s) for file, s in zip(files, of_releases, strict=True)])

    shown = SHARES if by_release else ()  # of cells in parts nothing is kept by record
    return _Measured(
        per_release, tuple(checks),
        {name: np.mean([terms[name] for terms in by_release], axis=0) for name in shown}, dict(excluded),
        told if not by_release else _stacked(by_release) if each else {},
    )  # fmt: skip


def _stacked(by_release: Sequence[Columns]) -> Columns:
    return {name: np.stack([terms[name] for terms in by_release]) for name in by_release[0]}


def _tabulated(
    part: Pair, keys: Sequence[str], target: str, columns: Mapping[str, SharedCoding], left_out: Exclusions
) -> tuple[KeyTarget, list[Codes], dict[str, Bools]]:
    """The combinations of keys and target, the level of each key in every group, and what each reason excludes."""
    here = {name: own if own.cut is not None else part.codes(name) for name, own in columns.items()}
    groups, codes = _keys_of(part, keys, here)
    table = target_roles.key_and_target(part, keys, here[target], groups)
    return table, codes, excluded_cells(left_out, here, here[target], groups, table)


def _keys_of(part: Pair, keys: Sequence[str], columns: Mapping[str, SharedCoding]) -> tuple[SharedGroups, list[Codes]]:
    """The groups by the keys, and for each key its code in every group; once for all targets."""
    cuts = (columns[key].cut for key in keys)
    mark = tuple(keys), tuple(None if cut is None else cut.edges.tobytes() for cut in cuts)
    codes = [columns[name].codes for name in keys]
    if any(mark[1]):
        groups = part.once(("key groups", *mark), lambda: group_files(codes, times=part.times))
    else:
        groups = part.groups(keys)
    return groups, part.once(("key codes", *mark), lambda: [target_roles.codes_of_groups(groups, own) for own in codes])


def _record_values(table: KeyTarget, file: int, d: Ints, s: Ints) -> Columns:
    """Values of each original record, given one release; 0 for records that are not counted."""
    p_d, p_s, s_key = _guesses(table, d, s)
    flags = disclosure_flags(table, file)
    values: dict[str, Values] = {name: flags[name] for name in SHARES} | {
        "matched": s_key > 0, "average": p_s, "original_average": p_d
    }  # fmt: skip
    return {name: (value * (d > 0))[table.of_row[0]] for name, value in values.items()}


def _notes(pair: Pair, used: Sequence[str], per_release: Sequence[Mapping[str, float]]) -> dict[str, str]:
    reasons = {
        "largest_disclosed_cell": "no record is correctly disclosed",
        "mean_disclosed_cell": "no record is correctly disclosed",
        "tcap_of_disclosed": "no record is disclosed",
        "tcap_of_keys_in_released": "the release has none of the keys counted",
    }
    undefined = [name for name in reasons if all(math.isnan(figures[name]) for figures in per_release)]
    return target_roles.identical_note(pair, used) | {name: reasons[name] for name in undefined}

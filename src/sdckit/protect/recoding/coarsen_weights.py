"""Coarser weights: neighbouring ones get one value, so that a weight no longer discloses other variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sdckit.cells.packing import group_codes
from sdckit.data import arguments, replace, seeds
from sdckit.data.columns import code_column, first_rows, float_values, level_name
from sdckit.display import counted
from sdckit.errors import ColumnError, DataError
from sdckit.numerics.array_types import Floats, Ints
from sdckit.numerics.compiling import njit
from sdckit.numerics.grouping import dense_codes, group, means_of, uniform_ranges
from sdckit.protect.by_household import read_homes, read_shared
from sdckit.protect.change import Change, Protected, at_least, became_fractions, count_changed, numbers, strata_rows

# Columns that a weight discloses: each value of the weight occurs with one value of the column only.


TELLS = 0.05  # share of records beyond chance from which a column is taken to disclose another
BEYOND = 4.0  # standard deviations that chance is allowed


def told_by(data: Any, column: str, others: Sequence[str], *, household: str | None = None) -> dict[str, float]:
    """How far the values of one column (a weight, say) disclose those of others.

    By column: the share of records whose value of `column` at least one more record has, all of them with one value of
    the other column; minus the share expected by chance, divided by the largest possible difference. 0 where the
    difference is within chance (four standard deviations). With a household one record of each counts: members share
    their weight anyway. Of numbers the share of records within ranges that hold one value only, where it is larger.

    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> survey = pl.DataFrame({"w": [1.5, 2.0] * 10, "region": ["a", "b"] * 10, "sex": ["f", "f", "m", "m"] * 5})
    >>> told_by(open_frame(survey), "w", ["region", "sex"])
    {'region': 1.0, 'sex': 0.0}
    """
    frame, records = replace.open_records(data, {})
    first = np.arange(len(frame)) if household is None else read_homes(frame, household).first
    held = code_column(frame[column])
    codes = held.codes()[first]
    ordered = frame[column].dtype.is_numeric() and records.counts is None
    own = float_values(frame[column], "column")[first] if ordered else np.full(len(first), np.nan)
    ascending = np.argsort(own)[: np.count_nonzero(~np.isnan(own))]
    own = own[ascending]
    shares = {}
    for name in others:
        coded = code_column(frame[name])
        theirs = coded.codes()[first]
        by_value = _disclosed_share(codes, held.span, theirs, coded.span, records)
        shares[name] = max(by_value, _share_in_ranges(own, theirs[ascending], coded.span))
    return shares


def _share_in_ranges(numbers: Floats, theirs: Ints, missing: int) -> float:
    """Share of the records, in the order of their numbers, that are in a range of these that holds one value only."""
    known = theirs != missing
    if not known.any():
        return 0.0
    own, level = numbers[known], dense_codes(theirs[known], 0, missing)[0].astype(np.int64)
    low, high, _ = uniform_ranges(own, level)
    inside = np.searchsorted(own, high, "right") - np.searchsorted(own, low)
    return float(inside.sum() / len(own))


def _disclosed_share(codes: Ints, missing: int, theirs: Ints, span: int, records: replace.Records) -> float:
    known = (codes != missing) & (theirs != span)
    if not known.any():
        return 0.0
    value, n_values = dense_codes(codes[known], 0, missing)
    kind, n_levels = dense_codes(theirs[known], 0, span)
    of_value, level = value.astype(np.int64), kind.astype(np.int64)
    counted = replace.Records(len(level), None if records.counts is None else records.counts[known])
    n, size = counted.n, counted.by(of_value, n_values)
    pairs = group((of_value * n_levels + level).astype(np.uint64)).words.astype(np.int64)
    kinds = np.bincount(pairs // n_levels, minlength=n_values)
    several = size > 1
    disclosed = float(size[several & (kinds == 1)].sum())
    shares = counted.by(level, n_levels) / n
    sizes, often = np.unique(size[several], return_counts=True)
    alike = np.array([float((shares ** int(s)).sum()) for s in sizes])
    chance = float((sizes * often * alike).sum())
    spread = float((sizes**2 * often * alike * (1 - alike)).sum()) ** 0.5
    if disclosed <= chance + BEYOND * spread or chance >= n:
        return 0.0
    return (disclosed - chance) / (n - chance)


# Groups of neighbouring weights in which no value of a hidden column dominates.


@njit(cache=True, nogil=True)
def _hides(top, known, most):  # type: ignore[no-untyped-def]
    """Whether no level has more than the share `most` of the values known, in any column."""
    return not (top > most * known + 1e-9).any()


@njit(cache=True, nogil=True)
def _add(rows, codes, count, top, known):  # type: ignore[no-untyped-def]
    """Add records to the counts of levels, to the largest count and the number of known values, by column."""
    for r in rows:
        for d in range(len(codes)):
            level = codes[d, r]
            if level >= 0:
                known[d] += 1
                count[d, level] += 1
                top[d] = max(top[d], count[d, level])


@njit(cache=True, nogil=True)
def _groups(order, last, codes, count, k, most, group, starts):  # type: ignore[no-untyped-def]
    """Cut ordered records into groups greedily, merge what is left over with the last ones; return their number.

    `order` (n,): records by weight. `last` (n,): whether a unit ends there. `codes`: as in `weight_groups`. `count`:
    zeros, columns x levels. `k`: units of a group at least. `most`: largest share of a level. Fills `group`, by record,
    and `starts`. 0 where not even one group of all records is permitted.
    """
    top, known = np.zeros(len(codes), np.int64), np.zeros(len(codes), np.int64)
    n, begin, units = 0, 0, 0
    for t in range(len(order)):
        _add(order[t : t + 1], codes, count, top, known)
        units += last[t]
        if last[t] and units >= k and _hides(top, known, most):
            starts[n], begin, units = begin, t + 1, 0
            n += 1
            count[:] = 0
            top[:] = 0
            known[:] = 0
    end = len(order)
    if begin < end:
        while n > 0 and (units < k or not _hides(top, known, most) or begin == end):
            n -= 1
            _add(order[starts[n] : begin], codes, count, top, known)
            begin, units = starts[n], k
        starts[n] = begin
        n += 1
        if units < k or not _hides(top, known, most):
            return 0
    for g in range(n):
        stop = starts[g + 1] if g + 1 < n else end
        for t in range(starts[g], stop):
            group[order[t]] = g
    return n


def _dominated(codes: Ints, most: float) -> bool:
    """Whether one level has more than the share `most` of the known values."""
    size = np.bincount(codes[codes >= 0], minlength=1)
    return bool(size.max() > most * size.sum() + 1e-9)


def weight_groups(order: Ints, unit: Ints, codes: Ints, k: int, most: float) -> tuple[Ints, int]:
    """Group of each record, and the number of groups; 0 where a group of all records would still disclose.

    `order`: records by their weights, those of a unit together. `unit` (shape (n,)): unit of each record. `codes`
    (shape (columns, n)): level of each record in the columns to hide, -1 where missing.

    >>> order, region = np.arange(6), np.array([[0, 0, 0, 1, 1, 1]])
    >>> weight_groups(order, order, region, 2, 0.75)[0].tolist()
    [0, 0, 0, 0, 0, 0]
    >>> weight_groups(order, order, region, 2, 1.0)[0].tolist()
    [0, 0, 1, 1, 2, 2]
    """
    last = np.ones(len(order), np.bool_)
    last[:-1] = unit[order][1:] != unit[order][:-1]
    group, starts = np.full(int(order.max()) + 1, -1, np.int64), np.zeros(len(order) + 1, np.int64)
    count = np.zeros((len(codes), int(codes.max(initial=0)) + 1), np.int64)
    return group, int(_groups(order, last, codes, count, k, most, group, starts))


# Weights calibrated to known totals: raking, for persons or with one weight per household.


ROUNDS = 50
CLOSE = 1e-12  # of the total
AGREE = 1e-6  # relative difference allowed between totals of several margins: they are published rounded


def read_margins(frame: Any, margins: Any) -> tuple[list[Ints], list[Floats]]:
    """The level of each record in each margin, and the total of each level.

    Raises `ColumnError`: no such column; `DataError`: a record without a value, a level without a total or a total
    without records, totals that are not above 0 or differ between margins.
    """
    says = "is {column: {level: total}}, the totals that the weights shall add up to"
    codes, totals = [], []
    for name, given in arguments.mapping(margins, "margins", says).items():
        if name not in frame.columns:
            raise ColumnError(f"margins: no column {name!r} in the data", argument="margins")
        level, labels, numeric = _levels(frame[name])
        given_totals = arguments.mapping(given, "margins", says)
        by_label = {level_name(label, numeric): _total(total) for label, total in given_totals.items()}
        mine = [level_name(label, numeric) for label in labels]
        lacking, empty = [label for label in mine if label not in by_label], set(by_label) - set(mine)
        if lacking or empty:
            raise DataError(
                f"margins of {name!r}: {len(lacking)} levels of the data have no total, {len(empty)} totals no records",
                argument="margins",
            )
        codes.append(level)
        totals.append(np.array([by_label[label] for label in mine]))
    if not totals:
        raise DataError(f"margins {says}; it is empty", argument="margins")
    sums = [float(total.sum()) for total in totals]
    if max(sums) - min(sums) > AGREE * max(sums):
        raise DataError("margins: the totals of one column add up to another sum than those of another")
    return codes, [total * (sums[0] / own) for total, own in zip(totals, sums, strict=True)]


def _levels(series: Any) -> tuple[Ints, list[str], bool]:
    coded = code_column(series)
    codes = coded.codes()
    if coded.n_missing:
        raise DataError(
            f"margins: {series.name!r} is missing in {counted(coded.n_missing, 'record')} "
            f"({first_rows(codes == coded.span)}); they belong to no total",
            argument="margins",
        )
    _, first, level = np.unique(codes, return_index=True, return_inverse=True)
    one_each = code_column(series[first.tolist()])
    return level.reshape(-1), one_each.labels(one_each.codes()), coded.kind in {"integer", "number"}


def _total(value: object) -> float:
    return arguments.amount_above(value, "margins", "hold totals")


def raked(weight: Floats, unit: Ints, codes: Sequence[Ints], totals: Sequence[Floats]) -> Floats:
    """Rake weights to the totals of every margin.

    `unit` (shape (n,)): records of one unit, numbered from 0, have one weight before and after. Each weight is
    multiplied by the exponential of a sum of terms, one per level: a unit's share of the level times its term.

    Raises `DataError`: the totals cannot be met.

    >>> weights = raked(np.ones(4), np.arange(4), [np.array([0, 0, 1, 1])], [np.array([2.0, 6.0])])
    >>> weights.round(6).tolist()
    [1.0, 1.0, 3.0, 3.0]
    """
    size = np.bincount(unit).astype(np.float64)
    first = np.unique(unit, return_index=True)[1]
    shares = [np.bincount(unit[level == at], minlength=len(size)) for level, total in zip(codes, totals, strict=True)
              for at in range(len(total))]  # fmt: skip
    base = weight[first]
    alike = group_codes([*shares, np.unique(base, return_inverse=True)[1].reshape(-1)], len(size))
    of_unit, begin = alike.of_row.astype(np.int64), np.unique(alike.of_row, return_index=True)[1]
    design = np.column_stack([share[begin] for share in shares]) / size[begin][:, None]
    mass = np.bincount(of_unit, size * base)  # persons that the units of a kind stand for
    wanted, term = np.concatenate(list(totals)), np.zeros(design.shape[1])
    for _ in range(ROUNDS):
        factor = np.exp(np.clip(design @ term, -50, 50))
        now = mass * factor
        short = wanted - design.T @ now
        if np.abs(short).max() <= CLOSE * wanted.max():
            return np.asarray((base[begin] * factor)[of_unit][unit])
        step = np.linalg.lstsq(design.T @ (design * now[:, None]), short, rcond=1e-12)[0]
        term = term + step * min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-12))
    raise DataError(
        "margins: no weights above 0 add up to these totals; see whether they agree with each other and with who "
        "is in the file",
        argument="margins",
    )


def coarsen_weights(
    data: Any,
    *,
    weight: str,
    k: int = 10,
    hide: str | Sequence[str] = (),
    share: float = 0.8,
    strata: str | Sequence[str] | None = None,
    margins: Mapping[str, Mapping[Any, float]] | None = None,
    household: str | None = None,
    household_variables: Sequence[str] | None = None,
    seed: arguments.Seed = None,
) -> Protected:
    """Give neighbouring weights one value, so that a weight no longer tells region, stratum or person.

    Parameters
    ----------
    data : data frame in memory
        pandas, Polars or PyArrow; it is not modified.
    weight : str
        Column of sampling weights.
    k : int
        Records, or households, that share each new weight at least.
    hide : str or sequence of str
        Columns that a weight must not tell: those whose values other steps take out or change.
    share : float
        Largest share of one value of a hidden column among the records of a weight, above 0 and below 1.
    strata : str or sequence of str, optional
        Columns within whose groups weights are averaged, so that the total of each group is kept; a missing value
        is a level. Default the whole file.
    margins : dict, optional
        ``{"sex": {"f": 4510000, "m": 4390000}}``: totals that the new weights are raked to, for every level of each
        column. Weights then differ between combinations of these columns.
    household : str, optional
        Column that numbers the households; where the weight is a household variable, each gets one weight.
    household_variables : sequence of str, optional
        Variables that members share; default those found (`household_variables`). An empty list: none.
    seed : int or numpy.random.Generator, optional
        For the order among equal weights.
        Whoever guesses it undoes what is drawn: leave it out for a release, ``change.secret`` keeps a long one.

    Returns
    -------
    Protected
        ``data`` and ``change``. ``change.parameters["told"]`` names the columns of `strata`, `hide` and `margins`
        that the new weights still tell.

    Raises
    ------
    ColumnError
        A column that the data does not have, or with two roles.
    DataError
        Text, infinite values; k larger than the file or a stratum; a stratum in which a hidden column has nearly
        one value; strata that divide households; margins that cannot be met, or of records without a value.

    Notes
    -----
    Design weights have few values, and many of them occur in one region or stratum only: what is suppressed there
    is read from the weight. Records are sorted by their weight, those of equal weight in random order, and cut into
    groups from the smallest on: as soon as a group has k records (households) and no value of a hidden column has
    more than `share` of it. What is left over joins the last groups. Every group gets its mean, so the total of the
    weights is kept, in every stratum where there are strata; totals of other groups change a little, and estimates
    lose what the weights did for them. Strata keep their totals and thereby tell their weights apart: a column to
    hide cannot be among them.

    Raking multiplies weights so that every margin is met; with households the factor of a household depends on how
    many of its members are in each level, and all of them keep one weight.

    References
    ----------
    Deville, J.-C., Saerndal, C.-E. and Sautory, O. (1993). Generalized raking procedures in survey sampling. Journal
    of the American Statistical Association 88, 1013-1020.
    de Waal, A. G. and Willenborg, L. C. R. J. (1997). Statistical disclosure control and sampling weights. Journal
    of Official Statistics 13, 417-434.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"region": ["n"] * 3 + ["s"] * 3, "w": [10.0, 10, 10, 12, 12, 12]})
    >>> safe, change = coarsen_weights(survey, weight="w", k=2, hide=["region"], seed=1)
    >>> safe["w"].to_list(), change.parameters["told"]
    ([11.0, 11.0, 11.0, 11.0, 11.0, 11.0], [])
    """
    arguments.column(weight, "weight")
    hidden = arguments.names(hide, "hide", single=True) or ()
    within = arguments.names(strata, "strata", single=True) or ()
    arguments.count(k, "k", "counts the records of a weight", at_least=2)
    arguments.within(share, "share", "is a share of the records of a weight", 0, 1, "()")
    if clash := [name for name in hidden if name in within]:
        says = f"hide: {clash[0]!r} is in strata, whose totals weights keep by telling them apart; choose one"
        raise ColumnError(says, argument="hide")
    if weight in {*hidden, *within}:
        raise ColumnError(f"weight: {weight!r} is in hide or strata, too", argument="weight")
    frame = replace.open_eager(data, {"weight": [weight], "hide": hidden, "strata": within})
    before = numbers(frame, [weight])[weight]
    unit, shared = _units(frame, weight, within, household, household_variables)
    goal = None if margins is None else read_margins(frame, margins)
    rng, secret = seeds.open_rng(seed)
    counted = "households" if shared else "records"
    made, n_groups = _averaged(frame, before, unit, within, hidden, int(k), float(share), rng, counted)
    known = ~np.isnan(before)
    if goal is not None:
        if not known.all():
            raise DataError(
                "margins: records without a weight add nothing to a total; give them one", argument="margins"
            )
        made = raked(made, unit, *goal)
    out = replace.with_numbers(frame, {weight: made})
    looked = tuple(dict.fromkeys([*within, *hidden, *(margins or {})]))
    left = told_by(replace.open_eager(out, {}), weight, looked, household=household if shared else None)
    disclosed = [name for name, how_far in left.items() if how_far > TELLS]
    change = Change(
        "coarsen_weights", len(frame), count_changed({weight: before}, {weight: made}),
        {
            "weight": weight, "k": int(k), "hide": list(hidden), "share": float(share), "strata": list(within),
            "margins": [] if margins is None else list(margins), "told": disclosed,
            **({"household": household, "household_variables": [weight]} if shared else {}),
        },
        {"seed": secret}, {**_notes(n_groups, disclosed), **became_fractions(frame, out, [weight])},
    )  # fmt: skip
    return Protected(out, change)


def _units(
    frame: Any, weight: str, within: Sequence[str], household: str | None, declared: Sequence[str] | None
) -> tuple[Ints, bool]:
    """The unit of each record that has one weight, and whether units are households rather than records."""
    _, shared = read_shared(frame, [weight], household, declared)
    if household is None or not shared:
        return np.arange(len(frame)), False
    homes = read_homes(frame, household)
    for name in within:
        codes = code_column(frame[name]).codes()
        if (codes != codes[homes.first][homes.of_row]).any():
            says = f"strata: {name!r} divides households, which have one weight; leave it out, or household="
            raise DataError(says, argument="strata")
    return homes.of_row, True


def _averaged(
    frame: Any, before: Floats, unit: Ints, within: Sequence[str], hidden: Sequence[str], k: int, share: float,
    rng: np.random.Generator, counted: str,
) -> tuple[Floats, int]:  # fmt: skip
    """Mean weight of the group of each record, and the number of groups; `counted` are "records" or "households"."""
    codes = np.full((len(hidden), len(frame)), -1, np.int64)
    for at, name in enumerate(hidden):
        coded = code_column(frame[name])
        seen, level = np.unique(coded.codes(), return_inverse=True)
        codes[at] = np.where(seen[level.reshape(-1)] == coded.span, -1, level.reshape(-1))
    known = [rows[~np.isnan(before[rows])] for rows in strata_rows(frame, within)]
    at_least(k, [rows for rows in known if len(rows)], within, len(frame))
    made, chance, total = before.copy(), rng.random(int(unit.max()) + 1), 0
    for number, rows in enumerate(known, 1):
        if len(rows) == 0:
            continue
        order = np.lexsort((unit[rows], chance[unit[rows]], before[rows]))
        most = share if len(hidden) else 1.0
        group, n = weight_groups(order, unit[rows], codes[:, rows], k, most)
        if n == 0:
            where = f"in stratum {number} of {len(known)}" if within else "in the file"
            says = f"there are fewer than k = {k} {counted}; merge strata or lower k"
            if above := [name for at, name in enumerate(hidden) if _dominated(codes[at, rows], most)]:
                says = (
                    f"one value of {', '.join(above)} has more than {share:g} of the records, so no weight hides it; "
                    "leave it out of hide, merge strata or raise share="
                )
            raise DataError(f"hide: {where} {says}", argument="hide")
        made[rows] = means_of(group, before[rows], n)[group]
        total += n
    return made, total


def _notes(n_groups: int, disclosed: Sequence[str]) -> dict[str, str]:
    notes = {"groups": f"{n_groups:,} groups of weights"}
    if disclosed:
        notes["told"] = f"the weights still tell {', '.join(disclosed)}: what is taken out there is read from them"
    return notes

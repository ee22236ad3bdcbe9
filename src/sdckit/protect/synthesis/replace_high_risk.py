"""E9: replace values in records of high re-identification risk by those of similar records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from sdckit.cells.packing import group_codes
from sdckit.data import arguments, columns, households, seeds
from sdckit.data.frames import really_has
from sdckit.data.replace import open_eager, take_rows
from sdckit.display import counted
from sdckit.errors import ColumnError, DataError
from sdckit.numerics.array_types import Bools, Codes, Floats, Ints, Values
from sdckit.numerics.compiling import njit
from sdckit.numerics.search.count_boxes import order_by_group
from sdckit.numerics.threads import chunks, run
from sdckit.protect.by_household import read_shared
from sdckit.protect.change import Change, Protected

SLICE = 64  # records whose donors a thread searches at a time, at least


class _File(NamedTuple):
    """Arrays for the kernels: codes of the cells, cell of each record, records by cell, donors, and numbers."""

    codes: Ints
    cell: Codes
    members: Ints
    edges: Ints
    lends: Bools
    numbers: Floats


@njit(cache=True, nogil=True)
def _distance(numbers, i, j):  # type: ignore[no-untyped-def]
    """Squared distance of records i and j; two missing numbers are at distance 0, one is infinitely far off."""
    total = 0.0
    for d in range(len(numbers)):
        a, b = numbers[d, i], numbers[d, j]
        if np.isnan(a) or np.isnan(b):
            if np.isnan(a) != np.isnan(b):
                return np.inf
        else:
            total += (a - b) ** 2
    return total


@njit(cache=True, nogil=True)
def _best_cells(codes, mine, able, cells):  # type: ignore[no-untyped-def]
    """Fill `cells` with those that have a donor and agree with cell `mine` on most variables; return their number."""
    best, n_best = -1, 0
    for g in range(len(able)):
        if able[g] == 0:
            continue
        agree = 0
        for d in range(len(codes)):
            agree += codes[d, g] == codes[d, mine]
        if agree > best:
            best, n_best = agree, 0
        if agree == best:
            cells[n_best] = g
            n_best += 1
    return n_best


@njit(cache=True, nogil=True)
def _nearest(i, cells, file, near):  # type: ignore[no-untyped-def]
    """Fill `near` with the smallest distances of record i to donors in some cells, ascending; their number."""
    _, _, members, edges, lends, numbers = file
    n_near, k = 0, len(near)
    for g in cells:
        for j in members[edges[g] : edges[g + 1]]:
            if j == i or not lends[j]:
                continue
            far = _distance(numbers, i, j)
            if n_near == k and far >= near[k - 1]:
                continue
            at = min(n_near, k - 1)
            while at > 0 and near[at - 1] > far:
                near[at] = near[at - 1]
                at -= 1
            near[at] = far
            n_near = min(n_near + 1, k)
    return n_near


@njit(cache=True, nogil=True)
def _one_at(i, far, chance, cells, file):  # type: ignore[no-untyped-def]
    """Draw one of the donors at a distance from record i; `chance`: uniform random number."""
    _, _, members, edges, lends, numbers = file
    n_there, chosen, donor = 0, -1, -1
    for again in range(2):  # how many there are, then which of them
        seen = 0
        for g in cells:
            for j in members[edges[g] : edges[g + 1]]:
                if j != i and lends[j] and _distance(numbers, i, j) == far:
                    if again and seen == chosen:
                        donor = j
                    seen += 1
        n_there = seen
        chosen = int(chance * n_there)
    return donor


@njit(cache=True, nogil=True)
def _draw(recipients, first, last, file, able, k, chance, donor):  # type: ignore[no-untyped-def]
    """Draw a donor for each of the records `recipients[first:last]`, and write it into `donor`.

    `able`: number of donors in each cell. `chance` (2, n): uniform random numbers. `k`: as in `draw_donors`.
    """
    codes, cell, _, _, lends, _ = file
    cells, near = np.empty(len(able), np.int64), np.empty(k)
    for t in range(first, last):
        i = recipients[t]
        able[cell[i]] -= lends[i]  # never itself
        cells[0], n_cells = cell[i], 1
        if able[cell[i]] == 0:
            n_cells = _best_cells(codes, cell[i], able, cells)
        able[cell[i]] += lends[i]
        there = cells[:n_cells]
        n_near = _nearest(i, there, file, near)
        if n_near:
            far = near[int(chance[0, t] * n_near)]
            donor[t] = _one_at(i, far, chance[1, t], there, file)


def draw_donors(
    recipients: Ints, categories: Sequence[Values], numbers: Sequence[Floats],
    lends: Bools, *, k: int, rng: np.random.Generator,
) -> Ints:  # fmt: skip
    """Draw a donor for each of some records.

    Of the other records that may lend, those that agree with it on most categories are taken, of these the
    k with the smallest squared distance in the numbers, of these one at random. Records equally far share
    the last place: each of them is as likely as the others.

    `recipients`: rows that need a donor. `categories`: codes of each categorical variable, shape (n,). `numbers`:
    shape (n,), NaN where missing. `lends`: which records may be donors. Returns the row of each donor, -1 where
    there is none.

    >>> rng = np.random.default_rng(0)
    >>> sex, age = np.array([0, 0, 1]), np.array([30.0, 40.0, 31.0])
    >>> draw_donors(np.array([0]), [sex], [age], np.ones(3, bool), k=1, rng=rng).tolist()
    [1]
    """
    n = len(lends)
    groups = group_codes(list(categories), n)
    members, edges = order_by_group(groups.of_row, len(groups.size))
    first = members[edges[:-1]]
    codes = np.array([column[first] for column in categories], np.int64).reshape(len(categories), len(first))
    matrix = np.array(list(numbers), np.float64).reshape(len(numbers), n)
    able = np.bincount(groups.of_row, weights=lends, minlength=len(first)).astype(np.int64)
    chance, donor = rng.random((2, len(recipients))), np.full(len(recipients), -1, np.int64)
    file = _File(codes, groups.of_row, members, edges, lends, matrix)
    parts = chunks(len(recipients), minimum=SLICE)
    run(lambda part: _draw(recipients, *part, file, able.copy(), k, chance, donor), parts)
    return donor


def replace_high_risk(
    released: Any,
    *,
    risk: Any,
    threshold: float,
    match: Sequence[str],
    replace: Sequence[str],
    numeric: Sequence[str] = (),
    k: int = 1,
    n_replace: int | None = None,
    exclude_high_risk: bool = False,
    household: str | None = None,
    household_variables: Sequence[str] | None = None,
    seed: arguments.Seed = None,
) -> Protected:
    """Give records of a release whose risk is high the values of records like them.

    Parameters
    ----------
    released : data frame or sequence of data frames
        One release, or m of them.
    risk : sequence of float, or result with ``records["match_risk"]``
        Risk of each record; of m releases also a sequence per release. A result of `matching_risk` gives
        each release the risks it has there.
    threshold : float
        A risk above it is high.
    match : sequence of str
        Variables by which a donor is chosen.
    replace : sequence of str
        Variables taken over from the donor, all from the same one.
    numeric : sequence of str
        Those of `match` that are numbers; the others are categories.
    k : int
        A donor is drawn at random from so many nearest records.
    n_replace : int, optional
        Records to replace at most, in each release, drawn at random; default all of high risk.
    exclude_high_risk : bool
        Whether other records of high risk are no donors.
    household : str, optional
        Column that numbers the households; of household variables among `replace` all
        members get the values that a donor of another household lends one of those at risk.
    household_variables : sequence of str, optional
        Variables that members share; default those found (`household_variables`). An empty list: none.
    seed : int or numpy.random.Generator, optional
        Whoever guesses it undoes what is drawn: leave it out for a release, ``change.secret`` keeps a long one.

    Returns
    -------
    Protected
        ``data``, a frame (a list of them where `released` is one), and ``change``. A value counts as changed
        where the donor's is another one.

    Raises
    ------
    ColumnError
        A variable that the data does not have, or a numeric one that is not in `match`.
    DataError
        Risks of another number than the records, missing or not finite; nobody left to be a donor.

    Notes
    -----
    The nearest records are those that agree on most categories, and of these the ones with the smallest sum
    of squared differences of the numbers, in the numbers' own units: rescale what should not weigh more. A
    record is never its own donor. A missing category agrees with a missing one, a missing number is only near
    to a missing one. Donors lend the values they had before any replacement. Replacing costs usefulness and
    need not lower the risk: measure it again.

    References
    ----------
    Grund, S., Robitzsch, A. and Luedtke, O. (2022). robosynth: robust synthetic data generation with
    data-augmented multiple imputation. R package 0.1-1, `replace.high.risk`.

    Examples
    --------
    >>> import polars as pl
    >>> release = pl.DataFrame({"sex": ["f", "f", "m"], "age": [30, 32, 31], "income": [10, 99, 50]})
    >>> found = replace_high_risk(
    ...     release, risk=[0, 1, 0], threshold=0.5, match=["sex", "age"], numeric=["age"], replace=["income"]
    ... )
    >>> found.data["income"].to_list(), found.change.changed
    ([10, 10, 50], {'income': 1})
    """
    match_on, copied = arguments.names(match, "match") or (), arguments.names(replace, "replace") or ()
    numbers = arguments.names(numeric, "numeric") or ()
    if not match_on or not copied:
        says = "match= says which variables make a donor similar, replace= which it lends; name some of each"
        raise ColumnError(says, argument="replace" if match_on else "match")
    if stray := [name for name in numbers if name not in match_on]:
        says = f"numeric: {stray[0]!r} is not in match; only the variables to choose a donor by are"
        raise ColumnError(says, argument="numeric")
    arguments.number(threshold, "threshold", "is the risk above which a record is replaced")
    arguments.count(k, "k", "counts records")
    if n_replace is not None:
        arguments.count(n_replace, "n_replace", "counts records")
    arguments.flag(exclude_high_risk, "exclude_high_risk")
    rng, secret = seeds.open_rng(seed)
    released = released.data if isinstance(released, Protected) else released
    several = isinstance(released, (list, tuple))
    files = list(released) if several else [released]
    if not files:
        raise DataError("released= is an empty list; give at least one released file", argument="released")
    frames = [open_eager(file, {"match": match_on, "replace": copied}) for file in files]
    risks = _risks(risk, [len(frame) for frame in frames])
    data, replaced, high, changed = [], 0, 0, dict.fromkeys(copied, 0)
    for frame, values in zip(frames, risks, strict=True):
        is_high = values > threshold
        recipients = _to_replace(is_high, n_replace, rng)
        donors = _donors(frame, recipients, is_high, match_on, numbers, k, exclude_high_risk, rng)
        source = np.arange(len(frame))
        source[recipients] = donors
        homes, shared = read_shared(frame, copied, household, household_variables)
        whole = source
        if homes is not None and shared:
            whole = _of_homes(frame, homes, recipients, is_high, match_on, numbers, k, exclude_high_risk, rng)
        sources = {name: whole if name in shared else source for name in copied}
        data.append(take_rows(frame, sources))
        high, replaced = high + int(is_high.sum()), replaced + len(recipients)
        for name in copied:
            codes = columns.code_column(frame[name]).codes()
            changed[name] += int((codes[sources[name]] != codes).sum())
    change = Change(
        "replace_high_risk", sum(len(frame) for frame in frames), changed,
        parameters={
            "threshold": float(threshold), "match": list(match_on), "numeric": list(numbers),
            "replace": list(copied), "k": k, "n_replace": n_replace, "exclude_high_risk": exclude_high_risk,
            "releases": len(frames),
            **({"household": household, "household_variables": list(shared)} if shared else {}),
        },
        secret={"seed": secret, "high_risk": high, "replaced": replaced},
        notes={} if high else {"changed": "no record has a risk above the threshold"},
    )  # fmt: skip
    return Protected(data if several else data[0], change)


def _donors(
    frame: Any, recipients: Ints, is_high: Bools, match_on: Sequence[str],
    numbers: Sequence[str], k: int, exclude: bool, rng: np.random.Generator, among: Bools | None = None,
) -> Ints:  # fmt: skip
    lends = ~is_high if exclude else np.ones(len(is_high), np.bool_)
    lends &= True if among is None else among
    donors = draw_donors(
        recipients, [columns.code_column(frame[name]).codes() for name in match_on if name not in numbers],
        [columns.float_values(frame[name], "numeric") for name in numbers], lends, k=k, rng=rng,
    )  # fmt: skip
    if (donors < 0).any():
        why = ": all records are of high risk; allow them as donors or raise the threshold" if exclude else ""
        raise DataError(f"nobody is left to be a donor{why}")
    return donors


def _of_homes(
    frame: Any, homes: households.Homes, recipients: Ints, is_high: Bools, match_on: Sequence[str],
    numbers: Sequence[str], k: int, exclude: bool, rng: np.random.Generator,
) -> Ints:  # fmt: skip
    """The row from which each record takes its household variables: one donor for all members.

    One record represents each household, its first or the first of those at risk, as recipient and as donor; as no
    record is its own donor no household is either.
    """
    own = np.zeros(len(homes.of_row), np.bool_)
    own[recipients] = True
    speaker = homes.lead(own)
    hit = np.flatnonzero(speaker >= 0)
    among = np.zeros(len(own), np.bool_)
    speaks = np.where(speaker >= 0, speaker, homes.first if not exclude else homes.lead(~is_high))
    among[speaks[speaks >= 0]] = True
    donors = _donors(frame, speaker[hit], is_high, match_on, numbers, k, exclude, rng, among)
    lent = np.full(len(homes.first), -1, np.int64)
    lent[hit] = donors
    return np.where(lent[homes.of_row] >= 0, lent[homes.of_row], np.arange(len(own)))


def _to_replace(is_high: Bools, n_replace: int | None, rng: np.random.Generator) -> Ints:
    """The records to replace, ascending."""
    high = np.flatnonzero(is_high)
    if n_replace is None or n_replace >= len(high):
        return high
    return np.sort(rng.choice(high, n_replace, replace=False))


def _risks(risk: Any, sizes: Sequence[int]) -> list[Floats]:
    """The risks of the records of each file."""
    if really_has(risk, "records_by_release", "m") and risk.m == len(sizes):
        values = np.asarray(risk.records_by_release["match_risk"], float)
        risks = list(np.split(values, len(sizes))) if len(values) % len(sizes) == 0 else [values]
    else:
        given = risk.records["match_risk"] if really_has(risk, "records") else risk
        try:
            values = np.array(given, float)
        except (TypeError, ValueError):
            raise DataError(
                "risk= takes a number per record, or a sequence of them per release", argument="risk"
            ) from None
        risks = list(values) if values.ndim == 2 else [values] * len(sizes)
    if len(risks) != len(sizes):
        raise DataError(f"risk has values for {len(risks)} releases; there are {len(sizes)}", argument="risk")
    for values, n in zip(risks, sizes, strict=True):
        if values.shape != (n,):
            says = f"risk has {values.size} numbers for {n} records; give one for each record"
            raise DataError(says, argument="risk")
        if not np.isfinite(values).all():
            says = f"risk= is missing or not finite for {counted(int((~np.isfinite(values)).sum()), 'record')}"
            raise DataError(says, argument="risk")
    return risks

"""Columns that tell more than their roles say by how they were made: numbers in an order, digests, parts of a key."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from itertools import product
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from sdckit.data import pl
from sdckit.data.households import ERRS, FINER, SPEAKING, RankedColumns, in_order_of, told_by_rows
from sdckit.data.scenarios.guessing.facts import NAME, written_like
from sdckit.numerics.array_types import Bools, Floats, Ints, Words
from sdckit.numerics.grouping import pair_counts

FIRST = 2_000  # records in which a column is tried before all are counted
ROWS = 20_000  # in the order of a number, that are looked at
COUNTED = 50_000  # numbers whose digests are tried
TRIED = 50  # values that are looked at
GUESSED = 0.9  # of these, from which on all are
WIDTHS = (0, 5, 6, 8)  # digits with zeros before them
DIGESTS = ("md5", "sha1", "sha256", "sha512")
_HEX = re.compile(r"[0-9a-f]{8,128}")
_OF_TIME = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[16][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")  # UUID 1 and 6
_NUMBER = re.compile(rb"[A-Za-z]{0,4}[-_ ]?\d{1,12}")
LOOKED_AT = 8  # bytes of a digest
LONG_ENOUGH = 6  # characters of base64
MOST_SHARE = 5  # records that share a telephone number, a name or a remark, like those of a household
SHORT, LONG = 5, 8  # letters: no address or name has so few; digits: what numbers a person or a telephone has more
SOME = 5  # names or long numbers that are no categories
IN_CLASSES, RISES = 5, 0.99  # values of a number that tells an amount by its order; rank correlation from which on
SETS, VALUES, RELATED = 10, 30, 0.25  # columns of replicate weights; values of each; their squared correlation
TOTALS, STEPS = 2.0, (0.75, 1.25)  # their largest sum by the smallest; of a record's mean weight: taken out, doubled
EXACT, MOSTLY, TIMES, PAIRS = 0.05, 0.8, 4, 100  # factors so near are one; of them; pairs of records beside chance
LEFT_OUT = (
    "Not judged: a column with a role that was left out is told by {}, as by its classes or its logarithm; leave that "
    "out, too, or give it the role"
)

REPLICATES = (
    "Not judged: {} are multiples of one another by the same factors for groups of records, as replicate weights are "
    "for what was drawn together, and tell who was; leave them out, or let a pattern of their own cover them where "
    "that may be known"
)


def guessable_numbers(names: Iterable[str | None], frame: Any) -> list[str]:
    """Those of some columns that were hidden without a secret."""
    kinds = frame.collect_schema()
    named = dict.fromkeys(name for name in names if name is not None)
    texts = [name for name in named if kinds.get(name) in (nw.String, nw.Categorical)]
    columns = {name: frame.get_column(name).drop_nulls().unique(maintain_order=True) for name in texts}
    values = {name: column.cast(nw.String).head(TRIED).to_list() for name, column in columns.items()}
    return [name for name, own in values.items() if len(own) > 1 and is_guessable(own)]  # one is nobody's number


def is_guessable(values: Iterable[str]) -> bool:
    """Whether some texts are numbers that were hidden without a secret: anybody repeats it, and has the numbers.

    Tried are the usual digests, or their beginnings, of numbers that are counted through; base64; and numbers made of
    the time and the machine. Digests of names or of a longer number are not.

    >>> texts = [hashlib.sha256(f"{number:06}".encode()).hexdigest()[:12] for number in range(9, 400)]
    >>> is_guessable(texts), is_guessable([text[::-1] for text in texts])
    (True, False)
    """
    given = [*values][:TRIED]
    some = [text.strip().lower() for text in given]
    if not some:
        return False
    if all(map(_OF_TIME.fullmatch, some)) or all(map(_is_encoded, given)):
        return True
    if not all(map(_HEX.fullmatch, some)) or len({*map(len, some)}) > 1 or all(map(str.isdecimal, some)):
        return False
    ways = product(DIGESTS, WIDTHS)
    return not _are_codes({*some}) and any(_counted(some, digest, width) for digest, width in ways)


def _are_codes(texts: Collection[str]) -> bool:
    """Whether texts of one length have more in common than digests have by chance (at most 8 ** -length).

    >>> _are_codes(["e12000001", "e12000002", "e12000007"]), _are_codes(["0b9f7c41d", "0b31aa02f", "03d0be9c4"])
    (True, False)
    """
    same = [len({*of_place}) == 1 for of_place in zip(*texts, strict=True)]
    return sum(same) * (len(texts) - 1) >= len(same)


def _counted(some: Sequence[str], digest: str, width: int) -> bool:
    """Whether these are the digests of numbers up to `COUNTED`."""
    size = min(len(some[0]) // 2, LOOKED_AT)
    wanted = np.array([*{int(text[: 2 * size], 16) for text in some}], np.uint64)
    digests = _digests(digest, width) >> np.uint64(8 * (LOOKED_AT - size))
    first, last = (np.searchsorted(digests, wanted, side) for side in ("left", "right"))
    return bool(np.count_nonzero(first < last) >= GUESSED * len(wanted))


@cache
def _digests(digest: str, width: int) -> Words:
    """The first bytes of the digests of numbers up to `COUNTED`, in order: the same for every column and file."""
    hashed = getattr(hashlib, digest)
    counted = (
        hashed(b"%0*d" % (width, number), usedforsecurity=False).digest()[:LOOKED_AT] for number in range(COUNTED)
    )
    return np.sort(np.frombuffer(b"".join(counted), ">u8").astype(np.uint64))


def _is_encoded(text: str) -> bool:
    """Whether a text is a number in base64."""
    try:
        decoded = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return len(text) >= LONG_ENOUGH and _NUMBER.fullmatch(decoded) is not None


def numbers_in_order(
    columns: RankedColumns, named: Sequence[str | None], others: Sequence[str], *, amounts: Sequence[str], homes: bool
) -> list[str]:
    """Those of some numbers of people in whose order records stand as in a file that was not mixed.

    `named` number people or rows, `others` count where they are whole numbers or texts that tell every record apart.
    Of people with several rows the first is looked at. `homes`: whether the household goes out by its own column.

    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> rng = np.random.default_rng(1)
    >>> people = pl.DataFrame({"owns": rng.integers(0, 3, 200).repeat(3), "educ": rng.integers(0, 5, 600)})
    >>> files = [people.with_columns(no=pl.Series(numbers)) for numbers in (range(600), rng.permutation(600))]
    >>> mixed = [RankedColumns.of(open_frame(file.sample(fraction=1, shuffle=True, seed=1))) for file in files]
    >>> [numbers_in_order(file, ["no"], [], amounts=[], homes=False) for file in mixed]
    [['no'], []]
    """
    telling = []
    for name in dict.fromkeys((*named, *others)):
        if name is None or name not in columns.names:
            continue
        series = columns.series(name)
        alone = all(some.n_unique() == len(some) for some in (series.head(FIRST), series)) and not series.null_count()
        if name not in named and (not alone or series.dtype.is_float()):
            continue
        if alone:
            rows = series.arg_sort().head(ROWS).to_numpy().astype(np.int64)
        else:
            places, first = np.unique(columns.ranks(name), return_index=True)
            rows = first[places > 0][:ROWS]
        own = columns.at(rows)
        own.names = [other for other in own.names if other != name]
        in_order = in_order_of(own, [amount for amount in amounts if amount != name])
        if in_order or (not homes and any(told_by_rows(own))):
            telling.append(name)
    return telling


def parts_of_keys(columns: RankedColumns, names: Sequence[str], keys: Sequence[str]) -> list[str]:
    """Those of some columns of two values that put together tell a key in more detail: a flag for each district.

    No record has two of them, and the flags that it has, or that it has none, tell its value of the key, of which there
    are fewer. Questions that are asked of some alone do not: those without an answer have other values, too.

    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> district = np.arange(600) % 6
    >>> flags = pl.DataFrame({"region": district // 3} | {f"d{at}": district == at for at in range(6)})
    >>> parts_of_keys(RankedColumns.of(open_frame(flags)), ["d0", "d1", "d2", "d3", "d4"], ["region"])
    ['d0', 'd1', 'd2', 'd3', 'd4']
    """
    few = [name for name in names if name in columns.names and columns.series(name).head(FIRST).n_unique() <= 3]
    ranks = {name: columns.ranks(name) for name in dict.fromkeys((*few, *keys)) if name in columns.names}
    flags = {name: _rarer(ranks[name]) for name in few if ranks[name].max(initial=0) == 2}
    telling: dict[str, None] = {}
    for key in (key for key in keys if key in ranks and len(flags) > 1):
        own = ranks[key]
        parts = {name: is_part for name, is_part in flags.items() if name != key and _is_pure(own[is_part])}
        code: Ints = np.zeros(columns.n, np.int64)
        for at, is_part in enumerate(parts.values(), start=1):
            code = np.where(is_part, np.where(code > 0, -1, at), code)
        if len(parts) > 1 and code.min() >= 0 and tells(pairs_of(code, own), (0, FINER)):
            telling |= dict.fromkeys(parts)
    return [*telling]


def _rarer(ranks: Ints) -> Bools:
    """The records with the rarer of two values."""
    return np.asarray(ranks == 1 + np.argmin(np.bincount(ranks, minlength=3)[1:]), np.bool_)


def _is_pure(codes: Ints) -> bool:
    """Whether nearly all records have one value."""
    return bool(len(codes) and np.bincount(codes).max() >= (1 - ERRS) * len(codes))


def written_directly(values: Any) -> bool:
    """Whether values of few records are written like a direct identifier; few names or long numbers may be categories.

    Each by itself: remarks on few people stand among shorter ones that say nothing. Names are no categories where no
    other value of some letters has a capital: beside codes, numbers and remarks.
    """
    if values.dtype.is_float():
        values = values.filter(values.is_finite() & (values < 10**15)).cast(nw.Int64)
    texts = values.cast(nw.String)
    counts = texts.filter(texts.str.len_chars() > SHORT).value_counts()
    rare = counts["count"] <= MOST_SHARE
    words = any(map(_is_capitalised, counts.filter(~rare)[values.name].to_list()))
    names = numbers = 0
    for text in counts.filter(rare)[values.name].to_list():
        like = written_like([text])
        names += like == NAME
        numbers += text.isdigit() and len(text) > LONG
        words = words or (like != NAME and _is_capitalised(text))
        if like not in (None, NAME) or names + numbers >= SOME:
            return True
    return bool(names) and not words


def _is_capitalised(text: str) -> bool:
    return text[:1].isupper() and text[1:2].islower()


def tell_left_out(columns: RankedColumns, names: Sequence[str], gone: Sequence[str]) -> list[str]:
    """Those of some columns of an original that nearly follow from a number that a release does not have.

    Whoever knows it knows these, and they tell it: classes of pay, its logarithm, its rank. They rise or fall with it.

    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> pay = np.random.default_rng(1).lognormal(8, 1, 500)
    >>> paid = pl.DataFrame({"pay": pay, "v1": np.log(pay).round(1), "v2": pay[::-1] // 999})
    >>> tell_left_out(RankedColumns.of(open_frame(paid)), ["v1", "v2"], ["pay"])
    ['v1']
    """
    numbers = [name for name in dict.fromkeys((*names, *gone)) if columns.series(name).dtype.is_numeric()]
    places = {name: columns.ranks(name) for name in numbers}
    places = {name: own for name, own in places.items() if own.max(initial=0) >= IN_CLASSES}

    def rises(name: str, amount: str) -> bool:
        there = (places[name] > 0) & (places[amount] > 0)
        own, whole = (_mean_ranks(places[column][there]) for column in (name, amount))
        if len(own) < SPEAKING or min(len(np.unique(own)), len(np.unique(whole))) < IN_CLASSES:
            return False
        return abs(float(np.corrcoef(own, whole)[0, 1])) >= RISES

    amounts = [amount for amount in gone if amount in places]
    return [name for name in names if name in places and any(rises(name, amount) for amount in amounts)]


def _mean_ranks(places: Ints) -> Floats:
    """The mean rank of each record among all with its value."""
    counts = np.bincount(places)
    return np.asarray((np.cumsum(counts) - counts / 2)[places], np.float64)


def replicate_weights(columns: RankedColumns, names: Iterable[str]) -> list[str]:
    """Those of some columns that are weights less or more of a record, by factors that records drawn together share.

    Looked at are numbers with many values and similar sums. Each record is described by where they are well below and
    above its mean; far more pairs of records must have the same places than those of columns mixed by themselves, and
    nearly the same factors in them. Answers, counts and calendars have few values; amounts have no factors in common,
    and where they have, as points of a curve, these follow from each other.

    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> rng = np.random.default_rng(1)
    >>> weight, unit = rng.lognormal(4, 1, (2_000, 1)), rng.integers(0, 50, 2_000)
    >>> drawn = (weight * (rng.integers(0, 2, (50, 20)) * 2)[unit]).round(2)
    >>> frames = [open_frame(pl.DataFrame(values)) for values in (drawn, weight * rng.lognormal(0, 0.5, (2_000, 20)))]
    >>> [len(replicate_weights(RankedColumns.of(frame), frame.columns)) for frame in frames]
    [20, 0]
    """
    columns, first, weights = columns.head(ROWS), columns.head(FIRST), dict[str, Floats]()
    some = [name for name in names if name in columns.names and columns.series(name).dtype.is_numeric()]
    for name in some if len(some) >= SETS else ():
        own = first.series(name)
        if not own.null_count() and own.n_unique() >= VALUES and float(own.min()) >= 0:
            values = columns.series(name).cast(pl.Float64).to_numpy()
            if values.min(initial=0) >= 0 and values.sum() > 0:
                weights[name] = values
    in_order = sorted(weights, key=lambda name: float(weights[name].sum()))
    sums = [float(weights[name].sum()) for name in in_order]
    lasts = np.searchsorted(sums, np.array(sums) * TOTALS, "right") if sums else np.zeros(1, np.int64)
    start = int(np.argmax(lasts - np.arange(len(lasts))))
    alike = in_order[start : int(lasts[start])]
    if len(alike) < SETS:
        return []
    return alike if _share_factors(np.column_stack([weights[name] for name in alike])) else []


def _share_factors(weights: Floats) -> bool:
    """Whether far more records than by chance have the same factors of their mean weight."""
    means = weights.mean(axis=1)
    factors = weights[means > 0] / means[means > 0, None]
    some = factors[:: len(factors) // FIRST + 1]
    some = some[:, some.std(axis=0) > 0][:, : 2 * SETS]  # of a file in order of its units some are not drawn in all
    if some.shape[1] < 2 or np.mean(np.corrcoef(some.T)[np.triu_indices(some.shape[1], 1)] ** 2) > RELATED:
        return False
    places = (factors > STEPS[0]).astype(np.int8) + (factors > STEPS[1])
    rng = np.random.default_rng(0)  # the same answer for the same file
    mixed = np.column_stack([rng.permutation(column) for column in places.T])
    (groups, pairs), (_, by_chance) = map(_in_same_places, (places, mixed))
    if pairs < max(PAIRS, TIMES * by_chance):
        return False
    order = np.argsort(groups, kind="stable")
    there = np.flatnonzero((np.diff(groups[order]) == 0) & (groups[order][1:] > 0))
    apart = np.abs(factors[order[there]] - factors[order[there + 1]])
    return bool(np.mean(apart <= EXACT * np.maximum(factors[order[there]], 1)) >= MOSTLY)


def _in_same_places(places: Any) -> tuple[Ints, int]:
    """The group of each record by its places, 0 where all are near the mean; pairs of records in one group."""
    weights = np.random.default_rng(0).integers(1, 1 << 62, places.shape[1])
    groups = np.unique((places - 1) @ weights, return_inverse=True)[1].reshape(-1) + 1
    groups = np.where((places == 1).all(axis=1), 0, groups)
    sizes = np.bincount(groups)[1:]
    return np.asarray(groups, np.int64), int((sizes * (sizes - 1) // 2).sum())


Pairs = tuple[Ints, Ints, Ints]  # numbers of a value and of a key, and of the records that have both


def pairs_of(values: Ints, keys: Ints) -> Pairs:
    """The pairs that some records have, by the codes of both columns; a negative one is missing."""
    both = (values >= 0) & (keys >= 0)
    return pair_counts(values[both], keys[both], int(keys.max(initial=0)) + 1)


def tells(pairs: Pairs, least: tuple[int, float]) -> bool:
    """Whether a column tells a key of `least` so many values, times as many of which it has, in more detail."""
    most, of_key = most_records(*pairs)
    total, levels, values = int(of_key.sum()), np.count_nonzero(of_key), np.count_nonzero(most)
    guessed = (total - values) * (total - int(of_key.max(initial=0))) / max(total, 1)  # one record says nothing
    few_wrong = guessed >= SPEAKING and total - int(most.sum()) <= ERRS * guessed
    return bool(few_wrong and levels >= least[0] and values >= least[1] * levels)


def most_records(values: Ints, keys: Ints, n: Ints) -> tuple[Ints, Ints]:
    """The most records of one pair by value, and all of them by key."""
    most, of_key = (np.zeros(int(codes.max(initial=-1)) + 1, np.int64) for codes in (values, keys))
    np.maximum.at(most, values, n)
    np.add.at(of_key, keys, n)
    return most, of_key

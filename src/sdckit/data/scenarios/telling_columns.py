"""Columns that tell more than their roles say by how they were made: parts of a key, classes, sums of households."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, combinations, product
from math import lgamma, log
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from sdckit.data import methods, pl
from sdckit.data.households import ALIKE, CERTAIN, ERRS, FEW, FINER, SPEAKING, TELLS, RankedColumns, dense_ranks
from sdckit.data.packaged import sentences
from sdckit.data.scenarios.guessing.facts import NAME, written_like
from sdckit.data.scenarios.guessing.topics import topic_of
from sdckit.data.scenarios.numbers_of_people import FIRST, ROWS, tells_apart
from sdckit.numerics.array_types import Bools, Floats, Ints
from sdckit.numerics.grouping import pair_counts

_FIRST_NUMBER = re.compile(r"\d+(?:\.\d+)?")
MOST_SHARE = 5  # records that share a telephone number, a name or a remark, like those of a household
PART = 3  # letters and digits of what may be a part of an identifier
SHORT, LONG = 5, 8  # letters: no address or name has so few; digits: what numbers a person or a telephone has more
SOME = 5  # names or long numbers that are no categories
IN_CLASSES, RISES = 5, 0.99  # values of a number that tells an amount by its order; rank correlation from which on
NEAR_SUMS = 0.1  # of the sums of replicate weights: those of others, of which too few values are there to see it
SETS, VALUES, RELATED = 10, 30, 0.25  # columns of replicate weights; values of each; their squared correlation
END, BY_CHANCE, DRAWN = 8, 1e-6, 4  # records with one value at an end; chance that so many are in order; deviations
ALL_BUT, NEW = 0.01, 0.1  # of the records: values changed, from which on a column was; new values of one that was not
TOTALS, STEPS = 2.0, (0.75, 1.25)  # their largest sum by the smallest; of a record's mean weight: taken out, doubled
EXACT, MOSTLY, TIMES, PAIRS = 0.05, 0.8, 4, 100  # factors so near are one; of them; pairs of records beside chance
EXACTLY = 2.0**53  # up to which floats hold every whole number
SCALED, SOMETIMES = 1.5, 0.5  # times as many people by a fraction as by weights; of what is alike by chance
SOME_MATES = 5_000  # records of whole households in which the value of a mate is looked for
TRIED, SEEN = 5, 200  # groups in which an amount is held against a number, and records of each
MEMBERS = 12  # records with one number of a household or a person, at the mean
SAYS = {
    of: words.replace("{new_numbers}", f"{methods.ADVICE['numbers_of_units']}")
    for of, words in sentences("data/scenarios/telling_columns.toml").items()
}
# What is said of columns named insensitive, and the roles hold.
SAID = [SAYS[of] for of in ("put_together", "different", "of_homes", "written")]


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


def in_steps(columns: RankedColumns, names: Sequence[str], keys: Sequence[str]) -> list[tuple[str, str]]:
    """Those of some columns that are classes of what a key is in other classes, or rounded, each with such a key.

    Both rise together without an exception, and values of the one lie in several of the other and the other way round:
    a record is known to be where its two classes overlap.

    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> pay = pl.DataFrame({"pay": np.random.default_rng(1).integers(0, 9000, 900)})
    >>> paid = pay.select(pay=pl.col("pay") // 1000, v1=-(pl.col("pay") // 700), v2=pl.col("pay") // 500)
    >>> in_steps(RankedColumns.of(open_frame(paid)), ["v1", "v2"], ["pay"])
    [('v1', 'pay')]
    """
    first = columns.head(FIRST)
    places = {name: _in_order(first, name) for name in dict.fromkeys((*names, *keys)) if name in columns.names}
    classes = {name for name, own in places.items() if own.max(initial=0) >= TELLS}
    pairs = [(name, key) for name, key in product(dict.fromkeys(names), keys) if {name, key} <= classes and name != key]
    rising = [pair for pair in pairs if _overlapping(*(places[name] for name in pair)) is not None]
    whole = {name: _in_order(columns, name) for name in {*chain.from_iterable(rising)}}
    told = {pair: _overlapping(*(whole[name] for name in pair)) for pair in rising}
    return [pair for pair, n in told.items() if n is not None and n >= SPEAKING]


def _in_order(columns: RankedColumns, name: str) -> Ints:
    """The places of values that are numbers, or texts with one, as ranges are; of others all are missing."""
    values = columns.series(name)
    if values.dtype.is_numeric() or values.dtype == pl.Boolean:
        return columns.ranks(name)
    if values.dtype != pl.String:
        return np.zeros(columns.n, np.int64)
    numbers = values.str.extract(f"({_FIRST_NUMBER.pattern})").cast(pl.Float64)
    return dense_ranks(numbers if numbers.null_count() == values.null_count() else numbers.clear(columns.n))


def _overlapping(values: Ints, keys: Ints) -> int | None:
    """The records of a key told by classes that overlap with its own; None where both do not rise or fall together."""
    for own in (values, (values.max(initial=0) + 1 - values) * (values > 0)):
        named, of_key, n = pairs_of(own - 1, keys - 1)
        if len(n) and (np.diff(of_key) >= 0).all():
            parted = [np.count_nonzero(np.bincount(codes) > 1) for codes in (named, of_key)]
            if min(parted) < TELLS - 1:  # at one border alone a question begins that others are not asked
                return 0
            return int(n.sum() - most_records(of_key, named, n)[0].sum())
    return None


def put_together(columns: RankedColumns, names: Iterable[str]) -> list[str]:
    """Those of some numbers of households or people that few records have each, but several."""
    series = {name: columns.series(name).drop_nulls() for name in names if name in columns.names}
    return [name for name, own in series.items() if len(own) / MEMBERS <= own.n_unique() < len(own)]


def named_alone(columns: RankedColumns, names: Iterable[str]) -> list[str]:
    """Those of some whole numbers, texts or times that no two records of a file share.

    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> people = pl.DataFrame({"no": range(300), "pay": [own / 2 for own in range(300)], "q": [1, 2, 3] * 100})
    >>> named_alone(RankedColumns.of(open_frame(people)), people.columns)
    ['no']
    """
    series = {name: columns.series(name) for name in names if name in columns.names and columns.n >= FEW}
    kinds = {name: own.dtype for name, own in series.items()}
    plain = [name for name, kind in kinds.items() if kind == pl.String or kind.is_integer() or kind.is_temporal()]
    return [name for name in plain if not series[name].null_count() and tells_apart(series[name])]


def fewer_people(columns: RankedColumns, names: Iterable[str], fraction: float | None) -> list[str]:
    """Those of some columns, named as sampling weights, by which a file stands for fewer people than by its fraction.

    Not where they are scaled to a mean of one, which counts nobody.

    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> people = RankedColumns.of(open_frame(pl.DataFrame({"weight": [90.0, 110.0] * 200, "q": [90, 110] * 200})))
    >>> [fewer_people(people, people.names, fraction) for fraction in (0.001, 0.01)]
    [['weight'], []]
    """
    named = {name: topic_of(name) for name in names if fraction and name in columns.names}
    series = {
        name: columns.series(name) for name, topic in named.items() if topic is not None and topic.role == "weight"
    }
    means = {name: own.mean() for name, own in series.items() if own.dtype.is_numeric() and (own > 0).all()}
    return [name for name, mean in means.items() if SCALED < mean < 1 / (SCALED * float(fraction or 1))]


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
        return _rise_together(places[name][there], places[amount][there], IN_CLASSES)

    amounts = [amount for amount in gone if amount in places]
    return [name for name in names if name in places and any(rises(name, amount) for amount in amounts)]


def _rise_together(first: Ints, second: Ints, least: int) -> bool:
    """Whether two columns, by the places of their values, rise or fall together; each with so many values at least."""
    if len(first) < SPEAKING or min(len(np.unique(places)) for places in (first, second)) < least:
        return False
    return abs(float(np.corrcoef(_mean_ranks(first), _mean_ranks(second))[0, 1])) >= RISES


def _mean_ranks(places: Ints) -> Floats:
    """The mean rank of each record among all with its value."""
    counts = np.bincount(places)
    return np.asarray((np.cumsum(counts) - counts / 2)[places], np.float64)


def tell_in_groups(
    original: RankedColumns, released: RankedColumns, names: Iterable[str], amounts: Iterable[str], keys: Sequence[str]
) -> list[str]:
    """Those of some numbers that rise or fall with an amount in groups that go out: its share of a region's sum.

    Or its rank or standard score there. Not where the amount goes out, and rises with it as well. Groups are those of
    one column, or of two keys.

    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> rng = np.random.default_rng(1)
    >>> firms = pl.DataFrame({"region": rng.integers(0, 8, 900), "sales": rng.lognormal(8, 1, 900)})
    >>> share = pl.col("sales") / pl.col("sales").sum().over("region")
    >>> firms = firms.with_columns(share=share, v2=pl.Series(range(900)))
    >>> files = [RankedColumns.of(open_frame(file)) for file in (firms, firms.with_columns(pl.col("sales") // 1000))]
    >>> [tell_in_groups(files[0], file, ["share", "v2"], ["sales"], ["region"]) for file in files]
    [[], ['share']]
    """
    both = [name for name in released.names if name in original.names]
    numbers = {name for name in original.names if original.series(name).dtype.is_numeric()}
    gone = [name for name in amounts if name in numbers and _was_changed(original, released, name, ALL_BUT)]
    shown = [name for name in names if gone and name in numbers and not _was_changed(original, released, name, NEW)]
    alike = [name for name in both if 0 < original.ranks(name).max(initial=0) <= released.ranks(name).max(initial=0)]
    sets = chain(combinations(alike, 1), combinations([key for key in keys if key in alike], 2))
    groups = {some: largest for some in sets if shown and (largest := _largest(original, some))}

    def rise(columns: RankedColumns, name: str, amount: str, groups: Sequence[Ints]) -> bool:
        pairs = ((columns.ranks(name)[rows], columns.ranks(amount)[rows]) for rows in groups)
        known = ((own[(own > 0) & (to > 0)], to[(own > 0) & (to > 0)]) for own, to in pairs)
        return bool(groups) and all(_rise_together(*pair, IN_CLASSES) for pair in known)

    def tells(name: str, amount: str, by: Sequence[str]) -> bool:
        if {name, amount} & {*by} or not rise(original, name, amount, groups[tuple(by)]):
            return False
        there = [np.mean(file.ranks(amount) > 0) if amount in file.names else 0 for file in (original, released)]
        return bool(there[1] < there[0] - ALL_BUT) or not rise(released, name, amount, _largest(released, by))

    return [name for name in shown if any(tells(name, *pair) for pair in product(gone, groups))]


def _largest(columns: RankedColumns, by: Sequence[str]) -> list[Ints]:
    """The first rows of each of the largest groups of some columns, where several are large enough to say something."""
    cells = np.zeros(columns.n, np.int64)
    for own in map(columns.ranks, by):
        cells = np.unique(cells * (int(own.max(initial=0)) + 1) + own, return_inverse=True)[1]
    counts = np.bincount(cells)
    large = [cell for cell in np.argsort(-counts, kind="stable")[:TRIED].tolist() if counts[cell] >= SPEAKING]
    return [np.flatnonzero(cells == cell)[:SEEN] for cell in large] if len(large) > 1 else []


def mirror(columns: RankedColumns, names: Iterable[str], gone: Iterable[str]) -> list[str]:
    """Those of some columns whose values stand for those of one that is left out, in their order: days counted on.

    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> stay = pl.DataFrame({"day": np.random.default_rng(1).integers(0, 365, 900)})
    >>> stays = stay.with_columns(v1=45_000 - pl.col("day"), v2=pl.col("day") // 30)
    >>> mirror(RankedColumns.of(open_frame(stays)), ["v1", "v2"], ["day"])
    ['v1']
    """
    left = [own for own in map(columns.ranks, gone) if own.max(initial=0) > VALUES]
    return [
        name
        for name in names
        if any(np.array_equal(columns.ranks(name), own) or _is_turned(columns.ranks(name), own) for own in left)
    ]


def _is_turned(places: Ints, others: Ints) -> bool:
    return np.array_equal(places, (others.max(initial=0) + 1 - others) * (others > 0))


def made_of(original: RankedColumns, released: RankedColumns, names: Iterable[str], gone: Sequence[str]) -> list[str]:
    """Those of some columns that were made of an identifier which is left out: a part, another spelling, a code for it.

    Each part is of a few records, as the last digits of a telephone number are. What is the same wherever the
    identifier is, and tells nearly as many apart, stands for it: a login for a name, a mean for a school. Not what was
    given new numbers, or was made half as fine.

    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> name, no = [f"Ann {at // 2:03}" for at in range(300)], range(71_100, 71_400)
    >>> parts = {"v1": [own[::-1] for own in name], "v2": [own % 1000 for own in no]}
    >>> people = RankedColumns.of(open_frame(pl.DataFrame({"name": name, "no": no, **parts})))
    >>> made_of(people, people, ["v1", "v2"], ["name", "no"])
    ['v1', 'v2']
    """
    return [
        name
        for name in names
        if any(_is_part(original, name, own) or _is_code(original, name, own) for own in gone)
        and _goes_out(original, released, name)
    ]


def _goes_out(original: RankedColumns, released: RankedColumns, name: str) -> bool:
    """Whether a column goes out with half as many values at least, and some of these are those of the original."""
    if 2 * released.ranks(name).max(initial=0) < original.ranks(name).max(initial=0):
        return False
    before, after = (own.series(name).drop_nulls().cast(pl.String) for own in (original, released))
    return bool(2 * after.head(FIRST).is_in(before.unique().implode()).sum() >= len(after.head(FIRST)))


def _is_part(columns: RankedColumns, name: str, other: str) -> bool:
    """Whether letters and digits of one of two columns stand in those of the other, in the first records."""
    both = pl.DataFrame([_whole(columns.series(own).head(FIRST)).alias(own) for own in (name, other)]).drop_nulls()
    if len(both) < SPEAKING or both[name].n_unique() * MOST_SHARE < len(both):
        return False
    texts = both.select(pl.all().cast(pl.String).str.to_lowercase().str.replace_all(r"[^\p{L}\p{N}]", ""))
    part, of = pl.col(name), pl.col(other)
    short = pl.min_horizontal(part.str.len_chars(), of.str.len_chars()) >= PART
    inside = of.str.contains(part, literal=True) | part.str.contains(of, literal=True)
    turned = of.str.contains(part.str.reverse(), literal=True)
    return bool(texts.select(((inside | turned) & short).mean()).item() >= 1 - ERRS)


def _whole(series: Any) -> Any:
    """Numbers that are whole without a point, as those of people beside missing values."""
    return series.cast(pl.Int64, strict=False) if series.dtype.is_float() else series


def _is_code(columns: RankedColumns, name: str, other: str) -> bool:
    """Whether a column has one value for each of another's, and tells nearly as many apart."""
    places, others = columns.ranks(name), columns.ranks(other)
    if places.max(initial=0) < MOSTLY * others.max(initial=0):
        return False
    for n in (FIRST, columns.n):  # the first records mostly say that it has several
        pairs = pairs_of(others[:n] - 1, places[:n] - 1)
        if len(pairs[0]) - len(np.unique(pairs[0])) > ERRS * len(others[:n]):
            return False
    return tells(pairs, (IN_CLASSES, 0.0))


def tell_ends(original: RankedColumns, released: RankedColumns, pairs: Iterable[tuple[str, str]]) -> list[str]:
    """The columns that part the records which one largest or smallest value of an amount puts together.

    `pairs`: an amount, and a column that follows from it in the original, all but a few errors. It is in order among as
    many of the largest or smallest records there, so that these are known to lie on one side of a limit or the other.

    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> pay = pl.DataFrame({"pay": np.random.default_rng(1).permutation(500)})
    >>> paid = pay.with_columns(v1=pl.col("pay") // 20, v2=pl.col("pay") // 60)
    >>> files = [RankedColumns.of(open_frame(paid.with_columns(pl.col("pay").clip(None, top)))) for top in (500, 420)]
    >>> tell_ends(*files, [("pay", "v1"), ("pay", "v2")])
    ['v1', 'v2']
    """
    of_amount: dict[str, list[str]] = {}
    for amount, name in pairs:
        of_amount.setdefault(amount, []).append(name)
    telling = dict[str, None]()
    for amount, names in of_amount.items():
        before, after = original.ranks(amount), released.ranks(amount)
        if not original.series(amount).dtype.is_numeric() or before.max(initial=0) <= after.max(initial=0):
            continue  # nothing was put together
        order = np.flatnonzero(before)[np.argsort(before[before > 0], kind="stable")]
        for end in _ends(released.series(amount), after):
            size = len(end) * original.n // released.n
            sides = [order[:size], order[-size:]] if END <= size <= len(order) // 2 else []
            parted = (name for name in names for rows in sides if _is_parted(original, released, name, rows, end))
            telling |= dict.fromkeys(parted)
    return [*telling]


def _ends(values: Any, ranks: Ints) -> list[Ints]:
    """The records with the smallest and the largest value each, of texts by the number that they begin with."""
    first = np.unique(ranks, return_index=True)[1]
    places = ranks[first[ranks[first] > 0]]
    if values.dtype.is_numeric():
        places = places[[0, -1]]
    else:
        texts = values.gather(first[ranks[first] > 0]).cast(pl.String).to_list()
        numbers = ((_FIRST_NUMBER.search(text), place) for text, place in zip(texts, places, strict=True))
        places = np.array([place for _, place in sorted((float(own[0]), place) for own, place in numbers if own)], int)
    return [np.flatnonzero(ranks == place) for place in dict.fromkeys((*places[:2], *places[-2:]))]  # "<20", "20-29"


def _is_parted(original: RankedColumns, released: RankedColumns, name: str, rows: Ints, end: Ints) -> bool:
    """Whether some records in order of an amount have values by it, and those of one end have the same ones."""
    codes = original.ranks(name)[rows]
    runs = 1 + np.count_nonzero(np.diff(codes))
    counts = np.bincount(codes)[np.unique(codes)]
    if not 1 < runs == len(counts) or not codes.all():
        return False
    if sum(lgamma(n + 1) for n in (*counts, runs)) - lgamma(len(codes) + 1) > log(BY_CHANCE):
        return False
    own, there = (columns.series(name).gather(at) for columns, at in ((original, rows), (released, end)))
    before, after = (dict(some.value_counts().iter_rows()) for some in (own, there))
    return before.keys() == after.keys() and all(
        abs(after[value] - count) <= DRAWN * count**0.5 for value, count in before.items()
    )


def tell_members(
    files: Sequence[RankedColumns], names: Sequence[str], amounts: Sequence[str], household: str
) -> list[str]:
    """Those of some columns of households that follow from an amount of their members, which was left out or changed.

    `files`: the original and what goes out. Of a long file some households are looked at.

    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> rng = np.random.default_rng(1)
    >>> homes = pl.DataFrame({"home": np.arange(400) // 2, "pay": rng.lognormal(8, 1, 400)})
    >>> paid = homes.with_columns(v1=(pl.col("pay").sum().over("home") / 100).round(), v2=pl.col("home") % 9)
    >>> files = [RankedColumns.of(open_frame(file)) for file in (paid, paid.drop("pay"))]
    >>> tell_members(files, ["v1", "v2"], ["pay"], "home")
    ['v1']
    """
    original, released = files
    rows, homes = _whole_homes(original, household)
    starts = np.flatnonzero(np.diff(homes, prepend=-1))
    sizes = np.diff(np.append(starts, len(rows)))

    def of_homes(name: str) -> Floats:
        return np.asarray(original.series(name).gather(rows).cast(pl.Float64).fill_null(np.nan).to_numpy(), np.float64)

    shared, rounded = dict[str, Floats](), set[str]()
    for name in names:
        if len(rows) and original.series(name).dtype.is_numeric():
            own = of_homes(name)
            low, high = np.minimum.reduceat(own, starts), np.maximum.reduceat(own, starts)
            alike = len(np.unique(low[low == high])) > IN_CLASSES and not (low < high).any()
            base = _rounded_to(original, released, name) if alike and _was_changed(original, released, name, NEW) else 0
            if alike and base is not None:
                shared[name] = np.where(sizes > 1, np.round(low / base) * base if base else low, np.nan)
                rounded |= {name} if base else set()
    telling = dict[str, None]()
    for amount in amounts if shared else ():
        if not original.series(amount).dtype.is_numeric() or not _was_changed(original, released, amount, ALL_BUT):
            continue
        own = of_homes(amount)
        sums, low, high = (how.reduceat(own, starts) for how in (np.add, np.minimum, np.maximum))
        for name, values in shared.items():
            there = (low < high) & np.isfinite(values)
            places = dense_ranks(pl.Series(values[there]))
            figures = (dense_ranks(pl.Series(figure[there])) for figure in (sums, sums / sizes, low, high))
            made_anew = name in rounded and _rounded_to(original, released, amount) is not None  # a largest value is
            if not made_anew and any(_rise_together(figure, places, IN_CLASSES + 1) for figure in figures):
                telling[name] = None
    return [*telling]


def of_mates(files: Sequence[RankedColumns], names: Sequence[str], amounts: Sequence[str], household: str) -> list[str]:
    """Those of some columns that hold what another member has in one that was left out or changed.

    `files`: the original and what goes out.

    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> homes = pl.DataFrame({"home": np.arange(400) // 2, "age": np.random.default_rng(1).integers(18, 80, 400)})
    >>> told = homes.with_columns(v1=pl.col("age").reverse().over("home"), v2=pl.col("age") // 10)
    >>> files = [RankedColumns.of(open_frame(file)) for file in (told, told.drop("age"))]
    >>> of_mates(files, ["v1", "v2"], ["age"], "home")
    ['v1']
    """
    original, released = files
    rows, homes = (own[:SOME_MATES] for own in _whole_homes(original, household))
    several = np.bincount(homes)[homes] > 1
    numbers = [name for name in dict.fromkeys((*names, *amounts)) if original.series(name).dtype.is_numeric()]
    some = [original.series(name).gather(rows).cast(pl.Float64).fill_nan(None) for name in numbers]
    codes = dense_ranks(pl.concat(some)) if some else np.zeros(0, np.int64)
    own = dict(zip(numbers, np.split(codes, max(len(numbers), 1)), strict=False))
    telling = {name for name in names if name in own and len(np.unique(own[name][several])) > IN_CLASSES + 1}

    def is_mates(name: str, amount: str) -> bool:
        there = several & (own[name] > 0)
        same, span = float(np.mean((own[name] == own[amount])[there])), int(codes.max()) + 1
        if np.count_nonzero(there) < SPEAKING or same > SOMETIMES:
            return False
        pairs = homes * span + own[amount]
        alike, by_chance = (np.isin((at * span + own[name])[there], pairs).mean() for at in (homes, homes + 1))
        return bool(alike >= 1 - ERRS and by_chance <= SOMETIMES)

    return [
        name
        for name in dict.fromkeys(names)
        if name in telling
        and any(
            is_mates(name, amount) and _was_changed(original, released, amount, ALL_BUT)
            for amount in amounts
            if amount in own and amount != name
        )
        and not _was_changed(original, released, name, NEW)
    ]


def _whole_homes(columns: RankedColumns, household: str) -> tuple[Ints, Ints]:
    """The records of all households, of a long file of some of them, by household, and the number of each one's own."""
    column, parts = columns.series(household), columns.n // ROWS + 1
    rows = np.flatnonzero((column.hash().to_numpy() % parts == 0) & column.is_not_null().to_numpy())
    homes = dense_ranks(column.gather(rows)) - 1
    order = np.argsort(homes, kind="stable")
    return rows[order], homes[order]


def _rounded_to(original: RankedColumns, released: RankedColumns, name: str) -> int | None:
    """To multiples of what the amounts of an original were rounded, if nothing else was done to them."""
    if name not in released.names or not released.series(name).dtype.is_numeric():
        return None
    series = (own.series(name).cast(pl.Float64).drop_nulls().drop_nans().sort() for own in (original, released))
    before, after = (own.to_numpy() for own in series)
    if not len(before) == len(after) > 0 or (np.abs(after) > EXACTLY).any() or (after != np.round(after)).any():
        return None
    base = int(np.gcd.reduce(after.astype(np.int64)))
    return base if base > 0 and (np.abs(before - after) <= base / 2).all() else None


def _was_changed(original: RankedColumns, released: RankedColumns, name: str, share: float) -> bool:
    """Whether a column was left out, made coarser, or has other values than the original in a share of the records."""
    files = [_days(own, name) for own in (original, released)]
    if files[1] is None:
        return True
    numbers: list[Any] = [pl.Series(own).drop_nans() for own in files]
    before, after = numbers
    if len(before) * released.n * (1 - share) > len(after) * original.n or 2 * after.n_unique() <= before.n_unique():
        return True
    new = 1 - after.is_in(before.unique().implode()).mean() if len(after) else 0.0
    moved = len(before) == len(after) and (before.sort() != after.sort()).mean() >= share
    return bool(new >= share or moved)


def between_two(
    original: RankedColumns, released: RankedColumns, names: Iterable[str], known: Iterable[str]
) -> list[str]:
    """Those of some numbers that are the difference of two known columns, one of which goes out otherwise or not.

    Whoever knows the days of admission and discharge knows the length of the stay. Flags and the like are no numbers.

    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> rng = np.random.default_rng(1)
    >>> stays = pl.DataFrame({"admitted": rng.integers(0, 365, 900), "los": rng.integers(0, 30, 900)})
    >>> stays = stays.with_columns(left=pl.col("admitted") + pl.col("los"), v2=rng.permutation(stays["los"]))
    >>> files = [RankedColumns.of(open_frame(stays)), RankedColumns.of(open_frame(stays.drop("left")))]
    >>> [between_two(files[0], file, ["los", "v2"], ["admitted", "left"]) for file in files]
    [[], ['los']]
    """
    days = {name: own for name in dict.fromkeys((*names, *known)) if (own := _days(original, name)) is not None}
    others = [name for name in dict.fromkeys(known) if name in days]
    changed = {name for name in others if _was_changed(original, released, name, ALL_BUT)}

    def is_between(name: str, first: str, second: str) -> bool:
        own, apart = days[name], np.abs(days[first] - days[second])
        there = np.isfinite(own) & np.isfinite(apart)
        same = np.mean(own[there] == apart[there]) if np.count_nonzero(there) >= SPEAKING else 0.0
        return bool(same >= 1 - ERRS and len(np.unique(own[there])) > IN_CLASSES)

    pairs = [pair for pair in combinations(others, 2) if changed & {*pair}]
    shown = [name for name in names if name in days and pairs and not _was_changed(original, released, name, NEW)]
    return [name for name in dict.fromkeys(shown) if any(is_between(name, *pair) for pair in pairs)]


def _days(columns: RankedColumns, name: str) -> Floats | None:
    """A column as numbers, of dates the days; None where it is neither or not there."""
    own = columns.series(name) if name in columns.names else pl.Series([], dtype=pl.String)
    own = own.to_physical() if own.dtype == pl.Date else own
    return own.cast(pl.Float64).fill_null(np.nan).to_numpy() if own.dtype.is_numeric() else None


def restores_rows(original: RankedColumns, released: RankedColumns, names: Iterable[str]) -> list[str]:
    """Those of some numbers or texts, another one in each record, that rise or fall with the rows of an original only.

    They are those of the same records if these have more in common than others.

    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> rng = np.random.default_rng(1)
    >>> people = pl.DataFrame({"no": range(0, 900, 3), "q": rng.integers(0, 5, 300)})
    >>> mixed = people.sample(fraction=1, shuffle=True, seed=1)
    >>> files = (mixed, people, mixed.with_columns(no=pl.Series(rng.permutation(300) * 3)))
    >>> before, *made = (RankedColumns.of(open_frame(file)) for file in (people, *files))
    >>> [restores_rows(before, after, ["no", "q"]) for after in made]
    [['no'], [], []]
    """
    telling = []
    for name in named_alone(original, names):
        before, after = original.series(name), released.series(name)
        in_order = [own.is_sorted() or own.is_sorted(descending=True) for own in (before, after)]
        if in_order != [True, False] or before.dtype != after.dtype or not named_alone(released, [name]):
            continue
        rows = pl.DataFrame({"value": before}).with_row_index("before")
        both = pl.DataFrame({"value": after}).with_row_index("after").join(rows, on="value")
        places = [both[side].to_numpy().astype(np.int64) for side in ("before", "after")]
        telling += [name] if len(both) >= FEW and _same_records(original, released, places, name) else []
    return telling


def _same_records(original: RankedColumns, released: RankedColumns, places: Sequence[Ints], by: str) -> bool:
    """Whether pairs of rows have more in common in some column than rows of others."""
    for name in released.names:
        if name == by or name not in original.names or original.series(name).dtype != released.series(name).dtype:
            continue
        before, after = (own.series(name).gather(rows) for own, rows in zip((original, released), places, strict=True))
        alike = [(before == own).mean() or 0.0 for own in (after, after.gather([*range(1, len(after)), 0]))]
        if float(alike[0]) >= float(alike[1]) + max(ALIKE, CERTAIN * 0.5 / len(after) ** 0.5):
            return True
    return False


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


def replicates_covered(columns: RankedColumns, patterns: Mapping[str, str]) -> list[str]:
    """Replicate weights whose pattern covers other columns, too: whoever wrote one for them alone has looked.

    Weights with the sums of theirs are not other columns: some may have too few values to be seen. `patterns`: of each
    column that one covers.
    """
    weights = replicate_weights(columns, [*patterns])
    series = {name: columns.series(name) for name in patterns if weights}
    sums = {name: float(own.sum()) for name, own in series.items() if own.dtype.is_numeric()}
    low, high = (end((sums[name] for name in weights), default=0.0) for end in (min, max))
    near = {name for name, total in sums.items() if low * (1 - NEAR_SUMS) <= total <= high * (1 + NEAR_SUMS)}
    of_others = {"*", *(pattern for name, pattern in patterns.items() if name not in near)}
    return [name for name in weights if patterns[name] in of_others]


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


def could_tell(pairs: Pairs, fewest: int) -> bool:
    """Whether some records do not speak against it that a column tells a key in more detail."""
    most, of_key = most_records(*pairs)
    by_chance = of_key.sum() - of_key.max(initial=0)
    return bool(np.count_nonzero(of_key) < fewest or of_key.sum() - most.sum() <= ERRS * by_chance)


def most_records(values: Ints, keys: Ints, n: Ints) -> tuple[Ints, Ints]:
    """The most records of one pair by value, and all of them by key."""
    most, of_key = (np.zeros(int(codes.max(initial=-1)) + 1, np.int64) for codes in (values, keys))
    np.maximum.at(most, values, n)
    np.add.at(of_key, keys, n)
    return most, of_key

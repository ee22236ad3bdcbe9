"""Parts of texts, dates and ids that may tell other columns: years in dates, numbers in texts, digits, tokens."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.attacks.recovery.derived_columns import ALL, ID_SHARE, Predictor, Rows, numbered
from sdckit.attacks.recovery.touched_cells import TEXTS, ReleasedColumn
from sdckit.data.columns import numbers_as_arrow
from sdckit.numerics.array_types import Bools, Floats
from sdckit.numerics.grouping import Groups, first_of_groups, group, places_among

MOST = 60  # parts of a column
LONGEST = 40  # characters of a text that are read
LONGEST_CODE = 20  # of texts of one length, whose single places are read
LONGEST_NUMBER = 15  # digits that a float says exactly
RUNS, TOKENS = 4, 5  # numbers and words of a text that are read, from its start
STARTS, ENDS = 6, 4  # characters at the start and at the end of texts of various lengths
USUAL = 0.9  # of the texts of a column have the form that its parts are read by
SOME = 0.1  # of them have the part
FEWEST_DIGITS = 3  # of whole numbers whose digits are read
FULL = 0.8  # of numbers that are codes have all digits (leading zeros are lost)
ZERO, NINE, MINUS = 48, 57, 45
COMMA, POINT = 44, 46
MARKS = (COMMA, POINT, 0x27, 0x2019, 0xA0, 0x202F, 0x2009)  # decimal marks, and thousands marks beside them
IN_PART = 5  # of so many texts one is looked at first: too many that are no date may be there already
SEPARATORS = tuple(ord(character) for character in " ,;/-_|.:")
YEARS = (1800, 2100)
AT_FIRST = 2_000  # levels by which partitions are told apart
PIVOT = 30  # years of two digits up to here are of this century
SPREAD = np.uint64(0x9E3779B97F4A7C15)

Characters = NDArray[np.uint32]
Keys = NDArray[np.uint64]
Part = tuple[str, Floats | None, "Texts | None"]  # words, and the number or the text of each level


def text_parts(columns: Mapping[str, ReleasedColumn], some: Rows = ALL) -> Iterator[Predictor]:
    """Parts of the texts, dates and whole numbers of the release, as predictors of all records, or of some.

    Years, months and days of dates; numbers within texts; prefixes, suffixes, places and digits of codes of one length;
    lengths and tokens. Constant parts, and those equal to another of the same column, are left out. A part of (nearly)
    every record its own has numbers only (`groups` is false and `codes` is empty).

    Examples
    --------
    >>> import polars as pl
    >>> from sdckit.attacks.recovery.touched_cells import read_columns
    >>> from sdckit.data.frames import open_frame
    >>> born = pl.DataFrame({"born": ["31.12.1999", "01.02.1980", "15.02.1999", "31.12.1980"] * 5})
    >>> parts = {part.words: part for part in text_parts(read_columns(open_frame(born), ["born"]))}
    >>> parts["the year in born"].numbers[:3].tolist()
    [1999.0, 1980.0, 1999.0]
    """
    for name, column in columns.items():
        levels = np.flatnonzero(column.sizes[1:]) + 1
        if len(levels) > 1:
            yield from _spread(name, column, levels, some)


def _spread(name: str, column: ReleasedColumn, levels: NDArray[np.int64], some: Rows) -> Iterator[Predictor]:
    """The parts of the levels that occur, spread to the records."""
    n = len(column.codes)
    of_row = places_among(levels, column.n_levels + 1)[column.codes[some]] + 1
    own = None if column.single is None else column.single[levels]
    numbers_seen, seen = {hash(b"" if own is None else own.tobytes())}, _Seen(np.arange(len(levels)))
    many: list[tuple[int, int]] = []  # places that are too many different ones, and so are more of them
    given = 0
    for words, numbers, texts in _parts(name, column, levels, own):
        if numbers is not None:
            codes, n_codes = numbered(numbers)
            digest = hash(numbers.tobytes())
            fresh = digest not in numbers_seen and bool(np.count_nonzero(codes) >= SOME * len(levels))
            numbers_seen.add(digest)
            seen.add(codes)
        else:
            assert texts is not None
            if any(texts.start <= start and stop <= texts.stop for start, stop in many):
                continue
            groups = texts.grouped()
            codes, n_codes = groups.of_row + np.int32(1), len(groups.size)
            fresh = n_codes <= n / 3
            if not fresh and texts.stop:
                many.append((texts.start, texts.stop))
            fresh = fresh and seen.add(codes)
        if n_codes < 2 or not fresh:
            continue
        repeated = n_codes <= n / 3
        by_record = np.concatenate([[0], codes]).astype(np.int32)[of_row] if repeated else np.zeros(0, np.int32)
        values = None if numbers is None else np.concatenate([[np.nan], numbers])[of_row]
        yield Predictor((name,), words, by_record, n_codes if repeated else 0, values, groups=repeated, kind="text")
        given += 1
        if given == MOST:
            return


@dataclass(frozen=True, eq=False)
class Texts:
    """Characters (levels, width) of a part of each text, or codes of them; where `use` says so, of those in use.

    Of places from `start` to `stop` (0: of no fixed ones): another part that has these tells no fewer texts apart.
    """

    characters: Characters
    use: Bools | None = None
    bits: int = 32  # of a character
    start: int = 0
    stop: int = 0

    def grouped(self) -> Groups:
        """The levels by their part."""
        width = self.characters.shape[1]
        if self.use is not None or self.bits * width > 64:
            return group(_hashed(self.characters, self.use))
        keys = np.zeros(len(self.characters), np.uint64)
        for j in range(width):
            keys = keys << np.uint64(self.bits) | self.characters[:, j]
        return group(keys, bits=self.bits * width)


class _Seen:
    """Partitions of the levels that were there already: compared in full only where their first levels agree."""

    def __init__(self, codes: NDArray[np.integer]) -> None:
        self._by_start: dict[int, list[Any]] = {}
        self.add(codes)

    def add(self, codes: NDArray[np.integer]) -> bool:
        """Take in a partition; whether it was not there."""
        alike = self._by_start.setdefault(_fingerprint(codes[:AT_FIRST]), [])
        if not alike:
            alike.append(codes)
            return True
        alike[:] = [_fingerprint(other) if isinstance(other, np.ndarray) else other for other in alike]
        own = _fingerprint(codes)
        if own in alike:
            return False
        alike.append(own)
        return True


def _fingerprint(codes: NDArray[np.integer]) -> int:
    """A hash of the partition that codes make, whatever their numbers."""
    return hash(first_of_groups(codes, int(codes.max(initial=0)) + 1)[codes].tobytes())


def _parts(name: str, column: ReleasedColumn, levels: NDArray[np.int64], own: Floats | None) -> Iterator[Part]:
    kind = column.coded.kind
    if kind == "date":
        if own is not None and (np.abs(own) < 1e6).all():
            yield from _date(name, np.floor(own).astype("datetime64[D]"))
            yield f"the hour in {name}", np.floor(own % 1 * 24 + 1e-9), None
        return
    if kind in TEXTS or (kind == "integer" and own is None):
        characters, lengths = _characters(column, levels)
        if characters.shape[1]:
            yield from _text(name, np.asfortranarray(characters), lengths)
    elif own is not None and column.whole and np.isfinite(own).all() and own.min() >= 0:
        width = len(f"{own.max():.0f}")
        if not FEWEST_DIGITS <= width <= LONGEST_NUMBER:
            return
        full = np.count_nonzero(own >= 10 ** (width - 1)) >= FULL * len(own)
        if full or column.n_levels >= ID_SHARE * len(column.codes):
            tens = 10 ** np.arange(width - 1, -1, -1)
            characters = (own.astype(np.int64)[:, None] // tens % 10 + ZERO).astype(np.uint32)
            yield from _in_one_number(name, own, np.full(len(own), width))
            yield from _places(name, characters, "digit")


def _characters(column: ReleasedColumn, levels: NDArray[np.int64]) -> tuple[Characters, NDArray[np.int64]]:
    """The first characters (levels, width) of the labels, 0 after their end, and how long these are."""
    printed = column.printed.take(numbers_as_arrow(levels - 1))
    ends = np.frombuffer(printed.buffers()[1], np.int64)[printed.offset :][: len(printed) + 1]
    lengths, width = np.diff(ends), int(ends[1] - ends[0])
    if width and (lengths == width).all():
        data = np.frombuffer(printed.buffers()[2], np.uint8)[ends[0] : ends[-1]]
        if data.max() < 128:  # a byte a character, without an object for each of many ids
            return data.reshape(-1, width)[:, :LONGEST].astype(np.uint32), lengths
    labels = printed.to_pylist()
    lengths = np.fromiter(map(len, labels), np.int64, len(labels))
    width = int(min(lengths.max(), LONGEST))
    return np.array(labels, f"U{width}").view(np.uint32).reshape(len(labels), width), lengths


def _text(name: str, characters: Characters, lengths: NDArray[np.int64]) -> Iterator[Part]:
    """Parts of texts, given as characters (levels, width), 0 after the end."""
    digits = (characters >= ZERO) & (characters <= NINE)
    run, count = _runs(digits)
    values, widths = _values(characters, digits, run)
    dates = list(_dates(name, values, widths)) or list(_in_one_number(name, values[:, 0], widths[:, 0]))
    yield from dates
    if not dates and count.max() > 1:
        yield from _marked_number(name, characters, digits)
    for k in range(min(int(count.max()), RUNS)):
        known = (widths[:, k] > 0) & (widths[:, k] <= LONGEST_NUMBER)
        words = f"number {k + 1} in {name}" if count.max() > 1 else f"the number in {name}"
        yield words, np.where(known, values[:, k], np.nan), None
    yield from _tokens(name, characters)
    usual = int(np.bincount(np.minimum(lengths, LONGEST)).argmax())
    if usual <= LONGEST_CODE and np.count_nonzero(lengths == usual) >= USUAL * len(lengths):
        yield from _places(name, characters[:, :usual], "character")
    else:
        yield f"the length of {name}", lengths.astype(np.float64), None
        for length in range(1, min(STARTS, characters.shape[1]) + 1):
            yield f"the first letters of {name} ({length})", None, Texts(characters[:, :length])
        ends = np.minimum(lengths, characters.shape[1])[:, None] - np.arange(1, ENDS + 1)
        last = np.where(ends >= 0, np.take_along_axis(characters, np.maximum(ends, 0), axis=1), 0)
        for length in range(1, ENDS + 1):
            yield f"the last letters of {name} ({length})", None, Texts(last[:, :length])


def _runs(members: Bools) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
    """The number of the run, from 1, that each place belongs or is next to, and how many runs each text has."""
    starts = members.copy()
    starts[:, 1:] &= ~members[:, :-1]
    return np.cumsum(starts, axis=1, dtype=np.int8), starts.sum(axis=1)


def _values(characters: Characters, digits: Bools, run: NDArray[np.int8]) -> tuple[Floats, NDArray[np.int64]]:
    """The first numbers of each text (levels, RUNS) and of how many digits they are."""
    values, widths = np.zeros((len(run), RUNS)), np.zeros((len(run), RUNS), np.int64)
    for j in range(run.shape[1]):
        rows = np.flatnonzero(digits[:, j] & (run[:, j] <= RUNS))
        k = run[rows, j] - 1
        values[rows, k] = values[rows, k] * 10 + (characters[rows, j] - ZERO)
        widths[rows, k] += 1
    return values, widths


def _date(name: str, days: NDArray[np.datetime64]) -> Iterator[Part]:
    months = days.astype("datetime64[M]")
    years = days.astype("datetime64[Y]")
    missing = np.isnat(days)
    for words, values in (
        (f"the year in {name}", years.astype(np.int64) + 1970),
        (f"the month in {name}", (months - years).astype(np.int64) + 1),
        (f"the day in {name}", (days - months).astype(np.int64) + 1),
        (f"the date in {name}", days.astype(np.int64)),
        (f"the day of the week in {name}", (days.astype(np.int64) + 3) % 7 + 1),
    ):
        yield words, np.where(missing, np.nan, values), None


def _dates(name: str, values: Floats, widths: NDArray[np.int64]) -> Iterator[Part]:
    """Dates of three numbers: year, month and day; day, month and year; or month, day and year."""
    if np.count_nonzero(widths[:, 2]) >= USUAL * len(values):
        orders = ((0, 1, 2), (2, 1, 0), (2, 0, 1))
        yield from _likeliest(name, [(values[:, y], values[:, m], values[:, d]) for y, m, d in orders])


def _in_one_number(name: str, values: Floats, widths: NDArray[np.int64]) -> Iterator[Part]:
    """A date in the first eight, or six, digits of numbers of one length: 19991231, 31121999, 991231."""
    width = int(np.bincount(widths).argmax())
    if not 6 <= width <= LONGEST_NUMBER or np.count_nonzero(widths == width) < USUAL * len(widths):
        return
    for length in (8, 6):
        if width >= length:
            start = np.where(widths == width, values // 10 ** (width - length), np.nan)
            head, middle, tail = start // 10 ** (length - 2), start // 10 ** (length - 4) % 100, start % 100
            years = 10 ** (length - 4)
            orders = [(start // 10_000, middle if length == 6 else start // 100 % 100, tail)]
            orders += [(start % years, middle, head), (start % years, head, middle)]
            if parts := list(_likeliest(name, orders)):
                yield from parts
                return


def _likeliest(name: str, orders: list[tuple[Floats, Floats, Floats]]) -> Iterator[Part]:
    """The parts of dates in the order that most texts obey; nothing if it is not nearly all."""
    n = len(orders[0][0])
    few = [tuple(part[::IN_PART] for part in order) for order in orders]
    may_be = [order for order, some in zip(orders, few, strict=True) if n - _no_days(_days(*some)) >= USUAL * n]
    days = [_days(*order) for order in may_be]
    if days and n - _no_days(best := min(days, key=_no_days)) >= USUAL * n:
        yield from _date(name, best)


def _no_days(days: NDArray[np.datetime64]) -> int:
    return int(np.count_nonzero(np.isnat(days)))


def _days(year: Floats, month: Floats, day: Floats) -> NDArray[np.datetime64]:
    """Dates, NaT where the numbers are none."""
    year = np.where(year < 100, year + np.where(year <= PIVOT, 2000, 1900), year)
    with np.errstate(invalid="ignore"):
        fine = (year >= YEARS[0]) & (year <= YEARS[1]) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)
    months = (np.where(fine, (year - 1970) * 12 + month - 1, 0)).astype("datetime64[M]")
    days = months.astype("datetime64[D]") + np.where(fine, day - 1, 0).astype("timedelta64[D]")
    fine &= days.astype("datetime64[M]") == months
    return np.where(fine, days, np.datetime64("NaT"))


def _marked_number(name: str, characters: Characters, digits: Bools) -> Iterator[Part]:
    """Numbers with decimal and thousands marks: 1.234,50 EUR."""
    marks = np.isin(characters, MARKS)
    before = np.cumsum(digits, axis=1)
    inside = (before > 0) & (before < before[:, -1:]) & ~digits
    numeric = (before[:, -1] > 0) & (before[:, -1] <= LONGEST_NUMBER) & ~(inside & ~marks).any(axis=1)
    if np.count_nonzero(numeric) < USUAL * len(numeric):
        return
    commas, points = ((inside & (characters == mark))[numeric] for mark in (COMMA, POINT))
    after: NDArray[np.int64] = (before[:, -1:] - before)[numeric]  # digits right of each place
    both = commas.any(axis=1) & points.any(axis=1)
    if both.any():
        decimal = COMMA if (_last(commas) > _last(points))[both].mean() > 0.5 else POINT
    else:
        used = commas if commas.any() else points
        grouped = not used.any() or not (after[used] % 3).any()
        decimal = 0 if grouped else COMMA if commas.any() else POINT
    values = np.zeros(len(characters))
    for j in range(characters.shape[1]):
        values = np.where(digits[:, j], values * 10 + characters[:, j] - ZERO, values)
    places = np.where(inside & (characters == decimal), before[:, -1:] - before, 0).max(axis=1)
    negative = ((characters == MINUS) & (before == 0)).any(axis=1)
    lettered = ((characters | 32) - 97 < 26) & (before == 0)  # ID-7 is no negative number
    values = np.where(negative & ~lettered.any(axis=1), -values, values) / 10.0**places
    yield f"the number in {name}", np.where(numeric, values, np.nan), None


def _last(members: Bools) -> NDArray[np.int64]:
    return np.asarray(members.shape[1] - members[:, ::-1].argmax(axis=1))


def _places(name: str, characters: Characters, unit: str) -> Iterator[Part]:
    """Places of codes of one length: single ones, starts, ends, and runs of two, four and three."""
    levels, width = characters.shape
    spans = [(i, i + 1) for i in range(width)]
    spans += [(0, j) for j in range(2, width)] + [(i, width) for i in range(width - 2, 0, -1)]
    spans += [(i, i + length) for length in (2, 4, 3) for i in range(width - length + 1)]
    digits = (characters >= ZERO) & (characters <= NINE)
    n_digits = np.concatenate([np.zeros((1, levels), np.int8), np.cumsum(digits.T, axis=0, dtype=np.int8)])
    alphabet = np.flatnonzero(np.bincount(characters.ravel(order="K")))
    place = places_among(alphabet, int(alphabet[-1]) + 1).astype(np.uint32)
    letters, bits = np.asfortranarray(place[characters]), max(1, (len(alphabet) - 1).bit_length())
    for i, j in dict.fromkeys(spans):
        words = f"{unit} {i + 1} of {name}" if j == i + 1 else f"{unit}s {i + 1} to {j} of {name}"
        numeric = n_digits[j] - n_digits[i] == j - i
        if j - i > LONGEST_NUMBER or np.count_nonzero(numeric) < USUAL * levels:
            yield words, None, Texts(letters[:, i:j], bits=bits, start=i, stop=j)
            continue
        values = np.zeros(levels)
        for k in range(i, j):
            values = values * 10 + (characters[:, k].astype(np.float64) - ZERO)
        yield words, np.where(numeric, values, np.nan), None


def _tokens(name: str, characters: Characters) -> Iterator[Part]:
    """Words of texts, split at blanks and signs."""
    members = (characters != 0) & ~np.isin(characters, SEPARATORS)
    run, count = _runs(members)
    if np.count_nonzero(count > 1) < SOME * len(count):
        return
    for k in range(1, min(int(count.max()), TOKENS) + 1):
        yield f"word {k} of {name}", None, Texts(characters, members & (run == k))
    yield f"the last word of {name}", None, Texts(characters, members & (run == count[:, None]))


def _hashed(characters: Characters, use: Bools | None = None) -> Keys:
    """A hash of the characters of each text, or of those in use."""
    keys = np.full(len(characters), SPREAD)
    for j in range(characters.shape[1]):
        more = (keys ^ characters[:, j]) * SPREAD
        more ^= more >> np.uint64(29)
        keys = more if use is None else np.where(use[:, j], more, keys)
    return keys

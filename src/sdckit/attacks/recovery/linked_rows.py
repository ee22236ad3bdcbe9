"""Other rows that may tell a value: mates of a household, waves of a person, and rows that an id points to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, product

import numpy as np

from sdckit.attacks.recovery.derived_columns import ALL, ID_SHARE, Household, Predictor, Rows as Some, number_predictor
from sdckit.attacks.recovery.touched_cells import TEXTS, ReleasedColumn
from sdckit.numerics.array_types import Bools, Codes, Floats, Ints
from sdckit.numerics.compiling import njit
from sdckit.numerics.grouping import first_of_groups, group, places_among, row_of_values

MOST_EACH = 10  # predictors for each column of the file
FEWEST = 20  # rows that a link leads from
GROUPINGS = 3  # that are found without a role
LEVELS = (0.1, 0.7)  # per record, of a column that groups
LARGEST = 10  # rows of such a group
SOME = 2_000  # pairs of rows that are compared to find what groups
BESIDE = 0.25  # of them that stand side by side
ALIKE = 0.95  # pairs of a group with one value of a column that belongs to the group, or with two of one that numbers
POINTERS = 4
NAMED = 0.9  # values of a pointer, without the one that means nobody, that name a row
OWN = 0.02  # that name their own row, at most
PER_ROW = 50  # rows that name the same row, on average
LASTING = 0.5  # of its usual spread: a number that lasts differs by less, on average
PER_MEMBER = 4  # levels, for each row of the largest group, of a column that numbers them
TIMES = 2  # columns that say when the rows of a group were
FEW_ZEROS = 10  # rows that may name row 0
FEW_KINDS = 30  # levels of a column that says who is the head of a household, and who the spouse
BACK = "the row for which this one is "
MOST_CELLS = 16  # per record, of a table of the members of all groups by their number

Rows = Ints


@dataclass(frozen=True, eq=False)
class Link:
    """For each record the index of another `row` (n,), -1 for none; in words; and the columns that say which.

    `times`: columns that say when the rows were.
    """

    columns: tuple[str, ...]
    words: str
    row: Rows
    times: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class _Grouping:
    """Rows grouped by a column: those of groups (m,), sorted by group and within it by the first of the `times`."""

    household: Household
    rows: Rows
    times: tuple[str, ...] = ()

    @property
    def by(self) -> str:
        """The column that they are sorted by; "" for the order of the file."""
        return self.times[0] if self.times else ""

    @property
    def same(self) -> Bools:
        """(m - 1,) whether a row and the next one belong to one group."""
        of_row = self.household.of_row[self.rows]
        return np.asarray(of_row[1:] == of_row[:-1])


def linked_rows(
    columns: Mapping[str, ReleasedColumn], *, household: str | None, person: str | None, time: str | None,
    some: Some = ALL,
) -> Iterator[Predictor]:  # fmt: skip
    """The values of other columns, and of the same one, in rows that a record is linked with, as predictors.

    The row that an id points to, the way back, and whether a row is pointed to; the other of two members of a
    household; the head for the spouse, and the spouse for the head; the first and last member; the next and previous
    row of a person; the sums over the other members. Groups are found without a role, too.

    Parameters
    ----------
    columns : mapping of str to ReleasedColumn
        The whole release; a sample has lost the other rows.
    household, person, time : str or None
        Columns of these roles; rows of a person are in the order of `time`, or of the file.
    some : ndarray of int or slice
        Records whose linked rows are handed on.

    Examples
    --------
    >>> import polars as pl
    >>> from sdckit.attacks.recovery.touched_cells import read_columns
    >>> from sdckit.data.frames import open_frame
    >>> pairs = pl.DataFrame({"home": [i // 2 for i in range(40)], "age": range(40)})
    >>> found = linked_rows(read_columns(open_frame(pairs), ["home", "age"]), household="home", person=None, time=None)
    >>> [(mate.words, mate.numbers[:4].tolist()) for mate in found]
    [('age in the other row of home', [1.0, 0.0, 3.0, 2.0])]
    """
    yield from islice(_linked(columns, household, person, time, some), MOST_EACH * len(columns))


def _linked(
    columns: Mapping[str, ReleasedColumn], household: str | None, person: str | None, time: str | None, some: Some
) -> Iterator[Predictor]:
    groupings = _groupings(columns, household, person, time)
    names = {name: column for name, column in columns.items() if name not in (household, person)}
    pointers = [link for forth in _pointers(names, columns, groupings[:1]) for link in (forth, _back(forth))]
    pointers += _couples(columns, groupings[:1])
    within = [link for grouping in groupings for link in _within(grouping, household, person)]
    seen: list[Link] = []
    for links in (pointers, within):
        for link in links:
            there = link.row >= 0
            if np.count_nonzero(there) < FEWEST or any((link.row == other.row)[there].all() for other in seen):
                continue
            seen.append(link)
            if link.words.startswith(BACK):  # only women are named as mothers
                words = f"whether it is {link.words.removeprefix(BACK)} of another one"
                yield Predictor(link.columns, words, there[some].astype(np.int32), 1, kind="linked")
            yield from (_there(name, column, link, some) for name, column in columns.items() if _varies(column, link))
            yield from _moved(columns, link, some)
        if links is pointers:
            for grouping in groupings:
                yield from _sums(columns, grouping.household, some)
                if grouping.household.name == person and grouping.same.any():
                    yield from _from_the_first(columns, grouping, some)


def _varies(column: ReleasedColumn, link: Link) -> bool:
    """Whether the linked rows have of a column several values, which are not those of the own row."""
    return column.name not in link.columns and bool(_vary(column.codes, link.row))


@njit(nogil=True, cache=True)
def _vary(codes, row):  # type: ignore[no-untyped-def]
    """Whether the codes (n,) of linked rows (n,), of which there may be none, are several and differ from the own."""
    first, several, differs = 0, False, False
    for i in range(len(row)):
        code = codes[row[i]] if row[i] >= 0 else 0
        if code > 0:
            first = code if first == 0 else first
            several, differs = several or code != first, differs or code != codes[i]
            if several and differs:
                return True
    return False


def _there(name: str, column: ReleasedColumn, link: Link, some: Some) -> Predictor:
    """The column in the linked row of some records."""
    row = link.row[some]
    none, codes, numbers = row < 0, column.codes[row], column.numbers
    codes[none] = 0
    numbers = None if numbers is None else np.where(none, np.nan, numbers[row])
    columns = tuple(dict.fromkeys((name, *link.columns)))
    return Predictor(columns, f"{name} in {link.words}", codes, column.n_levels, numbers, kind="linked")


def _moved(columns: Mapping[str, ReleasedColumn], link: Link, some: Some) -> Iterator[Predictor]:
    """Whole numbers in the linked row that last, plus the time between both rows: an age years before."""
    for name, column in columns.items() if link.times else ():
        here = column.numbers if column.whole else None
        if here is None or column.n_levels < 3 or name in (*link.columns, *link.times):
            continue
        there = np.where(link.row < 0, np.nan, here[link.row])
        if not _lasts(here, there):
            continue
        for time in link.times:
            if (when := columns[time].numbers) is not None:
                words = f"{name} in {link.words}, plus the {time} between"
                made_of = tuple(dict.fromkeys((name, time, *link.columns)))
                values = there[some] + when[some] - when[link.row[some]]
                yield number_predictor(made_of, words, values, groups=False, kind="linked")


def _lasts(here: Floats, there: Floats) -> bool:
    """Whether numbers of linked rows are nearly the same."""
    known = ~np.isnan(here) & ~np.isnan(there)
    x, y = here[known], there[known]
    return len(x) >= FEWEST and bool(np.abs(x - y).mean() <= LASTING * np.abs(x - np.median(x)).mean())


def _sums(columns: Mapping[str, ReleasedColumn], group: Household, some: Some) -> Iterator[Predictor]:
    """Sums over the other rows of a group, where all of them have a number; nothing where there is no other."""
    if group.sizes.max(initial=0) < 3:
        return  # the other row says it
    for name, column in columns.items():
        numbers = column.numbers
        if name == group.name or numbers is None or column.n_levels < 3:
            continue
        words = f"the sum of {name} over the other rows of {group.name}"
        others = group.sums_of_others(numbers)[some]
        yield number_predictor((name, group.name), words, others, groups=False, kind="linked")


def _from_the_first(columns: Mapping[str, ReleasedColumn], grouping: _Grouping, some: Some) -> Iterator[Predictor]:
    """Numbers of a person counted from the first row on: days since the last visit add up to a date."""
    group, rows = grouping.household, grouping.rows
    starts = np.flatnonzero(np.append(True, ~grouping.same))
    first = np.repeat(starts, np.diff(np.append(starts, len(rows))))
    for name, column in columns.items():
        if name == group.name or column.numbers is None or column.n_levels < 3:
            continue
        x = column.numbers[rows]
        total = np.cumsum(np.nan_to_num(x))
        for words, values in (
            (f"the first {name} of {group.name}", x[first]),
            (f"{name} less the first of {group.name}", x - x[first]),
            (f"the sum of {name} of {group.name} after the first row", total - total[first]),
        ):
            own = np.full(len(group.of_row), np.nan)
            own[rows] = values
            yield number_predictor((name, group.name), words, own[some], groups=False, kind="linked")


# Rows of one group.


def _groupings(
    columns: Mapping[str, ReleasedColumn], household: str | None, person: str | None, time: str | None
) -> list[_Grouping]:
    """Groups of the roles, and of the columns that look most like groups."""
    named = [name for name in dict.fromkeys((household, person)) if name is not None and name in columns]
    found = []
    for name, column in columns.items():
        low, high = (share * len(column.codes) for share in LEVELS)
        if name in named or not _names_rows(column) or not low <= column.n_levels <= high:
            continue
        if 1 < column.sizes[1:].max() <= LARGEST:  # alone with one value, a record has no link
            alike, beside = _likeness(columns, name)
            if alike or beside > BESIDE or not column.numeric or column.sizes[1:].min() > 1:
                found.append(((alike, beside), name))  # others are numbers that happen to occur twice
    found.sort(key=lambda candidate: candidate[0], reverse=True)
    names = [*named, *(name for _, name in found[:GROUPINGS])]
    return [_ordered(columns, name, None if name == household else time) for name in names]


def _ordered(columns: Mapping[str, ReleasedColumn], name: str, time: str | None) -> _Grouping:
    """Group the rows, in the order of the time, else of a column that numbers them, else of the file."""
    household = Household.of(columns[name])
    order = np.argsort(household.of_row, kind="stable")
    grouping = _Grouping(household, order[np.count_nonzero(household.of_row < 0) :])
    given = time is not None and time in columns and time != name
    times = tuple(islice((str(time),) if given else _numbering(columns, grouping), TIMES))
    if not times:
        return grouping
    rows = np.lexsort((columns[times[0]].in_order(np.nan), household.of_row))
    return _Grouping(household, rows[np.count_nonzero(household.of_row < 0) :], times)


def _numbering(columns: Mapping[str, ReleasedColumn], grouping: _Grouping) -> Iterator[str]:
    """Columns whose numbers are different in the rows of nearly all groups: a wave, a year, the number of a member."""
    most, of_row, same = int(grouping.household.sizes.max(initial=0)), grouping.household.of_row, grouping.same
    for name, column in columns.items():
        if not most <= column.n_levels <= PER_MEMBER * most or not column.whole or column.missing.any():
            continue
        codes = column.codes[grouping.rows]
        if np.count_nonzero(same & (codes[1:] == codes[:-1])) <= (1 - ALIKE) * np.count_nonzero(same):
            pairs = of_row[grouping.rows].astype(np.int64) * (column.n_levels + 1) + codes
            if len(group(pairs.view(np.uint64)).size) >= ALIKE * len(pairs):
                yield name


def _likeness(columns: Mapping[str, ReleasedColumn], name: str) -> tuple[int, float]:
    """How many columns have one value in a group, and how many rows stand beside another of their group."""
    household = Household.of(columns[name])
    grouping = _Grouping(household, np.argsort(household.of_row, kind="stable"))
    first = np.flatnonzero(grouping.same)[:SOME]
    one, other = grouping.rows[first], grouping.rows[first + 1]
    others = [column for key, column in columns.items() if key != name and column.n_levels > 1]
    alike = sum(float((column.codes[one] == column.codes[other]).mean()) >= ALIKE for column in others)
    return alike, float((np.abs(other - one) == 1).mean())


def _within(grouping: _Grouping, household: str | None, person: str | None) -> Iterator[Link]:
    """Links among the rows of a group: the other of two; next and previous ones; the first and the last one."""
    group, rows = grouping.household, grouping.rows
    n, name = len(group.of_row), group.name
    by = f" by {grouping.by}" if grouping.by else ""
    columns = (name, grouping.by) if by else (name,)
    here, after = rows[:-1][grouping.same], rows[1:][grouping.same]
    following, before = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    following[here], before[after] = after, here
    of_two = np.concatenate([group.sizes == 2, [False]])[group.of_row]
    times = () if name == household else grouping.times
    other = np.where(of_two, np.maximum(following, before), -1)
    yield Link((name,), f"the other row of {name}", other, times)
    if name != household:
        yield Link(columns, f"the next row of {name}{by}", following, times)
        yield Link(columns, f"the previous row of {name}{by}", before, times)
    if name != person:
        for words, sorted_rows in (("first", rows[::-1]), ("last", rows)):
            end = np.full(group.n + 1, -1, np.int64)
            end[group.of_row[sorted_rows]] = sorted_rows
            row = end[group.of_row]
            yield Link(columns, f"the {words} row of {name}{by}", np.where(row == np.arange(n), -1, row))


def _couples(columns: Mapping[str, ReleasedColumn], groupings: Sequence[_Grouping]) -> Iterator[Link]:
    """The spouse of the head and the head of the spouse: a value that each household has once, and one it may have."""
    for home, (name, column) in product((grouping.household for grouping in groupings), columns.items()):
        if name == home.name or not 2 <= column.n_levels <= FEW_KINDS:
            continue
        cells = home.of_row.astype(np.int64) * (column.n_levels + 1) + column.codes
        cells[home.of_row < 0] = home.n * (column.n_levels + 1)
        counts = np.bincount(cells, minlength=(home.n + 1) * (column.n_levels + 1)).reshape(home.n + 1, -1)
        several = counts[:-1, 1:][home.sizes > 1]
        ones, more = (several == 1).sum(axis=0), (several > 1).sum(axis=0)
        head = int(ones.argmax())
        mates = np.where(more <= (1 - ALIKE) * ones, ones, 0)
        mates[head] = 0
        if ones[head] < ALIKE * len(several) or mates.max() < FEWEST:
            continue
        pair, row = [head + 1, int(mates.argmax()) + 1], np.full(len(column.codes), -1, np.int64)
        both = (counts[:, pair] == 1).all(axis=1)[home.of_row] & (home.of_row >= 0)
        first, second = (np.flatnonzero(both & (column.codes == code)) for code in pair)
        first, second = (rows[np.argsort(home.of_row[rows])] for rows in (first, second))
        row[first], row[second] = second, first
        yield Link((name, home.name), f"the head or the spouse of {home.name} by {name}", row)


# Rows that ids point to.


def _back(link: Link) -> Link:
    """The first row that names each one."""
    row = first_of_groups(link.row, len(link.row) + 1)[:-1]  # the last one: those who name none
    return Link(link.columns, f"{BACK}{link.words}", row)


def _pointers(
    names: Mapping[str, ReleasedColumn], columns: Mapping[str, ReleasedColumn], groupings: list[_Grouping]
) -> Iterator[Link]:
    """Columns whose values are those of an id, row numbers, or numbers of members of the same group."""
    n = len(next(iter(columns.values())).codes)
    ids = {
        name: column
        for name, column in columns.items()
        if column.n_levels >= ID_SHARE * n and column.sizes[1:].max() == 1 and _names_rows(column)
    }
    texts: dict[str, dict[str, int]] = {}
    numbered = [one for grouping in groupings if (one := _Numbered.of(grouping, columns)) is not None]
    found = 0
    for name, column in names.items():
        known = n - int(column.sizes[0])
        if column.n_levels < 2 or known < FEWEST or not _names_rows(column):
            continue
        links: list[Link] = []
        if column.n_levels * PER_ROW >= known:
            words = f"the row that {name} names"
            links += [Link((name, key), words, _named(column, ids[key], texts)) for key in ids if key != name]
            if column.numbers is not None and name not in ids:
                few = 0 < np.count_nonzero(column.numbers == 0) <= FEW_ZEROS
                for first, words in ((1, f"the row number {name}"), (0, f"the row number {name}, from 0"))[: 1 + few]:
                    row = _rows_of(column.numbers, np.arange(first, first + n, dtype=np.float64))
                    links.append(Link((name,), words, row))
        for members in numbered:
            of = members.grouping.household.name
            links.append(Link((name, of), f"the row of {of} that {name} names", _members(column, members)))
        for link in links:
            if _points(column, link.row):
                yield link
                found += 1
        if found >= POINTERS:
            return


@dataclass(frozen=True, eq=False)
class _Numbered:
    """Members by household and number: their rows `order` (n,) in ascending order of `keys` (n,)."""

    grouping: _Grouping
    span: float
    keys: Floats
    order: Rows

    @cached_property
    def table(self) -> Codes | None:
        """The row of each whole number of each household, -1 for none; None where not all are, or they are too many."""
        cells = self.grouping.household.n * self.span
        keys = self.keys[(self.keys >= 0) & (self.keys < cells)]
        if self.span % 1 or cells > MOST_CELLS * len(self.keys) or (keys % 1).any():
            return None
        table = np.full(int(cells), -1, np.int32)
        first = np.count_nonzero(self.keys < 0)
        table[keys[::-1].astype(np.int64)] = self.order[first : first + len(keys)][::-1]  # of several the first one
        return table

    @classmethod
    def of(cls, grouping: _Grouping, columns: Mapping[str, ReleasedColumn]) -> _Numbered | None:
        """Numbered by a column that does, else by the file."""
        group = grouping.household
        places = columns[grouping.by].numbers if grouping.by else group.positions()
        if places is None:
            return None
        span = float(np.nanmax(places, initial=0.0)) + 1.0
        keys = np.where(group.of_row >= 0, group.of_row * span + places, np.nan)
        order = np.argsort(keys)
        return cls(grouping, span, keys[order], order)


@njit(nogil=True, cache=True)
def _members_named(own, of_row, span, table, row):  # type: ignore[no-untyped-def]
    """The row of the member of the own group that each number (n,) names, in place; -1 for none.

    In: `table` (groups times `span`,) the row of each number of each group.
    """
    for i in range(len(own)):
        row[i] = -1
        if of_row[i] >= 0 and 0 < own[i] < span and own[i] == np.floor(own[i]):
            row[i] = table[np.int64(of_row[i]) * span + np.int64(own[i])]


def _names_rows(column: ReleasedColumn) -> bool:
    """Whether the values of a column may be ids."""
    return column.coded.kind in (*TEXTS, "integer") or (column.coded.kind != "date" and column.whole)


def _named(column: ReleasedColumn, ids: ReleasedColumn, texts: dict[str, dict[str, int]]) -> Rows:
    """The row that each value of a column names, by number or by text; -1 for none."""
    if column.numbers is not None and ids.numbers is not None:
        return _rows_of(column.numbers, ids.numbers)
    if column.coded.kind not in TEXTS and ids.coded.kind in TEXTS:
        return np.full(len(column.codes), -1, np.int64)
    if ids.name not in texts:
        row = places_among(ids.codes, ids.n_levels + 1)
        texts[ids.name] = dict(zip(ids.labels(), row[1:].tolist(), strict=True))
    place = texts[ids.name]
    return np.array([-1, *(place.get(label, -1) for label in column.labels())], np.int64)[column.codes]


def _rows_of(numbers: Floats, ids: Floats) -> Rows:
    """The row of each number among ids; -1 for none, and for all if the numbers lie in one part of the ids only."""
    known = ids[~np.isnan(ids)]
    low, high = (float(end.reduce(known, initial=ids[0])) for end in (np.fmin, np.fmax))
    row = row_of_values(numbers, ids)
    some = numbers[row >= 0]
    spread = len(some) > 0 and some.min() <= low + (high - low) / 4 and some.max() >= (low + high) / 2
    return row if spread else np.full(len(numbers), -1, np.int64)


def _members(column: ReleasedColumn, numbered: _Numbered) -> Rows:
    """The member of the household whose number each row says."""
    group, own = numbered.grouping.household, column.numbers
    nobody = np.full(len(column.codes), -1, np.int64)
    if own is None or column.n_levels > PER_MEMBER * group.sizes.max(initial=0):
        return nobody
    if column.name in (numbered.grouping.by, group.name):
        return nobody
    if (table := numbered.table) is not None:
        _members_named(own, group.of_row, int(numbered.span), table, nobody)
        return nobody
    wanted = np.where((own > 0) & (own < numbered.span) & (group.of_row >= 0), group.of_row * numbered.span + own, -1.0)
    place = np.minimum(np.searchsorted(numbered.keys, wanted), len(numbered.keys) - 1)
    return np.where(numbered.keys[place] == wanted, numbered.order[place], nobody)


def _points(column: ReleasedColumn, row: Rows) -> bool:
    """Whether nearly all values of a column, but for one that means nobody, name another row."""
    lost = np.bincount(column.codes[row < 0], minlength=column.n_levels + 1)[1:]
    there = np.count_nonzero(row >= 0)
    own = np.count_nonzero(row == np.arange(len(row)))
    return bool(there >= FEWEST and there >= NAMED * (there + lost.sum() - lost.max()) and own <= OWN * there)

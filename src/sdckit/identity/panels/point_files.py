"""Points of people followed over time: whose row it is, when, and the keys, coded alike in original and releases."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdckit.cells import as_cells, shared_coding
from sdckit.cells.joined_ids import changed_ids, joined_ids
from sdckit.cells.pair import Pair
from sdckit.data.columns import code_column, days_values, first_rows
from sdckit.data.missing_values.missing import Rule
from sdckit.display import counted
from sdckit.errors import ColumnError, DataError
from sdckit.numerics.array_types import AnyInts, Bools, Codes, Floats, Ints
from sdckit.numerics.grouping import first_of_groups


@dataclass(frozen=True, eq=False)
class PointFile:
    """The points (rows) of one file, and what is known of each person besides.

    `person` (n,): number of the person of each point, in ascending order of their ids. `time` (n,), `keys` (q, n):
    codes of the points, 0 where missing. `also` (r, n_persons): codes by person. `near`: by name the numbers, or
    days, of what is matched within a tolerance. `first` (n_persons,): a row of each person in the file of persons.
    `owner` (n_persons,): which person of the original each is, -1 for none of them; None where this is not known.
    """

    person: Codes
    n_persons: int
    time: Codes | None
    keys: tuple[Codes, ...]
    also: tuple[Codes, ...]
    near: Mapping[str, Floats]
    first: Ints
    owner: Codes | None


@dataclass(frozen=True, eq=False)
class PointFiles:
    """Original and releases; `wild` and `n_levels`: of the keys, then of what is also known. `times`: their labels.

    `followed`: columns by which people are followed in a release whose identifiers change; None where none do.
    """

    files: tuple[PointFile, ...]
    wild: tuple[bool, ...]
    n_levels: tuple[int, ...]
    times: tuple[str, ...]
    names: tuple[str, ...]
    followed: tuple[str, ...] | None = None

    @property
    def sought(self) -> tuple[PointFile, ...]:
        """The files that people are looked for in: the releases, or the file itself."""
        return self.files[1:] or self.files


@dataclass(frozen=True)
class PointColumns:
    """Which columns are what, with the rule for a missing value of each of `keys` and `also`."""

    person: str
    time: str | None
    keys: tuple[str, ...]
    also: tuple[str, ...]
    tolerance: Mapping[str, float]
    rules: tuple[Rule, ...]

    @property
    def of_points(self) -> dict[str, Sequence[str]]:
        """Columns of the file of points by role."""
        return {"person": (self.person,), "time": () if self.time is None else (self.time,), "keys": self.keys}


def read_points(
    pair: Pair, columns: PointColumns, children: Sequence[Any] | None, *, by_values: bool = False
) -> PointFiles:
    """The points of each file of a pair; with `children`, one file for each, theirs; `by_values` as in `joined_ids`.

    Raises ColumnError, DataError: an absent column, a row without a person or a time, what is also known differs
    within a person, children of nobody, a missing key where none may be.
    """
    frames: Sequence[Any] = pair.frames
    names = labels = pair.names if pair.m else ("the data",)
    if children is not None:
        if len(children) != len(pair.frames):
            says = f"children= holds {len(children)} files for {len(pair.frames)}; give those of the original first"
            raise DataError(says, argument="children")
        frames = [as_cells.columns_in_memory(file, columns.of_points)[0] for file in children]
        names = tuple(f"the children of {name}" for name in labels)
    people, persons = [], []
    for j, frame in enumerate(pair.frames):
        n_sides = 1 if children is None else 2
        of_sides = (labels[j], names[j])[:n_sides]
        codes = _joint((frame, frames[j])[:n_sides], columns.person, of_sides).codes
        for own, label in zip(codes, of_sides, strict=True):
            _refuse_missing(own == 0, columns.person, "person", label)
        number, used = _numbered(codes[0])
        people.append((number, len(used)))
        persons.append(number if children is None else _of_parents(codes[1], used, names[j]))
    followed: tuple[str, ...] | None = None
    if children is None:
        for j in range(1, len(pair.frames)):
            people[j], by = _followed(pair, j, people, columns, by_values=by_values)
            persons[j] = people[j][0]
            followed = followed if by is None else tuple(dict.fromkeys((*(followed or ()), *by)))
    time = None if columns.time is None or columns.time in columns.tolerance else _joint(frames, columns.time, names)
    for codes, label in zip(() if time is None else time.codes, names, strict=False):
        _refuse_missing(codes == 0, str(columns.time), "time", label)
    keys = [_joint(frames, name, names) for name in columns.keys if name not in columns.tolerance]
    also = [_joint(pair.frames, name, labels) for name in columns.also]
    rules = dict(zip((*columns.keys, *columns.also), columns.rules, strict=True))
    wild = []
    for coding in (*keys, *also):
        if not coding.codes[0].any():
            raise DataError(f"{coding.name!r} has no value in any record; leave it out")
        missing = any((codes == 0).any() for codes in coding.codes)
        if missing and rules[coding.name] == "error":
            raise DataError(f"key {coding.name!r} has missing values, and missing='error'; complete it or choose "
                            "'wildcard' or 'category'")  # fmt: skip
        wild.append(missing and rules[coding.name] == "wildcard")
    files = []
    for j, (number, n_persons) in enumerate(people):
        first = first_of_groups(number, n_persons)
        own = tuple(_constant(coding.codes[j], number, first, coding.name, labels[j]) for coding in also)
        near = {name: days_values(frames[j][name], file=names[j]) for name in columns.tolerance}
        for name, values in near.items():
            _refuse_missing(np.isnan(values), name, "value", names[j])
        files.append(PointFile(
            persons[j], n_persons, None if time is None else time.codes[j], tuple(coding.codes[j] for coding in keys),
            own, near, first, _owners(pair, j, people, columns.person, rows=children is None),
        ))  # fmt: skip
    n_levels = tuple(coding.n_levels + 1 for coding in (*keys, *also))
    times = () if time is None else tuple(time.labels()[1:])
    return PointFiles(tuple(files), tuple(wild), n_levels, times, names, followed)


def _followed(
    pair: Pair, j: int, people: Sequence[tuple[Codes, int]], columns: PointColumns, *, by_values: bool
) -> tuple[tuple[Codes, int], tuple[str, ...] | None]:
    """The people of a release as they can be followed through it, and by which columns where identifiers change."""
    (person, n_persons), (own, n_own) = people[j], people[0]
    at = _rows_of(pair, j)
    owner = None if at is None else own[at]
    if not changed_ids(person, owner, n_own):
        return (person, n_persons), None
    if columns.time is None:
        says = "people have several identifiers, and without a time nothing says which of them may be one person"
        raise DataError(f"{pair.names[j]}: {says}; name the column of the wave or the day (time)")
    if pair.brought:
        says = "people have several identifiers, and whether other columns lead from one to the next is not looked at"
        raise DataError(f"{pair.names[j]}: {says} in a plan; give the files in memory")
    number, by = joined_ids(
        pair.frames[j], pair.original, person, own, owner, id=columns.person, time=columns.time, by_values=by_values
    )
    return (number, int(number.max()) + 1), by


def _joint(frames: Sequence[Any], name: str, labels: Sequence[str]) -> Any:
    coded = [code_column(frame[name]) for frame in frames]
    return shared_coding.share_coding(name, [(column, column.codes()) for column in coded], labels)


def _refuse_missing(gone: Bools, name: str, role: str, label: str) -> None:
    if gone.any():
        where = f"{role} {name!r} is missing in {counted(int(gone.sum()), 'record')} ({first_rows(gone)})"
        raise DataError(f"{label}: {where}; give every record its {role}")


def _numbered(codes: Codes) -> tuple[Codes, Codes]:
    """Number the persons of a file from 0, ascending; and the code of each."""
    there = np.zeros(int(codes.max(initial=0)) + 1, np.bool_)
    there[codes] = True
    number = (np.cumsum(there) - 1).astype(np.int32)
    return number[codes], np.flatnonzero(there).astype(np.int32)


def _of_parents(codes: Codes, used: Codes, label: str) -> Codes:
    at = np.minimum(np.searchsorted(used, codes), len(used) - 1)
    if (lost := used[at] != codes).any():
        orphans = f"{counted(int(lost.sum()), 'record')} ({first_rows(lost)})"
        raise DataError(f"{label}: {orphans} of nobody in the other file")
    return at.astype(np.int32)


def _constant(codes: Codes, person: Codes, first: Ints, name: str, label: str) -> Codes:
    own: Codes = codes[first]
    if (differs := codes != own[person]).any():
        where = f"{counted(int(differs.sum()), 'record')} ({first_rows(differs)})"
        raise DataError(
            f"{label}: also_known {name!r} varies within a person in {where}; it is a key of the points then"
        )
    return own


def _owners(pair: Pair, j: int, people: Sequence[tuple[Codes, int]], name: str, *, rows: bool) -> Codes | None:
    """Which person of the original each person of file j is: by rows that belong together, else by the same ids."""
    (person, n_persons), (own, n_own) = people[j], people[0]
    if j == 0:
        return np.arange(n_own, dtype=np.int32)
    owner = np.full(n_persons, -1, np.int32)
    if rows and (at := _rows_of(pair, j)) is not None:
        owner[person] = own[at]
        if (owner[person] == own[at]).all():
            return owner
    try:
        coding = _joint((pair.original, pair.frames[j]), name, (pair.names[0], pair.names[j]))
    except ColumnError:  # numbers there and text here: the ids are new
        return None
    of_code = np.full(coding.n_levels + 1, -1, np.int32)
    of_code[coding.codes[0]] = own
    owner[person] = of_code[coding.codes[1]]
    return owner if (owner >= 0).all() else None


def _rows_of(pair: Pair, j: int) -> AnyInts | None:
    """The row of the original that each row of file j was made from: by the id, else by position."""
    if pair.id is not None:
        codes = _joint((pair.original, pair.frames[j]), pair.id, (pair.names[0], pair.names[j])).codes
        order = np.argsort(codes[0], kind="stable")
        at = order[np.minimum(np.searchsorted(codes[0][order], codes[1]), len(order) - 1)]
        return at if (codes[0][at] == codes[1]).all() else None
    return np.arange(pair.n) if len(pair.frames[j]) == pair.n and not pair.brought else None

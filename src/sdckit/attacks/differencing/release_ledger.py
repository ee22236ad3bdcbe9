"""Release ledger: keyed digests of past releases, against which a new release is compared."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.cells import as_cells, packing
from sdckit.cells.plans.lazy import most_values
from sdckit.data import arguments, households, nearest
from sdckit.data.columns import code_column
from sdckit.data.files.readers import open_beside, scan_header
from sdckit.data.frames import Frame, column_names, count_records, is_lazy, open_frame, telling_apart
from sdckit.data.ledger import digests as digesting, ledger_file
from sdckit.data.ledger.chain import head_file
from sdckit.data.ledger.ledger_file import open_file
from sdckit.data.memory import PER_LINKED, room_of_search, what_opens
from sdckit.data.scenarios.scenario import Scenario
from sdckit.display import Displayed, plain_html
from sdckit.errors import DataError, FileFormatError, ScenarioError, sure
from sdckit.numerics import array_types, grouping
from sdckit.numerics.array_types import Bytes, Codes, Ints

# A release prepared for comparison: coded columns, combinations of values, and their keyed digests.


@dataclass(frozen=True, eq=False)
class Combinations:
    """Distinct combinations of some columns.

    `codes`: one array per column with the code of each combination; `size`: records of each combination; `of_row`:
    index of the combination of each record.
    """

    columns: tuple[str, ...]
    codes: tuple[Codes, ...]
    size: Ints
    of_row: Codes

    def among(self, columns: Sequence[str]) -> Combinations:
        """Marginalise to fewer columns; `of_row` then maps these combinations, not records, to the coarser ones."""
        chosen = [self.codes[self.columns.index(name)] for name in columns]
        groups = packing.group_codes(chosen, len(self.size))
        k = len(groups.size)
        first = grouping.first_of_groups(groups.of_row, k)
        size = np.bincount(groups.of_row, self.size, k).astype(np.int64)
        return Combinations(tuple(columns), tuple(codes[first] for codes in chosen), size, groups.of_row)


@dataclass(frozen=True, eq=False)
class OpenedRelease:
    """An opened release: frame, coded columns to compare, its id, if any, and what goes out and tells people apart.

    `homes`: the household of each record, of none where no column that goes out tells; None where nobody said.
    """

    frame: Any
    n: int
    levels: dict[str, digesting.Levels]
    id: digesting.Levels | None
    links: dict[str, digesting.Levels] = field(default_factory=dict)
    size: NDArray[np.uint32] | None = None  # records of each row, where rows are combinations
    memo: dict[Any, Any] = field(default_factory=dict)
    homes: array_types.Ints | None = None

    @property
    def shows_homes(self) -> bool:
        """Whether a column that goes out says who lives together."""
        return self.homes is not None and len(self.homes) > 0

    @property
    def whole(self) -> Combinations:
        """The combinations of all columns."""
        return packing.made_once(self.memo, "whole", self._combined)

    def _combined(self) -> Combinations:
        columns = tuple(sorted(self.levels))
        groups = packing.group_codes([self.levels[name].codes for name in columns], self.n)
        first = grouping.first_of_groups(groups.of_row, len(groups.size))
        codes = tuple(self.levels[name].codes[first] for name in columns)
        size = groups.size if self.size is None else grouping.sum_by(groups.of_row, self.size, len(groups.size))
        return Combinations(columns, codes, size.astype(np.int64), groups.of_row)

    def combinations(self, columns: Sequence[str]) -> Combinations:
        """The combinations of some columns, sorted by column name."""
        place = tuple(sorted(columns))
        return packing.made_once(self.memo, place, lambda: self._some_combined(place))

    def _some_combined(self, columns: tuple[str, ...]) -> Combinations:
        subset = self.whole.among(columns)
        return replace(subset, of_row=subset.of_row[self.whole.of_row])

    def digests_of(self, combined: Combinations, digester: digesting.Digester) -> Bytes:
        """Digests of any combinations, including ones that do not occur in the file."""
        named = zip(combined.columns, combined.codes, strict=True)
        parts = [(self.level_digests(name, digester), codes) for name, codes in named]
        return digester.combinations(parts, len(combined.size))

    def level_digests(self, name: str, digester: digesting.Digester) -> Bytes:
        """The digest of each level of a column."""
        return packing.made_once(self.memo, (digester, name), lambda: digester.levels(self.levels[name]))

    def linking_digests(self, column: digesting.Levels, digester: digesting.Digester) -> Bytes:
        """The digest of each record's value in a column that tells people apart; that of a missing one without."""
        place = (digester, "linking", column.name)
        return packing.made_once(self.memo, place, lambda: digester.linking(column)[column.codes])


def open_release(
    data: Any, columns: Sequence[str], *, id: str | None, name: str, role: str, weight: str | None = None,
    kept: Sequence[str] = (), telling: tuple[str, ...] | None = None, scenario: Scenario | None = None,
) -> OpenedRelease:  # fmt: skip
    """Read the columns of a release.

    `name` is what the release is called in messages, `role` what its columns are; those `kept` do not go out;
    `telling`: the columns that tell people apart, where they are known; the `scenario` says which column numbers
    households. Raises ColumnError: a column is absent; DataError: no records, or records without an id of their own.
    """
    telling = telling_columns(data, kept) if telling is None else telling
    shown = {*open_frame(data).collect_schema().names()} - {*kept}
    home = () if scenario is None or scenario.household not in shown else (scenario.household,)
    wanted: dict[str, Sequence[str]] = {
        role: tuple(columns), "id": () if id is None else (id,), "weight": () if weight is None else (weight,),
        "columns": telling, "household": home,
    }  # fmt: skip
    frame, _ = as_cells.columns_in_memory(data, wanted)
    levels = {name: digesting.canonical(code_column(frame[name])) for name in dict.fromkeys(columns)}
    own = None if id is None else digesting.canonical(code_column(frame[id]))
    if own is not None and (own.counts()[1:].max(initial=0) > 1 or own.counts()[0]):
        raise DataError(
            f"{name}: several records share a value of the id, or have none; give a column that every record has a "
            "value of its own in, or leave id out",
            argument="id",
        )
    links = {column: _alone(digesting.canonical(code_column(frame[column]))) for column in telling}
    homes = None if scenario is None else np.zeros(0, np.int64)
    if home:
        coded = code_column(frame[home[0]])
        homes = households.homes_of(coded.codes(), coded.span).of_row
    links = {column: few for column, few in links.items() if few.texts}
    return OpenedRelease(frame, len(frame), levels, own, links, homes=homes)


def telling_columns(data: Any, kept: Sequence[str]) -> tuple[str, ...]:
    """The columns of a release that tell people apart; those `kept` do not go out."""
    return telling_apart(data, MOST_ALIKE, without=kept)


MOST_ALIKE = 0.9  # least share of records with a value of their own in a column that tells people apart


def _alone(column: digesting.Levels) -> digesting.Levels:
    """The column with the values that one record has; none where fewer than most records have one."""
    single = column.counts() == 1
    single[0] = False
    if single.sum() < MOST_ALIKE * (column.codes > 0).sum():
        return digesting.Levels(column.name, column.codes, ())
    number = np.cumsum(single) * single
    texts = tuple(text for text, alone in zip(column.texts, single[1:].tolist(), strict=True) if alone)
    return digesting.Levels(column.name, number.astype(np.int32)[column.codes], texts)


# Earlier releases to compare with: files at hand, or the sketches a ledger keeps of them.


ALIKE = 0.5  # least share of records of each file whose value occurs in the other file, too, for a common coding


@dataclass(frozen=True, eq=False)
class Earlier:
    """One earlier release.

    `order`, if the file itself is at hand: the combination of each of its rows; `file`, if it is in memory, and
    `stays`, why it is not.
    `same_people`: whether it is assumed to cover the people of the new one; `pending`: whether it has not gone out yet.
    """

    name: str
    date: str
    same_people: bool
    sketch: digesting.Sketch
    digester: digesting.Digester
    order: Ints | None = None
    pending: bool = False
    file: Any = None
    stays: str = ""
    homes: array_types.Ints | None = None

    def people(self, old: OpenedRelease) -> tuple[array_types.Ints, array_types.Ints | None]:
        """The combination of each person, and the household; of a ledger in no order, of none where it is not known."""
        part = next((part for (kind, *_), part in self.sketch.parts.items() if kind == "homes"), None)
        if self.file is not None:
            return sure(self.order), self.homes
        if part is not None and len(part.numbers):
            return digesting.members_of(part)
        return np.repeat(np.arange(old.n), 1 if old.size is None else old.size), None


def beside_file(earlier: Earlier, data: Any, scenario: Scenario | None) -> Earlier:
    """An entry of a ledger with the release itself, so that all of its columns are compared.

    Raises ColumnError or DataError: it is not the release that the ledger remembers.
    """
    every = max(earlier.sketch.named("counts"), key=len)
    kept = () if scenario is None else scenario.identifiers
    whole, stays = whole_here(data, earlier.name, kept=kept, wanted=every)
    opened = open_release(whole, every, id=None, name=earlier.name, role="remembered", kept=kept, scenario=scenario)
    again, order = sketch_release(opened, (), (), earlier.digester)
    here, there = (sketch.parts["counts", *every] for sketch in (again, earlier.sketch))
    if not (np.array_equal(here.digests, there.digests) and np.array_equal(here.numbers, there.numbers)):
        raise DataError(
            f"the file given as {earlier.name!r} is not the release that the ledger remembers under that name: other "
            f"records have its {', '.join(every)}",
            argument="files",
        )
    parts = earlier.sketch.parts
    linking = {place[1] for place in parts if place[0] in digesting.LINKING}
    lacking = {place: part for place, part in again.parts.items() if place[0] != "links" or place[1] not in linking}
    sketch = digesting.Sketch({**lacking, **parts})  # an earlier version kept less
    at_hand = None if is_lazy(whole) else whole
    return replace(earlier, sketch=sketch, order=order, file=at_hand, stays=stays, homes=opened.homes)


MOST_SEARCHED = 1 << 25  # values of both files
FILES = 2  # a release and one before it, which share the room
NO_MORE = "up to {:,} records of {} columns are searched, and {} has more: let fewer columns go out"
NO_ROOM = "up to {:,} records of {} columns fit here to be searched, and {} has more: let fewer columns go out, {}"


def whole_here(data: Any, name: str, *, kept: Sequence[str], wanted: Sequence[str]) -> tuple[Frame, str]:
    """A release with all that goes out of it in memory, where it fits beside another one; else as it is, and why.

    `wanted`: columns that are needed though they are `kept`. What cannot be read is refused where it is opened.
    """
    frame: Any = open_frame(data)
    if not is_lazy(frame):
        return frame, ""
    columns = [column for column in column_names(frame) if column not in kept or column in wanted]
    readable = {*as_cells.readable_columns(frame)} & {*columns}
    n = count_records(frame)
    if not n or not readable or {*wanted} - readable:
        return frame, ""
    each, room = n * len(readable), room_of_search(frame)
    most = most_values(frame, FILES)
    fit = most if room is None else min(most, room // FILES // PER_LINKED)
    if each > MOST_SEARCHED:
        return frame, NO_MORE.format(MOST_SEARCHED // len(readable), len(readable), name)
    if each > fit:
        opens = what_opens(frame, each / max(1, fit))
        return frame, NO_ROOM.format(fit // len(readable), len(readable), name, opens)
    return as_cells.coded_in_memory(frame, columns), ""


def comparable_columns(new: OpenedRelease, earlier: Earlier) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Columns of both releases that are coded alike, and those that are coded differently."""
    alike: list[str] = []
    other: list[str] = []
    for name, levels in new.levels.items():
        part = earlier.sketch.get("counts", (name,))
        if part is not None:
            (alike if _alike(new, name, levels.counts(), part, earlier.digester) else other).append(name)
    return tuple(alike), tuple(other)


def _alike(new: OpenedRelease, name: str, counts: Ints, part: digesting.Part, digester: digesting.Digester) -> bool:
    digests = new.level_digests(name, digester)
    alone = digester.combinations([(digests, np.arange(len(digests), dtype=np.int32))], len(digests))
    counted = part.of(alone)
    here, there = counts[1:], part.total - counted[0]
    if not here.sum() or not there:
        return True  # nothing but missing values in one of them: nothing contradicts
    return bool(here[counted[1:] > 0].sum() >= ALIKE * here.sum() and counted[1:].sum() >= ALIKE * there)


# Candidate values of a sensitive variable for each combination of keys, as bit masks.


MOST_WORDS = 1 << 25  # of the sets of all records, 256 MB
BITS = 64


def can_intersect(n: int, n_levels: int) -> bool:
    """Whether the sets of candidate levels of n records are few enough to be held."""
    return n * -(-n_levels // BITS) <= MOST_WORDS


def candidate_sets(combined: Combinations, target: Codes, n_levels: int) -> array_types.Words:
    """Candidate levels of a target (codes (n,), 0 missing) for each combination of keys, as bit masks.

    A missing target value may be any level; a combination with missing keys may be any that agrees on the keys both
    show, so their candidates are merged. The sets are never smaller than what an intruder with these keys must admit.

    >>> both = Combinations(("x",), (np.array([1, 2, 0], np.int32),), np.array([1, 1, 1]), np.array([0, 1, 2]))
    >>> n_candidates(candidate_sets(both, np.array([1, 2, 2], np.int32), 2)).tolist()
    [2, 1, 2]
    """
    words = max(1, -(-n_levels // BITS))
    own = np.zeros((len(combined.size), words), np.uint64)
    known = target > 0
    level = (target[known] - 1).astype(np.uint64)
    flat = combined.of_row[known].astype(np.int64) * words + (level // BITS).astype(np.int64)
    np.bitwise_or.at(own.reshape(-1), flat, np.uint64(1) << (level % np.uint64(BITS)))
    own[combined.of_row[~known]] = every_level(n_levels)
    return _with_wildcards(own, combined.codes)


def every_level(n_levels: int) -> array_types.Words:
    """Bit mask (words,) with the bits of all levels set."""
    bits = np.zeros(max(1, -(-n_levels // BITS)) * BITS, np.uint8)
    bits[:n_levels] = 1
    return np.packbits(bits, bitorder="little").view("<u8").astype(np.uint64)


def n_candidates(sets: array_types.Words) -> Ints:
    """Number of levels in each set (bits set per row of the mask)."""
    counted: Ints = np.bitwise_count(sets).sum(axis=1, dtype=np.int64)
    return counted


def set_members(sets: array_types.Words) -> tuple[Ints, Ints]:
    """All (row of `sets`, level from 0) pairs as two index arrays."""
    row, word = np.nonzero(sets)
    bits = np.unpackbits(sets[row, word].astype("<u8").view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")
    pair, bit = np.nonzero(bits)
    return row[pair], word[pair] * BITS + bit


def _with_wildcards(own: array_types.Words, codes: Sequence[Codes]) -> array_types.Words:
    """Merge the candidate sets of combinations that agree up to missing keys."""
    shown = np.zeros(len(own), np.int64)
    for j, column in enumerate(codes):
        shown |= (column > 0).astype(np.int64) << j
    patterns = np.unique(shown)
    if len(patterns) == 1:
        return own
    rows = {pattern: np.flatnonzero(shown == pattern) for pattern in patterns.tolist()}
    joined = own.copy()
    for i, first in enumerate(patterns.tolist()):
        for second in patterns[i + 1 :].tolist():
            _join(joined, own, rows[first], rows[second], [
                key for j, key in enumerate(codes) if (first & second) >> j & 1
            ])  # fmt: skip
    return joined


def _join(
    joined: array_types.Words, own: array_types.Words, first: Ints, second: Ints, shared: Sequence[Codes]
) -> None:
    """Merge the sets of combinations of two missingness patterns that agree on the keys both show, in place."""
    both = np.concatenate([first, second])
    groups = packing.group_codes([column[both] for column in shared], len(both))
    here, there = groups.of_row[: len(first)], groups.of_row[len(first) :]
    for rows, group, other, theirs in ((first, here, second, there), (second, there, first, here)):
        union = np.zeros((len(groups.size), own.shape[1]), np.uint64)
        np.bitwise_or.at(union, theirs, own[other])
        joined[rows] |= union[group]


# Earlier releases that are at hand as files.


def files_at_hand(ledger: ReleaseLedger, scenario: Scenario) -> dict[str, Path]:
    """The files of earlier releases that a scenario names, by the names of their entries.

    Raises DataError: no entry has the name, or it is another file; FileFormatError: it cannot be read.
    """
    files = {} if scenario.ledger is None else scenario.ledger.files
    paths = {name: scenario.folder / file for name, file in files.items()}
    for name, path in paths.items():
        ledger.check_file(name, path)
    return paths


def with_files(ledger: ReleaseLedger, files: Mapping[str, Path], scenario: Scenario, release: Any) -> ReleaseLedger:
    """The ledger with these files opened, without identifiers, on the engine of the release where it is on one."""
    frames = {}
    for name, path in files.items():
        columns = [column for column in scan_header(path).columns if column not in scenario.identifiers]
        frames[name] = open_beside(path, release, columns=columns, missing=scenario.missing_codes)
    return ledger.beside(frames)


# The sketch of a release: what is counted, and the digests kept of it.


def sketch_release(
    release: OpenedRelease, keys: Sequence[Sequence[str]], sensitive: Sequence[str], digester: digesting.Digester
) -> tuple[digesting.Sketch, Ints]:
    """Keep keyed digests of the levels of each column and of the combinations of all, with their counts and codes.

    `keys` are those of each intruder. Kept is, too, which combination each id has, each value that tells people apart,
    and each member of a household. Also returns the combination of each record.
    """
    parts: dict[digesting.Place, digesting.Part] = {}
    places: dict[tuple[str, ...], Ints] = {}
    every = tuple(sorted(release.levels))
    for columns in dict.fromkeys([*((name,) for name in every), every]):
        combined = release.combinations(columns)
        digests = release.digests_of(combined, digester)
        parts[("counts", *columns)], places[columns] = digesting.sorted_part(digests, combined.size)
    order = np.argsort(places[every])
    levels = []
    for name, codes in zip(every, release.whole.codes, strict=True):
        of_level = np.zeros(len(release.levels[name].texts) + 1, np.int64)
        of_level[release.combinations([name]).codes[0]] = places[(name,)]
        levels.append(of_level[codes[order]])
    parts |= digesting.coded_parts(every, levels)
    of_row: Ints = places[every][release.whole.of_row]
    if release.homes is not None:
        parts["homes", *every] = digesting.homes_part(of_row[: len(release.homes)], release.homes)
    for kind, column in _linking(release):
        rows = np.flatnonzero(column.codes)
        digests = release.linking_digests(column, digester)[rows]
        parts[kind, column.name, *every], _ = digesting.sorted_part(digests, of_row[rows])
    nothing = digesting.Part(np.zeros((0, digesting.WIDTH), np.uint8), np.zeros(0, np.uint32))
    parts |= {("keys", *names): nothing for names in keys if names}
    return digesting.Sketch(parts | ({("sensitive", *sensitive): nothing} if sensitive else {})), of_row


def _linking(release: OpenedRelease) -> Iterator[tuple[digesting.Kind, digesting.Levels]]:
    """The columns that tell people apart, and whether they go out."""
    if release.id is not None:
        yield "ids" if release.id.name in release.links else "people", release.id
    for column in release.links.values():
        if release.id is None or column.name != release.id.name:
            yield "links", column


class ReleaseLedger(Displayed):
    """Releases remembered by keyed digests: a folder with `ledger.toml` and a Parquet file for each release.

    Of a release it keeps the HMAC-SHA256 of every level of its keys and sensitive variables, and of every combination
    of all of them, with the number of records that have it and the levels it consists of; and of ids and of columns
    that tell people apart which combination each value has. All of it is sealed once more. Without the key, which is a
    file kept apart, it looks random: only the numbers of levels and combinations can be read, and the names of releases
    and columns.

    What was added, released and withdrawn is a chain sealed by the key. Its head, the number of links and the digest of
    the last, lies beside the key in a file of the key's name and `.head`: an older copy of the ledger, or one that
    lacks an entry, is refused.

    Attributes
    ----------
    survey : str
        What the releases are releases of.
    entries : tuple of LedgerEntry
        The releases, in the order they were added; those that `protect` wrote and `check` has not passed are
        ``pending``.
    head : str
        Number and digest of the end of the chain.

    References
    ----------
    Krawczyk, H., Bellare, M. and Canetti, R. (1997). HMAC: keyed-hashing for message authentication. RFC 2104.

    Examples
    --------
    >>> import tempfile
    >>> import polars as pl
    >>> folder = tempfile.mkdtemp()
    >>> ledger = ReleaseLedger.create(f"{folder}/ledger", key=f"{folder}/ledger.key", survey="Health survey")
    >>> survey = pl.DataFrame({"sex": ["f", "f", "m"], "age": [30, 30, 41], "ill": ["no", "yes", "no"]})
    >>> ledger = ledger.add(survey, name="2024", keys=["sex", "age"], sensitive=["ill"])
    >>> [one.name for one in ReleaseLedger.open(f"{folder}/ledger", key=f"{folder}/ledger.key").entries]
    ['2024']
    """

    def __init__(
        self, file: ledger_file.LedgerFile, without: Collection[str] = (), files: Mapping[str, Any] = {}
    ) -> None:  # fmt: skip
        self._file = file
        self._without = frozenset(without)
        self._files = dict(files)

    @classmethod
    def create(cls, folder: str | Path, *, key: str | Path, survey: str) -> ReleaseLedger:
        """Start a ledger and make up its key.

        Parameters
        ----------
        folder : str or Path
            Is made where there is none.
        key : str or Path
            The file for the key, which nobody but its owner may read. Keep it apart from the folder, and keep a copy:
            without it the ledger answers nothing.
        survey : str
            What the releases are releases of.

        Raises
        ------
        FileFormatError
            There is a ledger, or a file where the key is to be; or they cannot be written.
        DataError
            No name of a survey; the key in the folder of the ledger.
        """
        place, file = Path(folder), Path(key)
        if not arguments.text(survey, "survey").strip():
            raise DataError("survey is empty; say what the releases are releases of", argument="survey")
        if file.resolve().parent == place.resolve():
            raise DataError("the key is kept apart from the ledger: name a file outside its folder", argument="key")
        if (place / "ledger.toml").exists():  # before a key is made up for nothing
            return cls(ledger_file.create_file(place, survey, digesting.Digester(b""), head_file(file)))
        digester = digesting.Digester(ledger_file.make_key(file))
        try:
            return cls(ledger_file.create_file(place, survey, digester, head_file(file)))
        except FileFormatError:
            file.unlink()  # the key of no ledger
            raise

    @classmethod
    def open(cls, folder: str | Path, *, key: str | Path, survey: str | None = None) -> ReleaseLedger:
        """Open a ledger with its key; `survey` says of what it must be.

        Raises
        ------
        FileFormatError
            There is no ledger, no key or no head beside it; an older copy of the ledger, or one that was changed.
        DataError
            The key of another ledger, or one that others can read; a ledger of another survey.
        """
        file = open_file(Path(folder), digesting.Digester(ledger_file.read_key(Path(key))), head_file(Path(key)))
        if survey is not None and arguments.text(survey, "survey") != file.survey:
            raise DataError(
                f"the ledger is of the survey {file.survey!r}, and not of {survey!r}; open that survey's own",
                argument="survey",
            )
        return cls(file)

    @classmethod
    def upgrade(cls, folder: str | Path, *, key: str | Path) -> ReleaseLedger:
        """Seal a ledger of an earlier version into a chain, once.

        Raises
        ------
        FileFormatError
            It is sealed already, its key has the head of other entries, or a sketch is gone or was changed.
        DataError
            The key of another ledger, or one that others can read.
        """
        return cls(
            ledger_file.upgrade_file(
                Path(folder), digesting.Digester(ledger_file.read_key(Path(key))), head_file(Path(key))
            )
        )

    @property
    def head(self) -> str:
        """Number and digest of the end of the chain."""
        return str(self._file.head)

    @property
    def survey(self) -> str:
        """What the releases are releases of."""
        return self._file.survey

    @property
    def entries(self) -> tuple[ledger_file.LedgerEntry, ...]:
        """The releases, in the order they were added."""
        return tuple(entry for entry in self._file.entries if entry.name not in self._without)

    def add(
        self,
        data: Any,
        *,
        name: str,
        keys: Sequence[str] | Sequence[Sequence[str]] | None = None,
        sensitive: Sequence[str] | str = (),
        scenario: Scenario | None = None,
        date: str = "",
        people: str = "",
        id: str | None = None,
        file: str | Path | None = None,
        pending: bool = False,
        again: bool = False,
    ) -> ReleaseLedger:
        """Remember a release, and give the ledger with it.

        Parameters
        ----------
        data : data frame
            The release as it goes out.
        name : str
            What it is called; each once.
        keys : sequence of str, or of sequences of str
            What an intruder could know, or each of several.
        sensitive : str or sequence of str
            What they would learn.
        scenario : Scenario, optional
            Gives keys and sensitive variables that are not given here.
        date : str
            A year, a month or a day.
        people : str
            Whom it is about, in a word or two ("wave 2024"). Releases that say the same are taken to be about the same
            people.
        id : str, optional
            A column with a value of its own for each person, the same in every release. It need not go out with the
            release: one that is an identifier of the `scenario` does not. With it, or another column that goes out and
            tells people apart, the ledger can find later what releases give away of a person together.
        file : str or Path, optional
            The file that goes out, by whose digest `names_of` knows it again.
        pending : bool
            Whether it has not gone out yet: `release` says that it does, `withdraw` that it does not.
        again : bool
            Whether it replaces a pending one of the same name.

        Raises
        ------
        ColumnError
            A column is absent.
        DataError
            The name is taken; no records; an id that several records share.
        ScenarioError
            Neither keys nor scenario.
        FileFormatError
            It cannot be written.
        """
        for text, argument in ((name, "name"), (date, "date"), (people, "people")):
            arguments.text(text, argument)
        arguments.column_or_none(id, "id")
        own, targets = key_sets(keys, sensitive, scenario)
        columns = tuple(dict.fromkeys([*(column for some in own for column in some), *targets]))
        kept = () if scenario is None else scenario.identifiers
        opened = open_release(data, columns, id=id, name=name, role="keys and sensitive", kept=kept, scenario=scenario)
        sketch, _ = sketch_release(opened, own, targets, self._file.digester)
        released = "" if file is None else ledger_file.digest_of_file(Path(file), self._file.digester)
        return ReleaseLedger(self._file.with_entry(
            name, sketch, date=date, people=people, released=released, pending=arguments.flag(pending, "pending"),
            again=arguments.flag(again, "again"),
        ))  # fmt: skip

    def release(self, name: str) -> ReleaseLedger:
        """Say that a pending release goes out.

        Raises
        ------
        DataError
            There is none of that name; or the ledger got others since it was opened, which the release was not held
            against.
        FileFormatError
            The ledger cannot be written.
        """
        return ReleaseLedger(self._file.with_released(arguments.text(name, "name")))

    def withdraw(self, name: str) -> ReleaseLedger:
        """Take back a pending release, which does not go out.

        Raises
        ------
        DataError
            There is none of that name, or it went out.
        FileFormatError
            The ledger cannot be written.
        """
        return ReleaseLedger(self._file.without_pending(arguments.text(name, "name")))

    def names_of(self, file: str | Path) -> tuple[str, ...]:
        """The entries that remember a file, known by the digest of its bytes.

        Raises
        ------
        FileFormatError
            It cannot be read.
        """
        if not any(entry.released for entry in self._file.entries):
            return ()
        digest = ledger_file.digest_of_file(Path(file), self._file.digester)
        return tuple(entry.name for entry in self._file.entries if entry.released == digest)

    def without(self, names: Sequence[str]) -> ReleaseLedger:
        """The ledger without some entries: a release is held against all but its own."""
        return ReleaseLedger(self._file, {*self._without, *(arguments.names(names, "names") or ())}, self._files)

    def beside(self, files: Mapping[str, Any]) -> ReleaseLedger:
        """The ledger with releases themselves, by the names of their entries, to be compared by all of their columns.

        Raises
        ------
        DataError
            No entry has the name.
        """
        for name in files:
            self._named(name)
        return ReleaseLedger(self._file, self._without, {**self._files, **files})

    def check_file(self, name: str, file: str | Path) -> None:
        """Raise unless a file can be the release of that name: by its bytes, where the ledger knows their digest.

        Raises
        ------
        DataError
            No entry has the name, or it is another file.
        FileFormatError
            It cannot be read.
        """
        entry, digest = self._named(name), ledger_file.digest_of_file(Path(file), self._file.digester)
        if entry.released and entry.released != digest:
            raise DataError(
                f"{Path(file).name} is not the file that the ledger remembers as {name!r}: its bytes are others; give "
                "the file that went out",
                argument="files",
            )

    def _named(self, name: str) -> ledger_file.LedgerEntry:
        """The entry of that name, be it left out or not."""
        for entry in self._file.entries:
            if entry.name == name:
                return entry
        names = [entry.name for entry in self._file.entries]
        raise DataError(f"the ledger has no release {name!r}; {nearest.did_you_mean(name, names)}", argument="files")

    def _earlier(self, entry: ledger_file.LedgerEntry, people: str | None, scenario: Scenario | None) -> Earlier:
        """What is remembered of a release, with the file itself where it is at hand."""
        same = people is None or entry.people == people
        earlier = Earlier(
            entry.name, entry.date, same, self._file.read(entry), self._file.digester, pending=entry.pending
        )
        return earlier if entry.name not in self._files else beside_file(earlier, self._files[entry.name], scenario)

    def _repr_html_(self) -> str:
        rows = [(entry.name, entry.date, entry.people, "pending" if entry.pending else "") for entry in self.entries]
        return plain_html("\n".join([repr(self), *(", ".join(filter(None, row)) for row in rows)]))

    def __repr__(self) -> str:
        n = len(self.entries)
        return f"ReleaseLedger(survey={self.survey!r}, {n} release{'' if n == 1 else 's'})"


def key_sets(
    keys: Any, sensitive: Any, scenario: Scenario | None, *, name: str = "keys"
) -> tuple[tuple[tuple[str, ...], ...], tuple[str, ...]]:
    """The key variables of each intruder and the sensitive variables, as given or from the scenario."""
    scenario = arguments.scenario_or_none(scenario)
    targets = arguments.names(sensitive, "sensitive", single=True) or ()
    if keys is None and scenario is None:
        raise ScenarioError("say which variables an intruder knows: keys=[...] or scenario=", argument="keys")
    if keys is None:
        own = tuple(sure(scenario).intruders.values())
    elif isinstance(keys, str) or not hasattr(keys, "__iter__"):
        own = (arguments.names(keys, name) or (),)
    else:
        given = tuple(keys)
        nested = given and all(not isinstance(key_list, str) and hasattr(key_list, "__iter__") for key_list in given)
        own = tuple(arguments.names(key_list, name) or () for key_list in given) if nested else (
            arguments.names(given, name) or (),)  # fmt: skip
    if not own or any(not key_list for key_list in own):
        raise ScenarioError(f"{name} is empty; name at least one column", argument=name)
    if not targets and scenario is not None:
        targets = scenario.sensitive
    return own, tuple(name for name in targets)

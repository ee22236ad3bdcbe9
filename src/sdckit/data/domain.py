"""The declared domain of a file: columns with their types, and levels or edges of bands, read from no record.

Records become codes by it, and codes records. The code of a value follows from the value alone: not from the type that
a column has because of other values, and no value stops it. So 34, 34.0 and "34" are one whole number, and what cannot
be read is `other`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, get_args

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from sdckit.data import arguments, nearest
from sdckit.data.columns import as_real
from sdckit.data.domain_codes import EPOCH, band_ends, check_person, day_number, decoded, encoded
from sdckit.data.files.file_labels import code_text
from sdckit.data.frames import check_plan_names, collect, column_names, open_frame
from sdckit.data.missing_values.missing import DEFAULT_CODES
from sdckit.data.scenarios.scenario_toml import read_toml, toml_key, toml_string, write_toml
from sdckit.display import Displayed, table_html
from sdckit.errors import DataError, ScenarioError

ColumnType = Literal["text", "integer", "decimal", "boolean", "date"]
Level = str | int | float | bool | date
TYPES: tuple[ColumnType, ...] = get_args(ColumnType)
OTHER, MISSING = "other", "missing"
BOTH = (False, True)


@dataclass(frozen=True)
class DomainColumn(Displayed):
    """What a column may hold, declared by somebody who has not looked at the records.

    Parameters
    ----------
    name
        The name of the column.
    type
        "text", "integer", "decimal", "boolean" or "date".
    levels
        Its values, of this type; a boolean has both without being asked.
    edges
        Instead of levels: the ends of bands of numbers or dates, ascending. A band holds its lower end and not its
        upper one, the last band both.

    Attributes
    ----------
    kind : "categories" or "numbers"
        Whether it has levels or bands.
    size : int
        Number of codes: the levels or bands from 0, then `other`, then missing; these two are always there.

    Raises
    ------
    ScenarioError
        Neither levels nor edges, or both; a level of another type, or twice; edges that do not ascend.

    Examples
    --------
    >>> DomainColumn("sex", levels=("f", "m")).labels
    ('f', 'm', 'other', 'missing')
    >>> DomainColumn("age", type="integer", edges=(0, 18, 65, 120)).labels
    ('0 to 17', '18 to 64', '65 to 120', 'other', 'missing')
    """

    name: str
    type: ColumnType = "text"
    levels: tuple[Level, ...] = ()
    edges: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        role = f"the domain of {self.name!r}"
        if not isinstance(self.name, str) or not self.name:
            raise ScenarioError("a column of a domain has a name, a text")
        if self.type not in TYPES:
            raise ScenarioError(f"{role}: type is one of {', '.join(TYPES)}")
        levels, edges = _several(self.levels, role, "levels"), _several(self.edges, role, "edges")
        if self.type == "boolean" and not levels:
            levels = BOTH
        if bool(levels) == bool(edges):
            raise ScenarioError(
                f"{role} has {'both levels and edges' if levels else 'neither levels nor edges'}; give its levels, or "
                "the edges of its bands, or leave the column out of the domain"
            )
        object.__setattr__(self, "levels", _levels(levels, self.type, role))
        object.__setattr__(self, "edges", _edges(edges, self.type, role))

    @property
    def kind(self) -> Literal["categories", "numbers"]:
        """Whether the column has levels or bands."""
        return "numbers" if self.edges else "categories"

    @property
    def size(self) -> int:
        """Number of codes, those of `other` and of missing included."""
        return len(self.levels) + max(len(self.edges) - 1, 0) + 2

    @property
    def labels(self) -> tuple[str, ...]:
        """What stands for each code, as text."""
        text = _day if self.type == "date" else code_text
        bands = [f"{text(low)} to {text(high)}" for low, high in band_ends(self.edges, self.type)]
        return (*map(level_text, self.levels), *bands, OTHER, MISSING)

    @property
    def declared(self) -> dict[str, Any]:
        """The entries of the column in a file."""
        entries: dict[str, Any] = {"type": self.type}
        if self.levels and not (self.type == "boolean" and self.levels == BOTH):
            entries["levels"] = self.levels
        if self.edges:
            entries["edges"] = self.edges if self.type != "date" else tuple(_day(edge) for edge in self.edges)
        return entries

    def _repr_html_(self) -> str:
        return table_html(["code", "stands for"], [[str(i), text] for i, text in enumerate(self.labels)],
                          title=f"{self.name}: {self.type}")  # fmt: skip


@dataclass(frozen=True)
class Domain(Displayed):
    """The values that the columns of a file may have, declared and not read from its records.

    Nothing about the records decides whether a file can be coded by it: a value that was not declared, or is of another
    type, becomes `other`, and of each person no more than `max_rows` rows are kept. Nothing of this is counted, warned
    of or refused.

    Parameters
    ----------
    columns
        The columns, each once.
    dataset
        The name under which a budget of privacy is kept: a corrected file of the same people has the same name.
    person
        The column that has a value for each person, where persons have several rows; rows without one are left out.
    max_rows
        How many rows of a person are used, the first ones of the file.
    records
        The number of rows, where it is public.
    missing
        Texts and numbers that mean missing, beside the empty text; a declared level means itself.

    Attributes
    ----------
    names : tuple of str
        The names of the columns.
    sizes : tuple of int
        The number of codes of each column: levels or bands, `other`, missing.

    Raises
    ------
    ScenarioError
        No column, one twice, `max_rows` without `person`, or a parameter of another type.

    Examples
    --------
    >>> import polars as pl
    >>> domain = Domain((DomainColumn("sex", levels=("f", "m")), DomainColumn("age", "integer", edges=(0, 18, 120))))
    >>> domain.sizes
    (4, 4)
    >>> domain.encode(pl.DataFrame({"sex": ["m", "x", None], "age": [17, 18, 300]})).tolist()
    [[1, 0], [2, 1], [3, 2]]
    """

    columns: tuple[DomainColumn, ...]
    dataset: str | None = None
    person: str | None = None
    max_rows: int = 1
    records: int | None = None
    missing: tuple[str, ...] = DEFAULT_CODES

    def __post_init__(self) -> None:
        columns = arguments.several(self.columns, "columns", "are those of the domain")
        if not columns or not all(isinstance(column, DomainColumn) for column in columns):
            raise ScenarioError("a domain has one or more columns, each a DomainColumn")
        names = [column.name for column in columns]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ScenarioError(f"the domain has {twice[0]!r} more than once")
        for role, text in (("dataset", self.dataset), ("person", self.person)):
            if text is not None and (not isinstance(text, str) or not text.strip()):
                raise ScenarioError(f"{role} of a domain is a text, not empty")
        if self.person in names:
            raise ScenarioError(f"{self.person!r} says whose a row is; it cannot be a column of the domain, too")
        for role, number in (("max_rows", self.max_rows), ("records", self.records)):
            if number is not None and (not arguments.is_whole(number) or number < 1):
                raise ScenarioError(f"{role} of a domain is a whole number of 1 or more")
        if self.max_rows is None or (self.max_rows > 1 and self.person is None):
            raise ScenarioError("max_rows says how many rows of a person are used; name the column of persons: person")
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "missing", arguments.texts(self.missing, "missing"))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of codes of each column."""
        return tuple(column.size for column in self.columns)

    @classmethod
    def from_toml(cls, path: str | Path) -> Domain:
        """Read a domain from a TOML file.

        Raises
        ------
        FileFormatError
            The file is absent or cannot be read.
        ScenarioError
            It is not TOML, has an entry that no domain has, or its entries contradict each other.
        """
        file = Path(path)
        entries = read_toml(file, what="domain")
        try:
            return cls(**_known(entries, cls, "") | {"columns": _columns(entries.get("columns"))})
        except (ScenarioError, DataError) as error:
            raise ScenarioError(f"{file.name}: {error}") from None

    def to_toml(self) -> str:
        """The domain as TOML, without entries at their default; inverse of `from_toml`."""
        entries = {
            name: value
            for name in ("dataset", "person", "max_rows", "records", "missing")
            if (value := getattr(self, name)) != getattr(Domain, name)
        }
        return write_toml(entries, [(("columns", column.name), column.declared) for column in self.columns])

    def check_columns(self, names: Iterable[str], *, within: str = "the data") -> None:
        """Refuse data whose header lacks a column of the domain.

        Raises ColumnError: the first absent one, with the nearest name.
        """
        names = list(names)
        arguments.present(self.names, names, "domain", argument="domain", within=within)
        if self.person is not None:
            arguments.present([self.person], names, "person", argument="domain", within=within)

    def encode(self, data: Any) -> NDArray[np.int32]:
        """Code the rows of a frame of any engine, column by column; other columns of it are not read.

        Parameters
        ----------
        data
            The records; a plan is collected.

        Returns
        -------
        numpy.ndarray
            Codes of shape (rows kept, columns), one column after the other in memory.

        Raises
        ------
        ColumnError
            A column is not there, or that of persons has a type that tells nobody apart: times, durations, lists.
        DataError
            `data` is no frame, or a plan that its engine cannot carry out.
        """
        frame = open_frame(data)
        self.check_columns(column_names(frame))
        if self.person is not None:
            check_person(self.person, frame.collect_schema()[self.person])
        wanted = [*self.names, *([] if self.person is None else [self.person])]
        check_plan_names(frame, wanted)
        return encoded(collect(frame.select(wanted)) if isinstance(frame, nw.LazyFrame) else frame, self)

    def decode(
        self, codes: NDArray[np.integer[Any]], *, positions: NDArray[np.floating[Any]] | None = None,
        backend: str = "polars",
    ) -> Any:  # fmt: skip
        """Make a frame of codes, whose columns, types and categories follow from the domain alone.

        Text is categorical, with `other` as its last category; in other types `other` is missing, as nothing of the
        type says it.

        Parameters
        ----------
        codes
            As `encode` gives them.
        positions
            Where in its band each number or date stands, from 0 (its lower end) to below 1, of the same shape; drawn
            from the system's randomness where not given.
        backend
            "polars", "pandas" or "pyarrow".
        """
        return decoded(np.asarray(codes), self, positions, arguments.choice(backend, "backend", BACKENDS))

    def _repr_html_(self) -> str:
        rows = [[column.name, column.type, column.kind, f"{column.size:,}"] for column in self.columns]
        return table_html(["column", "type", "kind", "codes"], rows, title=self.dataset or "Domain")


BACKENDS = ("polars", "pandas", "pyarrow")


def draft_toml(types: Mapping[str, ColumnType], *, dataset: str, known: Mapping[str, DomainColumn]) -> str:
    """A domain to be filled in: names and types, and what is `known` of a column, which no record says."""
    lines = [f"dataset = {toml_string(dataset)}", '# person = "id"', "# max_rows = 1", "# records = 1000"]
    for name, kind in types.items():
        if name in known:
            lines += ["", write_toml({}, [(("columns", name), known[name].declared)]).rstrip()]
        else:
            lines += ["", f"[columns.{toml_key(name)}]", f'type = "{kind}"']
            lines += [] if kind == "boolean" else ["# levels = []" if kind == "text" else "# edges = []"]
    return "\n".join(lines) + "\n"


def level_text(level: Level) -> str:
    """A level as text, which is how a column of text has it."""
    if isinstance(level, bool):
        return "true" if level else "false"
    return level.isoformat() if isinstance(level, date) else code_text(level)


def _columns(tables: Any) -> tuple[DomainColumn, ...]:
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        raise ScenarioError("a domain has a table for each column, such as [columns.sex]")
    return tuple(DomainColumn(name, **_known(table, DomainColumn, name)) for name, table in tables.items())


def _known(entries: Mapping[str, Any], kind: type[Any], of: str) -> dict[str, Any]:
    """The entries, all of them of a domain or of a column."""
    allowed = [name for name in kind.__dataclass_fields__ if name != "name"]
    for name in entries:
        if name not in allowed:
            where = f"the domain of {of!r}" if of else "a domain"
            raise ScenarioError(f"{where} has no entry {name!r}; {nearest.did_you_mean(name, allowed)}")
    return dict(entries)


def _several(value: Any, role: str, what: str) -> tuple[Any, ...]:
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise ScenarioError(f"{role}: {what} is a list")
    return tuple(value)


def _levels(levels: tuple[Any, ...], kind: ColumnType, role: str) -> tuple[Level, ...]:
    for level in levels:
        if not _is_of(level, kind):
            raise ScenarioError(f"{role}: a level is not of type {kind}: {level!r}")
    plain = [float(level) if kind in ("integer", "decimal") else level for level in levels]
    if len(set(plain)) < len(plain):
        raise ScenarioError(f"{role} has a level twice")
    return levels


def _is_of(level: Any, kind: ColumnType) -> bool:
    if kind == "text":
        return isinstance(level, str) and level != "" and "\0" not in level
    if kind == "integer":
        return arguments.is_whole(level) and abs(level) < 2**53
    if kind == "decimal":
        return math.isfinite(as_real(level))
    return isinstance(level, bool) if kind == "boolean" else _is_day(level)


def _is_day(value: Any) -> bool:
    return isinstance(value, date) and not isinstance(value, datetime)


def _edges(edges: tuple[Any, ...], kind: ColumnType, role: str) -> tuple[float, ...]:
    """Edges as numbers, those of dates as days since 1970, each band with a value of the type."""
    if not edges:
        return ()
    if kind in ("text", "boolean"):
        raise ScenarioError(f"{role}: edges are of numbers and dates, and its type is {kind}")
    ends = [float(day_number(edge)) if kind == "date" and _is_day(edge) else as_real(edge) for edge in edges]
    if len(ends) < 2 or not all(_is_end(end, kind) for end in ends) or any(low >= high for low, high in pairwise(ends)):
        what = {"date": "dates", "integer": "numbers within 2^53"}.get(kind, "numbers")
        raise ScenarioError(f"{role}: edges are two or more {what}, ascending")
    if any(low > high for low, high in band_ends(ends, kind)):
        raise ScenarioError(f"{role}: no whole number lies between two of the edges")
    return tuple(int(end) if end.is_integer() and abs(end) < 2**53 else end for end in ends)


def _is_end(end: float, kind: ColumnType) -> bool:
    """Whether a value of the type can stand at an edge; a date is the number of a day."""
    if kind == "date":
        return end.is_integer() and 0 < EPOCH.toordinal() + end <= date.max.toordinal()
    return abs(end) < 2**53 if kind == "integer" else math.isfinite(end)


def _day(number: float) -> date:
    return date.fromordinal(EPOCH.toordinal() + int(number))

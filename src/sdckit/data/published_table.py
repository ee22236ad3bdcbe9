"""A published table: counts of records by some variables or sums of a number, exact, rounded or with gaps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from sdckit.data import arguments
from sdckit.errors import ColumnError, DataError, ScenarioError

Rounding = Literal["random", "nearest"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PublishedTable:
    """A table that was, or will be, published of the people in a file: what it counts, and how exactly.

    Parameters
    ----------
    variables : sequence of str, optional
        Variables whose combinations are its cells. Alone: the table is counted from the original. With `counts`: all
        columns but `count` and `sum` unless given.
    counts : data frame or path, optional
        The table itself, a row per cell: a CSV or Excel file or a frame. A cell without a row has no records, a row
        without a count is suppressed.
    count : str
        The column of counts; default ``"n"``.
    sum : str, optional
        A numeric variable: the table then holds its sums over the records of each cell, and no counts. In `counts` the
        column of that name holds them; a cell without a row has the sum 0, one without a sum is suppressed.
    rounded : int, optional
        Base to which the counts or sums are rounded, 2 or more.
    rounding : {"random", "nearest"}
        To one of the two multiples next to the count, drawn (so that it may be up to a base off), or to the nearest.
    suppressed_below : int, optional
        A suppressed cell has fewer records than this; left out, any number. Cells that hide others belong to the
        second kind. Of a suppressed sum nothing is taken to be known.
    total : str, optional
        How the table names a margin: where a row has it in place of a level, the count is a total.
    name : str
        What it is called in results; default its variables, after ``Σ`` and the variable that is summed.

    Attributes
    ----------
    called : str
        Its name, else its variables.

    Raises
    ------
    DataError
        Neither variables nor counts, or an argument out of range.

    Examples
    --------
    >>> PublishedTable(variables=["region", "sex"], rounded=5)
    PublishedTable(region × sex, rounded to 5)
    >>> PublishedTable(variables=["region", "sex"], sum="income", rounded=1000)
    PublishedTable(Σ income: region × sex, rounded to 1000)
    """

    variables: Sequence[str] | None = None
    counts: Any = None
    count: str = "n"
    sum: str | None = None
    rounded: int | None = None
    rounding: Rounding = "random"
    suppressed_below: int | None = None
    total: str | None = None
    name: str = ""

    def __post_init__(self) -> None:
        variables = arguments.names(self.variables, "variables")
        if variables is None and self.counts is None:
            raise DataError("a published table has variables, or counts, or both", argument="variables")
        if variables is not None and not variables:
            raise DataError("variables is empty; name what the table counts by", argument="variables")
        arguments.column(self.count, "count")
        if self.sum is not None:
            arguments.column(self.sum, "sum")
        if self.rounded is not None:
            arguments.count(self.rounded, "rounded", "is the base of rounded counts", at_least=2)
        arguments.choice(self.rounding, "rounding", ("random", "nearest"))
        if self.suppressed_below is not None:
            says = "is the count from which on cells are shown"
            arguments.count(self.suppressed_below, "suppressed_below", says, at_least=2)
        if self.total is not None:
            arguments.text(self.total, "total")
        object.__setattr__(self, "variables", variables)
        arguments.text(self.name, "name")
        if variables and self.sum is not None and self.sum in variables:
            raise ColumnError(
                f"{self.sum!r} is named as a variable of the table and as its sum", argument="sum"
            )
        if variables and self.sum is None and self.count in variables:
            raise ColumnError(
                f"{self.count!r} is named as a variable of the table and as its count", argument="count"
            )

    @property
    def called(self) -> str:
        """Its name, else its variables."""
        if self.name:
            return self.name
        if self.variables:
            words = " × ".join(self.variables)
            return words if self.sum is None else f"Σ {self.sum}: {words}"
        return self.counts.name if isinstance(self.counts, Path) else "a table of counts"

    def __repr__(self) -> str:
        """Its name and how exact it is; no count."""
        words = [self.called]
        words += [f"rounded to {self.rounded}"] if self.rounded else []
        words += [f"suppressed below {self.suppressed_below}"] if self.suppressed_below else []
        return f"PublishedTable({', '.join(words)})"


def as_tables(given: Any) -> tuple[PublishedTable, ...]:
    """Take tables as they are, or make them of names of variables, frames and paths.

    Raises `DataError`: there is none, or one is none of these.

    >>> as_tables([["region", "sex"], PublishedTable(variables=["age"])])
    (PublishedTable(region × sex), PublishedTable(age))
    """
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Sequence):
        raise DataError(
            'tables is a list: of names of variables, such as [["region", "sex"]], of frames or files of counts, or '
            "of PublishedTable",
            argument="tables",
        )
    if not given:
        raise DataError("tables is empty; name at least one", argument="tables")
    return tuple(_as_table(one) for one in given)


def _as_table(one: Any) -> PublishedTable:
    if isinstance(one, PublishedTable):
        return one
    if isinstance(one, (str, Path)):
        return PublishedTable(counts=Path(one))
    if isinstance(one, (list, tuple)):
        return PublishedTable(variables=one)
    if hasattr(one, "columns") or hasattr(one, "column_names") or hasattr(one, "collect_schema"):
        return PublishedTable(counts=one)
    raise DataError(
        "tables: one is neither a list of variables nor a frame, a file or a PublishedTable",
        argument="tables",
    )


def declared_tables(declared: Sequence[Mapping[str, Any]], folder: Path) -> tuple[PublishedTable, ...]:
    """The tables that a scenario declares; files lie where it does.

    Raises `ScenarioError`: one contradicts itself.

    >>> declared_tables([{"variables": ["region"], "rounded": 3}], Path())
    (PublishedTable(region, rounded to 3),)
    """
    found = []
    for number, entries in enumerate(declared, 1):
        given = dict(entries)
        file = given.pop("file", None)
        try:
            found.append(PublishedTable(counts=None if file is None else folder / file, **given))
        except (DataError, ColumnError) as error:
            raise ScenarioError(f"tables[{number}]: {error}") from None
    return tuple(found)

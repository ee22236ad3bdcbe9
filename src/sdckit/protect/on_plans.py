"""Methods that treat every record by itself, on a plan: columns come here, and files of records go back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from sdckit.cells.plans.lazy import COLLECT_LIMIT
from sdckit.errors import DataError

if TYPE_CHECKING:
    from sdckit.cells.plans.changing import Brought, Changing


NONE: Mapping[str, str] = MappingProxyType({})


def check_room(n: int, columns: Sequence[str]) -> None:
    """Refuse to bring more values here than `COLLECT_LIMIT`; asked before anything is brought.

    Raises DataError: they are more.
    """
    if n * len(columns) > COLLECT_LIMIT:
        raise DataError(
            f"it brings {len(columns)} columns of {n:,} records here, and from a plan at most {COLLECT_LIMIT:,} values "
            "come; treat parts of the file, or bring the columns into memory yourself"
        )


def check_made(m: int, n: int, n_columns: int) -> None:
    """Refuse to make more values here than `COLLECT_LIMIT`.

    Raises DataError: they are more.
    """
    if m * n * n_columns > COLLECT_LIMIT:
        raise DataError(
            f"it makes {n_columns} columns of {n:,} records for each of {m:,} files here, and for a plan at most "
            f"{COLLECT_LIMIT:,} values are made; ask for fewer files or records, or leave columns out"
        )


def with_files(plan: Changing, found: Brought, made: Any, like: Mapping[str, str] = NONE) -> list[Changing]:
    """The plan with what a method made of the columns brought here: a table, or several.

    `like`: of each column that is new, the one it was made from. A table of another number of records takes the place
    of all of them.
    """
    files = made if isinstance(made, list) else [made]
    return [
        plan.with_records(found, one, like) if len(one) == plan.n else plan.with_others(found, one)
        for one in files
    ]

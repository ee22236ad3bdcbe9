"""Published tables as margins: read, coded by the domain, and held against each other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sdckit.data import arguments
from sdckit.data.columns import float_values
from sdckit.data.domain import Domain
from sdckit.data.files.readers import read_file
from sdckit.data.frames import column_names, open_frame
from sdckit.errors import ColumnError, DataError
from sdckit.numerics.array_types import Floats
from sdckit.protect.margins.clique_tree import in_a_circle

COUNT = "n"  # the column of counts
MOST_CELLS = 10_000_000  # of a published table


def check_tree(cliques: Sequence[Sequence[int]], names: Sequence[str], argument: str) -> None:
    """Refuse tables that overlap in a circle.

    Raises DataError: they do, and which.
    """
    if circle := in_a_circle(cliques):
        raise DataError(
            f"{', '.join(names[i] for i in circle)} overlap in a circle, and records are drawn down a tree (running-"
            "intersection property); leave one out, or join them to one table", argument=argument)  # fmt: skip


def read_tables(given: Any, domain: Domain) -> list[tuple[tuple[int, ...], Floats, Any]]:
    """Each table as the places of its variables in the domain, its counts, and its frame.

    Raises ColumnError or DataError: no count, a variable or value that the domain has not, counts below 0 or missing,
    a variable in no table, tables that are no tree.
    """
    if isinstance(given, Mapping):
        named = {str(name): table for name, table in given.items()}
    else:
        listed = arguments.several(given, "tables", "are data frames or paths")
        named = {Path(t).name if isinstance(t, str | Path) else f"table {i}": t for i, t in enumerate(listed, 1)}
    out = [_read(name, table, domain) for name, table in named.items()]
    if not out:
        raise DataError("tables= names no table", argument="tables")
    if absent := set(range(len(domain.sizes))) - {v for variables, _, _ in out for v in variables}:
        raise ColumnError(f"no table has {domain.names[min(absent)]!r}; take it out of the domain", argument="tables")
    check_tree([variables for variables, _, _ in out], list(named), "tables")
    return out


def _read(name: str, table: Any, domain: Domain) -> tuple[tuple[int, ...], Floats, Any]:
    frame = open_frame(read_file(table) if isinstance(table, str | Path) else table)
    columns = column_names(frame)
    if COUNT not in columns:
        raise ColumnError(f"{name} has no column {COUNT!r} of counts", argument="tables")
    variables = [column for column in columns if column != COUNT]
    arguments.present(variables, domain.names, "tables", argument="tables", within="the domain")
    places = tuple(domain.names.index(column) for column in variables)
    shape = tuple(domain.sizes[place] for place in places)
    if not places or math.prod(shape) > MOST_CELLS:
        raise DataError(f"{name} has no variable, or more than {MOST_CELLS:,} cells", argument="tables")
    part = replace(domain, columns=tuple(domain.columns[place] for place in places), person=None, max_rows=1)
    codes = part.encode(table if not isinstance(table, str | Path) else frame.to_native())
    for column, own, size in zip(variables, codes.T, shape, strict=True):
        if (own == size - 2).any():
            raise DataError(f"{name}: values of {column!r} are not in the domain; leave totals out, or declare them",
                            argument="tables")  # fmt: skip
    counts = float_values(frame[COUNT], "column")
    if not (np.isfinite(counts) & (counts >= 0)).all() or counts.sum() <= 0:
        raise DataError(f"{name}: counts are missing, below 0 or all 0; fill suppressed cells", argument="tables")
    cells = np.ravel_multi_index(tuple(codes.T), shape)
    summed = np.bincount(cells, counts, math.prod(shape)).astype(np.float64)
    return places, summed.reshape(shape), frame

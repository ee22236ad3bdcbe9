"""Run methods on household variables once per household, and copy the result to all its members."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from sdckit.data import arguments, households, seeds
from sdckit.data.columns import code_column, first_rows, n_differing
from sdckit.data.replace import lend_rows, open_eager, pick_rows
from sdckit.display import counted
from sdckit.errors import ColumnError, DataError
from sdckit.protect.change import Change, Protected

Run = Callable[..., Protected]
ONCE = "once per household, written to all its members"


def read_homes(frame: Any, household: str) -> households.Homes:
    """The households of a frame; a record without a household number is a household of its own.

    Raises `ColumnError`: there is no such column.

    >>> import polars as pl
    >>> read_homes(open_eager(pl.DataFrame({"home": [4, None, 4]}), {}), "home").of_row.tolist()
    [0, 1, 0]
    """
    arguments.column(household, "household")
    arguments.present([household], frame.columns, "household", argument="household")
    coded = code_column(frame.get_column(household))
    return households.homes_of(coded.codes(), coded.span)


def read_shared(
    frame: Any, columns: Sequence[str], household: str | None, household_variables: Sequence[str] | None
) -> tuple[households.Homes | None, tuple[str, ...]]:
    """The households, and which of some columns are household variables: those declared, else those detected.

    Raises `ColumnError`: a column is absent, the household itself is among them, or variables are declared
    without it; `DataError`: a variable declared differs within a household.
    """
    declared = arguments.names(household_variables, "household_variables")
    if household is None:
        if declared:
            says = "household_variables= are shared by households; say which column numbers these: household="
            raise ColumnError(says, argument="household")
        return None, ()
    homes = read_homes(frame, household)
    if household in columns:
        says = f"household: {household!r} numbers the households, and is to be changed itself"
        raise ColumnError(says, argument="household")
    if declared is None:
        return homes, households.household_variables(frame, household=household, among=columns)
    arguments.present(declared, frame.columns, "household_variables", argument="household_variables")
    shared = tuple(name for name in columns if name in declared)
    for name in shared:
        if (bad := households.differs_within(frame, name, homes)).any():
            raise DataError(
                f"household_variables: {name!r} differs within "
                f"{counted(len(np.unique(homes.of_row[bad])), 'household')} ({first_rows(bad)}); it is a variable of "
                "persons, or these values are to be mended first",
                argument="household_variables",
            )
    return homes, shared


def of_columns(given: Any, names: Sequence[str]) -> Any:
    """Restrict an argument that is given by column to some columns; any other argument is returned as it is.

    >>> of_columns({"a": 1, "b": 2}, ["b"]), of_columns(0.5, ["b"])
    ({'b': 2}, 0.5)
    """
    return {name: given[name] for name in names if name in given} if isinstance(given, Mapping) else given


def in_two_parts(
    data: Any, columns: Sequence[str], household: str | None, household_variables: Sequence[str] | None,
    seed: arguments.Seed, run: Run, *, also: Sequence[str] = (),
) -> Protected | None:  # fmt: skip
    """Run a method for person variables on all records, for household variables on one record per household.

    `run(data, columns=, seed=)` is the method; `also` are further columns that it reads. A household is represented by
    the first value present among its members, in the columns of `also` by its first member. None if no column is a
    household variable: the method then runs as usual.
    """
    if household is None and not household_variables:
        return None
    frame = open_eager(data, {"columns": columns})
    homes, shared = read_shared(frame, columns, household, household_variables)
    if homes is None or not shared:
        return None
    rng, secret = seeds.open_rng(seed)
    for_homes, for_persons = (int(integer) for integer in rng.integers(2**63, size=2))
    coded = {name: code_column(frame[name]) for name in shared}
    there = {name: column.codes() != column.span for name, column in coded.items()}
    needed = list(dict.fromkeys([*shared, *also]))
    one_each: Any = open_eager(pick_rows(frame, homes.first, needed), {})
    lead = {name: homes.lead(present) for name, present in there.items()}
    small, change = run(lend_rows(one_each, frame, lead), columns=shared, seed=for_homes)
    own = tuple(name for name in columns if name not in shared)
    out, persons = run(data, columns=own, seed=for_persons) if own else (frame.to_native(), None)
    back = {name: np.where(there[name], homes.of_row, -1) for name in shared}
    made = lend_rows(open_eager(out, {}), open_eager(small, {}), back)
    counts = n_differing(frame[list(shared)], open_eager(made, {})[list(shared)])
    combined = _together(change, persons, columns, counts, len(frame))
    combined.parameters.update({"household": household, "household_variables": list(shared)})
    combined.secret["seed"] = secret
    combined.notes["household_variables"] = f"{', '.join(shared)}: {ONCE}"
    return Protected(made, combined)


def _together(
    homes: Change, persons: Change | None, columns: Sequence[str], counts: Mapping[str, int], n: int
) -> Change:
    """Combine the change of household variables and that of person variables."""
    changed = {**counts, **({} if persons is None else persons.changed)}
    parts = [] if persons is None else [persons]
    return Change(
        homes.method, n, {name: changed[name] for name in columns},
        {**_merged([*(part.parameters for part in parts), homes.parameters]), "columns": list(columns)},
        _merged([*(part.secret for part in parts), homes.secret]),
        {**{f"households, {name}": note for name, note in homes.notes.items()},
         **{name: note for part in parts for name, note in part.notes.items()}},
    )  # fmt: skip


def _merged(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Merge parameters: mappings by column are united, a differing value of the second is kept under its own name."""
    first = dict(parts[0])
    for name, value in parts[-1].items() if len(parts) > 1 else ():
        if isinstance(value, Mapping) and isinstance(first.get(name), Mapping):
            first[name] = {**first[name], **value}
        elif name not in ("columns", "seed") and (name not in first or first[name] != value):
            first[f"households, {name}" if name in first else name] = value
    return first

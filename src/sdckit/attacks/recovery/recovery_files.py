"""The files of an attack on protected values: the release as it is read, and what is known of the truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.attacks.recovery.guesses import Guessed
from sdckit.attacks.recovery.recovered import Recovered
from sdckit.attacks.recovery.released_columns import ReleasedColumn, read_columns
from sdckit.attacks.recovery.touched_cells import (
    Logged,
    TouchedColumn,
    by_log,
    by_original,
    by_sight,
    truth_codes,
)
from sdckit.cells.collect import columns_in_memory
from sdckit.cells.pair import Pair, open_files, open_pair
from sdckit.data.nearest import did_you_mean
from sdckit.data.scenarios.roles import Roles, check_columns
from sdckit.errors import ColumnError, DataError


@dataclass(frozen=True, eq=False)
class RecoveryFile:
    """One release: its columns, what was touched in them, and the truth by column, row by row, where it is known."""

    frame: Any
    columns: dict[str, ReleasedColumn]
    touched: dict[str, TouchedColumn]
    truth: dict[str, ReleasedColumn] | None
    roles: Roles
    memo: dict[Any, Any]

    @property
    def household(self) -> str | None:
        """The column that numbers the households, where the release has it."""
        return self.roles.household

    def truth_of(self, one: Recovered) -> NDArray[np.float64] | None:
        """The true values as the restored ones are given: numbers, or codes of the release."""
        if self.truth is None:
            return None
        column, before = one.target.column, self.truth[one.target.column.name]
        if one.values is not None and before.numbers is not None:
            return before.numbers
        return truth_codes(column, before)

    def guess_truth(self, one: Recovered, guessed: Guessed | None) -> NDArray[np.float64] | None:
        """The true values as the guesses are given: numbers, or codes of the release."""
        if self.truth is None or guessed is None:
            return None
        before = self.truth[one.target.column.name]
        return before.numbers if guessed.is_number else truth_codes(one.target.column, before)


def recovery_files(
    released: Any, original: Any, *, roles: Roles, columns: Sequence[str] | None, log: Logged | None,
    id: str | None, aligned: bool, named: Mapping[str, str | None],
) -> tuple[tuple[RecoveryFile, ...], Pair]:  # fmt: skip
    """Open and check everything before any work starts; columns `named` by role in the call must be there."""
    # one intruder after the other asks the same of a pair
    memo: dict[Any, Any] = released.memo if isinstance(released, Pair) and original is None else {}
    place = ("recovery", id, aligned, log is None)
    if place not in memo:
        memo[place] = _open(released, original, id=id, aligned=aligned)
    pair: Pair = memo[place]
    compared = pair.aligned or (original is not None and aligned)
    files = []
    for j, frame in enumerate(pair.released):
        own = _present(roles, frame.columns)
        check_columns(frame.columns, replace(own, id=None))
        _check_chosen("columns", columns or (), frame.columns)
        for role, name in named.items():
            _check_chosen(role, () if name is None else (name,), frame.columns)
        if log is not None and log.n != len(frame):
            raise DataError(
                f"log: it is of a file of {log.n} records, the release has {len(frame)}; give the log of this release"
            )
        apart = {own.weight, own.household, own.person, id} - set(own.keys)
        if (*place, j) not in memo:
            rows = _rows(pair, log, id) if compared and original is not None else None
            memo[*place, j] = _read(pair, j, log, compared=compared, rows=rows)
        read, before, touched = memo[*place, j]
        chosen = set(read) - apart if columns is None else set(columns)
        touched = {name: one for name, one in touched.items() if name in chosen}
        files.append(RecoveryFile(frame, read, touched, before, own, memo))
    return tuple(files), pair


def _rows(pair: Pair, log: Logged | None, id: str | None) -> NDArray[np.int64] | None:
    """The row of the original that each released row was made from, where a log says that they were moved."""
    return None if log is None or id is not None else log.rows(pair.original)


def _read(
    pair: Pair, j: int, log: Logged | None, *, compared: bool, rows: NDArray[np.int64] | None
) -> tuple[dict[str, ReleasedColumn], dict[str, ReleasedColumn] | None, dict[str, TouchedColumn]]:
    """The columns of a release, their truth where it is known, and what was touched in them."""
    frame = pair.released[j]
    read = read_columns(frame, frame.columns)
    if not compared:
        return read, None, by_log(read, log) if log else by_sight(read)
    if rows is None:
        rows = _back(pair.orders[j], len(frame)) if j < len(pair.orders) else None
    before = _ordered(read_columns(pair.original, frame.columns), rows)
    return read, before, by_original(read, before)


def _open(released: Any, original: Any, *, id: str | None, aligned: bool) -> Pair:
    if isinstance(released, Pair):
        pair = released if original is None else open_files(original, list(released.released), id=id)
    else:
        first = released[0] if isinstance(released, list | tuple) and len(released) else released
        pair = open_files(
            first if original is None else original, released, id=id if original is not None else None
        )
    every = pair.plans or (pair.original if pair.raw is None else pair.raw, *pair.released)
    whole = [columns_in_memory(frame, {"columns": frame.collect_schema().names()}) for frame in every]
    pair = replace(
        pair, original=whole[0][0], released=tuple(frame for frame, _ in whole[1:]),
        brought=pair.brought or whole[0][1],
    )  # fmt: skip
    if (original is None and not isinstance(released, Pair)) or not (aligned or id is not None):
        return pair
    return pair if pair.aligned else open_pair(pair, categories={}, aligned=True)


def _present(roles: Roles, names: Sequence[str]) -> Roles:
    """The roles whose columns a release has; its keys may not be missing."""
    weight, household, person = (
        name if name in names else None for name in (roles.weight, roles.household, roles.person)
    )
    left = tuple(name for name in roles.sensitive if name in names)
    return replace(roles, weight=weight, household=household, person=person, sensitive=left)


def _check_chosen(role: str, columns: Sequence[str], names: Sequence[str]) -> None:
    for name in columns:
        if name not in names:
            near = did_you_mean(name, names)
            raise ColumnError(f"{role}: no column {name!r} in the release; {near}", argument=role)


def _back(order: NDArray[np.int64] | None, n: int) -> NDArray[np.int64] | None:
    """The row of the original for each row of the release, of the release's row for each of the original."""
    if order is None:
        return None
    back = np.empty(n, np.int64)
    back[order] = np.arange(n)
    return back


def _ordered(
    truth: Mapping[str, ReleasedColumn], rows: NDArray[np.int64] | None
) -> dict[str, ReleasedColumn]:
    """The original's columns in the order of the release's rows."""
    if rows is None:
        return dict(truth)
    return {
        name: replace(
            one, codes=one.codes[rows],
            low=None if one.low is None else one.low[rows], high=None if one.high is None else one.high[rows],
        )
        for name, one in truth.items()
    }  # fmt: skip

"""Records of an original and its releases that stay on an engine, drawn by their id and brought for rules of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from sdckit.attacks.attack_rates import SAMPLED
from sdckit.attacks.recovery import touched_cells
from sdckit.attacks.recovery.touched_cells import ChangedValues
from sdckit.cells.as_cells import columns_in_memory
from sdckit.cells.pair import Pair, count_pair, open_files
from sdckit.cells.plans.attach import attach
from sdckit.cells.plans.count_cells import PREFIX, key_columns
from sdckit.data.columns import code_column
from sdckit.data.drawn_rows import KEY_BYTES, hash_ids
from sdckit.errors import SdcError
from sdckit.numerics.array_types import Ints
from sdckit.numerics.grouping import first_of_groups

if TYPE_CHECKING:
    from sdckit.attacks.recovery.recoverable_values import RecoverableValues
    from sdckit.data.scenarios.scenario import Scenario

PLACE = f"{PREFIX}drawn"
OF_DRAWN = "of {n} records drawn by their id: what others give back, and rules of the order of rows, were not looked at"


def draw_records(pair: Pair, n: int, *, seed: int | None, household: str | None = None) -> Pair:
    """The original as it was collected and its releases with about n of their rows, in memory, in an order by chance.

    Rows are drawn by a hash of the id, or of the household, whose rows come together. Raises DataError: an id that
    does not name each row once, or that a file lacks.
    """
    id, files = str(pair.id), (pair.original if pair.raw is None else pair.raw, *pair.released)
    apart = [id] if household is None or household == id else [id, household]
    frame, _ = columns_in_memory(files[0], {"id": apart})
    key = np.random.default_rng(seed).bytes(KEY_BYTES)
    rows = np.argsort(hash_ids(frame[id], key))
    if len(apart) > 1:
        rows = _by_household(frame[apart[1]], rows, n, key)
    table = frame.select(id)[rows[:n].tolist() if len(apart) == 1 else rows.tolist()].to_arrow()
    original, *released = (_rows(file, id, table) for file in files)
    return open_files(original, released, id=id)


def _by_household(series: nw.Series[Any], rows: Ints, n: int, key: bytes) -> Ints:
    """Rows of households drawn by their hash, until there are n; who has none is left out."""
    codes = code_column(series).codes().astype(np.int64)
    known = ~series.is_null().to_numpy()
    _, of_row = np.unique(codes[known], return_inverse=True)
    at = np.flatnonzero(known)
    size = np.bincount(of_row)
    first = at[first_of_groups(of_row.astype(np.int32), len(size))]
    turn = np.argsort(hash_ids(series[first.tolist()], key))
    chosen = np.zeros(len(size), np.bool_)
    chosen[turn[: int(np.searchsorted(np.cumsum(size[turn]), n)) + 1]] = True
    within = np.zeros(len(known), np.bool_)
    within[at[chosen[of_row]]] = True
    return np.asarray(rows[within[rows]])


def _rows(file: Any, id: str, table: Any) -> Any:
    """The rows of a plan whose id stands in a table, in the order of the table."""
    names = file.collect_schema().names()
    marked = attach(file, key_columns(file, [id]), table, {PLACE: np.arange(len(table))})
    found, _ = columns_in_memory(marked.filter(~nw.col(PLACE).is_null()), {"columns": [*names, PLACE]})
    return found.sort(PLACE).drop(PLACE).to_native()


def recoverable_of_drawn(
    measure: Any, pair: Pair, n: int, *, scenario: Scenario, k: Sequence[int], seed: int | None, step: Any
) -> RecoverableValues:
    """What a release gives back of records that are drawn; nothing is said of risk, which goes by all records.

    `measure` is `recoverable_values`.
    """
    schema = [frame.collect_schema().names() for frame in pair.released]
    household = scenario.household if all(scenario.household in names for names in schema) else None
    drawn = draw_records(pair, n, seed=seed, household=household)
    apart = {pair.id, scenario.weight, scenario.household, scenario.person} - set(scenario.all_keys)
    columns = [name for name in schema[0] if name not in apart and all(name in names for names in schema)]
    result: RecoverableValues = measure(
        drawn, columns=columns, household=household, k=k, seed=seed, id=pair.id, aligned=True, step=step
    )
    step("counting what was changed, column by column")
    changed = changed_values(pair)
    words = OF_DRAWN.format(n=f"{drawn.n:,}")
    undone = {name: words for name in result.notes if name.startswith("undone")}
    return replace(result, keys=scenario.keys, notes={**result.notes, **undone, SAMPLED: words}, changed=changed)


def changed_values(pair: Pair) -> tuple[tuple[ChangedValues, ...], ...]:
    """The values of each column that each release changed, among all records, from the joint cells of that column.

    A column of which the engine cannot count them has none.
    """
    raw = replace(pair, original=pair.original if pair.raw is None else pair.raw, raw=None, beside=None, source=None,
                  memo={name: pair.memo[name] for name in ("ids", ("sizes",)) if name in pair.memo})  # fmt: skip
    both, _ = raw.shared_columns()
    listed: list[list[ChangedValues]] = [[] for _ in pair.released]
    for name in both:
        try:
            cells = count_pair(replace(raw, memo=dict(raw.memo)), {"columns": [name]}, aligned=True)
        except SdcError:  # a column that no engine groups by
            cells = None
        for j, found in enumerate(listed, 1):
            found.append(ChangedValues(name, (), None) if cells is None else _changed(cells, name, j))
    return tuple(map(tuple, listed))


def _changed(cells: Pair, name: str, j: int) -> ChangedValues:
    assert cells.times is not None
    before, after = (touched_cells.read_columns(cells.frames[i], [name]) for i in (0, j))
    if name not in before or name not in after:
        return ChangedValues(name, (), None)
    column = touched_cells.by_original(after, before, cells.times[0]).get(name)
    column = touched_cells.with_groups(after[name], before[name], column) or column
    n = 0 if column is None else int(cells.times[0][column.touched].sum())
    return ChangedValues(name, () if column is None else column.kinds, n)

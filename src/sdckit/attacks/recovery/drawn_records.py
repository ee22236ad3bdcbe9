"""What a release on an engine gives back: of records drawn by their id, and what was changed among all records."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sdckit.attacks.recovery import owner_knowledge, reconstruct, reconstruction_rules, recovery_files, touched_cells
from sdckit.attacks.recovery.derived_columns import released_predictors
from sdckit.attacks.recovery.recoverable_values import LimitPutBack, RecoverableValues, judge_values, most_telling
from sdckit.cells.pair import Pair, count_pair, open_files
from sdckit.cells.plans import count_cells, drawn_pair
from sdckit.cells.tabulate import tabulate_counts
from sdckit.data.drawn_rows import SAMPLED
from sdckit.data.frames import open_frame
from sdckit.data.replace import with_levels, with_new_column
from sdckit.data.scenarios.roles import Roles, resolve_roles
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import SdcError, sure
from sdckit.numerics.array_types import Ints

AT_LEAST = " (by the keys of all records alone: at least)"
KEYS_ALONE = "looked at was only what the keys of all records tell of each other"
OF_DRAWN = "of {n} records drawn by their id: what others give back, and rules of the order of rows, were not looked at"


def recoverable_of_drawn(
    measure: Any, pair: Pair, n: int, *, scenario: Scenario, k: Sequence[int], seed: int | None, step: Any
) -> RecoverableValues:
    """What a release gives back of records that are drawn; nothing is said of risk, which goes by all records.

    `measure` is `recoverable_values`.
    """
    schema = [frame.collect_schema().names() for frame in pair.released]
    household = scenario.household if all(scenario.household in names for names in schema) else None
    step("counting what was changed, column by column")
    changed, groups = _counted(pair)
    drawn = _in_groups(drawn_pair.draw_records(pair, n, seed=seed, household=household), changed, groups)
    apart = {pair.id, scenario.weight, scenario.household, scenario.person} - set(scenario.all_keys)
    columns = [name for name in schema[0] if name not in apart and all(name in names for names in schema)]
    result: RecoverableValues = measure(
        drawn, columns=columns, household=household, k=k, seed=seed, id=pair.id, aligned=True, step=step
    )
    words = OF_DRAWN.format(n=f"{drawn.n:,}")
    undone = {name: words for name in result.notes if name.startswith("undone")}
    return replace(result, keys=scenario.keys, notes={**result.notes, **undone, SAMPLED: words}, changed=changed)


def changed_values(pair: Pair) -> tuple[tuple[touched_cells.ChangedValues, ...], ...]:
    """The values of each column that each release changed, among all records, from the joint cells of that column.

    A column of which the engine cannot count them has none.
    """
    return _counted(pair)[0]


def undone_by_keys(pair: Pair, scenario: Scenario, k: int) -> LimitPutBack | None:
    """Records below k once the keys of all records have given back what they tell of each other: at least so many.

    From the joint cells of original and release by the keys of the scenario, each for as many records as it has. None
    where the keys tell nothing that leaves fewer than k alike, or their cells cannot be had, or persons have several
    rows; other columns may tell more.
    """
    keys = scenario.keys
    beyond: list[int] = []
    sources: list[reconstruction_rules.Source] = []
    if scenario.person is not None:
        return None
    roles = replace(resolve_roles(scenario=scenario), weight=None, household=None, sensitive=())
    try:
        cells = count_pair(pair, {"keys": keys}, aligned=True)
        if cells is None or cells.times is None:
            return None
        before, times = touched_cells.read_columns(cells.original, keys), cells.times[0]
        for released in cells.released:
            columns = touched_cells.read_columns(released, keys)
            touched = touched_cells.by_original(columns, before, times)
            file = recovery_files.RecoveryFile(released, columns, touched, before, roles, {}, times=times)
            recovered = reconstruct.recover_cells(touched, released_predictors(columns, None), times)
            recoveries = [judge_values(file, own) for own in recovered]
            sources += [source for own in recoveries if own.given.any() for source in own.sources]
            undone = owner_knowledge.file_put_back(file, {own.target.column.name: own for own in recoveries})
            beyond.append(_below(undone, roles, times, k))
    except SdcError:  # too many cells, or a column that no engine groups by
        return None
    return LimitPutBack("; ".join(most_telling(sources)) + AT_LEAST, tuple(beyond)) if sources and any(beyond) else None


def of_keys_alone(pair: Pair, by_keys: LimitPutBack, *, keys: tuple[str, ...], k: int) -> RecoverableValues:
    """What the keys of all records tell, where no limit asks what records drawn give back; nothing else is said."""
    unknown = dict.fromkeys(RecoverableValues.figures, math.nan)
    return RecoverableValues(
        pair, (unknown,) * pair.m, "", {SAMPLED: KEYS_ALONE}, columns=((),) * pair.m, advice=(), keys=keys, shown_k=k,
        below_k=(), above_risk=(), put_back={}, files=(), found=(), by_keys=by_keys,
    )  # fmt: skip


def _below(frame: Any, roles: Roles, times: Ints, k: int) -> int:
    """Records of distinct rows in classes of fewer than k records."""
    keys = tuple(count_cells.KeyColumn.of(name, at, frame[name].dtype) for at, name in enumerate(roles.keys))
    counted = count_cells.Counted(with_new_column(frame, count_cells.SIZE, times), keys, int(times.sum()))
    return tabulate_counts(counted, roles, whole=False).values("sample_frequency").count_below([k])[0]


Groups = dict[str, dict[str, str]]  # by column and value the group that all records show it in


def _counted(pair: Pair) -> tuple[tuple[tuple[touched_cells.ChangedValues, ...], ...], Groups]:
    raw = replace(pair, original=pair.original if pair.raw is None else pair.raw, raw=None, beside=None, source=None,
                  memo={name: pair.memo[name] for name in ("ids", ("sizes",)) if name in pair.memo})  # fmt: skip
    both, _ = raw.shared_columns()
    listed: list[list[touched_cells.ChangedValues]] = [[] for _ in pair.released]
    groups: Groups = {}
    for name in both:
        try:
            cells = count_pair(replace(raw, memo=dict(raw.memo)), {"columns": [name]}, aligned=True)
        except SdcError:  # a column that no engine groups by
            cells = None
        for j, found in enumerate(listed, 1):
            found.append(touched_cells.ChangedValues(name, (), None) if cells is None else _changed(cells, name, j))
        if cells is not None and pair.m == 1 and (own := _groups(cells, name)):
            groups[name] = own
    return tuple(map(tuple, listed)), groups


def _groups(cells: Pair, name: str) -> dict[str, str]:
    """The group of each text that a release shows as another."""
    before, after = (touched_cells.read_columns(frame, [name]).get(name) for frame in cells.frames)
    if before is None or after is None or before.numeric or after.numeric:
        return {}
    codes = touched_cells.truth_codes(after, before, sure(cells.times)[0]).astype(np.int64)
    old, new = before.labels(), after.labels()
    known = zip(before.codes.tolist(), codes.tolist(), strict=True)
    return {old[b - 1]: new[c - 1] for b, c in known if b > 0 and c > 0 and old[b - 1] != new[c - 1]}


def _in_groups(drawn: Pair, changed: Sequence[Sequence[touched_cells.ChangedValues]], groups: Groups) -> Pair:
    """The records drawn with texts in the groups of all records where too few are drawn to show these.

    A value that is drawn once and is shown in a group would be taken for a changed one.
    """
    of_all = {column.column: column.n for column in changed[0]}
    original, released = drawn.frames[0], drawn.frames[1]
    data: Any = original
    for name, own in groups.items():
        before, after = (touched_cells.read_columns(frame, [name])[name] for frame in (original, released))
        found = touched_cells.by_original({name: after}, {name: before}).get(name)
        if found is not None and found.touched.sum() > (of_all[name] or 0):
            labels = [own.get(label, label) for label in before.labels()]
            levels = list(dict.fromkeys(labels))
            place = np.array([-1, *map({label: at for at, label in enumerate(levels)}.__getitem__, labels)])
            data = open_frame(with_levels(data, {name: (levels, place[before.codes])}))
    return drawn if data is original else open_files(data.to_native(), released.to_native(), id=drawn.id)


def _changed(cells: Pair, name: str, j: int) -> touched_cells.ChangedValues:
    assert cells.times is not None
    before, after = (touched_cells.read_columns(cells.frames[i], [name]) for i in (0, j))
    if name not in before or name not in after:
        return touched_cells.ChangedValues(name, (), None)
    column = touched_cells.by_original(after, before, cells.times[0]).get(name)
    if column is None or not column.perturbed:  # else values of single records, which may be in groups, count alone
        column = touched_cells.with_groups(after[name], before[name], column) or column
    n = 0 if column is None else int(cells.times[0][column.touched].sum())
    return touched_cells.ChangedValues(name, () if column is None else column.kinds, n)

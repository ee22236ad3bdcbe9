"""Columns that were left out of a release, although what goes out tells them: weights tell strata, codes tell regions.

A column that is left out is like one of which every value is suppressed. The release has none of its values to learn
from, so what tells it is what whoever knows how the columns are made is told: arithmetic, code tables, links, order.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sdckit.attacks.recovery.derived_columns import counted_rows, released_predictors
from sdckit.attacks.recovery.owner_knowledge import file_put_back, owner_knowledge
from sdckit.attacks.recovery.reconstruct import Recovered, recognised
from sdckit.attacks.recovery.recoverable_values import RecoverableValues, recovery_figures, summed_up
from sdckit.attacks.recovery.recovery_files import RecoveryFile
from sdckit.cells.pair_result import mean_figures
from sdckit.data.missing_values.missing import Rule

ANYTHING: Rule = "wildcard"
LEVEL = 0.95  # of intervals of guesses, of which there are none here
Told = Mapping[str, Recovered]


def with_left_out(
    result: RecoverableValues, names: Sequence[str], *, keys: Collection[str], judged: Collection[str],
    time: str | None, seed: int, k: Sequence[int], risk: float | None, step: Callable[[str], None] = lambda _: None,
) -> RecoverableValues:  # fmt: skip
    """What a release gives back, with the columns `names` of the original that it lacks and that others tell.

    `keys`: those of them that the intruder knows, told by anything that is not known anyway; who is recognised with
    them is counted anew, in groups of fewer than each `k` and beyond the `risk`, in one group of all where the release
    has no other key and tells none. `judged`: columns whose own limits hold or not; what they alone tell of others is
    no reconstructed value, since they go out knowingly.
    """
    files = tuple(file.looking_for(result.pair.original, names) for file in result.files)
    if not any(file.gone for file in files):
        return result
    by_file = [_told(file, time=time, seed=seed, step=step) for file in files]
    recovered = tuple({**before, **own} for before, own in zip(result.found, by_file, strict=True))
    by_column = tuple(
        (*columns, *_by_column(file, own, {name: result.keys if name in keys else judged for name in own}))
        for columns, file, own in zip(result.columns, files, by_file, strict=True)
    )
    known = [key for key in keys if any(key in own for own in by_file)]
    figures, below, above = [], list(result.below_k), list(result.above_risk)
    if known and not below:
        below, above = [dict.fromkeys(k, 0) for _ in files], [None if risk is None else 0 for _ in files]
    for j, (file, columns, before) in enumerate(zip(files, by_column, result.per_release, strict=True)):
        more = recovery_figures(columns, known=True) if len(columns) > len(result.columns[j]) else {}
        if own_keys := [key for key in known if key in by_file[j]]:
            undone = recognised(file_put_back(file, recovered[j]), _with_keys(file, own_keys), k=k, risk=risk)
            below[j], above[j] = undone.below_k, undone.above_risk
            more |= undone.figures()
        elif known and not result.keys:
            more |= {"undone_k": float(len(file.frame)), "undone_uniques": 0.0, "undone_expected": 1.0}
        figures.append({**before, **more})
    still = {"touched", *(("undone_k", "undone_uniques", "undone_expected") if known else ())}  # may have a figure now
    notes = {name: words for name, words in result.notes.items() if name not in still}
    means = mean_figures(figures, notes)
    notes |= {"touched": result.notes["touched"]} if "touched" in result.notes and not means["touched"] else {}
    changed: dict[str, Any] = dict(means)
    return replace(
        result, files=files, found=recovered, columns=by_column, per_release=tuple(figures), below_k=tuple(below),
        above_risk=tuple(above), keys=(*result.keys, *known), notes=notes, **changed,
    )  # fmt: skip


def _told(file: RecoveryFile, *, time: str | None, seed: int, step: Callable[[str], None]) -> dict[str, Recovered]:
    """The columns that were left out and that others tell."""
    if not file.gone:
        return {}
    place = ("left out", tuple(file.gone), file.roles.person, time, seed, id(file.truth))
    if place not in file.memo:
        step("looking for what tells the columns that were left out")
        # How many rows a household has goes out with its number, whatever is left out: that number alone hides it.
        columns = {name: column for name, column in file.columns.items() if name != file.household}
        alone = replace(file, columns=columns, roles=replace(file.roles, household=None))
        predictors = released_predictors(columns, None, {})
        predictors += counted_rows(columns) if file.household is None else []
        known = owner_knowledge(alone, {}, released=predictors, time=time, seed=seed)
        file.memo[place] = {name: own.of(None) for name, own in known.items() if own.told.any()}
    recovered: dict[str, Recovered] = file.memo[place]
    return recovered


def _by_column(file: RecoveryFile, by_name: Told, judged: Mapping[str, Collection[str]]) -> list[Any]:
    """Figures of the columns that something tells whose own limits say nothing."""
    return [
        summed_up(recovered, None, None, level=LEVEL, roles=file.roles)
        for name, recovered in by_name.items()
        if recovered.known is not None
        and any(not source.columns or {*source.columns} - {*judged[name]} for source in recovered.known.sources)
    ]


def _with_keys(file: RecoveryFile, keys: Sequence[str]) -> Any:
    """The roles with keys that were left out; a value that nothing tells is like any other."""
    roles = file.roles
    return replace(roles, keys=(*roles.keys, *keys), rules=(*roles.rules, *(ANYTHING for _ in keys)))

"""The measures of the room `attacks`: simulated intruders."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdckit.catalogue.attribute import DIVERSITY
from sdckit.catalogue.identity import NOT_ALIGNED, TESTED_K
from sdckit.catalogue.row import REASONS, ROWS, Context, Knowledge, Part, public_function, rows_of
from sdckit.data.limits import LIMITS, LimitKind, limits_asked
from sdckit.data.scenarios.thresholds import SYNTHETIC
from sdckit.errors import DataError, ScenarioError, SdcError, sure

if TYPE_CHECKING:
    from sdckit.attacks.recovery.near_numbers import NearlyKnown
    from sdckit.attacks.recovery.recoverable_values import LimitPutBack, RecoverableValues
    from sdckit.data.scenarios.scenario import Scenario

COLUMNS_AT_ONCE = 3
RECORDS = 100_000  # drawn by their id to look for what a release gives back, where there are too many
MOST_PAIRS = 5_000**2  # of records whose distances in every column of a release are worked out unasked
ONE_KEY = "there is only one key"
NO_DUCKDB = "it needs DuckDB: pip install 'sdckit[linkage]'"
NOTHING_TAKEN = "nothing was taken out of the records of a synthetic file"


def _knowledge(context: Context) -> Knowledge:
    return sure(context.knowledge)


def _draw_arguments(context: Context) -> dict[str, Any]:
    """Arguments shared by the attacks that sample their attempts."""
    knows = _knowledge(context)
    return {"n_attacks": knows.n_attacks, "seed": context.seed, "by": knows.by or None}


def _targets_arguments(context: Context) -> dict[str, Any]:
    """The same of an attack on people: of files too large to attack whom a position names, drawn by their id."""
    return {**_draw_arguments(context), "targets": context.n_drawn}


def _singling_parts(context: Context) -> Iterator[Part]:
    names, drawn = _knowledge(context).variables, _draw_arguments(context)
    yield "univariate", lambda: SINGLING.measure(context.pair, variables=names, **drawn)
    if (k := min(COLUMNS_AT_ONCE, len(names))) > 1:
        yield (
            "multivariate",
            lambda: SINGLING.measure(context.pair, variables=names, mode="multivariate", n_columns=k, **drawn),
        )


SINGLING = replace(ROWS["singling_out"], parts=_singling_parts)


def _variables_arguments(context: Context) -> dict[str, Any]:
    knows = _knowledge(context)
    return {"variables": knows.variables, **knows.numbers(*knows.variables), **_draw_arguments(context)}


def _membership_arguments(context: Context) -> dict[str, Any]:
    given = {**_variables_arguments(context), **_targets_arguments(context)}
    return {**given, "score": "distance"} if context.n_drawn else given


def _distance_arguments(context: Context) -> dict[str, Any]:
    given = {**_variables_arguments(context), "targets": context.n_drawn}
    return {name: value for name, value in given.items() if name != "n_attacks"}


def _distance_condition(context: Context) -> str:
    if _knowledge(context).every and context.n_pairs > MOST_PAIRS:
        return "the records are too many to compare them all in every column here; call distance_to_closest_record"
    return ""


def _linkability_condition(context: Context) -> str:
    knows = _knowledge(context)
    if knows.halves is not None:
        return ""
    return ONE_KEY if len(knows.known) == 1 else "it joins two pieces of knowledge, and only one is given"


def _linkability_arguments(context: Context) -> dict[str, Any]:
    first, second = _knowledge(context).halves or ((), ())
    return {"known": (first, second), **_knowledge(context).numbers(*first, *second), **_targets_arguments(context)}


def _linkage_condition(context: Context) -> str:
    if not context.aligned:
        return NOT_ALIGNED
    if len(_knowledge(context).known) < 2:
        return ONE_KEY
    if find_spec("duckdb") is None:
        return NO_DUCKDB
    from sdckit.attacks.linkage.probabilistic_linkage import ALL_PAIRS

    if not _knowledge(context).blocking and context.n_pairs > ALL_PAIRS:
        return f"{context.n:,} records make too many pairs to compare them all here; call {LINKAGE.name} with blocking"
    return ""


def _linkage_arguments(context: Context) -> dict[str, Any]:
    knows = _knowledge(context)
    blocking = [list(rule) for rule in knows.blocking] or None
    return {
        "variables": knows.known, **knows.numbers(*knows.known), "blocking": blocking, "seed": context.seed,
        "targets": context.n_drawn,
    }  # fmt: skip


def _inference_condition(context: Context) -> str:
    others = [name for name in _knowledge(context).known if name != context.target]
    return "" if others else f"nothing is known from which {context.target} could be inferred"


def _inference_arguments(context: Context) -> dict[str, Any]:
    target = context.target or ""
    known = tuple(name for name in _knowledge(context).known if name != target)
    return {
        "known": known,
        "target": target,
        **_knowledge(context).numbers(*known, target),
        **_targets_arguments(context),
    }


LINKABILITY = replace(ROWS["linkability"], condition=_linkability_condition, arguments=_linkability_arguments)
LINKAGE = replace(ROWS["probabilistic_linkage"], condition=_linkage_condition, arguments=_linkage_arguments)


def _sizes(context: Context) -> list[int]:
    limit = context.scenario.limits.k
    return sorted({*TESTED_K, *([] if limit is None else [limit])})


def _recovery_arguments(context: Context) -> dict[str, Any]:
    pair = sure(context.pair)
    return {
        "scenario": context.scenario, "k": _sizes(context), "risk": context.scenario.limits.risk,
        "seed": context.seed, "id": pair.id, "guess": not context.lean,
        "aligned": context.aligned and not (pair.brought and pair.id is None), "step": context.tell,
    }  # fmt: skip


def _recovery_parts(context: Context) -> Iterator[Part]:
    """What is recovered, and what limits of other measures say of the release with that put back."""

    def measured(context: Context = context) -> RecoverableValues:
        if context.draws_records:
            return _of_drawn(context)
        pair = sure(context.pair) if context.recovered is None else replace(sure(context.pair), memo=context.recovered)
        result: RecoverableValues = RECOVERABLE.measure(pair, **_recovery_arguments(context))
        result, context = _with_left_out(result, context)
        return _put_back(result, context, result.pair.original) if context.keys else result

    yield "", measured


def _of_drawn(context: Context) -> RecoverableValues:
    """What the release gives back of records drawn by their id, the same for every intruder; of all, what keys tell."""
    from sdckit.attacks.recovery.drawn_records import of_keys_alone, recoverable_of_drawn, undone_by_keys

    assert context.pair is not None
    scenario, least = context.scenario, context.scenario.limits_of(compared=True).k
    by_keys = None
    if least is not None and context.keys:  # the same for every intruder with these keys
        count = partial(undone_by_keys, context.pair, scenario, least)
        by_keys = context.once(f"undone by {scenario.keys}", count)
    if context.lean and not context.left_out.get(context.intruder) and not _drawn_for_limits(scenario):
        if by_keys is None:
            raise DataError(context.not_searched)
        return of_keys_alone(context.pair, by_keys, keys=scenario.keys, k=least or 0)
    make = partial(
        recoverable_of_drawn, RECOVERABLE.public, context.pair, RECORDS, scenario=scenario, k=_sizes(context),
        seed=context.seed, step=context.tell,
    )  # fmt: skip
    result: RecoverableValues = context.once("recovery of drawn records", make)
    return replace(result, keys=scenario.keys, by_keys=by_keys)


def _drawn_for_limits(scenario: Scenario) -> bool:
    """Whether a limit is held against what records drawn give back."""
    asked = limits_asked(scenario.limits_of(compared=True).declared)
    return any(kind.measure == RECOVERABLE.name and kind.judged != "undone" for kind in asked)


def _with_left_out(result: RecoverableValues, context: Context) -> tuple[RecoverableValues, Context]:
    """The result with what tells columns that were left out, and the context with the keys among these."""
    from sdckit.attacks.recovery.left_out_columns import with_left_out

    scenario, keys = context.scenario, context.left_out.get(context.intruder, ())
    names = dict.fromkeys([*keys, *scenario.sensitive, *scenario.judged_numbers])
    result = with_left_out(
        result, [*names], keys=keys, judged={*scenario.keys, *scenario.sensitive, *scenario.judged_numbers},
        time=scenario.time, seed=context.seed or 0, k=_sizes(context), risk=scenario.limits.risk, step=context.tell,
    )  # fmt: skip
    more = [key for key in result.keys if key not in scenario.keys]
    if more:
        scenario = scenario.changed(intruders={context.intruder: (*scenario.keys, *more)})
    if any(_may_be_told(result, key, scenario.keys) for key in keys):
        result = replace(result, notes={**result.notes, NOT_LOOKED_FOR: NOT_TOLD})
    return result, replace(context, scenario=scenario)


def _put_back(result: RecoverableValues, context: Context, original: Any) -> RecoverableValues:
    """The result with the declared limits of other measures that what is given back could break."""
    from sdckit.attacks.recovery.near_numbers import near_numbers
    from sdckit.attacks.recovery.recoverable_values import LimitPutBack

    scenario = context.scenario
    limits = scenario.limits_of(compared=True)
    found = {}
    for base in (LIMITS[kind.of] for kind in LIMITS.values() if kind.measure == RECOVERABLE.name and kind.of):
        if not base.needs or getattr(limits, base.name) is None:
            continue  # those without a role of their own are counted with the keys
        own = scenario.judged_numbers if base.numbers else tuple(filter(None, [scenario.household]))
        beside = (base.numbers and scenario.number_groups) or scenario.keys
        released = all(any(name in {**file.columns, **file.gone} for name in own) for file in result.files)
        near = [near_numbers(file, own) if base.numbers else {} for file in result.files]
        others = [words for some in near for _, columns in some.values() for words in columns]
        reasons = filter(None, (result.telling((*own, *beside)), *others))
        if released and (because := "; ".join(dict.fromkeys(reasons))):
            context.tell("measuring the risk with the values put back")
            found[base.name] = _measured_put_back(result, base, context, original, because, near)
        elif own and base.numbers and original is not None and _may_be_near(result, own):
            found[base.name] = LimitPutBack("", reason=NOT_NEAR)
    found |= _variables_put_back(result, context)
    return replace(result, put_back=found)


def _variables_put_back(result: RecoverableValues, context: Context) -> dict[str, LimitPutBack]:
    """By variable, records in groups of too few values with what is given back of the keys, or of the variable.

    A variable that was left out counts where what goes out tells it, or where nobody could look whether it does.
    """
    from sdckit.attacks.recovery.owner_knowledge import file_put_back
    from sdckit.attacks.recovery.recoverable_values import LimitPutBack

    scenario, put_back = context.scenario, {}
    least = scenario.limits_of(compared=True).l
    if least is None:
        return {}
    for name in scenario.sensitive:
        having = [j for j, file in enumerate(result.files) if name in file.columns]
        if not having and _may_be_told(result, name, scenario.keys):
            put_back[name] = LimitPutBack("", reason=NOT_TOLD)
            continue
        telling = [j for j, file in enumerate(result.files) if name in file.gone and name in result.found[j]]
        sources = [source for j in telling for source in getattr(result.found[j][name].known, "sources", ())]
        # what follows from what is known anyway, no release tells; the order of its rows it does
        words = [source.words for source in sources if not source.columns or {*source.columns} - {*scenario.keys}]
        words = [result.telling((*scenario.keys, name))] if having else words
        if not any(words):
            continue
        because, beyond = "; ".join(dict.fromkeys(words)), []
        for j in having or telling:
            undone = file_put_back(result.files[j], result.found[j])
            own = scenario.of_keys(undone.columns).narrowed(undone.columns)
            if not own.keys:  # it is another release that tells them
                beyond.append(0)
                continue
            try:
                diversity = DIVERSITY.measure(undone.to_native(), scenario=own, sensitive=name, levels=[least])
            except SdcError as error:
                put_back[name] = LimitPutBack(because, reason=str(error))
                break
            beyond.append(diversity.violations[name]["distinct"][least])
        else:
            put_back[name] = LimitPutBack(because, tuple(beyond))
    return put_back


NOT_LOOKED_FOR = "left_out"  # the note on keys that nobody looked for
NOT_TOLD = REASONS["not_told"]


def _may_be_told(result: RecoverableValues, name: str, keys: Sequence[str]) -> bool:
    """Whether columns beside the keys go out, of records that are not known to be those of the original."""
    original = result.pair.original
    return (
        original is not None and name in original.columns
        and any(file.truth is None and {*file.columns} - {*keys} for file in result.files)
    )  # fmt: skip


NOT_NEAR = REASONS["not_near"]


def _may_be_near(result: RecoverableValues, own: Sequence[str]) -> bool:
    """Whether some number beside those of their own goes out of records that are not known to be the original's."""
    return any(
        file.truth is None and any(column.numeric and name not in own for name, column in file.columns.items())
        for file in result.files
    )


def _measured_put_back(
    result: RecoverableValues, base: LimitKind, context: Context, original: Any, because: str,
    near: Sequence[Mapping[str, NearlyKnown]],
) -> LimitPutBack:  # fmt: skip
    """The measure of a limit on each release with the reconstructed values put back, those nearly known, too."""
    from sdckit.attacks.recovery.owner_knowledge import file_put_back
    from sdckit.attacks.recovery.recoverable_values import LimitPutBack

    scenario, limit = context.scenario, getattr(context.scenario.limits_of(compared=True), base.name)
    measure, beyond, whole = public_function(base.measure), [], []
    for j in range(1, result.m + 1):
        known = {name: rows for name, (rows, _) in near[j - 1].items()}
        undone = file_put_back(result.files[j - 1], result.found[j - 1], known)
        own = scenario.narrowed(undone.columns)
        try:
            if base.scope == "released" and original is not None:
                how = {"aligned": result.pair.aligned or context.aligned, "id": result.pair.id}
                figures = measure(original, undone.to_native(), scenario=own, **how)
            else:
                figures = measure(undone.to_native(), scenario=own)
        except SdcError as error:
            return LimitPutBack(because, reason=str(error))
        figure = getattr(figures, base.figure)
        total = figures.n if base.part is None or base.part[1] == "n" else getattr(figures, f"n_{base.part[1]}")
        beyond.append(figure(limit) if base.judged == "count" else round(figure * total))
        whole.append(total)
    return LimitPutBack(because, tuple(beyond), tuple(whole))


RECOVERABLE = replace(
    ROWS["recoverable_values"],
    parts=_recovery_parts,
    condition=lambda context: NOTHING_TAKEN if context.scenario.release == SYNTHETIC else "",
    records_drawn=RECORDS,
)


# A file by itself: a value given back is one that is missing or in a range, since nothing else shows a change.
NOT_IN_MEMORY = "what it gives back by itself is looked for in memory, for which the file has too many values"
INTRUDERS = "contexts of the intruders"  # among what they share


def _alone_condition(context: Context) -> str:
    if context.data is None:  # a dry run reads no record
        return ""
    from sdckit.cells.as_cells import columns_in_memory
    from sdckit.data.scenarios.thresholds import NOTHING_SEEN

    # by what is tabulated anyway: most files show nothing
    if not context.once("shown", lambda: any(map(_shows_changes, context.shared[INTRUDERS]))):
        return NOTHING_SEEN
    columns = {"columns": context.data.collect_schema().names()}  # each may tell a value of another
    try:
        context.once("file", lambda: columns_in_memory(context.data, columns)[0])
    except DataError:
        return NOT_IN_MEMORY
    return ""


def _shows_changes(context: Context) -> bool:
    """Whether a value of a key is missing or in a range, or one of a sensitive variable is missing."""
    from sdckit.attacks.recovery.touched_cells import TEXTS, has_ranges
    from sdckit.data.frames import has_missing

    cells, data = context.cells, context.data
    sensitive = [name for name in context.scenario.sensitive if name in data.collect_schema().names()]
    texts = (key for key in cells.keys if cells.kind(key) in TEXTS)
    return (
        any(cells.n_missing)
        or any(has_ranges([label for label, _ in cells.level_counts(key)[0]]) for key in texts)
        or has_missing(data, sensitive)
    )


def _alone_parts(context: Context) -> Iterator[Part]:
    from sdckit.attacks.recovery.touched_cells import seen_changes
    from sdckit.cells.pair import open_files

    names = dict.fromkeys(name for own in context.shared[INTRUDERS] for name in (*own.keys, *own.scenario.sensitive))
    file = context.shared["file"]
    seen = context.once("seen", lambda: seen_changes(file, tuple(names)))
    pair = context.once("alone", lambda: open_files(file, file))

    def measured() -> RecoverableValues:
        result = RECOVERABLE.measure(
            pair, k=_sizes(context), risk=context.scenario.limits.risk, scenario=context.scenario,
            columns=seen.columns, log=seen, guess=False, aligned=False, step=context.tell,
        )  # fmt: skip
        return _put_back(result, context, None)

    yield "", measured


ALONE = replace(RECOVERABLE, files="one", parts=_alone_parts, condition=_alone_condition, limited=True)


def _differencing_parts(context: Context) -> Iterator[Part]:
    from sdckit.attacks.differencing.release_ledger import ReleaseLedger, files_at_hand, with_files

    place = sure(context.scenario.ledger)
    folder = context.scenario.folder
    ledger = place.opened or context.once(
        "ledger", lambda: ReleaseLedger.open(folder / place.folder, key=folder / place.key, survey=place.survey)
    )
    files = context.once("files at hand", lambda: files_at_hand(ledger, context.scenario))

    def measured() -> Any:
        read = context.once("earlier releases", lambda: with_files(ledger, files, context.scenario, context.data))
        return DIFFERENCING.measure(
            context.data, ledger=read, scenario=context.scenario, id=place.id, people=place.people,
            within=place.within, new=place.new, first=place.first, step=context.tell,
        )  # fmt: skip

    yield "", measured


DIFFERENCING = replace(
    ROWS["differencing"], parts=_differencing_parts, when=lambda context: context.scenario.ledger is not None
)


def _joint_arguments(context: Context) -> dict[str, Any]:
    given = _recovery_arguments(context)
    limited = context.scenario.limit_on(JOINT.name) is not None
    return {name: given[name] for name in ("scenario", "k", "id", "aligned", "step")} | {"remedies": limited}


def _tables_typed(
    *, scenario: Scenario, tables: list[Path] | None = None, counted: list[str] | None = None,
    sums: list[str] | None = None, summed: list[str] | None = None, count: str = "n", rounded: int | None = None,
    sums_rounded: int | None = None, suppressed_below: int | None = None, total: str | None = None, **given: Any,
) -> Callable[..., Any]:  # fmt: skip
    """Without --tables, --counted, --sums and --summed the tables are those of the scenario.

    Parameters
    ----------
    tables : list of path, optional
        A CSV or Excel file of counts, a row per cell; again for more.
    counted : list of str, optional
        A table counted in --original; again for more.
    sums : list of str, optional
        A file of sums of the column C, in its column C; again for more.
    summed : list of str, optional
        Sums of C by A and B, added up in --original; again for more.
    count : str
        Column that holds the counts in the files of --tables.
    rounded, sums_rounded : int, optional
        The base to which all counts are rounded; the base to which all sums are rounded.
    suppressed_below : int, optional
        Cells without a count have fewer records than this.
    total : str, optional
        How the files name a margin.
    """
    from sdckit.attacks.published.counted_tables import PublishedTable

    kept = {"rounded": rounded, "suppressed_below": suppressed_below}
    of_sums = {**kept, "rounded": sums_rounded}
    declared = [
        *(PublishedTable(counts=path, count=count, total=total, **kept) for path in tables or ()),  # type: ignore[arg-type]
        *(PublishedTable(variables=names.split(","), **kept) for names in counted or ()),  # type: ignore[arg-type]
    ]
    for column, file in _columns_summed(sums, "--sums income:sums.csv"):
        declared.append(PublishedTable(counts=Path(file), sum=column, total=total, **of_sums))  # type: ignore[arg-type]
    for column, names in _columns_summed(summed, "--summed income:region,sex"):
        declared.append(PublishedTable(variables=names.split(","), sum=column, **of_sums))  # type: ignore[arg-type]
    if not declared and not scenario.tables:
        raise ScenarioError(
            "say what is published beside the file: --tables, --counted, --sums, --summed, or [[tables]] in the "
            "scenario"
        )
    return partial(JOINT.measure, tables=declared or None, scenario=scenario, **given)


def _columns_summed(texts: Sequence[str] | None, example: str) -> Iterator[tuple[str, str]]:
    """A column that is summed, and what follows the colon."""
    for text in texts or ():
        column, colon, rest = text.partition(":")
        if not (column and colon and rest):
            option = example.partition(" ")[0]
            raise ScenarioError(f"{option} names the column that is summed, then a colon: {example}")
        yield column, rest


JOINT = replace(
    ROWS["joint_audit"],
    condition=lambda context: "" if context.scenario.tables else "the scenario declares no published tables",
    when=lambda context: bool(context.scenario.tables),
    arguments=_joint_arguments,
    by_command=_tables_typed,
)


# Files that are not called synthetic have no limit on copies, and no such figure.
COPIES = replace(ROWS["copied_records"], arguments=lambda context: {"scenario": context.scenario})
ATTACKS = rows_of(
    "attacks",
    RECOVERABLE,
    COPIES,
    JOINT,
    DIFFERENCING,
    SINGLING,
    replace(ROWS["membership"], arguments=_membership_arguments),
    replace(ROWS["distance_to_closest_record"], condition=_distance_condition, arguments=_distance_arguments),
    LINKABILITY,
    LINKAGE,
    replace(ROWS["inference"], condition=_inference_condition, arguments=_inference_arguments),
)

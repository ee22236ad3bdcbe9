"""Arithmetic and code tables that hold in a file: what to compute anew or leave out where a step changes some."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sdckit.attacks.recovery.derived_columns import Predictor
from sdckit.attacks.recovery.numeric_relations import find_relations, printed_unit, tolerance
from sdckit.attacks.recovery.text_parts import text_parts
from sdckit.attacks.recovery.touched_cells import ReleasedColumn, read_columns
from sdckit.data import derived_formula, frames, methods
from sdckit.data.replace import open_eager, pick_rows
from sdckit.data.scenarios.scenario import Scenario
from sdckit.display import printable
from sdckit.errors import ScenarioError, sure
from sdckit.numerics.array_types import Floats, Ints
from sdckit.numerics.grouping import group, pair_counts
from sdckit.report.chapters.sentences import listed
from sdckit.workflow.recipes.recipe_checks import StepLike, columns_mentioned
from sdckit.workflow.recipes.recipe_steps import columns_named, method_of

HOLDS = 0.99  # of the records that have all of its numbers
BY_CHANCE = 0.9  # as many would hold of numbers that were mixed up
FEWEST = 30
MOST_RECORDS = 50_000  # of a larger file a sample says between which columns to look
OF_PATTERN = 200  # records of the sample that miss the same values, at least
PRESUMED = 0.9  # of the sample, from which on a relation is looked for in the whole file
SHARED = 0.9  # of the records have a value that others have, too, for a code table
BEYOND_USUAL = 10  # times fewer errors than by the most frequent value
MOST_COLUMNS = 40  # of numbers, for each of which relations are looked for
EXACT = 1e-9  # relative: nothing needs to be rounded
SEED = 1
ROLES = ("column", "columns", "keys", "replace", "weight")  # arguments that name what a step changes
COMPUTED = "Computed anew after the last step: who knows how {} are made had back from them what a step changed."
LEFT_OUT = "{} is left out: {} could be computed from {}, whatever a step makes of it. Or recode it alike."
STAYS = "No step for {}, from which {} can be computed, whatever a step makes of it: recode it alike, or leave it out."


@dataclass(frozen=True)
class ExactRelation:
    """Columns of which each record's values follow from each other.

    `of` is the column that follows, from `inputs` by `formula`; the formula is empty where it follows from a part of a
    text or by a code table, and cannot be computed anew.
    """

    of: str
    inputs: tuple[str, ...]
    formula: str = ""

    @property
    def columns(self) -> frozenset[str]:
        """All its columns."""
        return frozenset((self.of, *self.inputs))


def exact_relations(
    data: Any, names: Sequence[str], *, keys: Sequence[str] = (), holds: float = HOLDS
) -> tuple[ExactRelation, ...]:
    """Relations between numbers of a file, those of the fewest columns first, and of numbers with parts of texts.

    `keys`: columns for which a code table of each other column is looked for, too: a density that tells the region.
    `holds`: share of the records that have all of its values for which a relation holds.

    Examples
    --------
    >>> import polars as pl
    >>> wage = [1000 + 37 * i % 2900 for i in range(200)]
    >>> pay = pl.DataFrame({"wage": wage, "rest": [7 * i % 90 for i in range(200)]})
    >>> pay = pay.with_columns(total=pl.col("wage") + pl.col("rest"))
    >>> [f"{found.of} = {found.formula}" for found in exact_relations(pay, pay.columns)]
    ['wage = total - rest', 'rest = total - wage', 'total = wage + rest']
    """
    read = read_columns(frames.open_frame(data), names)
    columns = {name: read[name] for name in names if name in read}
    plain = [column for column in columns.values() if column.numbers is not None and column.coded.kind not in TEXTS]
    numbers = {
        own.name: Predictor((own.name,), own.name, own.codes, own.n_levels, own.numbers) for own in plain[:MOST_COLUMNS]
    }
    texts = {name: column for name, column in columns.items() if column.coded.kind in TEXTS}
    parts = [part for part in text_parts(texts) if part.numbers is not None] if numbers else []
    found = []
    for name, own in numbers.items():
        y = sure(own.numbers)
        companions = [other for other in numbers.values() if other is not own]
        found += [ExactRelation(name, *how) for how in _followed(y, companions, holds)]
        found += [ExactRelation(name, inputs) for inputs, _ in _followed(y, parts, holds)]
    finest = {name: printed_unit(own.numbers) for name, own in numbers.items() if own.numbers is not None}
    ordered = sorted(dict.fromkeys(found), key=lambda relation: (len(relation.columns), finest[relation.of]))
    related = {relation.columns for relation in ordered}
    return (*ordered, *(table for table in _code_tables(columns, keys, holds) if table.columns not in related))


def _code_tables(columns: Mapping[str, ReleasedColumn], keys: Sequence[str], holds: float) -> Iterator[ExactRelation]:
    """Keys that follow from another column, as a group of occupations follows from the occupation."""
    for key in keys:
        if key in columns:
            others = (name for name in columns if name != key and _is_function(columns[key], columns[name], holds))
            yield from (ExactRelation(key, (name,)) for name in others)


def _is_function(key: ReleasedColumn, other: ReleasedColumn, holds: float) -> bool:
    """Whether nearly all records of a value of `other` have the same value of `key`, and not by its frequency alone.

    A value that one record has tells nothing about another: most records have to share theirs.
    """
    known = np.flatnonzero((key.codes > 0) & (other.codes > 0))
    if len(known) < FEWEST:
        return False
    of, given = key.codes[known].astype(np.int64), other.codes[known].astype(np.int64)
    size = np.bincount(given)
    shared = size[given] > 1
    of, given = of[shared], given[shared]
    if len(of) < SHARED * len(known):
        return False
    place, _, counts = pair_counts(given, of, int(of.max()) + 1)
    most = np.zeros(len(size), np.int64)
    np.maximum.at(most, place, counts)
    off, usual = len(of) - int(most.sum()), len(of) - int(np.bincount(of).max())
    return off <= (1 - holds) * len(of) and off * BEYOND_USUAL <= usual and usual > 0


TEXTS = ("text", "category", "date")


def relations_of(data: Any, scenario: Scenario) -> tuple[ExactRelation, ...]:
    """The relations of a file between columns that go out under their own values: no identifiers and no weights.

    Of a large file a sample says which columns have any: what holds of nearly all records holds there, also of columns
    that few records have.
    """
    roles = (*scenario.identifiers, scenario.household, scenario.person, scenario.weight)
    frame = open_eager(data, {})
    names = [name for name in frame.columns if name not in roles]
    if len(frame) > MOST_RECORDS:
        sample = pick_rows(frame, _sampled(frame, names), names)
        presumed = exact_relations(sample, names, keys=scenario.all_keys, holds=PRESUMED)
        related = {name for relation in presumed for name in relation.columns}
        names = [name for name in names if name in related]
    return exact_relations(data, names, keys=scenario.all_keys) if names else ()


def _sampled(frame: Any, names: Sequence[str]) -> Ints:
    """Rows drawn at random, and up to `OF_PATTERN` of each pattern of missing values.

    So no columns that at least so many records have together are known together in fewer rows.
    """
    rng = np.random.default_rng(SEED)
    patterns = np.zeros(len(frame), np.uint64)
    for name in names:
        values = frame[name]
        missing = (values.is_null() | values.is_nan()) if values.dtype.is_float() else values.is_null()
        patterns ^= np.where(missing.fill_null(True).to_numpy(), rng.integers(1 << 63, dtype=np.uint64), np.uint64(0))
    groups = group(patterns)
    order = np.argsort(groups.of_row, kind="stable")
    place = np.arange(len(order)) - np.repeat(np.cumsum(groups.size) - groups.size, groups.size)
    some = rng.choice(len(frame), MOST_RECORDS, replace=False)
    return np.unique(np.concatenate([some, order[place < OF_PATTERN]])).astype(np.int64)


def _followed(y: Floats, companions: Sequence[Predictor], holds: float) -> Iterator[tuple[tuple[str, ...], str]]:
    """The columns from which a number follows exactly, and the formula, rounded where it was."""
    near, unit = tolerance(y), printed_unit(y)
    rng = np.random.default_rng(SEED)
    for relation in find_relations(y, companions, seed=SEED)[0]:
        parts = sorted(relation.parts)
        given: dict[int, Floats] = {part: companions[part].numbers for part in parts}  # type: ignore[misc]
        fitted = replace(relation, unit=0.0).values(given)  # as it comes, to see whether it was rounded
        known = np.flatnonzero(np.isfinite(y) & np.isfinite(fitted))
        off = np.abs(fitted[known] - y[known])
        if len(known) < FEWEST or (off <= near).mean() < holds:
            continue
        if (np.abs(fitted[known] - y[rng.permutation(known)]) <= near).mean() > BY_CHANCE:
            continue
        rounded = unit > 0 and (off > EXACT * np.maximum(1.0, np.abs(y[known]))).mean() > 1 - HOLDS
        digits = round(-np.log10(unit)) if unit else 0
        formula = relation.formula if not rounded else f"round({relation.formula}{f', {digits}' if digits else ''})"
        yield relation.columns, formula


@dataclass
class Mended:
    """What keeps relations from telling what steps change: formulas, columns left out, and what stays."""

    derived: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, tuple[str, Sequence[str]]] = field(default_factory=dict)  # what each would tell, and with which
    stay: dict[Sequence[str], str] = field(default_factory=dict)

    @property
    def steps(self) -> list[tuple[dict[str, Any] | None, list[str]]]:
        """The steps to be put before the others, each with its comment, and remarks."""
        told = self.left_out.items()
        gone = [(name, LEFT_OUT.format(printable(name), printable(of), _names(free))) for name, (of, free) in told]
        stays = [STAYS.format(_names(free), printable(of)) for free, of in self.stay.items()]
        drops = [({"method": "drop_identifiers", "columns": [name]}, [line]) for name, line in gone]
        return [*drops, *((None, [line]) for line in stays)]

    @property
    def why(self) -> list[str]:
        """The comment on the formulas."""
        return [COMPUTED.format(_names([*self.derived]))] if self.derived else []


def _names(columns: Sequence[str]) -> str:
    return listed([*map(printable, columns)])


def mend_relations(
    relations: Sequence[ExactRelation], steps: Sequence[Mapping[str, Any]], scenario: Scenario, keep: Sequence[str] = ()
) -> Mended:
    """What to do with the columns by which relations would tell what steps change.

    A column that follows from others is computed anew, a total rather than a part of it. Where a step makes texts of a
    column, or a part of a text tells it, a column is left out that the scenario does not name; `keep` names others that
    have to stay.

    Examples
    --------
    >>> from sdckit import Scenario
    >>> relations = [ExactRelation("total", ("wage", "rest"), "wage + rest"), ExactRelation("age", ("born",))]
    >>> steps = [{"method": "add_noise", "columns": ["wage"]}, {"method": "recode", "column": "age", "bands": 3}]
    >>> mended = mend_relations(relations, steps, Scenario(keys=["age"]))
    >>> mended.derived, mended.left_out
    ({'total': 'wage + rest'}, {'born': ('age', ['born'])})
    """
    changed, texts, gone = _changed(steps, scenario)
    needed = {*scenario.columns, *keep, *columns_mentioned([_step_of(table) for table in steps])}
    mended, by_columns = Mended(), dict[frozenset[str], list[ExactRelation]]()
    for relation in relations:
        by_columns.setdefault(relation.columns, []).append(relation)
    waiting = [columns for columns in by_columns if not columns & gone]
    while told := [columns for columns in waiting if columns & (changed | {*mended.derived})]:
        ready = min(told, key=lambda columns: (not columns & changed, len(columns)))
        waiting.remove(ready)
        free = ready - changed - {*mended.derived}
        if not free or ready & {*mended.left_out}:
            continue
        ours = by_columns[ready]
        alone = len(ready - free) == 1
        made = [one for one in ours if one.of in free and one.formula and (alone or "-" not in one.formula)]
        if not ready & texts and _computed(mended, sorted(made, key=lambda one: "-" in one.formula)):
            continue
        if alone and not ready & {*mended.derived}:
            totals = {one.of for one in ours if one.formula and "-" not in one.formula}  # rather than their parts
            left = sorted(free, key=lambda name: (name not in totals, name))
            _leave_out(mended, left, next(iter(ready - free)), needed)
    return mended


def _step_of(table: Mapping[str, Any]) -> StepLike:
    return StepLike(str(table["method"]), {name: value for name, value in table.items() if name != "method"})


def _changed(steps: Sequence[Mapping[str, Any]], scenario: Scenario) -> tuple[set[str], set[str], set[str]]:
    """Columns that steps change, those of which they make texts, and those that they leave out."""
    changed, texts, gone = set[str](), set[str](), set[str]()
    for table in steps:
        step = _step_of(table)
        method = method_of(step.method, "step")
        roles = [role for role in ROLES if role not in method.kind.keeps]
        named = {name for role in roles for name in columns_named(method, step.arguments, role)}
        if methods.METHODS[step.method].scenario_keys and "keys" not in step.arguments:
            named |= {*scenario.all_keys}
        effect = methods.METHODS[step.method].effect
        (gone if effect == "gone" else changed).update(named)
        if effect in ("text", "unknown"):
            texts |= named
    return changed, texts, gone


def _computed(mended: Mended, made: Sequence[ExactRelation]) -> bool:
    """Enter the first formula by which no column follows from itself; whether there is one."""
    for relation in made:
        try:
            derived_formula.read_derived({**mended.derived, relation.of: relation.formula})
        except ScenarioError:
            continue
        mended.derived[relation.of] = relation.formula
        return True
    return False


def _leave_out(mended: Mended, free: Sequence[str], told: str, needed: set[str]) -> None:
    """Leave out a column that tells another; or say that all of those are needed."""
    name = next((name for name in free if name not in needed), None)
    if name is None:
        mended.stay.setdefault(tuple(free), told)
    else:
        mended.left_out[name] = told, free

"""A release beside its original as tables for a terminal: exact, for the analyst's own session."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from sdckit.cli.formats import count, make_table, number
from sdckit.cli.tables import verdict_answer, verdict_table
from sdckit.data.frames import rows_of
from sdckit.report.layout_attacks import attack_name
from sdckit.report.sections_release import FIGURES, HEADS, shown, undefined
from sdckit.utility.utility_overview import HEADLINES

if TYPE_CHECKING:
    from sdckit.workflow.assessment import IntruderAssessment
    from sdckit.workflow.release_assessment import ReleaseAssessment, ReleaseIntruder

__all__ = ["release_tables"]

MOST_COLUMNS = 3
TITLES = {**HEADS, "matching_risk": "Can rows be matched back?"}


def release_tables(result: ReleaseAssessment, *, name: str) -> RenderableType:
    """Lay out the assessment of a release: the answer, then each intruder in turn."""
    parts: list[RenderableType] = [_answer(result, name)]
    if result.verdicts:
        parts.append(verdict_table(result.verdicts))
    for pair in result.intruders:
        if len(result.intruders) > 1:
            parts += [Text(""), Text(f"Intruder '{pair.name}'", "bold underline")]
        after = [one[pair.name] for one in result.released]
        parts.append(_before_after(result.original[pair.name], after))
        parts += _measures(pair)
        parts += [Text(f"Not computed: {place} – {reason}", "dim") for place, reason in pair.skipped]
    parts += _utility(result)
    parts += _attacks(result)
    return Group(*parts)


def _attacks(result: ReleaseAssessment) -> list[RenderableType]:
    from sdckit.cli.attack_tables import attack_parts

    several = len(result.intruders) > 1
    parts = attack_parts(
        [(attack_name(place, several=several), found) for place, found in result.attacks.items()]
    )
    left_out = [(attack_name(place, several=several), reason) for place, reason in result.attacks_skipped]
    return [*parts, *(Text(f"Not computed: {name} – {reason}", "dim") for name, reason in left_out)]


def _utility(result: ReleaseAssessment) -> list[RenderableType]:
    overview = result.utility
    if overview is None:
        return [Text(f"Not computed: utility – {result.no_utility}", "dim")]
    heads = _columns(result.m) if result.m == 1 else ("mean", "smallest", "largest")
    table = make_table("What is it still good for?", "", *heads, "best")
    for one in HEADLINES:
        value, (low, high) = getattr(overview, one.name), overview.spread[one.name]
        if math.isfinite(value):
            values = (value,) if result.m == 1 else (value, low, high)
            table.add_row(f"{one.level}: {one.words}", *map(number, values), number(one.best))
    parts: list[RenderableType] = [table]
    for name, found in overview.results.items():
        if name.startswith("compare_models:"):
            parts.append(_model(name.partition(":")[2], found))
    return [*parts, *(Text(f"Not computed: {place} – {reason}", "dim") for place, reason in overview.skipped)]


def _model(formula: str, result: Any) -> Table:
    table = make_table(f"{formula} ({result.family})", "", "original", "release", "overlap")
    for row in rows_of(result.table):
        table.add_row(
            str(row["term"]),
            *(number(row[name]) for name in ("estimate_original", "estimate_released", "overlap")),
        )
    return table


def _answer(result: ReleaseAssessment, name: str) -> RenderableType:
    releases = "a release" if result.m == 1 else f"{result.m} releases"
    head = Text.assemble((name, "bold"), f": {releases} against an original of {count(result.n)} records")
    return Group(Text(""), head, verdict_answer(result.verdicts))


def _columns(m: int) -> tuple[str, ...]:
    if m == 1:
        return ("release",)
    if m <= MOST_COLUMNS:
        return tuple(f"release {j}" for j in range(1, m + 1))
    return (f"mean of {m}", "smallest", "largest")


def _cells(values: Sequence[float], write: Callable[[float], str]) -> list[str]:
    if len(values) <= MOST_COLUMNS:
        return [write(value) for value in values]
    known = [value for value in values if not math.isnan(value)]
    if not known:
        return ["–"] * 3
    return [write(sum(known) / len(known)), write(min(known)), write(max(known))]


def _before_after(before: IntruderAssessment, after: Sequence[IntruderAssessment]) -> Table:
    table = make_table("Who can be recognised, before and after", "", "original", *_columns(len(after)))
    figures: list[tuple[str, Callable[[Any], float], Callable[[float], str]]] = [
        ("records", lambda one: one.frequencies.n, count),
        ("alone in the file", lambda one: one.frequencies.sample_uniques, count),
    ]
    figures += [
        (f"in groups of fewer than {k}", _violations(k), count)
        for k in before.k_anonymity.violations
        if k > 2
    ]
    figures += [
        (
            "expected re-identifications",
            lambda one: one.individual_risk.expected_reidentifications,
            _one_place,
        ),
        ("global risk (mean)", lambda one: one.individual_risk.global_risk, number),
    ]
    if before.individual_risk.n_above is not None:
        limit = number(before.individual_risk.threshold)
        figures.append((f"above a risk of {limit}", lambda one: one.individual_risk.n_above, count))
    if before.l_diversity is not None:
        for variable in before.l_diversity.variables:
            figures.append((f"groups with one {variable} only", _single(variable), _count_or_dash))
    for words, figure, write in figures:
        values = [figure(one) for one in after]
        table.add_row(words, write(figure(before)), *_cells(values, write))
    return table


def _violations(k: int) -> Callable[[Any], float]:
    return lambda one: one.k_anonymity.violations[k]


def _single(variable: str) -> Callable[[Any], float]:
    def found(one: Any) -> float:
        if one.l_diversity is None or variable not in one.l_diversity.variables:
            return math.nan
        return float(one.l_diversity.violations[variable]["distinct"][2])

    return found


def _one_place(value: float) -> str:
    return f"{value:,.1f}"


def _count_or_dash(value: float) -> str:
    return "–" if math.isnan(value) else count(value)


def _measures(pair: ReleaseIntruder) -> list[RenderableType]:
    parts: list[RenderableType] = []
    for place, result in pair.measures.items():
        measure, _, variable = place.partition(":")
        each = result.per_release  # type: ignore[attr-defined]
        table = make_table(TITLES[measure].format(variable), "share of the records", *_columns(len(each)))
        for figure in FIGURES[measure]:
            if any(shown(figure, one) for one in each):
                table.add_row(figure.words, *_cells([one[figure.name] for one in each], number))
        parts.append(table)
        hidden = undefined(each)
        notes = {text for name, text in result.notes.items() if name not in hidden}  # type: ignore[attr-defined]
        parts += [Text(f"Note: {text}", "dim") for text in sorted(notes)]
    return parts

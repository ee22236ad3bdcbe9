"""Results as tables for a terminal of 80 columns: exact, for the analyst's own session."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from sdckit.cli.formats import count, make_console, make_table, number, percent
from sdckit.cli.measure_tables import measure_tables

if TYPE_CHECKING:
    from sdckit.attribute.l_diversity import LDiversity
    from sdckit.identity.contribution_table import Coarsened, Contribution
    from sdckit.identity.key_contributions import KeyContributions
    from sdckit.workflow.assess import Assessment, IntruderAssessment, KeyFacts, Verdict

__all__ = [
    "assessment_tables",
    "count",
    "make_console",
    "number",
    "percent",
    "verdict_answer",
    "verdict_table",
]

MOST_CONTRIBUTIONS = 8
MOST_SUGGESTIONS = 3
STYLES = {True: "green", False: "bold red", None: "bold yellow"}
KINDS = ("distinct", "entropy", "recursive")


def assessment_tables(assessment: Assessment, *, name: str) -> RenderableType:
    """Lay out a whole assessment: the answer, then each intruder in turn."""
    parts: list[RenderableType] = [_answer(assessment, name)]
    if assessment.verdicts:
        parts.append(verdict_table(assessment.verdicts))
    if len(assessment.intruders) > 1:
        parts.append(_side_by_side(assessment.intruders))
    alone, persons = len(assessment.intruders) == 1, assessment.scenario.person is not None
    parts += [_intruder(one, alone=alone, n=assessment.n, persons=persons) for one in assessment.intruders]
    return Group(*parts)


def _answer(assessment: Assessment, name: str) -> RenderableType:
    head = Text.assemble((name, "bold"), f": {count(assessment.n)} records")
    if assessment.scenario.title:
        head.append(f" – {assessment.scenario.title}")
    persons = assessment.scenario.person is not None
    told = [_sentence(intruder, assessment.n, persons=persons) for intruder in assessment.intruders]
    return Group(
        Text(""), head, verdict_answer(assessment.verdicts), *(Text(f"• {sentence}") for sentence in told)
    )


def verdict_answer(verdicts: Sequence[Verdict]) -> Text:
    """The answer in a line: within every threshold, not within them, or nothing to judge by."""
    if not verdicts:
        return Text("No threshold is declared, so this is a description and no verdict.")
    exceeded = sum(verdict.holds is False for verdict in verdicts)
    undefined = sum(verdict.holds is None for verdict in verdicts)
    if not exceeded and not undefined:
        return Text("Within every declared threshold.", "bold green")
    told = [f"{exceeded} exceeded"] * bool(exceeded) + [f"{undefined} not judged"] * bool(undefined)
    return Text(f"NOT within the thresholds: of {count(len(verdicts))}, {' and '.join(told)}.", "bold red")


def _sentence(intruder: IntruderAssessment, n: int, *, persons: bool) -> str:
    uniques, risk = intruder.frequencies.sample_uniques, intruder.individual_risk
    return (
        f"Intruder '{intruder.name}' knows {len(intruder.keys)} variables: {count(uniques)} records "
        f"({percent(uniques, n)}) share their values with no other{' person' if persons else ''}, and "
        f"{risk.expected_reidentifications:,.1f} ({percent(risk.expected_reidentifications, n)}) "
        "would be recognised correctly if the intruder tried them all."
    )


def verdict_table(verdicts: Iterable[Verdict]) -> RenderableType:
    """One row per threshold and intruder: the word, the intruder where there are several, the sentence."""
    verdicts = list(verdicts)
    several = len({verdict.intruder for verdict in verdicts}) > 1
    heads = ("verdict", "intruder", "") if several else ("verdict", "")
    table = make_table("Thresholds", *heads, text=len(heads))
    table.columns[0].no_wrap = True
    for verdict in verdicts:
        whom = [Text(verdict.intruder)] if several else []
        table.add_row(Text(verdict.word, STYLES[verdict.holds]), *whom, Text(verdict.sentence))
    return table


def _side_by_side(intruders: Iterable[IntruderAssessment]) -> Table:
    table = make_table(
        "Intruders side by side", "intruder", "keys", "uniques", "k held", "global risk", "largest"
    )
    for one in intruders:
        table.add_row(
            one.name,
            str(len(one.keys)),
            count(one.frequencies.sample_uniques),
            count(one.k_anonymity.level),
            number(one.individual_risk.global_risk),
            number(one.individual_risk.max_risk),
        )
    return table


def _intruder(one: IntruderAssessment, *, alone: bool, n: int, persons: bool) -> RenderableType:
    parts: list[RenderableType] = []
    if not alone:
        parts += [Text(""), Text(f"Intruder '{one.name}'", "bold underline")]
    parts += [_keys(one.key_facts, n), _who(one, n, persons=persons), _cells(one)]
    if one.key_contributions is not None:
        parts.append(_contributions(one.key_contributions))
    if one.household_structure is not None:
        parts.append(_households(one))
    if one.l_diversity is not None:
        parts.append(_learnt(one.l_diversity, n))
    parts += [table for name, result in one.results() for table in measure_tables(name, result)]
    parts += [Text(f"Not computed: {measure} – {reason}", "dim") for measure, reason in one.skipped]
    return Group(*parts)


def _keys(facts: Iterable[KeyFacts], n: int) -> Table:
    table = make_table("Keys", "variable", "kind", "missing is", "missing", "values", text=3)
    for fact in facts:
        missing = percent(fact.n_missing, n) if fact.n_missing else "–"
        table.add_row(fact.name, fact.kind, fact.rule, missing, count(fact.n_levels))
    return table


def _who(one: IntruderAssessment, n: int, *, persons: bool) -> Table:
    """The identity figures; a second column where missing values can be read in two ways."""
    pairs = [(one.frequencies, one.k_anonymity, one.individual_risk)]
    heads = ["", "records"]
    second = (one.frequencies_category, one.k_anonymity_category, one.individual_risk_category)
    if second[0] is not None and second[1] is not None and second[2] is not None:
        pairs.append((second[0], second[1], second[2]))
        heads = ["", "missing matches any", "missing is a value"]
    table = make_table("Who can be recognised", *heads)
    rows: list[tuple[str, list[str]]] = [
        ("distinct key combinations", [count(f.n_cells) for f, _, _ in pairs]),
        (
            "records of persons alone in the file" if persons else "alone in the file",
            [_records(f.sample_uniques, n) for f, _, _ in pairs],
        ),
    ]
    for k in one.k_anonymity.violations:
        if k == 2 and all(a.violations.get(2) == f.sample_uniques for f, a, _ in pairs):
            continue  # without fractional matches, "alone" says it already
        cells = [_records(a.violations[k], n) if k in a.violations else "–" for _, a, _ in pairs]
        rows.append((f"in groups of fewer than {k:,}{' persons' if persons else ''}", cells))
    rows.append(("largest k that holds", [count(a.level) for _, a, _ in pairs]))
    rows.append(
        ("expected re-identifications", [f"{r.expected_reidentifications:,.1f}" for _, _, r in pairs])
    )
    rows.append(("global risk (mean)", [number(r.global_risk) for _, _, r in pairs]))
    rows.append(("largest individual risk", [number(r.max_risk) for _, _, r in pairs]))
    if one.individual_risk.n_above is not None:
        above = [_records(r.n_above, n) if r.n_above is not None else "–" for _, _, r in pairs]
        rows.append((f"above a risk of {number(one.individual_risk.threshold)}", above))
    if one.individual_risk.household_risk is not None:
        rows.append(("household risk (mean)", [number(r.household_risk) for _, _, r in pairs]))
    for label, values in rows:
        table.add_row(label, *values)
    return table


def _records(value: int, n: int) -> str:
    return f"{count(value)} ({percent(value, n)})"


def _cells(one: IntruderAssessment) -> Table:
    table = make_table("Key combinations by number of records", *one.frequencies.frequency_of_frequencies)
    table.add_row(*(count(cells) for cells in one.frequencies.frequency_of_frequencies.values()))
    return table


def _contributions(result: KeyContributions) -> RenderableType:
    tested = [k for k in result.violations if k > 2]
    heads = ["uniques", "saved", *(f"k < {k}" for k in tested), "global risk"]
    table = make_table("What leaving keys out would save", "without", *heads)
    whole = [count(result.uniques), "", *(count(result.violations[k]) for k in tested), number(result.risk)]
    table.add_row("(all keys)", *whole)
    for row in result.table[:MOST_CONTRIBUTIONS]:
        table.add_row(" + ".join(row.variables), *_left(row, result, tested))
    if len(result.table) > MOST_CONTRIBUTIONS:
        table.caption = f"the first {MOST_CONTRIBUTIONS} of {count(len(result.table))}"
    parts: list[RenderableType] = [table, Text(_most_saving(result))]
    if result.coarsenings:
        steps = make_table("What one step coarser would save", "key", "levels", *heads)
        for key, step in sorted(result.coarsenings.items(), key=lambda item: item[1].uniques_without):
            levels = f"{count(step.levels_before)} to {count(step.levels_after)}"
            steps.add_row(key, levels, *_left(step, result, tested))
        steps.caption = "neighbouring numbers or dates in pairs, rarest other levels as one"
        parts.append(steps)
    if result.uniques and result.suggestions:
        parts.append(Text("\nWhat to do first, by uniques saved per bit of information lost", "bold"))
        first = enumerate(result.suggestions[:MOST_SUGGESTIONS], 1)
        parts += [Text(f"{place}. {one.sentence}") for place, one in first]
    return Group(*parts)


def _left(row: Contribution | Coarsened, result: KeyContributions, tested: Iterable[int]) -> list[str]:
    return [
        count(row.uniques_without),
        _records(row.uniques_saved, result.uniques) if result.uniques else "0",
        *(count(row.violations_without[k]) for k in tested),
        number(row.risk_without),
    ]


def _most_saving(result: KeyContributions) -> str:
    singles = [row for row in result.table if len(row.variables) == 1]
    best = max(singles, key=lambda row: row.uniques_saved, default=None)
    if best is None or not best.uniques_saved:
        return "Recoding a single key would make no record less unique."
    left = f"{count(best.uniques_without)} of {count(result.uniques)} uniques are left"
    return f"Recoding {best.variables[0]} would save most: without it, {left}."


def _households(one: IntruderAssessment) -> Table:
    result = one.household_structure
    assert result is not None
    table = make_table("Households", "", "households")
    table.add_row("in the file", count(result.n_households))
    table.add_row("sizes that only one household has", count(result.unique_sizes))
    table.add_row("sizes that fewer than 3 households have", count(result.rare_sizes))
    table.add_row("compositions that only one household has", count(result.unique_compositions))
    expected = one.individual_risk.expected_household_reidentifications
    if expected is not None:
        table.add_row("records in a household expected to be recognised", f"{expected:,.1f}")
    return table


def _learnt(result: LDiversity, n: int) -> Table:
    levels = sorted({level for kinds in result.violations.values() for ls in kinds.values() for level in ls})
    heads = [f"fewer than {level}" for level in levels]
    table = make_table("What would be learnt (ℓ-diversity)", "variable", "kind", "smallest", *heads, text=2)
    for variable in result.variables:
        for kind in KINDS:
            if kind in result.level[variable]:
                told = result.violations[variable].get(kind, {})
                cells = [_records(told[level], n) if level in told else "–" for level in levels]
                table.add_row(variable, kind, number(result.level[variable][kind]), *cells)
    return table

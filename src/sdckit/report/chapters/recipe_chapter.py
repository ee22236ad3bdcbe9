"""Chapter on the protection recipe: its steps, the values they changed, and the risk after each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from sdckit.data.derived_formula import ENTRY
from sdckit.report import setting, view
from sdckit.report.blocks import Block, Items, Paragraph, Section, TableBlock
from sdckit.report.chapters.map import front_tree, search_blocks
from sdckit.report.chapters.sentences import headline, limit_of, listed, status, verdict_sentence
from sdckit.report.common_blocks import ALONE, EXPECTED, bars, below, of_rule, share_head
from sdckit.report.gate.figures import Count, Document, Foreign, Guarded, Ledger, Part, Quantity, Relation, Share, Tree
from sdckit.report.gate.protect import protect
from sdckit.report.gate.relations import sum_of_risks

if TYPE_CHECKING:
    from sdckit.workflow.recipes.recipe import WhatWasDone
    from sdckit.workflow.recipes.recipe_figures import StepFigures

# Relations between the figures of several files in one document: missing and changed values, steps, uniques.
# Only relations that the exact numbers fulfil are entered; nothing can be inferred from the others.


ORIGINAL, RECODED = "original", "recoded original"
# Figures of two-file measures that count sample uniques of the release, by measure.
UNIQUES = {"replicated_uniques": ("share",), "identity_disclosure": ("unique_in_released", "replicated_uniques")}


def link_files(ledger: Ledger, m: int) -> None:
    """Relate the figures of each column and each intruder between the original, its `m` releases and the steps."""
    at: dict[Quantity, str] = {}
    for name, variable in ledger.variables.items():
        if variable.of is not None and variable.true is not None:
            at.setdefault(variable.of, name)
    for j in range(1, m + 1):
        for column in _columns(at):
            _link_column(ledger, at, column, f"release {j}")
    for of, name in list(at.items()):
        # Recoding merges equivalence classes: they become fewer and larger.
        before = at.get(Quantity(of.name, ORIGINAL, of.rule, of.intruder)) if of.base == RECODED else None
        if before is not None and ledger.variables[name].kind == ledger.variables[before].kind == "count":
            link_parts(ledger, before, name)
    _link_uniques(ledger)


def link_parts(ledger: Ledger, whole: str, part: str) -> None:
    """Enter that `part` is contained in `whole`, if both are in the ledger and the exact numbers allow it."""
    if {whole, part} <= ledger.variables.keys() and _true(ledger, whole) >= _true(ledger, part):
        ledger.nested(whole, part)


def _columns(at: dict[Quantity, str]) -> list[str]:
    starts = (setting.missing_words(""), setting.changed_words(""))
    columns = (of.name.removeprefix(start) for start in starts for of in at if of.name.startswith(start))
    return list(dict.fromkeys(columns))


def _link_column(ledger: Ledger, at: dict[Quantity, str], column: str, release: str) -> None:
    touched = at.get(Quantity(setting.changed_words(column), release))
    if touched is None:
        return
    missing = setting.missing_words(column)
    before = at.get(Quantity(missing, ORIGINAL), at.get(Quantity(missing, RECODED)))
    after = at.get(Quantity(missing, release))
    if before is not None and after is not None:
        # Values missing in only one of the two were changed; if values were only suppressed, no others were.
        for terms in (((touched, 1.0), (after, -1.0), (before, 1.0)), ((touched, 1.0), (before, -1.0), (after, 1.0))):
            _enter(ledger, Relation(terms, upper=math.inf), Relation(terms))
    if after is not None:
        _enter(ledger, Relation(((touched, 1.0), (after, -1.0))))
    steps = [name for name in ledger.variables if _is_step(name, column) and name != touched]
    if steps:
        more = tuple((name, 1.0) for name in steps)
        _enter(ledger, Relation((*more, (touched, -1.0)), upper=math.inf))


def _is_step(name: str, column: str) -> bool:
    place, _, rest = name.partition(".")
    return place.startswith("steps: step") and rest == column


def _link_uniques(ledger: Ledger) -> None:
    for name in list(ledger.variables):
        prefix, _, rest = name.partition(".")
        measure, _, rest = rest.partition(".")
        j, _, figure = rest.partition(".")
        if not prefix.startswith("c") or figure not in UNIQUES.get(measure, ()):
            continue
        wholes = (f"release {j}: i{prefix[1:]}.sample_uniques{suffix}" for suffix in (".category", ""))
        whole = next((candidate for candidate in wholes if candidate in ledger.variables), name)
        link_parts(ledger, whole, name)


def _enter(ledger: Ledger, *relations: Relation) -> None:
    for relation in relations:
        total = sum(factor * _true(ledger, name) for name, factor in relation.terms)
        if relation.lower <= total <= relation.upper:
            ledger.relations.append(relation)


def _true(ledger: Ledger, name: str) -> float:
    return ledger.variables[name].true or 0.0


# Comparison of two recipes after their last step.


FIGURES = (
    (ALONE, "sample_uniques"), ("", "below_k"), (EXPECTED, "expected_reidentifications"),
    ("Values that differ", "share_changed"), ("pMSE", "pmse"),
)  # fmt: skip


def recipes_beside(plains: Sequence[view.Plain], names: Sequence[str]) -> Section:
    """Compare recipes by risk and loss after the last step; `plains` from `plain_recipe`, of one file and scenario."""
    ends = [[figure for figure in plain["figures"] if figure["step"] == len(plain["steps"])] for plain in plains]
    several = len(ends[0]) > 1
    rows: list[tuple[str, ...]] = []
    for figures in zip(*ends, strict=True):
        who = f", {figures[0]['intruder']}" if several else ""
        for words, name in FIGURES:
            leaves = [figure.get(name) for figure in figures]
            texts = ("–" if leaf is None else leaf["text"] for leaf in leaves)
            rows.append(((words or below(plains[0]["k"])) + who, *texts))
    table = TableBlock("Risk and loss after the last step", ("Figure", *names), tuple(rows), (1, 2))
    return Section("Two recipes side by side", (table,))


def limits_beside(plains: Sequence[view.Plain], names: Sequence[str]) -> Section:
    """Whether each limit holds for either release; `plains` are their documents, of one file and scenario."""
    several = len(plains[0]["intruders"]) > 1
    rows: dict[tuple[str, str], list[str]] = {}
    reasons: dict[str, None] = {}
    for at, plain in enumerate(plains):
        for verdict in plain["verdicts"]:
            row = rows.setdefault((limit_of(verdict), verdict["intruder"] if several else ""), ["–"] * len(plains))
            row[at] = status(verdict["holds"]["value"])
            if verdict["holds"]["value"] is None:
                reasons[verdict_sentence(verdict, plain["n"])] = None
    if not rows:
        return Section("", (Paragraph(headline(plains[0])),))
    heads = ("Limit", "Intruder") if several else ("Limit",)
    table = TableBlock(
        "Limits", (*heads, *names), tuple((*which[: len(heads)], *states) for which, states in rows.items())
    )
    return Section("", (table, *([Items(tuple(reasons))] if reasons else [])))


LONGEST_LIST = 8
IN_THE_LOG = "Secret, seeds, keys and matrices are in the internal log, which is not to go out."
NOTHING_ASKED = "nothing that is told here"
MOST_NOTES = 12


def plain_recipe(done: WhatWasDone, *, internal: bool = False) -> dict[str, Any]:
    """Protected figures of a recipe carried out, as they enter every document."""
    return protect(recipe_document(done, internal=internal), internal=internal)


def recipe_document(done: WhatWasDone, *, internal: bool = False) -> Document:
    """Build the document of a recipe, for `protect`; it has no seed, secret key, matrix or record count of a step.

    With `internal` it also has arguments that would help to undo a step.
    """
    ledger = Ledger()
    n = int(done.log.n)
    tree: dict[str, Tree] = {
        "n": ledger.count("n", n, "n"),
        "k": done.k,
        "steps": tuple(
            _step(number, change, arguments, done, ledger, internal=internal)
            for number, (change, arguments) in enumerate(zip(done.log.steps, done.arguments, strict=True), 1)
        ),
        "figures": tuple(_figures(at, row, done, ledger) for at, row in enumerate(done.figures)),
        "versions": {name: str(number) for name, number in done.log.versions.items()},
        "public_log": done.log.is_public,
    }
    if done.searched:
        tree["searched"] = {**done.searched, "front": front_tree(done.searched["front"], ledger)}
    return Document(tree, ledger.variables, tuple(ledger.relations), n)


def _step(
    number: int, change: Any, arguments: Mapping[str, Any], done: WhatWasDone, ledger: Ledger, *, internal: bool
) -> dict[str, Tree]:
    shown = {
        name: value
        for name, value in arguments.items()
        if internal or (name not in change.secret and name in change.parameters)
    }
    changed = tuple(
        _changed(f"step{number}.{variable}", variable, count, change.n, ledger, _quantity_if_once(variable, done))
        for variable, count in change.changed.items()
    )
    return {
        "step": number,
        "method": change.method,
        "arguments": {name: _words(value) for name, value in shown.items()},
        "changed": changed,
        "implied": _implied(number, change, ledger),
        "notes": tuple(Foreign(f"{about}: {text}") for about, text in change.notes.items()),
    }


def _quantity_if_once(variable: str, done: WhatWasDone) -> Quantity | None:
    """The quantity of values changed in the release, if exactly one step changed the column; else None."""
    times = sum(variable in change.changed for change in done.log.steps)
    single = all(change.n == done.log.n for change in done.log.steps)
    return Quantity(setting.changed_words(variable), "release 1") if single and times == 1 else None


def _implied(number: int, change: Any, ledger: Ledger) -> Count | None:
    """Number of suppressed values that can be reconstructed, bounded by the number suppressed; None if not counted."""
    true = change.parameters.get("n_implied")
    if true is None:
        return None
    name = f"step{number}.implied"
    implied = ledger.count(name, true, "changed")
    parts = tuple((f"step{number}.{variable}", 1.0) for variable in change.changed)
    ledger.relations.append(Relation(((name, -1.0), *parts), upper=math.inf))
    return implied


def _changed(name: str, variable: str, count: int, n: int, ledger: Ledger, of: Quantity | None) -> dict[str, Tree]:
    if count > ledger.variables["n"].true or n != ledger.variables["n"].true:  # type: ignore[operator]
        # Several files: changed values and records are summed over all of them.
        whole = ledger.count("n of all files", n, "n").name
    else:
        whole = "n"
    leaf = ledger.count(name, min(count, n), "changed", of=of)
    ledger.nested(whole, leaf.name)
    return {"variable": variable, "n": leaf, "share": Share(leaf.name, whole)}


def _figures(at: int, row: StepFigures, done: WhatWasDone, ledger: Ledger) -> dict[str, Tree]:
    single = all(change.n == done.log.n for change in done.log.steps)
    last = single and row.step == len(done.log.steps)
    base = "original" if row.step == 0 else "release 1" if last else f"after step {row.step}"
    of = partial(Quantity, base=base, rule=row.rule, intruder=setting.intruder_words(row.intruder, row.keys))
    known = next(first.keys for first in done.figures if first.intruder == row.intruder)
    tree: dict[str, Tree] = {
        "step": row.step,
        "method": row.method,
        "intruder": row.intruder,
        "rule": row.rule,
        "released": base == "release 1",
        "without": tuple(key for key in known if key not in row.keys),
        "share_changed": _share_changed(row, done, ledger) if single else Part(row.share_changed, "n", counted=True),
        "pmse": None if math.isnan(row.pmse) else _pmse(at, row, ledger),
    }
    if not math.isnan(row.below_k):
        counts: dict[str, Count] = {
            name: ledger.count(f"f{at}.{name}", round(getattr(row, name)), "after", of=of(words))
            for name, words in (("sample_uniques", ALONE), ("below_k", below(done.k)))
        }
        ledger.nested("n", counts["below_k"].name)
        ledger.nested(counts["below_k"].name, counts["sample_uniques"].name)
        for name, count in counts.items():  # recoding and suppression only remove records from these
            for before in [i for i, other in enumerate(done.figures[:at]) if other.intruder == row.intruder][-1:]:
                link_parts(ledger, f"f{before}.{name}", count.name)
        tree |= counts
    if not math.isnan(row.expected_reidentifications):
        kind: Literal["value", "sum"] = "value" if row.estimated else "sum"
        tree["expected_reidentifications"] = ledger.value(
            f"f{at}.expected", sum_of_risks(row.expected_reidentifications, kind), "expected", of=of(EXPECTED),
            kind=kind, guard=_guard_of_estimate(at, row, ledger),
        )  # fmt: skip
        _link_expected(ledger, at, done)
    return tree


def _guard_of_estimate(at: int, row: StepFigures, ledger: Ledger) -> tuple[str, ...]:
    """Guard of an estimate from weights: it could disclose the number of records in small classes."""
    return (ledger.count(f"f{at}.small", row.small, "small", watched="nowhere").name,) if row.estimated else ()


def _link_expected(ledger: Ledger, at: int, done: WhatWasDone) -> None:
    """Equate the expected re-identifications with those before the step, if it changed no key."""
    row = done.figures[at]
    before = next((i for i in reversed(range(at)) if done.figures[i].intruder == row.intruder), None)
    known, new = f"f{before}.expected", f"f{at}.expected"
    same = known in ledger.variables and not any(map(done.log.steps[row.step - 1].changed.get, row.keys))
    if same and ledger.variables[known].true == ledger.variables[new].true:
        ledger.equal(known, new)


def _share_changed(row: StepFigures, done: WhatWasDone, ledger: Ledger) -> Share:
    """Share of values that differ, related to the changes of each step: their sum would disclose a hidden one."""
    cells, name, n = "values compared", f"differing.{row.step}", int(done.log.n)
    if name in ledger.variables:
        return Share(name, cells)
    true = round(row.share_changed * row.compared)
    ledger.count(cells, row.compared, "cells")
    ledger.count(name, true, "differing")
    ledger.nested(cells, name)
    parts = [
        f"step{number}.{variable}"
        for number, change in enumerate(done.log.steps[: row.step], 1)
        for variable in change.changed
    ]
    changed = int(sum(ledger.variables[part].true or 0 for part in parts))
    gone = max(0, math.ceil((true - changed) / n))  # columns left out: all their values differ
    terms = ((name, 1.0), *((part, -1.0) for part in parts), *([("n", -float(gone))] if gone else ()))
    ledger.relations.append(Relation(terms, lower=0.0 if true == changed + gone * n else -math.inf))
    return Share(name, cells)


def _pmse(at: int, row: StepFigures, ledger: Ledger) -> Guarded:
    behind = ledger.count(f"f{at}.behind", row.behind, "behind", watched="nowhere")
    return Guarded(ledger.value(f"f{at}.pmse", max(0.0, round(row.pmse, 12)), "pmse").name, behind.name, few=True)


def _words(value: Any) -> str:
    """Format an argument for readers."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return "open" if math.isinf(value) else f"{value:g}"
    if isinstance(value, Mapping):
        return _short([f"{name}: {_words(part)}" for name, part in value.items()])
    if isinstance(value, list | tuple):
        nested = any(isinstance(part, list | tuple) for part in value)
        return _short([_words(part) for part in value], between="; " if nested else ", ")
    return str(value)


def _short(texts: Sequence[str], between: str = ", ") -> str:
    more = f", … (+{len(texts) - LONGEST_LIST})" if len(texts) > LONGEST_LIST else ""  # in every language
    return between.join(texts[:LONGEST_LIST]) + more


def recipe_section(plain: view.Plain) -> Section:
    """Section of the figures of `plain_recipe`."""
    methods = [f"{step['step']}. {step['method']}" for step in plain["steps"]]
    several = len(methods) > 1
    first = f"The release was made from the original in {len(methods)} step{'s' if several else ''}: {listed(methods)}."
    blocks: list[Block] = [Paragraph(first), _steps_table(plain["steps"]), _changed_table(plain["steps"])]
    if "searched" in plain:
        blocks += search_blocks(plain["searched"], methods)
    blocks += [
        Paragraph(f"Computed anew from columns as they are released: {step['arguments'][ENTRY]}.")
        for step in plain["steps"]
        if ENTRY in step["arguments"]
    ]
    blocks += [_implied_note(step) for step in plain["steps"] if step["implied"] is not None]
    if any("below_k" in figure for figure in plain["figures"]):
        blocks += _after_blocks(plain)
    notes = [f"Step {step['step']}: {note}." for step in plain["steps"] for note in step["notes"]]
    if notes:
        blocks.append(Items(tuple(notes[:MOST_NOTES])))
    made = listed([f"{name} {number}" for name, number in plain["versions"].items()])
    kept = "" if plain["public_log"] else f" {IN_THE_LOG}"
    blocks.append(Paragraph(f"Made with {made}.{kept}"))
    return Section("What was done", tuple(blocks))


def _steps_table(steps: Sequence[view.Plain]) -> TableBlock:
    asked = (
        "; ".join(f"{name} = {text}" for name, text in step["arguments"].items()) or NOTHING_ASKED for step in steps
    )
    rows = tuple((f"{step['step']}. {step['method']}", words) for step, words in zip(steps, asked, strict=True))
    return TableBlock("The steps", ("Step", "As asked"), rows)


def _changed_table(steps: Sequence[view.Plain]) -> Block:
    rows = tuple(
        (f"{step['step']}. {step['method']}", row["variable"], row["n"]["text"], row["share"]["text"])
        for step in steps
        for row in step["changed"]
    )
    if not rows:
        return Paragraph("No step changed a value of a column that stayed in the file.")
    share = share_head(row["share"] for step in steps for row in step["changed"])
    return TableBlock("Values changed", ("Step", "Variable", "Values", share), rows, (2, 3))


def _implied_note(step: view.Plain) -> Paragraph:
    return Paragraph(
        f"Values that step {step['step']} took out and that follow from the release, for a reader who knows the method "
        f"and that nothing goes without need: {step['implied']['text']}."
    )


def _after_blocks(plain: view.Plain) -> list[Block]:
    figures = [figure for figure in plain["figures"] if "below_k" in figure]
    several = len({figure["intruder"] for figure in figures}) > 1
    rows = tuple(
        (
            _label(figure, several=several),
            figure["sample_uniques"]["text"],
            figure["below_k"]["text"],
            figure["expected_reidentifications"]["text"] if "expected_reidentifications" in figure else "–",
            figure["share_changed"]["text"],
            "–" if figure["pmse"] is None else figure["pmse"]["text"],
        )
        for figure in figures
    )
    of = of_rule({"rule": max(figure["rule"] for figure in figures)})
    heads = ("After", ALONE, below(plain["k"]), EXPECTED, "Values that differ", "pMSE")
    caption = f"{below(plain['k'])} with the same keys, after each step{of}"
    return [
        TableBlock(f"Risk and utility after each step{of}", heads, rows, tuple(range(1, len(heads)))),
        bars(
            caption, "records", ((_label(figure, several=several), figure["below_k"]) for figure in figures), aside=True
        ),
    ]


def _label(figure: view.Plain, *, several: bool) -> str:
    step = "the original" if figure["step"] == 0 else f"{figure['step']}. {figure['method']}"
    if figure["released"]:
        step += " (the release)"
    if figure["without"]:
        step += f", without {listed(figure['without'])}"
    return f"{step}, {figure['intruder']}" if several else step

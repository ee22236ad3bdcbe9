"""Document of a release checked for differencing against a ledger: verdicts, and what each intruder learns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from sdckit.data.scenarios.scenario import Scenario
from sdckit.report import blocks, view
from sdckit.report.chapters.document import verdict_tree
from sdckit.report.chapters.page import STATES, protection_words, verdicts_block
from sdckit.report.chapters.sentences import headline, intruder_heading
from sdckit.report.gate.figures import AllHold, Document, Holds, Ledger, Tree
from sdckit.report.gate.protect import protect
from sdckit.report.setting import setting_of

if TYPE_CHECKING:
    from sdckit.attacks.differencing.differencing import Differencing
    from sdckit.workflow.verdicts import Verdict


MEASURE = "differencing"
TITLE = "A release held against earlier ones"


def plain_ledger(
    results: Mapping[str, Differencing], verdicts: Sequence[Verdict], *, internal: bool = False
) -> dict[str, Any]:
    """Protected figures of the check for all intruders; `verdicts` has one verdict per intruder, or is empty."""
    ledger = Ledger()
    n = next(iter(results.values())).n
    tree: dict[str, Tree] = {"n": ledger.count("n", n, "n")}
    settings = {
        name: replace(setting_of(ledger, result, n), prefix=f"i{i}") for i, (name, result) in enumerate(results.items())
    }
    tree["intruders"] = tuple(
        {"name": name, MEASURE: view.view_of(MEASURE).tree(result, settings[name])} for name, result in results.items()
    )
    judged = tuple(verdict_tree(verdict, settings[verdict.intruder]) for verdict in verdicts)
    tree |= {"verdicts": judged, "passed": AllHold(tuple(cast("Holds", verdict["holds"]) for verdict in judged))}
    return protect(Document(tree, ledger.variables, tuple(ledger.relations), n), internal=internal)


def ledger_page(plain: view.Plain, name: str) -> blocks.Page:
    """Page of the figures of `plain_ledger`; `name` is the name of the release."""
    several = len(plain["intruders"]) > 1
    sections = [blocks.Section("The answer in full", (verdicts_block(plain),))] if plain["verdicts"] else []
    for intruder in plain["intruders"]:
        heading = intruder_heading(intruder["name"], several=several, alone="What do releases disclose together?")
        sections.append(blocks.Section(heading, tuple(view.view_of(MEASURE).blocks(intruder, MEASURE))))
    rows = tuple((note.name, note.text, note.source) for note in view.view_of(MEASURE).notes(Scenario(keys=["-"])))
    sections.append(blocks.Section("Methods", (blocks.Entries(rows),), paper=True))
    line = headline(plain) if plain["verdicts"] else "No limit is set on what releases disclose together."
    return blocks.Page(
        TITLE,
        f"{name}: {plain['n']['text']} records",
        plain["confidential"],
        STATES[plain["passed"]] if plain["verdicts"] else "open",
        line,
        sections,
        protection_words(plain),
        (blocks.Section("Answer", (blocks.Paragraph(line, "lead"),)),),
    )

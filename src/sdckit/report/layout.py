"""The order of a document: the answer first, then the scenario, the file, each intruder, the methods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sdckit.report.blocks import Block, Code, Facts, Page, Paragraph, Section, TableBlock, Verdicts
from sdckit.report.layout_intruder import alone_words, intruder_sections
from sdckit.report.layout_records import records_section
from sdckit.report.sentences import answer, headline, listed, status, verdict_sentence

__all__ = ["STATES", "answer_section", "lay_out", "methods_section", "protection_words", "scenario_section"]

Plain = Mapping[str, Any]
STATES = {True: "pass", False: "fail", None: "open"}


def lay_out(plain: Plain) -> Page:
    """Arrange a protected assessment in sections; nothing is computed here but words."""
    several = len(plain["intruders"]) > 1
    sections = [answer_section(plain)]
    if several:
        sections.append(_side_by_side(plain))
    sections += [scenario_section(plain), _file(plain)]
    for one in plain["intruders"]:
        heading = (
            f"Intruder “{one['name']}”" if several else "Who can be recognised, and what would be learnt"
        )
        sections += intruder_sections(one, heading=heading)
    if plain.get("records_at_risk"):
        sections.append(records_section(plain))
    sections.append(methods_section(plain))
    version = plain["package"]["version"]
    return Page(
        plain["title"],
        f"Disclosure risk of {plain['n']['text']} records, assessed on {plain['date']} with sdckit {version}",
        plain["confidential"],
        STATES[plain["passed"]] if plain["verdicts"] else "open",
        headline(plain),
        tuple(sections),
        f"sdckit {version}, {plain['date']}. " + protection_words(plain),
    )


def protection_words(plain: Plain) -> str:
    """Say whether the figures are exact."""
    if plain["confidential"]:
        return "Exact figures: this document must not leave the room."
    return "Small counts are hidden and all counts rounded; parts may not add up to their total."


def answer_section(plain: Plain) -> Section:
    """Put the question, the verdict on every limit, an answer per intruder, and the warnings."""
    question = (
        "Can this file go out? The question is asked for "
        + listed([f"an intruder who knows {listed(one['keys'])}" for one in plain["intruders"]], "and for")
        + "."
    )
    several = len(plain["intruders"]) > 1
    blocks: list[Block] = [Paragraph(question)]
    if plain["verdicts"]:
        blocks.append(
            Verdicts(
                tuple(
                    (
                        status(one["holds"]["value"]),
                        one["intruder"] if several else "",
                        verdict_sentence(one, plain["n"]),
                    )
                    for one in plain["verdicts"]
                )
            )
        )
    for one in plain["intruders"]:
        start = f"Intruder “{one['name']}”: " if several else ""
        blocks.append(Paragraph(start + answer(one, plain["n"])))
    blocks += [Paragraph(f"Warning: {text}", "warning") for text in plain["warnings"]]
    return Section("The question and the answer", tuple(blocks))


def _side_by_side(plain: Plain) -> Section:
    ones = plain["intruders"]
    rows = [
        ("Keys", *(listed(one["keys"]) for one in ones)),
        (alone_words(ones[0]), *(one["key_frequencies"]["sample_uniques"]["text"] for one in ones)),
    ]
    for k in ones[0]["k_anonymity"]["violations"]:
        found = [one["k_anonymity"]["violations"].get(k) for one in ones]
        words = f"Records in groups of fewer than {k}"
        rows.append((words, *(leaf["text"] if leaf else "not tested" for leaf in found)))
    risks = [one["individual_risk"] for one in ones]
    rows.append(("Expected re-identifications", *(r["expected_reidentifications"]["text"] for r in risks)))
    rows.append(("Global risk", *(risk["global_risk"]["text"] for risk in risks)))
    if all("n_above" in risk for risk in risks):
        rows.append(
            (f"Records with a risk above {risks[0]['threshold']:g}", *(r["n_above"]["text"] for r in risks))
        )
    names = tuple(one["name"] for one in ones)
    table = TableBlock(
        "The intruders side by side", ("Figure", *names), tuple(rows), tuple(range(1, len(names) + 1))
    )
    return Section("Intruders side by side", (table,))


def scenario_section(plain: Plain) -> Section:
    """List the declared roles, rules and limits."""
    tree = plain["scenario"]
    missing = tree["missing"]
    rule = missing if isinstance(missing, str) else listed([f"{k}: {v}" for k, v in missing.items()])
    design = (
        f"weights in {tree['weight']}"
        if tree["weight"]
        else f"sampling fraction {tree['sampling_fraction']:g}"
        if tree["sampling_fraction"]
        else "none: the file is treated as the whole population"
    )
    names = {"k": "k", "risk": "individual risk", "l": "l", "global_risk": "global risk"}
    names |= {"household_risk": "household risk", "match_risk": "match risk"}
    names |= {"replicated_uniques": "replicated uniques", "correctly_disclosed": "correct disclosure"}
    names["residual_risk"] = "residual risk of attacks"
    limits = [f"{names.get(name, name)} {value:g}" for name, value in tree["thresholds"].items()]
    items = [
        *((_keys_of(name, tree), listed(keys)) for name, keys in tree["intruders"].items()),
        ("Sampling", design),
        ("Household", tree["household"] or "not declared"),
        ("Person", tree["person"] or "one record per person"),
        ("Sensitive variables", listed(tree["sensitive"]) or "none declared"),
        ("Direct identifiers, never read", listed(tree["identifiers"]) or "none declared"),
        ("Limits", listed(limits) or "none declared"),
        ("A missing key value", f"{rule}, alpha {tree['alpha']:g}"),
        ("Codes for missing", listed(tree["missing_codes"]) or "none declared"),
        ("Release", tree["release_words"]),
    ]
    return Section("Scenario", (Facts(tuple(items)),))


def _keys_of(name: str, tree: Plain) -> str:
    return f"Keys of “{name}”" if len(tree["intruders"]) > 1 else "Keys"


def _file(plain: Plain) -> Section:
    items = (
        ("Records", plain["n"]["text"]),
        ("Columns used", str(plain["scenario"]["n_columns"])),
        ("Tabulated by", plain["engine"]),
    )
    return Section("File", (Facts(items),))


def methods_section(plain: Plain) -> Section:
    """Say how the figures are computed and how to repeat them."""
    rows = tuple((one["name"], one["text"], one["source"]) for one in plain["methods"])
    blocks: tuple[Block, ...] = (
        TableBlock("How the figures are computed", ("Measure", "Method", "Source"), rows),
        Code("In Python", plain["reproduce"]["python"]),
        Code("On the command line", plain["reproduce"]["command"]),
        Code("The scenario, as a file", plain["reproduce"]["scenario"]),
    )
    return Section("Methods, and how to repeat this", blocks)

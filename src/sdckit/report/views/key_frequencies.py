"""View of key frequencies: sample uniques, and the cells by the number of records in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sdckit.report.blocks import Block, Facts, Paragraph, TableBlock
from sdckit.report.chapters.sentences import listed
from sdckit.report.common_blocks import ALONE, bars, by_rule, cells_alone, figure, of_rule, of_whole, with_rule
from sdckit.report.gate.figures import Share, SizeClasses, Total, Tree
from sdckit.report.gate.relations import SMALL, link_cells, link_records, link_resting
from sdckit.report.setting import Setting, notes_tree, rule_of
from sdckit.report.view import Plain, View

if TYPE_CHECKING:
    from sdckit.identity.key_frequencies import KeyFrequencies

WILDCARDS = "For who is alone, a missing value may be any value; in the cells below it is a value of its own."
HIDDEN = "Records not alone only through other records' missing values"
PERSONS = (
    "A combination that only one person has is told from persons, however many records the person has; "
    "the cells below are counted by their records."
)


def tree(result: KeyFrequencies, setting: Setting) -> Mapping[str, Tree]:
    """Enter cells, sample uniques and frequencies of frequencies; for the other rule the uniques only."""
    ledger, classes, rule = setting.ledger, f"{setting.prefix}.cells", rule_of(result)
    alone = setting.quantity(ALONE, rule)
    uniques = setting.count(f"sample_uniques{setting.suffix}", result.sample_uniques, "violations", of=alone)
    leaves: dict[str, Tree] = {
        "counted": setting.counted,
        "rule": rule,
        "sample_uniques": uniques,
        "sample_unique_rate": Share(uniques.name, "n"),
    }
    if setting.variant:
        ledger.nested("n", uniques.name)
        ledger.nested(uniques.name, f"{setting.prefix}.sample_uniques")
        if not setting.persons:
            link_records(ledger, setting.sizes, uniques.name, 1, 1)
        return leaves
    link_cells(ledger, setting.sizes, classes=classes)
    _link_levels(setting)
    ledger.nested("n", uniques.name)
    apart = {"cells": WILDCARDS} if rule == "wildcard" and not setting.persons else {}
    sizes = tuple(result.frequency_of_frequencies.items())
    return {
        **leaves,
        **_resting(result, setting, uniques.name),
        "n_cells": Total(f"{classes}."),
        "frequency_of_frequencies": SizeClasses(classes, sizes, cells_alone(setting, result)),
        "notes": notes_tree(result) | apart,
    }


def _link_levels(setting: Setting) -> None:
    """Enter the records in cells below 2 to 5 as latent counts that are audited, whatever k is tested.

    So documents with different k together tell no more than one of them.
    """
    if setting.persons:
        return
    for k in range(2, SMALL + 1):
        below = setting.ledger.latent(f"{setting.prefix}.cells below {k}")
        link_records(setting.ledger, setting.sizes, below, 1, k - 1)


def _resting(result: KeyFrequencies, setting: Setting, uniques: str) -> dict[str, Tree]:
    """Enter the records that are not unique only because other records' missing values match as wildcards."""
    if setting.cells_known or setting.persons:
        return {}
    # with fractions of a match a record below 2 need not be unique
    name = "resting.2" if setting.alpha in {0.0, 1.0} else "resting.unique"
    count = setting.count(name, result.resting_on_missing, "violations")
    link_resting(setting.ledger, setting.prefix, uniques, count.name, 2)
    return {"resting_on_missing": count}


def blocks(plain: Plain, place: str) -> list[Block]:
    """Facts on sample uniques, and table and chart of the cells by size."""
    tree = plain[place]
    cells = with_rule("Different combinations of keys (cells)", "category" if tree["rule"] else "")
    facts = [(cells, tree["n_cells"]["text"])]
    for rule, at in by_rule(plain, place):
        leaves = plain[at]["sample_uniques"], plain[at]["sample_unique_rate"]
        facts.append((with_rule(_alone(tree), rule or tree["rule"]), of_whole(*leaves)))
    if "resting_on_missing" in tree:
        facts.append((HIDDEN, tree["resting_on_missing"]["text"]))
    sizes = tree["frequency_of_frequencies"]
    rows = tuple((_size_words(row["size"]), row["n_cells"]["text"]) for row in sizes)
    drawn = [(_size_label(row["size"]), row["n_cells"], "dark" if row["size"] == "1" else "middle") for row in sizes]
    words = PERSONS if tree["counted"] == "persons" else tree["notes"].get("cells")
    caption = with_rule("Cells by number of records in the cell", "category" if tree["rule"] else "")
    return [
        Facts(tuple(facts)),
        *([Paragraph(words, "note")] if words else []),
        *figure(
            bars(caption.replace(" in the cell", ""), "cells", drawn),
            TableBlock(caption, ("Records in the cell", "Cells"), rows, (1,)),
        ),
    ]


def _alone(tree: Plain) -> str:
    """Label of the sample uniques: of records, or of persons."""
    return ALONE.replace("Records", "Records of persons") if tree["counted"] == "persons" else ALONE


def _size_words(size: str) -> str:
    return "1 (unique)" if size == "1" else size.replace("-", " to ").replace("100+", "100 or more")


def _size_label(size: str) -> str:
    return "1 record" if size == "1" else f"{_size_words(size)} records"


def _figures(plain: Plain, place: str) -> Mapping[str, Plain]:
    tree = plain[place]
    leaves = {_alone(tree): tree["sample_uniques"], "Share of them": tree["sample_unique_rate"]}
    return leaves | ({HIDDEN: tree["resting_on_missing"]} if "resting_on_missing" in tree else {})


def _answer(plain: Plain, place: str, n: Plain) -> str:
    tree = plain[place]
    uniques, rate = tree["sample_uniques"], tree["sample_unique_rate"]["text"]
    persons = tree["counted"] == "persons"
    alone = f"{'of persons ' if persons else ''}alone with their combination of values"
    if uniques["text"] == "0":
        seen = f"finds no record {'of a person ' if persons else ''}that is alone with its combination of values"
    elif uniques["text"] == "withheld":
        seen = f"finds records {alone} (number withheld)"
    else:
        seen = f"finds {uniques['text']} of {n['text']} records ({rate}) {alone}"
    sentence = f"Somebody who knows {listed(plain['keys'])} of a person {seen}{of_rule(tree)}."
    for rule, at in by_rule(plain, place):
        if at != place:
            other = plain[at]["sample_uniques"], plain[at]["sample_unique_rate"]
            sentence = f"{sentence[:-1]}, and {of_whole(*other)} with missing as {rule}."
    return f"{sentence[:-1]}{_hidden(tree.get('resting_on_missing'))}."


def _hidden(count: Plain | None) -> str:
    """Clause on the records that are not unique only through other records' missing values."""
    if count is None or count["text"] == "0":
        return ""
    many = "others (number withheld)" if count["text"] == "withheld" else f"{count['text']} more"
    return f"; {many} would be, if other records' missing values matched nothing"


VIEW = View("How many records share a key", tree, blocks, figures=_figures, answer=_answer)

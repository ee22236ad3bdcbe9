"""One intruder's part of the document: keys, frequencies, k-anonymity, risk, contributions, learning."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sdckit.report.blocks import Block, ChartBlock, Facts, Paragraph, Section, TableBlock, Tables
from sdckit.report.layout_special import SPECIAL_BLOCKS, special_sections
from sdckit.report.sentences import listed

__all__ = ["MEASURE_BLOCKS", "alone_words", "intruder_sections", "most_saving"]

Plain = Mapping[str, Any]
PERSONS = (
    "A combination that only one person has is told from persons, however many records the person has; "
    "the cells below are counted by their records."
)
STEPS = (
    "Coarsening a key loses less than leaving it out. One step: of numbers and dates, neighbouring levels in pairs; "
    "of any other key, the rarest levels as one."
)
SHORT = {"neighbouring levels in pairs": "in pairs", "the rarest levels as one": "rarest as one"}
ACTIONS = {"coarsen": "coarsen", "drop": "leave out"}
RULES = {
    "wildcard": "may be any value",
    "category": "a value of its own",
    "error": "not allowed",
}


def intruder_sections(one: Plain, *, heading: str) -> list[Section]:
    """Lay out everything measured against one intruder."""
    sections = [Section(heading, (Paragraph(f"Known to the intruder: {listed(one['keys'])}."),))]
    sections.append(Section("Keys and their levels", tuple(_keys(one)), 3))
    sections.append(Section("How many records share a key", tuple(_frequencies(one)), 3))
    sections.append(Section("k-anonymity", tuple(_anonymity(one)), 3))
    sections.append(Section("Risk of re-identification", tuple(_risk(one)), 3))
    if one.get("key_contributions"):
        sections.append(Section("Which keys contribute most", tuple(_contributions(one)), 3))
    if one.get("household_structure"):
        sections.append(Section("Households", tuple(_households(one)), 3))
    if one.get("l_diversity"):
        sections.append(Section("What would be learnt: l-diversity", tuple(_diversity(one)), 3))
    sections += special_sections(one)
    if one["skipped"]:
        rows = tuple((row["measure"], row["reason"]) for row in one["skipped"])
        table = TableBlock("Measures that did not run, and why", ("Measure", "Reason"), rows)
        sections.append(Section("Not measured", (table,), 3))
    return sections


def _texts(*leaves: Plain) -> tuple[str, ...]:
    return tuple(leaf["text"] for leaf in leaves)


def _keys(one: Plain) -> list[Block]:
    rows = tuple(
        (
            key["name"],
            key["kind"],
            f"{key['levels_of_5_or_more']:,}",
            *_texts(key["n_missing"], key["missing_rate"]),
            RULES.get(key["missing"], key["missing"]),
        )
        for key in one["key_facts"]
    )
    columns = ("Key", "Type", "Levels with 5 or more records", "Missing", "Missing rate", "A missing value")
    levels = Tables(tuple(_levels(key) for key in one["key_facts"]))
    order = Paragraph("The levels of each key, the most frequent first.")
    return [TableBlock("Keys", columns, rows, (2, 3, 4)), order, levels]


def _levels(key: Plain) -> TableBlock:
    rows = tuple(
        ("all other levels" if row.get("pooled") else row["level"], *_texts(row["n"], row["rate"]))
        for row in key["level_counts"]
    )
    return TableBlock(f"Levels of {key['name']}", ("Level", "Records", "Share"), rows, (1, 2))


def _frequencies(one: Plain) -> list[Block]:
    tree = one["key_frequencies"]
    persons = tree["counted"] == "persons"
    facts = (
        ("Different combinations of keys (cells)", tree["n_cells"]["text"]),
        (alone_words(one), f"{tree['sample_uniques']['text']} ({tree['sample_unique_rate']['text']})"),
    )
    sizes = tree["frequency_of_frequencies"]
    rows = tuple((_size_words(row["size"]), row["n_cells"]["text"]) for row in sizes)
    note = [Paragraph(PERSONS, "note")] if persons else []
    return [
        Facts(facts),
        *note,
        ChartBlock("sizes", {"rows": sizes}, "Cells by number of records"),
        TableBlock("Cells by number of records in the cell", ("Records in the cell", "Cells"), rows, (1,)),
    ]


def alone_words(one: Plain) -> str:
    """Name the figure of uniques by what makes a record one."""
    of_persons = one["key_frequencies"]["counted"] == "persons"
    return f"Records {'of persons ' if of_persons else ''}alone with their combination"


def _size_words(size: str) -> str:
    return "1 (unique)" if size == "1" else size.replace("-", " to ").replace("100+", "100 or more")


def _anonymity(one: Plain) -> list[Block]:
    strict, lenient = one.get("k_anonymity_category"), one["k_anonymity"]
    rules = [("", lenient)] if strict is None else [("wildcard", lenient), ("category", strict)]
    rows = tuple(
        (
            f"k = {k}" + (f", missing as {rule}" if rule else ""),
            tree["holds"][k]["text"],
            *_texts(tree["violations"][k], tree["violation_rates"][k]),
        )
        for k in lenient["violations"]
        for rule, tree in rules
    )
    columns = ("Tested", "Result", "Records in violation", "Share of records")
    fewer = "k persons" if lenient["counted"] == "persons" else "k"
    data = {"rules": [{"rule": rule, "violations": tree["violations"]} for rule, tree in rules]}
    return [
        TableBlock(f"Records in groups of fewer than {fewer} with the same keys", columns, rows, (2, 3)),
        ChartBlock("violations", data, "Records in violation of k-anonymity"),
    ]


def _risk(one: Plain) -> list[Block]:
    blocks: list[Block] = []
    strict = one.get("individual_risk_category")
    facts = _risk_facts(one["individual_risk"], "missing as wildcard" if strict else "")
    if strict:
        facts += _risk_facts(strict, "missing as category")
    blocks.append(Facts(tuple(facts)))
    tree = one["individual_risk"]
    data = {"rows": tree["distribution"], "threshold": tree.get("threshold")}
    blocks.append(ChartBlock("risk", data, "Distribution of individual risk, and its cumulative curve"))
    rows = tuple(
        (f"{row['from']:g} to {row['to']:g}", *_texts(row["n"], row["rate"], row["cumulative"]))
        for row in tree["distribution"]
    )
    columns = ("Individual risk", "Records", "Share", "Share up to here")
    blocks.append(TableBlock("Records by individual risk", columns, _trimmed(rows), (1, 2, 3)))
    return blocks


def _trimmed(rows: Sequence[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    """Leave out the empty bins below the first record and above the last."""
    filled = [number for number, row in enumerate(rows) if row[1] != "0"]
    return tuple(rows[filled[0] : filled[-1] + 1]) if filled else tuple(rows)


def _risk_facts(tree: Plain, rule: str) -> list[tuple[str, str]]:
    of = f" ({rule})" if rule else ""
    facts = [
        (f"Expected re-identifications{of}", tree["expected_reidentifications"]["text"]),
        (f"Global risk, the mean of the individual risks{of}", tree["global_risk"]["text"]),
    ]
    if "n_above" in tree:
        words = f"{tree['n_above']['text']} ({tree['rate_above']['text']})"
        facts.append((f"Records with a risk above {tree['threshold']:g}{of}", words))
    if "household_risk" in tree:
        facts.append((f"Household risk, mean over the records{of}", tree["household_risk"]["text"]))
        expected = tree["expected_household_reidentifications"]["text"]
        facts.append((f"Expected re-identifications through a household{of}", expected))
    return facts


def _contributions(one: Plain) -> list[Block]:
    tree = one["key_contributions"]
    uniques = tree["uniques"]
    singles = [row for row in tree["table"] if len(row["variables"]) == 1]
    pairs = [row for row in tree["table"] if len(row["variables"]) == 2]
    steps = _by_saving(tree.get("coarsenings", ()))
    ks = list(singles[0]["violations_without"]) if singles else []
    columns = ("Uniques without", "Uniques saved", "Share saved")
    groups = tuple(f"Below k = {k}" for k in ks)
    last, share = ("Global risk without",), " The share saved is what a key decides alone." if singles else ""
    blocks: list[Block] = [
        Paragraph(f"With all keys {uniques['text']} records are unique.{most_saving(tree)}{share}"),
        ChartBlock("contributions", {"rows": _by_saving(singles)}, "Uniques left when one key is dropped"),
        _saved_table(
            "One key left out", ("Left out", *columns, *groups, *last), _by_saving(singles), ks, uniques
        ),
    ]
    if steps:
        blocks += [
            Paragraph(f"{STEPS}{_first_step(tree, steps)}"),
            _saved_table(
                "One key coarser by a step", ("Key", "Step", *columns, *groups, *last), steps, ks, uniques
            ),
        ]
    if tree.get("suggestions"):
        blocks.append(_suggestions(tree["suggestions"]))
    if pairs:
        caption = "Two keys left out (the five pairs that save most)"
        blocks.append(
            _saved_table(caption, ("Left out", *columns, *last), _by_saving(pairs)[:5], [], uniques)
        )
    return blocks


def _first_step(tree: Plain, steps: Sequence[Plain]) -> str:
    """Name the steps that save most, as far as the printed figures tell."""
    left = _left(steps[0])
    if math.isinf(left) or steps[0]["uniques_without"]["text"] == tree["uniques"]["text"]:
        return ""
    best = [row for row in steps if _left(row) == left]
    names = listed([row["variables"][0] for row in best], "or")
    return (
        f" Of these steps, {names} first: {best[0]['uniques_without']['text']} unique records would be left."
    )


def _suggestions(rows: Sequence[Plain]) -> TableBlock:
    """What to do first: exact, for a confidential document only."""
    return TableBlock(
        "What to do first: by uniques saved per bit of information lost",
        ("Action", "Uniques saved", "Bits lost per record", "Saved per bit"),
        tuple(
            (
                f"{ACTIONS[row['action']]} {listed(row['variables'])}",
                f"{row['uniques_saved']:,}",
                f"{row['entropy_lost']:.2f}",
                "undefined" if row["saved_per_bit"] is None else f"{row['saved_per_bit']:,.0f}",
            )
            for row in rows
        ),
        (1, 2, 3),
    )


def most_saving(tree: Plain) -> str:
    """Name the key, or keys, whose recoding would save most, as far as the printed figures tell."""
    singles = [row for row in tree["table"] if len(row["variables"]) == 1]
    if not singles or tree["uniques"]["text"] == "0":
        return ""
    left = min(map(_left, singles))
    best = [row for row in singles if _left(row) == left]
    if math.isinf(left):  # withheld
        return ""
    if best[0]["uniques_without"]["text"] == tree["uniques"]["text"]:
        return " No key makes many of them unique by itself."
    names = listed([row["variables"][0] for row in best], "or")
    return f" Recoding {names} would save most: without it, {best[0]['uniques_without']['text']} are left."


def _left(row: Plain) -> float:
    without = row["uniques_without"]
    return float(without["value"] if without["value"] is not None else without.get("below", math.inf) / 2)


def _by_saving(rows: Sequence[Plain]) -> list[Plain]:
    """Order by printed figures: an order by exact ones would tell which is larger."""
    return sorted(rows, key=lambda row: (_left(row), listed(row["variables"])))


def _saved_table(
    caption: str, columns: tuple[str, ...], rows: Sequence[Plain], ks: Sequence[str], uniques: Plain
) -> TableBlock:
    first = 2 if "Step" in columns else 1
    return TableBlock(
        caption,
        columns,
        tuple(
            (
                listed(row["variables"]),
                *([str(SHORT.get(row["rule"], row["rule"]))] if first == 2 else []),
                *_texts(row["uniques_without"], row["uniques_saved"]),
                _share_saved(row["uniques_without"], uniques),
                *_texts(*(row["violations_without"][k] for k in ks)),
                row["risk_without"]["text"] if row["risk_without"] else "not computed",
            )
            for row in rows
        ),
        tuple(range(first, len(columns))),
    )


def _share_saved(left: Plain, whole: Plain) -> str:
    """What is not left, from the printed counts."""
    if not whole["value"]:
        return "undefined" if whole["text"] == "0" else "withheld"
    if left["value"] is not None:
        return f"{max(0, round(100 * (1 - left['value'] / whole['value'])))} %"
    return (
        f"over {max(0, math.floor(100 * (1 - left['below'] / whole['value'])))} %"
        if "below" in left
        else "withheld"
    )


def _households(one: Plain) -> list[Block]:
    tree = one["household_structure"]
    facts = (
        ("Households", tree["n_households"]["text"]),
        (
            "Households whose composition nobody shares",
            f"{tree['unique_compositions']['text']} ({tree['unique_composition_rate']['text']})",
        ),
        ("Sizes held by one household only", tree["unique_sizes"]["text"]),
        ("Sizes held by fewer than 3 households", tree["rare_sizes"]["text"]),
    )
    rows = tuple(
        ("all other sizes" if row.get("pooled") else row["level"], *_texts(row["n"], row["rate"]))
        for row in tree["sizes"]
    )
    note = (
        "The size and the composition of a household can identify it without any key; "
        "leaving out the size hides nothing while the household's id stays in the file."
    )
    return [
        Facts(facts),
        ChartBlock("households", {"rows": tree["sizes"]}, "Households by number of members"),
        TableBlock("Households by size", ("Members", "Households", "Share"), rows, (1, 2)),
        Paragraph(note, "note"),
    ]


def _diversity(one: Plain) -> list[Block]:
    other = one.get("l_diversity_wildcard")
    trees = [("", one["l_diversity"])] if not other else [
        ("missing as category", one["l_diversity"]), ("missing as wildcard", other)
    ]  # fmt: skip
    rows = [
        (
            ", ".join(filter(None, [variable, f"{kind}, l = {level}", rule])),
            tree["holds"][kind][level]["text"],
            count["text"],
            tree["violation_rates"][kind][level]["text"],
        )
        for rule, by_variable in trees
        for variable, tree in by_variable.items()
        for kind, counts in tree["violations"].items()
        for level, count in counts.items()
    ]
    homogeneous = [(variable, tree["homogeneous"]["text"]) for variable, tree in one["l_diversity"].items()]
    columns = ("Sensitive variable and test", "Result", "Records in violation", "Share of records")
    return [
        ChartBlock("diversity", {"variables": one["l_diversity"]}, "Records in groups with too few values"),
        TableBlock("Records in groups that are not l-diverse", columns, tuple(rows), (2, 3)),
        TableBlock(
            "Groups of two or more records with one single value",
            ("Sensitive variable", "Groups"),
            tuple(homogeneous),
            (1,),
        ),
    ]


# What a single measure shows in a notebook.
MEASURE_BLOCKS: Mapping[str, Callable[[Plain], list[Block]]] = {
    "key_frequencies": _frequencies,
    "k_anonymity": _anonymity,
    "individual_risk": _risk,
    "key_contributions": _contributions,
    "household_structure": _households,
    "l_diversity": _diversity,
    **SPECIAL_BLOCKS,
}

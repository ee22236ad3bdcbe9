"""An intruder's further measures in a document: special uniques, population models, risky cells, outliers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sdckit.report.blocks import Block, ChartBlock, Facts, Paragraph, Section, TableBlock
from sdckit.report.layout_closeness import CLOSENESS_BLOCKS, closeness_sections
from sdckit.report.sentences import listed

__all__ = ["SPECIAL_BLOCKS", "special_sections"]

Plain = Mapping[str, Any]
MODELS = {
    "zayatz": "Zayatz",
    "pitman": "Pitman",
    "snb": "Slide negative binomial",
    "snb3": "Slide negative binomial, classes fitted as well",
    "dankar": "Dankar's rule",
}
STATUS = {
    "ok": "computed",
    "ewens": "computed, as the Ewens model",
    "census": "nothing to model: the file is the population",
    "no_uniques": "no record is unique",
    "all_unique": "undefined: every record is unique",
    "one_class": "undefined: all records share one key",
    "no_pairs": "undefined: no two records share a key with each other alone",
    "no_root": "undefined: the equations have no solution",
    "several": "undefined: the equations have several solutions",
    "above_n": "undefined: more classes estimated than people",
}
METHODS = {
    "percentile": "quantiles",
    "mad": "median plus or minus three robust standard deviations",
    "robust_mahalanobis": "robust distance of all variables together",
}


def special_sections(one: Plain) -> list[Section]:
    """Lay out the further measures that ran."""
    sections = []
    if one.get("suda"):
        sections.append(Section("Special uniques", tuple(_suda(one)), 3))
    if one.get("population_risk") or one.get("population_uniques"):
        blocks = [
            *(_modelled(one) if one.get("population_risk") else []),
            *(_sized(one) if one.get("population_uniques") else []),
        ]
        sections.append(Section("Unique in the population, too?", tuple(blocks), 3))
    if one.get("risky_cells"):
        sections.append(Section("Risky combinations of a few variables", tuple(_risky(one)), 3))
    if one.get("outliers"):
        sections.append(Section("Outliers", tuple(_outliers(one)), 3))
    sections += closeness_sections(one)
    return sections


def _bars(caption: str, unit: str, rows: Sequence[tuple[str, Plain]]) -> ChartBlock:
    """Draw printed counts as bars: labels with their figures."""
    return ChartBlock(
        "bars", {"rows": [{"label": label, "n": leaf} for label, leaf in rows], "unit": unit}, caption
    )


def _suda(one: Plain) -> list[Block]:
    tree = one["suda"]
    facts = (
        ("Records alone with all keys", tree["sample_uniques"]["text"]),
        ("Largest number of keys combined", str(tree["max_size"])),
        ("Chance that a unique match is correct (DIS)", tree["dis"]["text"]),
    )
    sizes = tuple((size, count["text"]) for size, count in tree["msu_counts"].items())
    drawn = [(f"{size} key{'' if size == '1' else 's'}", count) for size, count in tree["msu_counts"].items()]
    blocks: list[Block] = [
        Paragraph(
            "A minimal unique is a set of keys that single a record out while no part of the set does."
        ),
        Facts(facts),
        _bars("Minimal uniques by the number of keys", "minimal uniques", drawn),
        TableBlock("Minimal uniques by the number of keys", ("Keys", "Minimal uniques"), sizes, (1,)),
        TableBlock(
            "Part of the score in minimal uniques with the key; the parts overlap",
            ("Key", "Part"),
            tuple((key, part["text"]) for key, part in _ordered(tree["contributions"])),
            (1,),
        ),
    ]
    for key, levels in tree.get("level_contributions", {}).items():
        rows = tuple(
            (level, "–" if share is None else f"{100 * share:.4g} %") for level, share in levels.items()
        )
        blocks.append(TableBlock(f"Part of the levels of {key}", ("Level", "Part"), rows, (1,)))
    return [*blocks, *_notes(tree)]


def _ordered(parts: Mapping[str, Plain]) -> list[tuple[str, Plain]]:
    """Order by printed figures: an order by exact ones would tell which is larger."""
    return sorted(parts.items(), key=lambda item: (-(item[1]["value"] or 0), item[0]))


def _modelled(one: Plain) -> list[Block]:
    tree = one["population_risk"]
    rows = (
        (
            "Sample uniques expected to be unique in the population (tau1)",
            tree["tau1"]["text"],
            tree["tau1_per_unique"]["text"],
        ),
        (
            "Expected correct matches among sample uniques (tau2)",
            tree["tau2"]["text"],
            tree["tau2_per_unique"]["text"],
        ),
    )
    facts = (
        ("Sample uniques", tree["sample_uniques"]["text"]),
        ("Model", listed(tree["model"])),
        ("How the model was chosen", tree["selection"]),
        ("Fit of the model", tree["fit"]),
    )
    table = TableBlock("By the log-linear model", ("Figure", "Records", "Per sample unique"), rows, (1, 2))
    drawn = [
        ("alone in the file", tree["sample_uniques"]),
        ("expected correct matches (tau2)", tree["tau2"]),
        ("expected alone in the population (tau1)", tree["tau1"]),
    ]
    chart = _bars("Sample uniques, and what the model expects of them", "records", drawn)
    return [Facts(facts), chart, table, *_notes(tree)]


def _sized(one: Plain) -> list[Block]:
    tree = one["population_uniques"]
    rows = tuple(
        (MODELS.get(name, name), found["uniques"]["text"], _status(found["status"]))
        for name, found in tree["estimates"].items()
    )
    caption = f"Expected uniques in a population of {tree['population']['text']}, by the sizes of groups"
    drawn = [(MODELS.get(name, name), found["uniques"]) for name, found in tree["estimates"].items()]
    return [
        _bars("Population uniques by model", "people", drawn),
        TableBlock(caption, ("Model", "Population uniques", "Status"), rows, (1,)),
        Paragraph(tree["caution"], "note"),
    ]


def _status(word: str) -> str:
    return f"chose {MODELS[word]}" if word in MODELS else STATUS.get(word, word)


def _risky(one: Plain) -> list[Block]:
    tree = one["risky_cells"]
    limits = {f"{limit:,}" for limit in tree["thresholds"].values()}
    words = f"A combination is unsafe when it has at most {listed(sorted(limits), 'or')} record"
    words += "." if limits == {"1"} else "s, by the number of its variables."
    affected = f"{tree['records_affected']['text']} ({tree['rate_affected']['text']})"
    dimensions = tuple((size, count["text"]) for size, count in tree["unsafe_cells"].items())
    ordered = sorted(tree["table"], key=_unsafe_first)
    rows = tuple(
        (listed(row["variables"]), row["n_unsafe"]["text"], row["records"]["text"]) for row in ordered
    )
    caption = "Combinations of variables with most unsafe cells"
    if len(tree["table"]) < tree["n_combinations"]:
        caption += f" ({len(tree['table'])} of {tree['n_combinations']:,})"
    return [
        Paragraph(words),
        Facts((("Records in an unsafe combination", affected),)),
        TableBlock("Unsafe cells by number of variables", ("Variables", "Unsafe cells"), dimensions, (1,)),
        _bars(caption, "unsafe cells", [(", ".join(row["variables"]), row["n_unsafe"]) for row in ordered]),
        TableBlock(caption, ("Variables", "Unsafe cells", "Records in them"), rows, (1, 2)),
        *_notes(tree),
    ]


def _unsafe_first(row: Plain) -> tuple[float, int, str]:
    return (-float(row["n_unsafe"]["value"] or 0), len(row["variables"]), listed(row["variables"]))


def _outliers(one: Plain) -> list[Block]:
    tree = one["outliers"]
    either = tree["n_outliers"]
    told = "undefined" if either is None else f"{either['text']} ({tree['rate_outliers']['text']})"
    facts = (
        ("Extreme by", METHODS.get(tree["method"], tree["method"])),
        ("Records with an extreme value", told),
    )
    rows = tuple(
        (name, "undefined" if count is None else count["text"], tree["n_missing"][name]["text"])
        for name, count in tree["counts"].items()
    )
    table = TableBlock("Extreme values", ("Variable", "Extreme", "Missing"), rows, (1, 2))
    return [Facts(facts), *([table] if rows else []), *_notes(tree)]


def _outliers_drawn(one: Plain) -> list[Block]:
    """A few counts that need no drawing in a report, and one for whom asks for it."""
    tree = one["outliers"]
    rows = list(tree["counts"].items())
    if len(rows) != 1:
        rows.append(("any of them" if rows else "all variables together", tree["n_outliers"]))
    undefined = {"text": "undefined", "value": None}
    drawn = [(label, undefined if leaf is None else leaf) for label, leaf in rows]
    return [*_outliers(one), _bars("Records with an extreme value", "records", drawn)]


def _notes(tree: Plain) -> Sequence[Block]:
    return [Paragraph(f"{text[:1].upper()}{text[1:]}.", "note") for text in tree["notes"].values()]


# What a single measure shows in a notebook.
SPECIAL_BLOCKS: Mapping[str, Callable[[Plain], list[Block]]] = {
    "suda": _suda,
    "population_risk": _modelled,
    "population_uniques": _sized,
    "risky_cells": _risky,
    "outliers": _outliers_drawn,
    **CLOSENESS_BLOCKS,
}

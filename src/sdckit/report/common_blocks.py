"""Parts of layout that several views share."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sdckit.display import capital
from sdckit.report.blocks import Block, ChartBlock, Paragraph, TableBlock
from sdckit.report.gate import figures, relations, rounding
from sdckit.report.setting import Setting, rule_of

Plain = Mapping[str, Any]
UNDEFINED: Mapping[str, figures.Tree] = {"text": "undefined", "value": None}
# One name for one quantity.
ALONE = "Records alone with their combination"
EXPECTED = "Expected re-identifications"


def bars(
    caption: str, unit: str, rows: Iterable[tuple[str, Plain | None] | tuple[str, Plain, str]], *, aside: bool = False
) -> ChartBlock:
    """Draw printed figures as bars: label, figure and, where rows differ, tone of each.

    Examples
    --------
    >>> bars("Cells", "cells", [("1 record", {"text": "<5", "value": None, "below": 5}, "dark")]).data["unit"]
    'cells'
    """
    drawn = [
        {"label": label, "n": UNDEFINED if leaf is None else leaf} | ({"tone": tone[0]} if tone else {})
        for label, leaf, *tone in rows
    ]
    return ChartBlock("bars", {"rows": drawn, "unit": unit}, caption, aside)


def groups_blocks(
    caption: str, by: Sequence[str], heads: Sequence[str], rows: Sequence[Sequence[str]], n: int
) -> list[Block]:
    """Table of the first of `n` groups, each with labels and the texts below `heads`, and how many more there are."""
    table = TableBlock(caption, (*by, *heads), tuple(map(tuple, rows)), tuple(range(len(by), len(by) + len(heads))))
    return [table, *([Paragraph(f"… {n - len(rows):,} more", "note")] if n > len(rows) else [])]


RULES = ("category", "wildcard")  # for missing key values


def figure(chart: ChartBlock, *tables: TableBlock) -> list[Block]:
    """A chart, with tables of its figures folded away behind it."""
    return [chart, *(replace(table, behind=True) for table in tables)]


def share_leaf(ledger: figures.Ledger, name: str, true: float | None, base: str = "n") -> figures.Tree:
    """Enter a share that stands for a number of records of `base`, printed from the protected number."""
    if true is None or not math.isfinite(true):
        return UNDEFINED
    ledger.value(name, float(true) * (ledger.variables[base].true or 0), name, kind="sum")
    return figures.Ratio(name, base)


def value_leaf(ledger: figures.Ledger, name: str, true: float | None) -> figures.Tree:
    """Enter an estimate over the whole file, or a figure that is no number of people."""
    return UNDEFINED if true is None or not math.isfinite(true) else ledger.value(name, float(true), name)


def height_of(leaf: Plain) -> float | None:
    """Height at which a printed figure is drawn: its value, or its bound if hidden; None if withheld.

    Examples
    --------
    >>> height_of({"text": "<5", "value": None, "below": 5}), height_of({"text": "withheld", "value": None})
    (5.0, None)
    """
    value = leaf["value"] if leaf["value"] is not None else leaf.get("below")
    return None if value is None else float(value)


def rank_of(leaf: Plain) -> float:
    """Sorting key of a printed figure: a bound sorts just below the same number; NaN if withheld.

    Examples
    --------
    >>> rank_of({"text": "5", "value": 5}), rank_of({"text": "<5", "value": None, "below": 5})
    (5.0, 4.999999999999999)
    """
    height = height_of(leaf)
    if height is None:
        return math.nan
    return height if leaf["value"] is not None else math.nextafter(height, -math.inf)


def notes_blocks(tree: Plain) -> Sequence[Block]:
    """Notes of a measure, a paragraph each."""
    return [Paragraph(f"{capital(text)}.", "note") for text in dict.fromkeys(tree["notes"].values())]


def texts(*leaves: Plain) -> tuple[str, ...]:
    """Printed texts of figures."""
    return tuple(leaf["text"] for leaf in leaves)


def four_digits(value: float | None, otherwise: str = "–") -> str:
    """A number to four digits; `otherwise` where there is none.

    >>> four_digits(0.123456), four_digits(None, "undefined")
    ('0.1235', 'undefined')
    """
    return otherwise if value is None else f"{value:.4g}"


def of_whole(count: Plain, rate: Plain) -> str:
    """A count with its share in brackets.

    Examples
    --------
    >>> of_whole({"text": "25"}, {"text": "4.2 %"})
    '25 (4.2 %)'
    >>> of_whole({"text": "withheld"}, {"text": "undefined"})
    'withheld'
    """
    text = f"{count['text']} ({rate['text']})"
    if (count["text"], rate["text"]) == ("withheld", "undefined"):  # it is defined, and withheld with its count
        return str(count["text"])
    number = count["text"]
    return rounding.Printed(text, number.identity, number.span) if isinstance(number, rounding.Printed) else text


def share_head(rates: Iterable[Plain]) -> str:
    """Header of a column of shares, with their common denominator.

    Examples
    --------
    >>> share_head([{"text": "5.0 %", "value": 0.05, "of": "240"}, {"text": "withheld", "value": None}])
    'Share of 240 records'
    """
    wholes = {rate["of"] for rate in rates if "of" in rate}
    return f"Share of {wholes.pop() if len(wholes) == 1 else 'the'} records"


def below(k: object) -> str:
    """Label of the records in groups of fewer than k.

    Examples
    --------
    >>> below(3)
    'Records in groups of fewer than 3'
    """
    return f"Records in groups of fewer than {k}"


def drawn_size(limit: float | None) -> int:
    """The size of groups that pictures are about: that of the limit, else 3.

    Examples
    --------
    >>> drawn_size(5), drawn_size(None)
    (5, 3)
    """
    return 3 if limit is None else int(limit)


def of_rule(tree: Plain) -> str:
    """Suffix naming the rule for missing key values that a figure follows; "" where none is missing.

    Examples
    --------
    >>> of_rule({"rule": "wildcard"}), of_rule({"rule": ""})
    (' (missing as wildcard)', '')
    """
    return f" (missing as {tree['rule']})" if tree.get("rule") else ""


def by_rule(plain: Plain, place: str) -> list[tuple[str, str]]:
    """(rule, place) of a measure's figures for every rule for missing values it was computed with."""
    other = next((rule for rule in RULES if plain.get(f"{place}_{rule}")), "")
    if not other:
        return [("", place)]
    main = "wildcard" if other == "category" else "category"
    return sorted([(main, place), (other, f"{place}_{other}")], reverse=True)


def with_rule(words: str, rule: str) -> str:
    """A label with the suffix of its rule for missing values."""
    return words + of_rule({"rule": rule})


def without_rule(words: str) -> tuple[str, str]:
    """A label without the suffix of its rule for missing values, and that rule.

    Examples
    --------
    >>> without_rule(with_rule("Global risk", "category")), without_rule("Records")
    (('Global risk', 'category'), ('Records', ''))
    """
    for rule in RULES:
        if words.endswith(ending := of_rule({"rule": rule})):
            return words.removesuffix(ending), rule
    return words, ""


def cells_alone(setting: Setting, result: Any) -> figures.Quantity:
    """Quantity of the sample uniques, missing values being a category of their own: cells of one record."""
    return figures.Quantity(ALONE, rule="category" if rule_of(result) else "", intruder=setting.intruder)


def uniques_of(setting: Setting, result: Any) -> figures.Count:
    """Enter the sample uniques, missing values being a category of their own, once for all measures."""
    uniques = setting.count(
        "sample_uniques.cells", result.sample_uniques, "violations", of=cells_alone(setting, result)
    )
    relations.link_records(setting.ledger, setting.sizes, uniques.name, 1, 1)
    setting.ledger.nested("n", uniques.name)
    return uniques

"""What a release is still good for, as typed figures of two significant digits."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from sdckit.data.frames import rows_of
from sdckit.report.figures import Foreign, Ledger, Ratio, Tree
from sdckit.report.protocols import ReleaseLike
from sdckit.utility.utility_overview import HEADLINES, Headline

__all__ = [
    "common_labels",
    "forest_tree",
    "heat_tree",
    "share_leaf",
    "tells_few",
    "term_words",
    "utility_tree",
]

# Differences of distributions: times n they are records that moved.
SHARES = ("joint_max_difference", "mean_total_variation", "largest_total_variation")
MOST_PAIRS = 10
MOST_TERMS = 40
MOST_SQUARES = 20
MOST_LEVELS = 10_000
RARE = "(rare)"
FEW = "withheld: a category of the model, or a combination of categories, has fewer than 5 records"
SMALLEST = 5


def utility_tree(assessment: ReleaseLike, ledger: Ledger) -> Tree:
    """Give the overview, the variables and pairs that changed most, and the models; None without utility.

    All of it are means, shares and estimates over the whole file; they are printed to two significant
    digits, like every estimate.
    """
    overview = assessment.utility
    if overview is None:
        why: tuple[Tree, ...] = ({"measure": "utility", "reason": Foreign(assessment.no_utility)},)
        return {
            "m": 0,
            "table": (),
            "variables": {},
            "pairs": (),
            "heat": None,
            "models": (),
            "skipped": why,
            "notes": {},
        }
    common = common_labels(overview.pair, overview.variables)
    defined = [one for one in HEADLINES if math.isfinite(getattr(overview, one.name))]
    return {
        "m": overview.m,
        "table": tuple(_row(one, overview, ledger) for one in defined),
        "variables": _variables(overview.results.get("compare_distributions"), ledger),
        "pairs": _pairs(overview.results.get("tabular_utility"), ledger),
        "heat": heat_tree(overview.results.get("tabular_utility"), ledger),
        "models": tuple(
            _model(name.partition(":")[2], result, ledger, common)
            for name, result in overview.results.items()
            if name.startswith("compare_models:")
        ),
        "skipped": tuple({"measure": name, "reason": Foreign(reason)} for name, reason in overview.skipped),
        "notes": {name: Foreign(text) for name, text in overview.notes.items()},
    }


def _row(one: Headline, overview: Any, ledger: Ledger) -> dict[str, Tree]:
    smallest, largest = overview.spread[one.name]
    write = share_leaf if one.name in SHARES else _value
    found = {"value": getattr(overview, one.name), "smallest": smallest, "largest": largest}
    return {
        "name": one.name,
        "level": one.level,
        "measure": one.measure,
        "figure": one.words,
        "best": one.best,
        **{part: write(ledger, f"utility.{one.name}.{part}", true) for part, true in found.items()},
    }


def share_leaf(ledger: Ledger, name: str, true: float | None) -> Tree:
    """A share that stands for a number of records, printed from that number as it may be told."""
    if true is None or not math.isfinite(true):
        return {"text": "undefined", "value": None}
    ledger.value(name, float(true) * (ledger.variables["n"].true or 0), name, kind="sum")
    return Ratio(name, "n")


def _value(ledger: Ledger, name: str, true: float | None) -> Tree:
    if true is None or not math.isfinite(true):
        return {"text": "undefined", "value": None}
    return ledger.value(name, float(true), name)


def _variables(result: Any, ledger: Ledger) -> dict[str, Tree]:
    """Share of the records in other values, by variable."""
    if result is None:
        return {}
    return {
        name: share_leaf(ledger, f"utility.variation.{name}", share)
        for name, share in result.total_variation.items()
    }


def _pairs(result: Any, ledger: Ledger) -> tuple[Tree, ...]:
    """The two-way tables that changed most."""
    if result is None:
        return ()
    rows = []
    for row in rows_of(result.worst(MOST_PAIRS)):
        variables = " × ".join(str(row[name]) for name in ("variable_1", "variable_2") if name in row)
        rows.append(
            {
                "variables": variables,
                "s_pmse": _value(ledger, f"utility.pair.{variables}.s_pmse", row.get("s_pmse")),
                "specks": share_leaf(ledger, f"utility.pair.{variables}.specks", row.get("specks")),
            }
        )
    return tuple(rows)


def common_labels(pair: Any, variables: Sequence[str]) -> set[str]:
    """The values of any variable that five records or more of the original have: others are not named."""
    found: set[str] = set()
    for name in variables:
        if any(name not in frame.columns for frame in pair.released):
            continue
        coded = pair.codes(name)
        counts = np.bincount(coded.codes[0], minlength=coded.n_levels + 1)
        if coded.n_levels <= MOST_LEVELS:
            found |= {label for label, n in zip(coded.labels(), counts, strict=True) if n >= SMALLEST}
    return found


def term_words(term: str, common: set[str]) -> str:
    """The name of a coefficient; a value that few records have is not told.

    Examples
    --------
    >>> term_words("C(sex)[T.f]:age", {"f"}), term_words("C(job)[T.bishop]", {"f"}), term_words("m: age", {"f"})
    ('C(sex)[T.f]:age', 'C(job)[rare]', '(rare): age')
    """
    outcome, colon, rest = term.partition(": ")
    if colon and "[" not in outcome:
        outcome = outcome if outcome in common else RARE
        return f"{outcome}: {term_words(rest, common)}"

    def told(found: re.Match[str]) -> str:
        return found.group(0) if found.group(1).removeprefix("T.") in common else "[rare]"

    return re.sub(r"\[([^\]]*)\]", told, term)


def tells_few(terms: Sequence[str], pair: Any, common: set[str]) -> bool:
    """Whether a coefficient rests on a group of fewer than five records of the original.

    Such a coefficient, or the intercept where the group is the base, is a person's value.
    """
    if any(RARE in term_words(term, common) for term in terms):
        return True
    groups = {tuple(_categories(term, pair.original.columns)) for term in terms}
    for group in groups:
        if "" in group:
            return True  # a function of columns that cannot be told apart here
        sizes = pair.groups(group).size[0] if group else np.array([SMALLEST])
        if np.any((sizes > 0) & (sizes < SMALLEST)):
            return True
    return False


def _categories(term: str, columns: Sequence[str]) -> list[str]:
    """The columns whose categories a coefficient is about; "" for one that is not recognised."""
    parts = re.findall(r"([^:\[]+)\[", term)
    found = []
    for part in parts:
        inside = re.search(r"^C\(([^,)]+)", part.strip())
        name = (inside.group(1) if inside else part).strip().strip("`")
        found.append(name if name in columns else "")
    return sorted(set(found))


def _model(formula: str, result: Any, ledger: Ledger, common: set[str]) -> Tree:
    """The coefficients of a regression on both files, and how far their intervals overlap."""
    terms = []
    rows = rows_of(result.table)[:MOST_TERMS]
    hidden = tells_few([str(row["term"]) for row in rows], result.pair, common)
    for number, row in enumerate([] if hidden else rows):
        name = f"utility.model.{formula}.{number}"
        terms.append(
            {
                "term": term_words(str(row["term"]), common),
                **{
                    part: _value(ledger, f"{name}.{part}", row.get(part))
                    for part in ("estimate_original", "estimate_released", "overlap")
                },
            }
        )
    return {
        "formula": formula,
        "family": result.family,
        "mean_overlap": _value(ledger, f"utility.model.{formula}.mean_overlap", result.mean_overlap),
        "terms": tuple(terms),
        "withheld": FEW if hidden else "",
        "forest": () if hidden else forest_tree(result, f"utility.model.{formula}", ledger, common),
    }


def forest_tree(result: Any, start: str, ledger: Ledger, common: set[str]) -> tuple[Tree, ...]:
    """Estimates with their intervals, file by file, to two digits; values few records have are not named."""
    rows = []
    for number, row in enumerate(rows_of(result.forest())[: 2 * MOST_TERMS]):
        leaves = {
            part: _value(ledger, f"{start}.forest.{number}.{part}", row[part])
            for part in ("estimate", "low", "high")
        }
        term = term_words(str(row["term"]), common)
        rows.append({"label": f"{term}, {row['file']}", "file": str(row["file"]), **leaves})
    return tuple(rows)


def heat_tree(result: Any, ledger: Ledger) -> Tree:
    """The standardised pMSE of every two-way table; None for other tables or too many variables."""
    if result is None or result.ways != 2 or not 1 < len(result.variables) <= MOST_SQUARES:
        return None
    matrix = result.matrix()
    cells = [
        {"one": one, "other": other, "value": _value(ledger, f"utility.heat.{i}.{j}", float(matrix[i, j]))}
        for i, one in enumerate(result.variables)
        for j, other in enumerate(result.variables)
        if i < j
    ]
    return {"variables": tuple(result.variables), "cells": tuple(cells)}

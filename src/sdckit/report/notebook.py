"""One result, or an assessment, in a notebook: protected as any document, since notebooks are shared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from sdckit.errors import DataError
from sdckit.report.blocks import Block, ChartBlock
from sdckit.report.charts import chart_for, charts_for
from sdckit.report.document import build_document
from sdckit.report.figures import Document, Ledger, Tree
from sdckit.report.html import render_fragment
from sdckit.report.layout import answer_section
from sdckit.report.layout_intruder import MEASURE_BLOCKS
from sdckit.report.layout_release import lay_out_release, release_answer
from sdckit.report.pair_views import VIEWS, pair_blocks, pair_document
from sdckit.report.protect import protect
from sdckit.report.protocols import ReleaseLike
from sdckit.report.relations import make_sizes
from sdckit.report.release_document import plain_release
from sdckit.report.sections_attribute import l_diversity_tree
from sdckit.report.sections_closeness import CLOSENESS, closeness_tree
from sdckit.report.sections_identity import (
    Setting,
    contributions_tree,
    frequencies_tree,
    households_tree,
    k_anonymity_tree,
    risk_breaks,
    risk_tree,
)
from sdckit.report.sections_special import (
    outliers_tree,
    population_risk_tree,
    population_uniques_tree,
    risky_cells_tree,
    suda_tree,
)
from sdckit.report.sentences import headline

__all__ = ["assessment_chart", "notebook_html", "result_chart", "result_document"]

SPECIAL: Mapping[str, Callable[[Any, Setting], dict[str, Tree]]] = {
    "suda": suda_tree,
    "population_risk": population_risk_tree,
    "population_uniques": population_uniques_tree,
    "risky_cells": risky_cells_tree,
    "outliers": outliers_tree,
    **dict.fromkeys(CLOSENESS, closeness_tree),
}
# What an assessment draws of each intruder.
DRAWN = ("key_frequencies", "k_anonymity", "individual_risk")


def result_document(result: Any) -> Document:
    """Build the document of a single result: its figures under the name of its measure.

    Parameters
    ----------
    result
        What a measure returned.

    Returns
    -------
    Document
        To be passed to `protect`.
    """
    if result.measure in VIEWS:
        return pair_document(result)
    if result.measure not in MEASURE_BLOCKS:
        raise DataError(f"{result.measure} has no chart or notebook view; see .summary()")
    n = _records(result)
    ledger = Ledger()
    tree: dict[str, Tree] = {"n": ledger.count("n", n, "n")}
    setting = _setting(ledger, result)
    known = setting.cells_known
    if result.measure == "key_frequencies":
        tree["key_frequencies"] = frequencies_tree(result, setting)
    elif result.measure == "k_anonymity":
        tree["k_anonymity"] = k_anonymity_tree(result, setting, cells_known=known)
    elif result.measure == "individual_risk":
        tree["individual_risk"] = risk_tree(result, setting, threshold=_stated(result))
    elif result.measure == "key_contributions":
        tree["key_contributions"] = contributions_tree(result, n, setting)
    elif result.measure == "household_structure":
        tree["household_structure"] = households_tree(result, setting)
    elif result.measure == "l_diversity":
        tree["l_diversity"] = l_diversity_tree(result, setting, cells_known=known)
    else:
        tree[result.measure] = SPECIAL[result.measure](result, setting)
    return Document(tree, ledger.variables, tuple(ledger.relations), n)


def _records(result: Any) -> int:
    if hasattr(result, "n"):
        return int(result.n)
    return sum(int(size) * int(number) for size, number in result.sizes.items())


def _stated(result: Any) -> float | None:
    """Give a threshold only where the analyst stated it; one from the data would tell a record's risk."""
    asked = getattr(result, "asked", None)
    return float(asked) if isinstance(asked, int | float) else None


def _setting(ledger: Ledger, result: Any) -> Setting:
    """Assume the most that could be known; relations that do not hold are left out by the audit."""
    cells = getattr(result, "cells", None)
    roles = getattr(cells, "roles", None)
    weights: Literal["weight", "fraction", "census"] = "census"
    if getattr(roles, "weight", None):
        weights = "weight"
    elif getattr(roles, "sampling_fraction", None):
        weights = "fraction"
    fraction = getattr(roles, "sampling_fraction", None)
    persons = getattr(roles, "person", None) is not None
    breaks = {float(k - 1) for k in getattr(result, "violations", {}) if isinstance(k, int)}
    breaks |= risk_breaks(weights, fraction, getattr(result, "method", "exact"), _stated(result))
    return Setting(
        ledger,
        "i0",
        make_sizes(ledger, "i0", breaks),
        cells_known=not persons and not getattr(cells, "has_wildcards", False),
        persons=persons,
        weights=weights,
        fraction=fraction,
        alpha=getattr(roles, "alpha", 1.0),
    )


def result_chart(result: Any, *, internal: bool = False) -> Any:
    """Draw a result as an Altair chart of its protected figures.

    Parameters
    ----------
    result
        What a measure returned.
    internal
        Draw exact figures; such a chart must not leave the room.

    Returns
    -------
    altair.Chart
        Bars with their printed texts, and a title.

    Raises
    ------
    DataError
        For a file of fewer than 50 records, unless internal; for a measure without a chart.
    """
    plain = protect(result_document(result), internal=internal)
    for block in _blocks(result.measure, plain):
        if isinstance(block, ChartBlock):
            return chart_for(block.name, block.data, block.caption)
    raise DataError(f"{result.measure} has no chart; see .summary()")


def _blocks(name: str, plain: Mapping[str, Any]) -> list[Block]:
    return pair_blocks(name, plain) if name in VIEWS else MEASURE_BLOCKS[name](plain)


def assessment_chart(assessment: Any, *, internal: bool = False) -> Any:
    """Draw an assessment: of each intruder the cells by size, the violations of k, the risks.

    Parameters
    ----------
    assessment
        What `sdckit.assess` returned.
    internal
        Draw exact figures; such a chart must not leave the room.

    Returns
    -------
    altair.VConcatChart
        The charts of the report, one below the other.

    Raises
    ------
    DataError
        For a file of fewer than 50 records, unless internal.
    """
    if isinstance(assessment, ReleaseLike):
        return _release_chart(assessment, internal=internal)
    plain = protect(build_document(assessment), internal=internal)
    several = len(plain["intruders"]) > 1
    return charts_for(
        [
            (block.name, block.data, f"{one['name']}: {block.caption}" if several else block.caption)
            for one in plain["intruders"]
            for measure in DRAWN
            for block in MEASURE_BLOCKS[measure](one)
            if isinstance(block, ChartBlock)
        ]
    )


def _release_chart(assessment: ReleaseLike, *, internal: bool) -> Any:
    blocks = [
        block
        for section in lay_out_release(plain_release(assessment, internal=internal)).sections
        for block in section.blocks
        if isinstance(block, ChartBlock)
    ]
    return charts_for([(block.name, block.data, block.caption) for block in blocks])


def notebook_html(shown: Any) -> str:
    """Give an assessment or a result as a piece of HTML for a notebook.

    Parameters
    ----------
    shown
        An assessment, or what a measure returned.

    Returns
    -------
    str
        Protected tables; for a file of fewer than 50 records a line that says where the figures are.
    """
    try:
        if isinstance(shown, ReleaseLike):
            plain = plain_release(shown)
            return render_fragment(headline(plain), release_answer(plain).blocks)
        if hasattr(shown, "intruders"):
            plain = protect(build_document(shown))
            return render_fragment(headline(plain), answer_section(plain).blocks)
        plain = protect(result_document(shown))
        return render_fragment("", _blocks(shown.measure, plain))
    except DataError as error:
        return render_fragment("", [], note=f"{error} In the session, .summary() gives exact figures.")

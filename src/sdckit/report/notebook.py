"""One result, or an assessment, in a notebook: protected as any document, since notebooks are shared."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sdckit.display import EXACT, exact_shown
from sdckit.errors import DataError
from sdckit.report.blocks import Block, ChartBlock
from sdckit.report.chapters.document import build_document
from sdckit.report.chapters.map import map_table, plain_map
from sdckit.report.chapters.page import answer_section
from sdckit.report.chapters.recipe_chapter import plain_recipe, recipe_section
from sdckit.report.chapters.release_document import RELEASE_SCHEMA, plain_release
from sdckit.report.chapters.release_page import lay_out_release, release_answer
from sdckit.report.chapters.sentences import headline
from sdckit.report.charts import chart_for, charts_for
from sdckit.report.estimates import UtilityView
from sdckit.report.formats.html import render_fragment
from sdckit.report.gate.figures import Document, Ledger, Tree
from sdckit.report.gate.protect import protect
from sdckit.report.setting import PairSetting, release_sizes, setting_of
from sdckit.report.view import Plain, view_of, views_of


def result_document(result: Any) -> Document:
    """Build the document of a single result, for `protect`: its figures under the name of its measure."""
    view = view_of(result.measure)
    if hasattr(result, "pair") or isinstance(view, UtilityView):
        return pair_document(result)
    n = _records(result)
    ledger = Ledger()
    tree: dict[str, Tree] = {"n": ledger.count("n", n, "n")}
    tree[result.measure] = view.tree(result, setting_of(ledger, result, n))
    return Document(tree, ledger.variables, tuple(ledger.relations), n)


def pair_document(result: Any) -> Document:
    """Build the document of one result on two files, for `protect`: the figures under ``measures`` by their place."""
    ledger = Ledger()
    tree: dict[str, Tree] = {}
    sizes: tuple[int, ...] = ()
    # Estimates given as numbers have no files, and may not even say how many records they are from.
    n = result.n or None if not hasattr(result, "pair") else result.pair.n
    if n is not None:
        tree["n"] = ledger.count("n", n, "n")
    if hasattr(result, "pair"):
        sizes = result.pair.sizes[: len(result.per_release)]  # a control file stands behind the releases
        tree["n_released"] = release_sizes(ledger, sizes)
    target = getattr(result, "target", "")
    words = target if isinstance(target, str) else ", ".join(target)
    place = f"{result.measure}:{words}" if words else result.measure
    figures = view_of(result.measure).tree(result, PairSetting(ledger, "c0", place, sizes))
    tree["measures"] = {place: figures}
    smallest = n if n is None else min(n, *sizes, n)
    return Document(tree, ledger.variables, tuple(ledger.relations), smallest)


def _records(result: Any) -> int:
    if hasattr(result, "n"):
        return int(result.n)
    return sum(int(size) * int(number) for size, number in result.sizes.items())


def result_blocks(plain: Plain, *, beside: Plain | None = None) -> list[Block]:
    """Lay out the document of a single result, as `protect` gives it; `beside` are others of the same file."""
    shown = plain.get("measures", plain)
    known = {**(beside or {}), **shown}
    return [block for place, view in views_of(shown) for block in view.blocks(known, place)]


def result_chart(result: Any, *, internal: bool = False, kind: str = "") -> Any:
    """Draw a result as an Altair chart of its protected figures; one of exact figures must not leave the room.

    `kind` names one of the pictures that its view draws besides.
    """
    internal = internal or exact_shown.get()
    if kind:
        one = view_of(result.measure).charts[kind](result, internal)
        return chart_for(one.name, one.data, _title(one.caption))
    for block in result_blocks(protect(result_document(result), internal=internal)):
        if isinstance(block, ChartBlock) and not block.paper:
            return chart_for(block.name, block.data, _title(block.caption))
    raise DataError(f"{result.measure} has no chart; see .summary()")


def assessment_chart(assessment: Any, *, internal: bool = False) -> Any:
    """Draw an assessment: of each intruder the main figures, of a release every chart of its report."""
    internal = internal or exact_shown.get()
    if _is_release(assessment):
        sections = lay_out_release(plain_release(assessment, internal=internal)).sections
        return _drawn((block, "") for section in sections for block in section.blocks)
    plain = protect(build_document(assessment), internal=internal)
    several = len(plain["intruders"]) > 1
    return _drawn(
        (block, f"{one['name']}: " if several else "")
        for one in plain["intruders"]
        for place, view in views_of(one)
        if view.figures(one, place)
        for block in view.blocks(one, place)
    )


def _drawn(blocks: Iterable[tuple[Block, str]]) -> Any:
    return charts_for(
        [
            (one.name, one.data, _title(start + one.caption))
            for one, start in blocks
            if isinstance(one, ChartBlock) and not one.paper
        ]
    )


def _title(caption: str) -> str:
    """The title of a chart, behind a mark where the session shows exact figures."""
    return f"{EXACT} {caption}" if exact_shown.get() else caption


def _is_release(shown: Any) -> bool:
    return getattr(shown, "schema", "") == RELEASE_SCHEMA


def notebook_html(shown: Any) -> str:
    """Give an assessment or a result as a piece of HTML for a notebook: tables, protected unless the session says else.

    For a file of fewer than 50 records it is a line that says where the figures are.
    """
    internal = exact_shown.get()
    mark = EXACT if internal else ""
    try:
        if _is_release(shown):
            plain = plain_release(shown, internal=internal)
            return render_fragment(headline(plain), release_answer(plain).blocks, note=mark)
        if hasattr(shown, "intruders"):
            plain = protect(build_document(shown), internal=internal)
            return render_fragment(headline(plain), answer_section(plain).blocks, note=mark)
        return render_fragment(
            "", result_blocks(protect(result_document(shown), internal=internal)), note=mark
        )
    except DataError as error:
        return render_fragment("", [], note=f"{error} In the session, .summary() gives exact figures.")


def recipe_html(done: Any) -> str:
    """What a recipe did, step by step, for a notebook."""
    internal = exact_shown.get()
    try:
        blocks = recipe_section(plain_recipe(done, internal=internal)).blocks
    except DataError as error:
        return render_fragment("", [], note=str(error))
    return render_fragment("What was done", blocks, note=EXACT if internal else "")


def map_html(found: Any) -> str:
    """The recipes of a map for a notebook: arguments, risk and loss."""
    internal = exact_shown.get()
    try:
        plain = plain_map(found, internal=internal)
    except DataError as error:
        return render_fragment("", [], note=str(error))
    return render_fragment("", [map_table(plain)], note=EXACT if internal else "")

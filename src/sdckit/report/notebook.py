"""Results and assessments in a notebook, also in short: protected like any document, since notebooks are shared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING, Any

from sdckit.display import EXACT, exact_shown
from sdckit.errors import DataError
from sdckit.report import charts, estimates, setting, shares, wording
from sdckit.report.blocks import Block, ChartBlock, Page, Paragraph, Section, TableBlock
from sdckit.report.chapters import decision, map, recipe_chapter, release_page
from sdckit.report.chapters.document import build_document
from sdckit.report.chapters.page import STATES, answer_section, figures_of, verdicts_block
from sdckit.report.chapters.sentences import headline
from sdckit.report.common_blocks import ALONE, EXPECTED, below, with_rule, without_rule
from sdckit.report.formats.html import render_fragment, render_sections
from sdckit.report.gate.figures import Document, Foreign, Ledger, Tree
from sdckit.report.gate.protect import SMALLEST_FILE, USE_INTERNAL, WITHHELD_FIGURE as WITHHELD, protect
from sdckit.report.language import names_of, translate
from sdckit.report.view import Plain, view_of, views_of

if TYPE_CHECKING:
    from sdckit.workflow.assessment import Assessed
    from sdckit.workflow.recipes.recipe import WhatWasDone


BEFORE, AFTER = ("answer",), ("good", "open", "next")  # places of the decision page, around the table
THEN = "→"


def shorten(page: Page, plain: Plain) -> Page:
    """The page with what a committee decides on, and the main figures of each intruder, instead of every chapter."""
    decided = {section.place: replace(section, paper=False) for section in page.decision}
    places = [place for place in AFTER if place != "good" or "released" in plain]  # of one file nothing was changed
    before, after = ([decided[place] for place in some if place in decided] for some in (BEFORE, places))
    return replace(page, sections=(*before, Section("", _figures(plain)), *after), decision=())


def _figures(plain: Plain) -> tuple[Block, ...]:
    """Main figures of each intruder under the first rule for missing values; of a release before and after."""
    intruders = plain["intruders"]
    tables = [_table(plain, number) for number in range(decision.with_figures(plain))]
    if len(intruders) == 1:
        return tuple(tables)
    known = [Paragraph(f"“{intruder['name']}” knows {', '.join(intruder['keys'])}.") for intruder in intruders]
    files = tables[0].columns[1:]
    rows = [(row[0], *(THEN.join(table.rows[at][1:]) for table in tables)) for at, row in enumerate(tables[0].rows)]
    caption = with_rule(" → ".join(files) if len(files) > 1 else "Main figures", without_rule(tables[0].caption)[1])
    heads = ("Figure", *(f"“{intruder['name']}”" for intruder in intruders[: len(tables)]))
    return (TableBlock(caption, heads, tuple(rows), tuple(range(1, len(heads)))), *known)


def _table(plain: Plain, number: int) -> TableBlock:
    intruder = plain["intruders"][number]
    files: Sequence[Plain] = [plain["original"], *plain["released"]] if "released" in plain else [plain]
    first, *others = figures_of([file["intruders"][number] for file in files])
    collected = plain.get("collected", {}).get(intruder["name"])
    main = next((rule for words in first if (rule := without_rule(words)[1])), "")
    small = below(decision.drawn_of(plain))
    rows = []
    for words in (small, ALONE, EXPECTED):
        label = next((label for label in (with_rule(words, main), words) if label in first), None)
        if label is not None:
            raw = [collected["below"]["text"] if words == small else "–"] if collected else []
            after = shares.by_release([file.get(label) for file in others]) if others else ()
            rows.append((words, *raw, first[label]["text"], *after))
    heads = (
        (*(("Original",) if collected else ()), release_page.base_name(plain), *shares.release_heads(len(others)))
        if others
        else ("File",)
    )
    caption = with_rule(f"Known are {', '.join(intruder['keys'])}", main)
    return TableBlock(caption, ("Figure", *heads), tuple(rows), tuple(range(1, len(heads) + 1)))


def result_document(result: Any) -> Document:
    """Build the document of a single result, for `protect`: its figures under the name of its measure."""
    view = view_of(result.measure)
    if hasattr(result, "pair") or isinstance(view, estimates.UtilityView):
        return pair_document(result)
    n = _records(result)
    ledger = Ledger()
    tree: dict[str, Tree] = {"n": ledger.count("n", n, "n")}
    tree[result.measure] = view.tree(result, setting.setting_of(ledger, result, n))
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
        tree["n_released"] = setting.release_sizes(ledger, sizes)
    target = getattr(result, "target", "")
    words = target if isinstance(target, str) else ", ".join(target)
    place = f"{result.measure}:{words}" if words else result.measure
    figures = view_of(result.measure).tree(result, setting.PairSetting(ledger, "c0", place, sizes))
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
    """Altair chart of a result's protected figures; `internal` ones are exact and confidential.

    `kind` names one of the further charts of its view.
    """
    internal = internal or exact_shown.get()
    if kind:
        picture = view_of(result.measure).charts[kind](result, internal)
        return charts.chart_for(picture.name, picture.data, _title(picture.caption))
    for block in result_blocks(protect(result_document(result), internal=internal)):
        if isinstance(block, ChartBlock) and not block.paper:
            return charts.chart_for(block.name, block.data, _title(block.caption))
    raise DataError(f"{result.measure} has no chart; see .summary()")


def assessment_chart(assessment: Any, *, internal: bool = False) -> Any:
    """Altair chart of an assessment: the main figures of each intruder, or every chart of a release's report."""
    internal = internal or exact_shown.get()
    if _is_release(assessment):
        sections = release_page.lay_out_release(release_page.plain_release(assessment, internal=internal)).sections
        return _drawn((block, "") for section in sections for block in section.blocks)
    plain = protect(build_document(assessment), internal=internal)
    several = len(plain["intruders"]) > 1
    return _drawn(
        (block, f"{intruder['name']}: " if several else "")
        for intruder in plain["intruders"]
        for place, view in views_of(intruder)
        if view.figures(intruder, place)
        for block in view.blocks(intruder, place)
    )


def _drawn(blocks: Iterable[tuple[Block, str]]) -> Any:
    return charts.charts_for(
        [
            (block.name, block.data, _title(start + block.caption))
            for block, start in blocks
            if isinstance(block, ChartBlock) and not block.paper
        ]
    )


def _title(caption: str) -> str:
    """Title of a chart, marked where the session shows exact figures."""
    return f"{EXACT} {caption}" if exact_shown.get() else caption


def _is_release(shown: Any) -> bool:
    return getattr(shown, "schema", "") == release_page.RELEASE_SCHEMA


def notebook_html(shown: Any) -> str:
    """Give an assessment or a result as a piece of HTML for a notebook: tables, protected unless the session says else.

    For a file of fewer than 50 records only a line that says where the figures are.
    """
    internal = exact_shown.get()
    mark = EXACT if internal else ""
    try:
        if _is_release(shown):
            plain = release_page.plain_release(shown, internal=internal)
            return render_fragment(headline(plain), release_page.release_answer(plain).blocks, note=mark)
        if hasattr(shown, "intruders"):
            plain = protect(build_document(shown), internal=internal)
            return render_fragment(headline(plain), answer_section(plain).blocks, note=mark)
        return render_fragment("", result_blocks(protect(result_document(shown), internal=internal)), note=mark)
    except DataError as error:
        return render_fragment("", [], note=f"{error} In the session, .summary() gives exact figures.")


def recipe_html(done: Any) -> str:
    """HTML of what a recipe did, step by step."""
    internal = exact_shown.get()
    try:
        blocks = recipe_chapter.recipe_section(recipe_chapter.plain_recipe(done, internal=internal)).blocks
    except DataError as error:
        return render_fragment("", [], note=str(error))
    return render_fragment("What was done", blocks, note=EXACT if internal else "")


def map_html(recipe_map: Any) -> str:
    """HTML table of the recipes of a map: arguments, risk and loss."""
    internal = exact_shown.get()
    try:
        plain = map.plain_map(recipe_map, internal=internal)
    except DataError as error:
        return render_fragment("", [], note=str(error))
    return render_fragment("", [map.map_table(plain)], note=EXACT if internal else "")


# Blocks for the terminal: those of the exact documents, for the analyst's own session.


def recipe_blocks(done: WhatWasDone) -> list[Block]:
    """Blocks of what a recipe did, step by step, with exact figures."""
    return list(recipe_chapter.recipe_section(recipe_chapter.plain_recipe(done, internal=True)).blocks)


def screen_page(assessment: Assessed, *, full: bool = True) -> Page:
    """Document of an assessment with exact figures, without the list of records at risk; shortened unless `full`."""
    shown: Any = assessment
    release = shown.schema == release_page.RELEASE_SCHEMA
    plain = (
        release_page.plain_release(shown, internal=True) if release else protect(build_document(shown), internal=True)
    )
    return release_page.page_of(plain) if full else shorten(release_page.page_of(plain), plain)


def screen_blocks(*results: Any) -> list[Block]:
    """Blocks of single results with exact figures."""
    plains = [protect(result_document(result), internal=True) for result in results]
    together = {place: tree for plain in plains for place, tree in plain.items()}
    return [block for plain in plains for block in result_blocks(plain, beside=together)]


# HTML fragments with charts for the app: protected, or exact under a mark. Everything goes through the gate of the
# documents (`report.gate.protect`): nothing else prints a figure.


TOO_FEW = "Switch to exact figures to see them: they must not leave the room."


def result_html(*results: Any, exact: bool = False, language: str = "en", title: str = "") -> str:
    """HTML of results, each as its view lays it out, one below the other."""

    def made() -> Plain:
        plains = [protect(result_document(result), internal=exact) for result in results]
        return {"each": plains, "together": {place: tree for plain in plains for place, tree in plain.items()}}

    def laid(plain: Plain) -> list[Section]:
        beside = plain["together"]
        blocks = [block for document in plain["each"] for block in result_blocks(document, beside=beside)]
        return [Section(title, tuple(blocks))]

    return document_html(made, laid, exact=exact, language=language)


def document_html(
    make: Callable[[], Plain], laid: Callable[[Plain], Sequence[Section]], *, exact: bool = False, language: str = "en"
) -> str:
    """HTML of the protected figures that `make` returns, laid out by `laid`; a refusal is shown as a warning."""
    try:
        plain = make()
        return sections_html(laid(plain), exact=exact, language=language, plain=plain)
    except DataError as error:
        if exact:
            raise
        warning = (Paragraph(str(error).removesuffix(USE_INTERNAL), "warning"), Paragraph(TOO_FEW))
        return sections_html([Section("", warning)], language=language)


def sections_html(
    sections: Sequence[Section], *, exact: bool = False, language: str = "en", plain: Plain | None = None
) -> str:
    """HTML of laid-out sections below a heading of level 2; names in `plain` are not translated."""
    lower = [replace(section, level=section.level + 1) for section in sections]
    return render_sections(
        _translated(lower, language, plain or {}), note=wording.say(EXACT, language) if exact else "", language=language
    )


def warned_html(text: str, language: str = "en") -> str:
    """HTML of a warning in the place of figures."""
    return sections_html([Section("", (Paragraph(text, "warning"),))], language=language)


def verdict_html(plain: Plain, *, of: str = "", exact: bool = False, language: str = "en") -> str:
    """HTML of the verdict of a protected document, with every limit folded away, for the top of a page.

    `of`: what it is about, shown above it.
    """
    line = Section("", (Paragraph(headline(plain), f"headline {_state(plain)}"),))
    about = f'<p class="none">{escape(wording.say(of, language))}</p>' if of else ""
    verdict = about + sections_html([line], exact=exact, language=language, plain=plain)
    if not plain["verdicts"]:
        return verdict
    every = sections_html([Section("", (verdicts_block(plain),))], language=language, plain=plain)
    summary = escape(wording.say("Every limit", language))
    return f"{verdict}<details><summary>{summary}</summary>{every}</details>"


def _state(plain: Plain) -> str:
    return STATES[plain["passed"]] if plain["verdicts"] else "open"


def _translated(sections: Sequence[Section], language: str, plain: Plain) -> Sequence[Section]:
    return translate(Page("", "", None, "open", "", sections, ""), language, names_of(plain)).sections


# The log of a protection step, with small counts hidden as in every document.


def change_html(change: Mapping[str, Any], *, exact: bool) -> str:
    """HTML of a change for a notebook, from its `to_dict`."""
    rows = tuple((name, _text(count)) for name, count in change["changed"].items())
    blocks: list[Block] = [
        TableBlock(f"Values changed, of {_text(change['n'])} records", ("variable", "changed"), rows, numeric=(1,)),
        *(Paragraph(f"{name}: {_text(note)}") for name, note in change["notes"].items()),
    ]
    return render_fragment(str(change["method"]), blocks, note=EXACT if exact else "")


def _text(leaf: Any) -> str:
    if isinstance(leaf, Mapping):
        return str(leaf["text"])
    return f"{leaf:,}" if isinstance(leaf, int) else str(leaf)


def protected_change(n: int, changed: Mapping[str, int], notes: Mapping[str, str]) -> dict[str, Any]:
    """Records, values changed by variable, and notes, as `protect` prints them; no counts for a small file.

    Examples
    --------
    >>> found = protected_change(1003, {"age": 2, "region": 128}, {})
    >>> {name: leaf["text"] for name, leaf in found["changed"].items()}, found["n"]["text"]
    ({'age': '<5', 'region': '130'}, '1,005')
    """
    if n < SMALLEST_FILE:
        return {
            "n": {"text": f"<{SMALLEST_FILE}", "value": None, "below": SMALLEST_FILE},
            "changed": {name: dict(WITHHELD) for name in changed}, "notes": {},
        }  # fmt: skip
    ledger = Ledger()
    tree: dict[str, Tree] = {"n": ledger.count("n", n, "n")}
    counts: dict[str, Tree] = {}
    for number, (name, count) in enumerate(changed.items()):
        counts[name] = ledger.count(f"v{number}", count, "changed")
        ledger.nested("n", f"v{number}")
    tree["changed"] = counts
    tree["notes"] = {name: Foreign(note) for name, note in notes.items()}
    plain = protect(Document(tree, ledger.variables, tuple(ledger.relations), n))
    return {name: plain[name] for name in ("n", "changed", "notes")}

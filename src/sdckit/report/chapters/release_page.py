"""The page of a release: answer, before and after, re-identification, attribute disclosure, utility, attacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sdckit.report.blocks import Block, Facts, Page, Paragraph, Section, TableBlock
from sdckit.report.chapters import page
from sdckit.report.chapters.attacks_chapter import attack_blocks
from sdckit.report.chapters.coverage_chapter import coverage_sections
from sdckit.report.chapters.decision import CONTRIBUTIONS, drawn_of
from sdckit.report.chapters.promise_chapter import promise_section
from sdckit.report.chapters.recipe_chapter import recipe_section
from sdckit.report.chapters.release_document import (
    RELEASE_SCHEMA,
    base_name,
    recoded_blocks,
    recoded_facts,
    usefulness_note,
)
from sdckit.report.chapters.sentences import listed
from sdckit.report.chapters.utility_chapter import utility_blocks
from sdckit.report.common_blocks import bars, below, with_rule, without_rule
from sdckit.report.estimates import USEFULNESS
from sdckit.report.rates import ATTACKS
from sdckit.report.shares import LEARNING, MATCHING, MOST_COLUMNS, by_release, release_heads
from sdckit.report.subgroups import subgroup_blocks
from sdckit.report.view import Plain, view_of


def page_of(plain: Plain) -> Page:
    """Lay out a protected assessment of one file, or of a release beside its original."""
    if plain["schema"] != RELEASE_SCHEMA:
        return page.lay_out(_merged(plain))
    labels = {"labels": plain.get("labels", {})}
    released = [_merged({**release, **labels}) for release in plain["released"]]
    return lay_out_release({**plain, "original": _merged(plain["original"]), "released": released})


def _merged(plain: Plain) -> Plain:
    """A file with measures that are equal under both rules for missing values merged, and the labels of its columns."""
    labels = plain.get("labels", {})
    return {
        **plain,
        "intruders": [{**page.once_where_equal(intruder), "labels": labels} for intruder in plain["intruders"]],
    }


def lay_out_release(plain: Plain) -> Page:
    """Page of the protected figures of a release; only texts are computed here."""
    several = len(plain["intruders"]) > 1
    sections = [release_answer(plain), page.scenario_section(plain), _files(plain), *coverage_sections(plain)]
    if "promise" in plain:
        sections.insert(1, promise_section(plain["promise"]))
    if "what_was_done" in plain:
        sections.append(recipe_section(plain["what_was_done"]))
    known: list[str] = []
    for number, intruder in enumerate(plain["intruders"]):
        heading = f"Intruder “{intruder['name']}”" if several else "Who can be recognised, and what would be learnt"
        sections.append(Section(heading, (Paragraph(f"Known to the intruder: {listed(intruder['keys'])}."),)))
        sections.append(Section("Before and after", tuple(before_and_after(plain, number)), 3))
        sections += [Section(title, tuple(blocks), 3) for title, blocks in _measure_blocks(intruder).items()]
        if len(plain["released"]) == 1:
            sections += _release_sections(plain, number, known)
            known += intruder["keys"]
    if plain["utility"] is not None:
        blocks = (*usefulness_note(plain), *utility_blocks(plain["utility"]))
        sections.append(Section(USEFULNESS, blocks))
    if plain.get("attacks") is not None:
        sections.append(Section(ATTACKS, tuple(attack_blocks(plain["attacks"], several=several))))
    measured = [*plain["intruders"], *(plain["released"][0]["intruders"] if len(plain["released"]) == 1 else ())]
    sections += page.not_measured([*measured, *([plain["utility"]] if plain["utility"] is not None else [])])
    sections = [*page.without_repeats(sections), page.methods_section(plain)]
    m = len(plain["released"])
    return page.headed_page(plain, "A release" if m == 1 else f"{m} releases", sections)


def _release_sections(plain: Plain, number: int, known: Sequence[str]) -> list[Section]:
    """Sections on the release alone; the levels of keys in `known` are left out: they are in an earlier section."""
    intruder = plain["released"][0]["intruders"][number]
    alone = page.intruder_sections(intruder, heading="", without=_left_out(plain, intruder["name"]), known=known)[1:]
    return [
        replace(section, title=f"In the release: {section.title[0].lower()}{section.title[1:]}", paper=True)
        for section in alone
    ]


def _left_out(plain: Plain, intruder: str) -> tuple[str, ...]:
    """Measures to leave out: the contributions of the keys, unless a limit is exceeded for the intruder."""
    beyond = any(
        verdict["intruder"] == intruder and verdict["holds"]["value"] is False for verdict in plain["verdicts"]
    )
    return () if beyond else (CONTRIBUTIONS,)


def release_answer(plain: Plain) -> Section:
    """Section with the question, the verdict on every limit, an answer per intruder, and the warnings."""
    who = listed([f"an intruder who knows {listed(intruder['keys'])}" for intruder in plain["intruders"]], "and for")
    release = "this release" if len(plain["released"]) == 1 else f"these {len(plain['released'])} releases"
    blocks: list[Block] = [
        Paragraph(f"Can {release} go out? The question is asked for {who}, with the original beside it."),
        *page.release_type(plain),
    ]
    several = len(plain["intruders"]) > 1
    if plain["verdicts"]:
        blocks.append(page.verdicts_block(plain))
    for intruder in plain["intruders"]:
        measures = intruder["measures"]
        answers = (view_of(place).answer(measures, place, plain["n"]) for place in measures)
        start = f"Intruder “{intruder['name']}”: " if several else ""
        if words := " ".join(filter(None, answers)):
            blocks.append(Paragraph(start + words))
    blocks += [Paragraph(f"Warning: {text}", "warning") for text in plain["warnings"]]
    return Section("The answer in full", tuple(blocks))


def _files(plain: Plain) -> Section:
    sizes = listed([count["text"] for count in plain["n_released"]])
    together = "row by row" if plain["aligned"] else "not declared"
    items = (
        ("Records of the original", plain["n"]["text"]),
        ("Records of the release" + ("s" if len(plain["released"]) > 1 else ""), sizes),
        ("Rows that belong together", together),
        ("Columns used", str(plain["scenario"]["n_columns"])),
        *recoded_facts(plain),
        *page.checksums(plain),
    )
    return Section("Files", (Facts(items), *recoded_blocks(plain)), paper=not plain.get("recoded"))


def before_and_after(plain: Plain, number: int) -> list[Block]:
    """Tables and chart of the one-file figures: the original beside every release."""
    files = [file["intruders"][number] for file in (plain["original"], *plain["released"])]
    before, *after = page.figures_of(files)
    rows = [("Records", plain["n"]["text"], *by_release(list(plain["n_released"])))]
    rows += [(words, leaf["text"], *by_release([file.get(words) for file in after])) for words, leaf in before.items()]
    m = len(after)
    heads = ("Figure", base_name(plain), *release_heads(m))
    tables = _by_rule("The original and the release", heads, rows)
    small = below(drawn_of(plain))  # the row of the table that is drawn, too
    collected = plain["collected"].get(plain["intruders"][number]["name"])
    recoded = collected and (before.get(with_rule(small, collected["rule"])) or before.get(small))
    if recoded:
        tables.append(
            Paragraph(
                f"{small} with the same keys: {collected['below']['text']} in the original as it was collected, "
                f"{recoded['text']} once it is as coarse as the release."
            )
        )
    drawn = [words for words in before if words == small or words.startswith(f"{small} (")]
    if not drawn or m > MOST_COLUMNS:
        return tables
    labelled = list(zip(heads[1:], (before, *after), strict=True))
    bars_of = [
        (label + words.removeprefix(small), file[words]) for words in drawn for label, file in labelled if words in file
    ]
    if collected:
        bars_of = [(with_rule("Original as collected", collected["rule"]), collected["below"]), *bars_of]
    caption = f"{small} with the same keys, before and after"
    return [*tables, bars(caption, "records", bars_of, aside=True)]


def _by_rule(caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[Block]:
    """A table per rule for missing values; figures without a rule are in the first."""
    by_rule: dict[str, list[tuple[str, ...]]] = {}
    for words, *figures in rows:
        name, rule = without_rule(words)
        by_rule.setdefault(rule, []).append((name, *figures))
    plain = by_rule.pop("", []) if len(by_rule) > 1 else []
    numeric = tuple(range(1, len(heads)))
    tables: list[Block] = []
    for rule, some in by_rule.items():
        tables.append(TableBlock(with_rule(caption, rule), tuple(heads), (*plain, *some), numeric))
        plain = []
    return tables


def _measure_blocks(intruder: Plain) -> Mapping[str, list[Block]]:
    """Blocks of the two-file measures by the heading of their section; the variables of a measure are kept together."""
    measures = [place.partition(":")[0] for place in intruder["measures"]]
    by_title: dict[str, list[Block]] = {MATCHING: [], LEARNING: []}
    for place in sorted(intruder["measures"], key=lambda place: measures.index(place.partition(":")[0])):
        view = view_of(place)
        blocks = (*view.blocks(intruder["measures"], place), *subgroup_blocks(intruder, place))
        by_title.setdefault(view.title, []).extend(blocks)
    return {title: blocks or [Paragraph("Not measured: see below.")] for title, blocks in by_title.items()}

"""The page of one file: the answer first, then the scenario, the file, each intruder, the methods."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from sdckit.data.packaged import packaged
from sdckit.report import blocks as kinds, subgroups
from sdckit.report.chapters import coverage_chapter, decision, sentences as worded
from sdckit.report.chapters.sentences import headline, listed
from sdckit.report.common_blocks import bars, by_rule, figure, share_head, texts, with_rule
from sdckit.report.view import Plain, find_view, view_of, views_of

# Glossary: the terms that occur in a document, each explained once.


@cache
def terms() -> tuple[tuple[str, str, str], ...]:
    """Terms of the glossary: name, regular expression that finds it in a text, explanation."""
    return tuple((term["name"], term["seen"], term["means"]) for term in packaged("report/words/glossary.toml")["term"])


def glossary(sections: Sequence[kinds.Section]) -> list[kinds.Section]:
    """Section that explains the terms occurring in `sections`; empty if there are none."""
    text = "\n".join(texts_of(sections))
    known = tuple((term, words, "") for term, how, words in terms() if re.search(how, text, re.IGNORECASE))
    return [kinds.Section("Glossary", (kinds.Entries(known),), paper=True)] if known else []


def texts_of(sections: Iterable[kinds.Section]) -> Iterator[str]:
    """All texts of sections except code."""
    for section in sections:
        yield section.title
        for block in section.blocks:
            yield from _texts(block)


def _texts(block: kinds.Block) -> Iterator[str]:
    if isinstance(block, kinds.Paragraph):
        yield block.text
    elif isinstance(block, kinds.Tables):
        for table in block.items:
            yield from _texts(table)
    elif isinstance(block, kinds.TableBlock):
        yield from (block.caption, *block.columns, *(cell for row in block.rows for cell in row))
    elif isinstance(block, kinds.ChartBlock):
        yield from (block.caption, *(str(row.get("label", "")) for row in block.data.get("rows", ())))
    elif isinstance(block, kinds.Facts | kinds.Entries | kinds.Verdicts):
        yield from (text for item in block.items for text in item)
    elif isinstance(block, kinds.Items):
        yield from block.items
    elif not isinstance(block, kinds.Code):
        yield from (label for label, _ in block.items)


# Blocks that are the same for several intruders are shown once, where they first occur.


def without_repeats(sections: Sequence[kinds.Section]) -> list[kinds.Section]:
    """Drop blocks that occurred under the same heading before; a note refers from a table or chart to the first.

    Examples
    --------
    >>> table = kinds.TableBlock("Households by size", ("Members", "Households"), (("1", "40"),))
    >>> ones = [kinds.Section("Households", (table, kinds.Paragraph(f"{n} are alone.")), 3) for n in (5, 10)]
    >>> [block.kind for one in without_repeats(ones) for block in one.blocks]
    ['table', 'paragraph', 'paragraph', 'paragraph']
    """
    seen: set[tuple[str, str]] = set()
    shown = []
    for section in sections:
        names = [(section.title, repr(block)) for block in section.blocks]
        again = [name in seen and _may_be_dropped(block) for name, block in zip(names, section.blocks, strict=True)]
        seen.update(names)
        shown.append(_without_repeated_blocks(section, again) if any(again) and not all(again) else section)
    return shown


def _may_be_dropped(block: kinds.Block) -> bool:
    """Whether a repeated block may be dropped: tables, charts, and paragraphs without digits."""
    if isinstance(block, kinds.Paragraph):
        return not any(letter.isdigit() for letter in block.text)
    return isinstance(block, kinds.ChartBlock | kinds.TableBlock)


def _without_repeated_blocks(section: kinds.Section, again: Sequence[bool]) -> kinds.Section:
    """Section without its repeated blocks; a note replaces each table or chart."""
    blocks: list[kinds.Block] = []
    for block, gone in zip(section.blocks, again, strict=True):
        if not gone:
            blocks.append(block)
        elif isinstance(block, kinds.ChartBlock | kinds.TableBlock) and _is_always_shown(block):
            blocks.append(kinds.Paragraph(f"{block.caption}: as above.", "note"))
    return replace(section, blocks=tuple(blocks))


def _is_always_shown(block: kinds.ChartBlock | kinds.TableBlock) -> bool:
    """Whether every format shows the block: not a table behind a chart, not a chart set aside."""
    return not (block.aside if isinstance(block, kinds.ChartBlock) else block.behind)


# Main figures of intruders or files side by side, and measures that are equal under both rules for missing values.


# The label of figures that are the same under both rules.
EITHER = "wildcard, missing as category"
TWINS = ("_category", "_wildcard")


def figures_of(trees: Sequence[Plain]) -> list[dict[str, Plain]]:
    """Main figures of intruders or files, side by side: for each a dict from label to printed leaf.

    If one of them was measured under both rules for missing values, a file without missing values has the same
    figures under both.
    """
    columns: list[dict[str, Plain]] = [{} for _ in trees]
    places = dict.fromkeys(place for tree in trees for place, view in views_of(tree))
    for place in places:
        view = view_of(place)
        rules = dict.fromkeys(rule for tree in trees if tree.get(place) for rule, _ in by_rule(tree, place))
        if len(rules) > 1:
            rules.pop("", None)
        for tree, figures in zip(trees, columns, strict=True):
            at = dict(by_rule(tree, place)) if tree.get(place) else {}
            for rule in rules if at else ():
                for words, leaf in view.figures(tree, at.get(rule, at.get("", place))).items():
                    figures[with_rule(words, rule)] = leaf
    return columns


def once_where_equal(tree: Plain) -> Plain:
    """Merge the results of a measure under both rules for missing values where all printed figures are equal."""
    merged = dict(tree)
    for place in tree:
        for twin in (f"{place}{ending}" for ending in TWINS):
            if tree.get(twin) and _printed_part(tree[place]) == _printed_part(tree[twin]):
                merged.pop(twin)
                if isinstance(tree[place].get("rule"), str):  # a tree by variable names none
                    merged[place] = {**tree[place], "rule": EITHER}
    return merged


def _printed_part(tree: Any) -> Any:
    """A tree without its rule and its notes, for comparison."""
    if isinstance(tree, Mapping):
        return {name: _printed_part(part) for name, part in tree.items() if not _is_rule_or_notes(name, part)}
    return [_printed_part(part) for part in tree] if isinstance(tree, list | tuple) else tree


def _is_rule_or_notes(name: str, part: Any) -> bool:
    """Whether an entry is the notes or the rule; a mapping is neither: it belongs to a variable of that name."""
    return name == "notes" or (name == "rule" and not isinstance(part, Mapping))


# Records at risk shown on a page; the JSON has all that are listed.
MOST_ROWS = 200
STATES = {True: "pass", False: "fail", None: "open"}
RULES = {"wildcard": "may be any value", "category": "a value of its own", "error": "not allowed"}


def lay_out(plain: Plain) -> kinds.Page:
    """Page of a protected assessment; only texts are computed here."""
    several = len(plain["intruders"]) > 1
    sections = [answer_section(plain)]
    if several:
        sections.append(compared_section(plain))
    sections += [scenario_section(plain), _file(plain), *coverage_chapter.coverage_sections(plain)]
    known: list[str] = []
    for intruder in plain["intruders"]:
        heading = worded.intruder_heading(intruder["name"], several=several)
        sections += intruder_sections(intruder, heading=heading, known=known)
        known += intruder["keys"]
    sections += not_measured(plain["intruders"])
    if plain.get("records_at_risk"):
        sections.append(records_section(plain))
    sections = [*without_repeats(sections), methods_section(plain)]
    return headed_page(plain, "Disclosure risk", sections)


def headed_page(plain: Plain, what: str, sections: Sequence[kinds.Section]) -> kinds.Page:
    """Put a title, the answer and a footer around sections; `what` was assessed, in words."""
    version = plain["package"]["version"]
    return kinds.Page(
        plain["title"],
        f"{what} of {plain['n']['text']} records, assessed on {plain['date']} with sdckit {version}",
        plain["confidential"],
        STATES[plain["passed"]] if plain["verdicts"] else "open",
        headline(plain),
        (*sections, *glossary(sections)),
        f"sdckit {version}, {plain['date']}. " + protection_words(plain),
        tuple(decision.decision_sections(plain)),
    )


def protection_words(plain: Plain) -> str:
    """Say whether the figures are exact."""
    if plain["confidential"]:
        return "Exact figures: this document must not leave the room."
    return "Small counts are hidden and all counts rounded; parts may not add up to their total."


def answer_section(plain: Plain) -> kinds.Section:
    """The answer in full on one file."""
    asked = "Can this file go out? The question is asked for {who}."
    if "left_to_office" in plain:
        asked = "What can be learnt from this release is asked for {who}."
    return answered(plain, asked, worded.answer)


def answered(plain: Plain, question: str, answer_for: Callable[[Plain, Plain], str]) -> kinds.Section:
    """Section with the question, the verdict on every limit, an answer per intruder, and the warnings."""
    who = listed([f"an intruder who knows {listed(intruder['keys'])}" for intruder in plain["intruders"]], "and for")
    several = len(plain["intruders"]) > 1
    blocks: list[kinds.Block] = [kinds.Paragraph(question.format(who=who)), *release_type(plain)]
    if plain["verdicts"]:
        blocks.append(verdicts_block(plain))
    answers = ((intruder["name"], answer_for(intruder, plain["n"])) for intruder in plain["intruders"])
    blocks += [kinds.Paragraph(worded.of_intruder(name, words, several=several)) for name, words in answers if words]
    blocks += [kinds.Paragraph(f"Warning: {text}", "warning") for text in plain["warnings"]]
    return kinds.Section("The answer in full", tuple(blocks))


def release_type(plain: Plain) -> list[kinds.Block]:
    """Say what the file is released as, where the scenario names a type; else which columns have no role."""
    columns = plain["column_roles"]
    sentences = [worded.release_sentence(plain["scenario"]), columns["line"] if columns else ""]
    return [kinds.Paragraph(sentence) for sentence in sentences if sentence]


def verdicts_block(plain: Plain) -> kinds.Verdicts:
    """Every limit, with its intruder and its release where there are several."""
    several = len(plain["intruders"]) > 1
    rows = (
        (
            worded.status(verdict["holds"]["value"]), verdict["intruder"] if several else "",
            (f"Release {verdict['release']}: " if verdict.get("release") else "")
            + worded.verdict_sentence(verdict, plain["n"]),
        )
        for verdict in plain["verdicts"]
    )  # fmt: skip
    return kinds.Verdicts(tuple(rows))


def compared_section(plain: Plain) -> kinds.Section:
    """The main figures of all intruders in one table."""
    intruders = plain["intruders"]
    names = tuple(intruder["name"] for intruder in intruders)
    columns = figures_of(intruders)
    words = dict.fromkeys(label for figures in columns for label in figures)
    blank = {"text": "not tested"}
    rows = (
        ("Keys", *(listed(intruder["keys"]) for intruder in intruders)),
        *((label, *(figures.get(label, blank)["text"] for figures in columns)) for label in words),
    )
    table = kinds.TableBlock("The intruders side by side", ("Figure", *names), rows, tuple(range(1, len(names) + 1)))
    return kinds.Section("Intruders side by side", (table,))


def intruder_sections(
    intruder: Plain, *, heading: str, without: Sequence[str] = (), known: Sequence[str] = ()
) -> list[kinds.Section]:
    """Sections of one intruder, except the measures `without`.

    The levels of keys in `known` are left out: they are in the section of an earlier intruder.
    """
    return [
        kinds.Section(heading, (kinds.Paragraph(f"Known to the intruder: {listed(intruder['keys'])}."),)),
        kinds.Section("Keys and their levels", tuple(_keys(intruder, known)), 3),
        *measure_sections(intruder, without=without),
    ]


def not_measured(trees: Sequence[Plain]) -> list[kinds.Section]:
    """Table of the measures that did not run: the section of each, its name, the reason.

    One row for all intruders and files concerned.
    """
    who: dict[tuple[str, str], list[str]] = {}
    for tree in trees:
        for row in tree["skipped"]:
            who.setdefault((row["measure"], row["reason"]), []).append(tree.get("name", ""))
    names = list(dict.fromkeys(tree["name"] for tree in trees if tree.get("name")))
    rows = []
    for (measure, reason), affected in who.items():
        named = list(dict.fromkeys(filter(None, affected)))
        why = f"{reason} ({listed(named)})" if 0 < len(named) < len(names) else reason
        view = find_view(measure)
        rows.append((view.title if view else measure, measure.replace(":", ", "), why))
    table = kinds.TableBlock("Measures that did not run, and why", ("Section", "Measure", "Reason"), tuple(rows))
    return [kinds.Section("Not measured", (table,))] if rows else []


def measure_sections(tree: Plain, *, without: Sequence[str] = ()) -> list[kinds.Section]:
    """A section per measure except those in `without`; consecutive measures with the same heading share a section."""
    sections: list[kinds.Section] = []
    for place, view in views_of(tree):
        if place in without:
            continue
        blocks = (*view.blocks(tree, place), *subgroups.subgroup_blocks(tree, place))
        if sections and sections[-1].title == view.title:
            blocks = (*sections.pop().blocks, *blocks)
        sections.append(kinds.Section(view.title, blocks, 3))
    return sections


def _keys(intruder: Plain, known: Sequence[str]) -> list[kinds.Block]:
    inside = any("n_levels" in key for key in intruder["key_facts"])
    rows = tuple(
        (
            worded.labelled(intruder, [key["name"]])[0],
            key["kind"],
            *([f"{key['n_levels']:,}"] if inside else []),
            f"{key['levels_of_5_or_more']:,}",
            *texts(key["n_missing"], key["missing_rate"]),
            RULES.get(key["missing"], key["missing"]),
        )
        for key in intruder["key_facts"]
    )
    levels = ("Levels",) if inside else ()
    columns = ("Key", "Type", *levels, "Levels with 5 or more records", "Missing", "Missing rate", "A missing value")
    new = [key for key in intruder["key_facts"] if key["name"] not in known]
    again = listed([key["name"] for key in intruder["key_facts"] if key["name"] in known])
    before = f" Those of {again} stand above." if again else ""
    order = kinds.Paragraph(f"The levels of each key, the most frequent first.{before}", "paper")
    numeric = tuple(range(2, len(columns) - 1))
    tables = [kinds.Tables(tuple(map(_levels, new)))] if new else []
    return [kinds.TableBlock("Keys", columns, rows, numeric), order, *tables]


def level_charts(keys: Sequence[Plain]) -> list[kinds.Block]:
    """Draw the levels of keys, numbers in their order, else the most frequent first, with the table behind each."""
    drawn: list[kinds.Block] = []
    for key in keys:
        shown = [row for row in key["level_counts"] if not row.get("pooled")]
        pooled = [("all other levels", row["n"]) for row in key["level_counts"] if row.get("pooled")]
        rows = [*((row["level"], row["n"]) for row in sorted(shown, key=_level_order(shown))), *pooled]
        drawn += figure(bars(f"Levels of {key['name']}", "records", rows), _levels(key))
    return drawn


def _level_order(rows: Sequence[Plain]) -> Callable[[Plain], float]:
    """Sorting key for levels: their number if all are numbers, else the given order."""
    try:
        numbers = {row["level"]: float(row["level"]) for row in rows}
    except ValueError:
        return lambda _: 0.0  # as they come
    return lambda row: numbers[row["level"]]


def _levels(key: Plain) -> kinds.TableBlock:
    rows = tuple(
        ("all other levels" if row.get("pooled") else row["level"], *texts(row["n"], row["rate"]))
        for row in key["level_counts"]
    )
    share = share_head(row["rate"] for row in key["level_counts"])
    return kinds.TableBlock(f"Levels of {key['name']}", ("Level", "Records", share), rows, (1, 2))


NO_HOUSEHOLD = "none: nobody in the file lives together with another"


def scenario_section(plain: Plain) -> kinds.Section:
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
    items = [
        *((_keys_of(name, tree), listed(worded.labelled(plain, keys))) for name, keys in tree["intruders"].items()),
        ("Sampling", design),
        ("Household", tree["household"] or (NO_HOUSEHOLD if "household" in tree["stated_none"] else "not declared")),
        ("Person", tree["person"] or "one record per person"),
        *([("Time", tree["time"])] if tree["time"] else []),
        *([("Known of the rows of another file", listed(tree["children"]["keys"]))] if tree["children"] else []),
        ("Sensitive variables", listed(worded.labelled(plain, tree["sensitive"])) or "none declared"),
        ("Direct identifiers, in no figure", listed(tree["identifiers"]) or "none declared"),
        *_insensitive(tree),
        ("Limits", listed(worded.limits_words(tree)) or "none declared"),
        ("A missing key value", f"{rule}, alpha {tree['alpha']:g}"),
        ("Codes for missing", listed(tree["missing_codes"]) or "none declared"),
        ("Release", tree["release_words"]),
        *([("Guessed, not confirmed", listed(tree["unconfirmed"]))] if tree["unconfirmed"] else []),
    ]
    return kinds.Section("Scenario", (kinds.Facts(tuple(items)),), paper=True)


def _insensitive(tree: Plain) -> list[tuple[str, str]]:
    """Row of the columns known to nobody, with the reason given."""
    if not tree["insensitive"]:
        return []
    because = f" ({tree['insensitive_because']})" if tree["insensitive_because"] else ""
    return [("Insensitive", listed(tree["insensitive"]) + because)]


def _keys_of(name: str, tree: Plain) -> str:
    return f"Keys of “{name}”" if len(tree["intruders"]) > 1 else "Keys"


def checksums(plain: Plain) -> tuple[tuple[str, str], ...]:
    """Names and checksums of the files assessed; only a confidential document has them."""
    return tuple((f"SHA-256 of {file['file']}", file["sha256"]) for file in plain.get("files", ()))


def _file(plain: Plain) -> kinds.Section:
    items = (
        ("Records", plain["n"]["text"]),
        ("Columns used", str(plain["scenario"]["n_columns"])),
        ("Tabulated by", plain["engine"]),
        *checksums(plain),
    )
    return kinds.Section("File", (kinds.Facts(items),), paper=True)


def methods_section(plain: Plain) -> kinds.Section:
    """Say how the figures are computed and how to repeat them."""
    how = tuple((method["name"], method["text"], method["source"]) for method in plain["methods"])
    blocks: tuple[kinds.Block, ...] = (
        kinds.Entries(how),
        kinds.Code("In Python", plain["reproduce"]["python"]),
        kinds.Code("On the command line", plain["reproduce"]["command"]),
        kinds.Code("The scenario, as a file", plain["reproduce"]["scenario"]),
    )
    return kinds.Section("Methods, and how to repeat this", blocks, paper=True)


def records_section(plain: Plain) -> kinds.Section:
    """Show the riskiest records against each intruder, and say how many there are."""
    listing = plain["records_at_risk"]
    blocks: list[kinds.Block] = [kinds.Paragraph(plain["confidential"], "warning")]
    for name, numbers in listing["intruders"].items():
        rows = [row for row in listing["rows"] if row["intruder"] == name]
        words = _how_many(numbers) if rows else "no record is unique or beyond a limit."
        words = worded.of_intruder(name, words, several=len(listing["intruders"]) > 1)
        blocks.append(_table(rows[:MOST_ROWS], words) if rows else kinds.Paragraph(words))
    return kinds.Section("Records at risk", tuple(blocks), paper=True)


def _how_many(numbers: Plain) -> str:
    listed, total = numbers["listed"], numbers["total"]
    shown = min(listed, MOST_ROWS)
    if shown == total:
        return f"{total:,} record{'' if total == 1 else 's'}, the riskiest first"
    more = f"; the JSON lists {listed:,}" if listed > shown else ""
    return f"{shown:,} of {total:,} records, the riskiest first{more}"


def _table(rows: Sequence[Plain], caption: str) -> kinds.TableBlock:
    # A lazy frame has no row numbers.
    left_out = {"intruder"} | ({"row"} if all(row.get("row") is None for row in rows) else set())
    names = [name for name in rows[0] if name not in left_out]
    cells = tuple(tuple(str(row[name]) if name == "row" else _cell(row[name]) for name in names) for row in rows)
    return kinds.TableBlock(caption, tuple(name.replace("_", " ") for name in names), cells)


def _cell(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} = {'missing' if level is None else level}" for key, level in value.items())
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, int):
        return f"{value:,}"
    return "missing" if value is None else str(value)

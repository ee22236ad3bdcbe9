"""A release beside its original: its document, and the page of it.

The page: answer, before and after, re-identification, attribute disclosure, utility, attacks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sdckit.attacks.attack_rates import concerns
from sdckit.cells.pair import Recoded
from sdckit.data.limits import FOLLOWING, LIMITS
from sdckit.display import displayed, printable
from sdckit.report import conclusions, estimates, rates, setting, subgroups
from sdckit.report.blocks import Block, Facts, Page, Paragraph, Section, TableBlock
from sdckit.report.chapters import decision, document as documents, page, promise_chapter, recipe_chapter
from sdckit.report.chapters.attacks_chapter import attack_blocks, attacks_tree, conclude
from sdckit.report.chapters.coverage_chapter import coverage_sections
from sdckit.report.chapters.sentences import intruder_heading, listed
from sdckit.report.chapters.utility_chapter import moved_warning, utility_blocks, utility_tree
from sdckit.report.common_blocks import bars, below, with_rule, without_rule
from sdckit.report.gate.earlier_documents import Earlier, join
from sdckit.report.gate.figures import Document, Foreign, Holds, Ledger, Quantity, Tree
from sdckit.report.gate.protect import HIDDEN, overall, protect_beside
from sdckit.report.shares import LEARNING, MATCHING, MOST_COLUMNS, ShareView, by_release, release_heads
from sdckit.report.view import Plain, find_view, view_of
from sdckit.utility.utility_overview import RECODED

if TYPE_CHECKING:
    from sdckit.workflow.assessment import IntruderAssessment, ReleaseAssessment
    from sdckit.workflow.verdicts import Verdict


KNOWN = {"recipe": "the recipe given", "log": "the log given", "recognised": "recognised from the two files"}
STANDS_ON = (
    "those of the recoded original: columns coarser in the release by a rule were made so in the original, too; what "
    "the recoding itself takes from risk and usefulness is not counted"
)
NO_KEYS_LEFT = "All of it was left out of the release: what is looked at is whether that tells it all the same."
BUT_ROWS = ", but in the rows on recoded variables"


def recoded_tree(recoded: Sequence[Recoded]) -> tuple[dict[str, Tree], ...]:
    """The recoded columns; no values of the data."""
    return tuple({"column": recoding.column, "kind": recoding.kind, "source": recoding.source} for recoding in recoded)


def base_name(plain: Plain) -> str:
    """Heading of the figures that the release is compared with."""
    return "Recoded original" if plain.get("recoded") else "Original"


def recoded_facts(plain: Plain) -> tuple[tuple[str, str], ...]:
    """Row saying that the figures are those of the recoded original; empty if it was not recoded."""
    return (("Figures of the original", f"{STANDS_ON}{_but(plain)}"),) if plain.get("recoded") else ()


def _but(plain: Plain) -> str:
    """What counts the recoding itself, as a part of a sentence; empty if nothing does."""
    return BUT_ROWS if any(row["level"] == RECODED for row in (plain.get("utility") or {}).get("table", ())) else ""


def usefulness_note(plain: Plain) -> list[Block]:
    """Note that the utility figures exclude the recoding itself; empty if nothing was recoded."""
    if not plain.get("recoded"):
        return []
    columns = listed([row["column"] for row in plain["recoded"]])
    says = f"Beside the recoded original: what the recoding of {columns} itself took is not counted{_but(plain)}."
    return [Paragraph(says)]


def recoded_blocks(plain: Plain) -> list[Block]:
    """Table of the recoded columns: the recoding, and how it is known."""
    if not plain.get("recoded"):
        return []
    rows = tuple((row["column"], row["kind"], KNOWN[row["source"]]) for row in plain["recoded"])
    heads = ("Column", "In the original, too", "Known from")
    return [TableBlock("The original, recoded as the release is", heads, rows)]


RELEASE_SCHEMA = "sdckit/release-assessment"
PlainDict = dict[str, Any]
EVERY_ATTACK = LIMITS[conclusions.RESIDUAL].measure
OPEN: PlainDict = {"holds": {"text": "not judged", "value": None, "reason": HIDDEN}, "reason": HIDDEN}


def plain_release(
    assessment: ReleaseAssessment, *, internal: bool = False, beside: Sequence[Earlier] = ()
) -> PlainDict:
    """Protected, JSON-ready figures of a release and its original, as they enter every document.

    Original, releases, comparison and steps share one ledger, since a reader sees the figures of all of them. `beside`
    are the intervals that earlier documents of the original have printed.
    """
    whole = protect_beside(_document(assessment, internal=internal), beside, internal=internal)
    listed = {} if internal else {"quantities": whole.pop("quantities")}
    status = {name: whole[name] for name in ("protected", "confidential")}
    after = [{**status, **release} for release in whole.pop("released")]
    done, comparison, before = whole.pop("what_was_done"), whole.pop("comparison"), whole
    promise = before.pop("promise")
    scenario = assessment.scenario
    declared = assessment.declared or scenario
    asked = assessment.attacks_asked
    attacks = None if comparison["attacks"] is None else conclude(comparison["attacks"])
    verdicts = [
        _verdict(verdict, holds, assessment, after, comparison["intruders"], internal=internal)
        for verdict, holds in zip(assessment.verdicts, comparison.pop("holds"), strict=True)
    ]
    if attacks is not None:
        names = [intruder.name for intruder in assessment.intruders]
        verdicts = [_held_against(verdict, attacks["attacks"], names, internal=internal) for verdict in verdicts]
    how: dict[str, Any] = {
        "id": assessment.id, "m": len(after), "models": assessment.models, "attacks": _attack_mode(assessment),
        "recoding": assessment.recoding, "targets": assessment.targets,
    }  # fmt: skip
    if asked is not None:
        # The seed may be that of the protection, too: only the internal document has it.
        seed = "" if asked.seed is None else str(asked.seed) if internal else "SEED"
        how |= {"n_attacks": asked.n_attacks, "seed": seed}
    return {
        **status,
        "schema": RELEASE_SCHEMA,
        "schema_version": documents.SCHEMA_VERSION,
        "package": before["package"],
        "date": assessment.date,
        "title": displayed(scenario.title) or "Disclosure risk of a release",
        "n": before["n"],
        "n_released": comparison["n_released"],
        "aligned": assessment.aligned,
        "passed": passed(verdicts),
        "verdicts": verdicts,
        "column_roles": comparison["column_roles"],
        "stands_for": comparison["stands_for"],
        "scenario": before["scenario"],
        "intruders": comparison["intruders"],
        "recoded": comparison["recoded"],
        "collected": comparison["collected"],
        "original": before,
        "released": after,
        "utility": comparison["utility"],
        "attacks": attacks,
        "coverage": comparison["coverage"],
        "warnings": [*comparison["warnings"], *filter(None, [moved_warning(comparison["utility"]["moved"])])],
        "methods": [*before["methods"][:-1], *documents.method_notes(_places(assessment), scenario)],
        "reproduce": {
            name: printable(code, lines=True)
            for name, code in {
                **documents.release_calls(declared, assessment.measures, by=assessment.by, **how),
                "scenario": declared.to_toml(),
            }.items()
        },
        **({} if promise is None else {"promise": promise}),
        **({} if done is None else {"what_was_done": {**status, **done}}),
        **listed,
    }


def passed(verdicts: Sequence[PlainDict]) -> bool | None:
    """Whether every printed verdict holds; None if there is none, or one is open and none is exceeded."""
    return overall(verdict["holds"]["value"] for verdict in verdicts)


def _held_against(
    verdict: PlainDict, attacks: Mapping[str, Any], intruders: Sequence[str], *, internal: bool
) -> PlainDict:
    """A verdict with the printed figure of the attack that it is about, and open where that leaves both answers."""
    leaves = _attack_leaves(verdict, attacks, intruders)
    of_one = bool(leaves) and LIMITS[verdict["name"]].measure != EVERY_ATTACK
    value = {"value": max(leaves, key=lambda leaf: _upper_bound(leaf) or 0.0)} if of_one else {}
    return verdict | value | ({} if internal else judged_by_print(verdict, attacks, intruders))


def _attack_leaves(verdict: PlainDict, attacks: Mapping[str, Any], intruders: Sequence[str]) -> list[PlainDict]:
    """The printed figures that a limit on attacks is about: the residual risk of all, or a figure of one measure."""
    kind = LIMITS[verdict["name"]]
    return [
        tree.get(kind.figure, tree[conclusions.RESIDUAL])
        for place, tree in attacks.items()
        if kind.measure in (EVERY_ATTACK, place.partition(":")[0])
        and rates.has_residual_risk(place)
        and concerns(place, verdict["intruder"], intruders)
        and any(release["n_attacks"]["text"] != "0" for release in tree["releases"])
    ]


def judged_by_print(verdict: PlainDict, attacks: Mapping[str, Any], intruders: Sequence[str]) -> PlainDict:
    """Open verdict for a limit on attacks that only a hidden number of successes decides; else empty.

    Otherwise a limit between the risks for one and for two successes would disclose which of them it was.
    """
    if LIMITS[verdict["name"]].judged != "attacks" or verdict["holds"]["value"] is None:
        return {}
    leaves = _attack_leaves(verdict, attacks, intruders)
    limit, holds = verdict["limit"], verdict["holds"]["value"]
    above = any((leaf.get("value") or 0.0) > limit for leaf in leaves)
    within = all(most is not None and most <= limit for most in map(_upper_bound, leaves))
    return {} if (holds and within) or (not holds and above) else OPEN


def shares_by_print(verdict: PlainDict, leaves: Sequence[PlainDict]) -> PlainDict:
    """Open verdict for a limit on a share that only a hidden number decides; else empty.

    A hidden count is at least 1: a limit below the share of one person is exceeded in any case.
    """
    kind = LIMITS[verdict["name"]]
    if kind.least is None or verdict["holds"]["value"] is None:
        return {}
    part = kind.least
    limit, hidden = verdict["limit"], [leaf for leaf in leaves if leaf["value"] is None]
    if all(most is not None and most <= limit for most in map(_upper_bound, hidden)):
        return {}
    least = [leaf["below"] * part for leaf in hidden if "below" in leaf]
    shown = any((leaf["value"] or 0.0) > limit for leaf in leaves)
    none_allowed = limit == 0 and kind.values == "share from 0"  # what is hidden there is one value at least
    if verdict["holds"]["value"] is False and (shown or none_allowed or any(few > limit for few in least)):
        return {}
    return OPEN


def _upper_bound(leaf: PlainDict) -> float | None:
    """Upper bound of a printed residual risk or share; None if there is none."""
    if leaf == conclusions.NOTHING:
        return 0.0
    return leaf["value"] if leaf.get("value") is not None else leaf.get("below")


def _attack_mode(assessment: ReleaseAssessment) -> str:
    """How attacks were simulated: "control" with a control file, "attacks" without one, "" not at all."""
    if assessment.control:
        return "control"
    return "attacks" if assessment.attacks or assessment.attacks_skipped else ""


def _places(assessment: ReleaseAssessment) -> Iterator[str]:
    """Places of all measures and attacks run on both files."""
    for intruder in assessment.intruders:
        yield from intruder.results
    if assessment.utility is not None:
        yield assessment.utility.measure
    yield from assessment.attacks


def _document(assessment: ReleaseAssessment, *, internal: bool) -> Document:
    """One document, with one ledger, of the original, each release, their comparison and the steps."""
    ledger = Ledger()
    base = documents.build_document(assessment.original, internal=internal)
    file = "recoded original" if assessment.recoded else "original"
    tree: dict[str, Tree] = dict(join(ledger, replace(base, base=file)))
    sizes = [release.n for release in assessment.released]
    counts = setting.release_sizes(ledger, sizes)
    judged = [verdict.name for verdict in assessment.verdicts]
    tree |= {"scenario": documents.scenario_tree(assessment.scenario, judged=judged, compared=True)}
    tree["released"] = tuple(
        join(
            ledger, replace(documents.build_document(release), base=f"release {number}"), f"release {number}: ",
            same={"n": f"n.released.{number}"},
        )
        for number, release in enumerate(assessment.released, 1)
    )  # fmt: skip
    tree["comparison"] = {
        "collected": _collected_tree(assessment, ledger),
        "n_released": counts,
        "recoded": recoded_tree(assessment.recoded),
        "intruders": tuple(
            intruder_tree(intruder, number, ledger, sizes) for number, intruder in enumerate(assessment.intruders)
        ),
        "utility": utility_tree(assessment, ledger),
        "attacks": attacks_tree(assessment, ledger),
        "coverage": tuple(assessment.coverage.rows()) or None,
        "warnings": tuple(Foreign(text) for text in assessment.warnings),
        "holds": tuple(
            Holds(verdict.holds, "" if documents.has_no_figure(verdict) else verdict.reason)
            for verdict in assessment.verdicts
        ),
        "column_roles": documents.column_roles_tree(assessment),
        "stands_for": documents.stands_for_tree(assessment.stands_for, ledger),
    }
    done = assessment.what_was_done
    steps = None if done is None else recipe_chapter.recipe_document(done, internal=internal)
    file_of_steps = "n" if assessment.promise is None else "n.released.1"  # steps on records made, none of the original
    tree["what_was_done"] = None if steps is None else join(ledger, steps, "steps: ", same={"n": file_of_steps})
    tree["promise"] = None if assessment.promise is None else promise_chapter.promise_tree(assessment.promise)
    recipe_chapter.link_files(ledger, len(sizes))
    return Document(tree, ledger.variables, tuple(ledger.relations), min(assessment.n, *sizes), file, listed=True)


def _collected_tree(assessment: ReleaseAssessment, ledger: Ledger) -> dict[str, Tree]:
    """Records in small groups of the original as collected, by intruder; recoding only takes records out of them."""
    tree: dict[str, Tree] = {}
    for number, intruder in enumerate(assessment.intruders):
        if (before := assessment.collected.get(intruder.name)) is None:
            continue
        of = Quantity(below(before.k), "original", before.rule, setting.intruder_words(intruder.name, intruder.keys))
        count = ledger.count(f"collected.{number}", before.below, "collected", of=of)
        ledger.nested("n", count.name)
        recoded = f"i{number}.violations.{before.k}"
        if recoded in ledger.variables and (ledger.variables[recoded].true or 0) <= before.below:
            ledger.nested(count.name, recoded)
        tree[intruder.name] = {"k": before.k, "below": count, "rule": before.rule}
    return tree


def intruder_tree(intruder: IntruderAssessment, number: int, ledger: Ledger, sizes: Sequence[int]) -> dict[str, Tree]:
    """Two-file measures of one intruder; `n` and the sizes of the releases are in the ledger already."""
    measures: dict[str, Tree] = {}
    for place, result in intruder.results.items():
        view = find_view(place)
        if view is not None:
            measures[place] = view.tree(result, setting.PairSetting(ledger, f"c{number}", place, sizes))
    return {
        "name": intruder.name,
        "keys": tuple(intruder.keys),
        "measures": measures,
        **subgroups.subgroups_tree(intruder.results, ledger, f"c{number}"),
        "rates": subgroups.rates_tree(intruder.results),
        "skipped": tuple({"measure": name, "reason": Foreign(reason)} for name, reason in intruder.skipped),
    }


def _verdict(
    verdict: Verdict, holds: PlainDict, assessment: ReleaseAssessment, after: Sequence[PlainDict],
    intruders: Sequence[PlainDict], *, internal: bool,
) -> PlainDict:  # fmt: skip
    """A verdict as its release's own document prints it; one on both files from the comparison."""
    blank: PlainDict = {"text": "", "value": None}
    plain: PlainDict = {
        "name": verdict.name, "intruder": verdict.intruder, "variable": verdict.variable, "limit": verdict.limit,
        "holds": holds, "n_records": None, "rate": blank, "n_category": None,
        "n_resting": None, "value": None, "reason": holds.get("reason", ""), "origin": verdict.origin, "release": None,
        "columns": verdict.columns, "points": verdict.points, "single_rows": verdict.single_rows,
        "unmatched": verdict.unmatched, "singly": verdict.singly, "beside": verdict.beside, "keyless": verdict.keyless,
    }  # fmt: skip
    if documents.has_no_figure(verdict):
        return {**plain, "reason": displayed(verdict.reason)}
    if not internal and LIMITS[verdict.name].judged == "worst column":
        plain["variable"] = None  # naming it would disclose the column with the largest exact share
    if leaves := list(_compared_leaves(verdict, intruders)):
        plain["value"] = max(leaves, key=lambda leaf: leaf["value"] or leaf.get("below") or 0)
        return plain | ({} if internal else shares_by_print(plain, leaves))
    for number, (judged, printed) in enumerate(zip(assessment.released, after, strict=True), 1):
        for candidate, text in zip(judged.verdicts, printed["verdicts"], strict=True):
            if candidate == verdict:
                return {**text, "release": number if len(after) > 1 else None}
    return plain


def _compared_leaves(verdict: Verdict, intruders: Sequence[PlainDict]) -> Iterator[PlainDict]:
    """Printed figures of the comparison that a limit is on, per release."""
    kind = LIMITS[verdict.name]
    for intruder in intruders:
        for place, tree in intruder["measures"].items() if intruder["name"] == verdict.intruder else ():
            view, (measure, _, variable) = find_view(place), place.partition(":")
            if isinstance(view, ShareView) and measure == kind.measure and variable in ("", verdict.variable):
                if kind == FOLLOWING:
                    rows = (row for release in tree["releases"] for row in release)
                    yield from (row[kind.figure] for row in rows if row["points"] <= (verdict.points or 1))
                    continue
                names = (kind.figure, kind.otherwise)
                yield from (release[name] for release in tree["releases"] for name in names if name in release)


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
        sections.insert(1, promise_chapter.promise_section(plain["promise"]))
    if "what_was_done" in plain:
        sections.append(recipe_chapter.recipe_section(plain["what_was_done"]))
    known: list[str] = []
    for number, intruder in enumerate(plain["intruders"]):
        heading = intruder_heading(intruder["name"], several=several)
        has_keys = number < decision.with_figures(plain)
        words = [f"Known to the intruder: {listed(intruder['keys'])}.", *([] if has_keys else [NO_KEYS_LEFT])]
        sections.append(Section(heading, tuple(map(Paragraph, words))))
        if has_keys:
            sections.append(Section("Before and after", tuple(before_and_after(plain, number)), 3))
        nothing = [Paragraph("Not measured: see below.")] if has_keys else []
        filled = ((title, blocks or nothing) for title, blocks in _measure_blocks(intruder).items())
        sections += [Section(title, tuple(blocks), 3) for title, blocks in filled if blocks]
        if len(plain["released"]) == 1 and has_keys:
            sections += _release_sections(plain, number, known)
            known += intruder["keys"]
    if plain["utility"] is not None:
        blocks = (*usefulness_note(plain), *utility_blocks(plain["utility"]))
        sections.append(Section(estimates.USEFULNESS, blocks))
    if plain.get("attacks") is not None:
        sections.append(Section(rates.ATTACKS, tuple(attack_blocks(plain["attacks"], several=several))))
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
    return () if beyond else (decision.CONTRIBUTIONS,)


def release_answer(plain: Plain) -> Section:
    """The answer in full on a release beside its original."""
    release = "this release" if len(plain["released"]) == 1 else f"these {len(plain['released'])} releases"
    question = f"Can {release} go out? The question is asked for {{who}}, with the original beside it."
    return page.answered(plain, question, _measured_answer)


def _measured_answer(intruder: Plain, n: Plain) -> str:
    measures = intruder["measures"]
    return " ".join(filter(None, (view_of(place).answer(measures, place, n) for place in measures)))


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
    before, *after = page.figures_of([file["intruders"][number] for file in (plain["original"], *plain["released"])])
    rows = [("Records", plain["n"]["text"], *by_release(list(plain["n_released"])))]
    rows += [(words, leaf["text"], *by_release([file.get(words) for file in after])) for words, leaf in before.items()]
    m = len(after)
    heads = ("Figure", base_name(plain), *release_heads(m))
    tables = _by_rule("The original and the release", heads, rows)
    small = below(decision.drawn_of(plain))  # the row of the table that is drawn, too
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
    return [*tables, bars(f"{small} with the same keys, before and after", "records", bars_of, aside=True)]


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
        blocks = (*view.blocks(intruder["measures"], place), *subgroups.subgroup_blocks(intruder, place))
        by_title.setdefault(view.title, []).extend(blocks)
    return by_title

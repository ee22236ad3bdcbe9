"""Tasks of the page Risk: measures by intruder, contributions of keys, levels, subgroups and next steps."""

import json
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sdckit.catalogue import CATALOGUE
from sdckit.data import arguments, losses
from sdckit.data.scenarios.column_roles import among_columns, check_insensitive
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError, ScenarioError, SdcWarning
from sdckit.numerics.threads import job
from sdckit.report import explanation, wording
from sdckit.report.blocks import Items, Paragraph, Section
from sdckit.report.chapters import decision, document, page
from sdckit.report.chapters.sentences import NOT_YET, intruder_heading
from sdckit.report.gate.protect import protect
from sdckit.report.notebook import document_html, result_html, sections_html, verdict_html, warned_html
from sdckit.report.subgroups import subgroup_blocks
from sdckit.report.view import view_of, views_of
from sdckit.workflow.assess import assess, assess_in_turn, unconfirmed_note
from sdckit.workflow.assessment import Assessment
from sdckit.workflow.plan import carry_out, plan_file
from sdckit.workflow.sessions.answering import Desk, Tell, work_ahead

# Splitting and merging assessments of one file: by intruder, and without slow measures.


def put_together(parts: Sequence[Assessment], scenario: Scenario) -> Assessment:
    """Merge assessments of the same file, each of some of the scenario's intruders, into one.

    Raises `ScenarioError`: the intruders are not those of the scenario, in their order.
    """
    intruders = tuple(intruder for part in parts for intruder in part.intruders)
    if [(intruder.name, intruder.keys) for intruder in intruders] != list(scenario.intruders.items()):
        raise ScenarioError("the assessments put together are not those of the scenario's intruders")
    texts = [*unconfirmed_note(scenario), *(text for part in parts for text in part.warnings)]
    known = parts[0].column_roles
    columns = None if known is None else among_columns(known, scenario, list(known.roles))
    return replace(
        parts[0], scenario=scenario, intruders=intruders, warnings=tuple(dict.fromkeys(texts)), column_roles=columns
    )


def without_measures(assessment: Assessment, names: Collection[str]) -> Assessment:
    """The assessment without the results of some measures, for a document that does without them."""

    def left(results: Mapping[str, Any]) -> dict[str, Any]:
        return {place: result for place, result in results.items() if place.partition(":")[0] not in names}

    intruders = (replace(intruder, results=left(intruder.results)) for intruder in assessment.intruders)
    return replace(assessment, intruders=tuple(intruders))


def with_other_keys(scenario: Scenario, intruder: str, keys: Sequence[str], *, name: str) -> Scenario:
    """The scenario of one intruder, and beside it the same intruder who knows only these keys, as `name`."""
    known = scenario.intruder(intruder)
    return scenario.changed(intruders={intruder: known.keys, name: tuple(key for key in known.keys if key in keys)})


Plain = Mapping[str, Any]
TICKED = "with the ticked keys"
MOST_LEVELS = 50  # of a variable whose values are subgroups
FIRST_LOOK = 10_000  # records: what has more values in these is asked no further
NO_SUBGROUPS = (
    "{name} is no variable for subgroups: it tells records apart, is a weight, or has more than {n} values; choose "
    "another one, or make it coarser first"
)
MOST_COMBINATIONS = 100
LARGE = 50_000  # records: of fewer, what the file gives back is there as soon
STILL_LOOKED_FOR = "What the file gives back is still being looked at"
FOR_THIS_SCREEN = "Values of single people: confidential, for this screen only. They are in no report and no download."


def risk(desk: Desk, tell: Tell, *, scenario: Plain, exact: bool = False, language: str = "en") -> dict[str, Any]:
    """The verdicts and the first figures against every intruder; what takes longer is asked for apart.

    Of a large file they are sent as soon as they are there, without what the file gives back by itself. A proposal is
    begun before that is looked for, since both take long.
    """
    whole, hear, coming = desk.scenario(scenario), getattr(tell, "partial", None), getattr(tell, "aside", lambda: None)

    def sent(so_far: Assessment) -> None:
        if hear is not None and so_far.n >= LARGE:
            still = wording.say(STILL_LOOKED_FOR, language)
            hear({**_shown(desk, so_far, tell, exact=exact, language=language), "still": still})
            desk.ahead = ahead_of_propose(scenario, exact=exact)
            work_ahead(desk, coming)

    assessment = _assessed(desk, whole, tell, sent)
    if assessment.n >= LARGE:
        desk.ahead = ahead_of_propose(scenario, exact=exact)
    return {
        **_shown(desk, assessment, tell, exact=exact, language=language), "passed": assessment.passed,
        "further": {name: wording.say(question, language) for name, question in further_questions().items()},
        "subgroups": subgroup_columns(desk, scenario), "notes": [],
    }  # fmt: skip


def ahead_of_propose(scenario: Plain, *, exact: bool) -> dict[str, Any]:
    """The request that does what a proposal begins with, of a proposal without other wishes."""
    return {
        "task": "protecting.begin_proposal", "arguments": {"scenario": scenario, "exact": exact},
        "of": "protecting.propose", "wishes": {"keep": [], "loss": losses.INFORMATION},
    }  # fmt: skip


def _shown(desk: Desk, assessment: Assessment, tell: Tell, *, exact: bool, language: str) -> dict[str, Any]:
    """Verdict and figures as they stand on the page."""
    tell("protecting the figures")
    made = _figures(desk, without_measures(assessment, (decision.CONTRIBUTIONS,)), exact=exact)

    def laid(plain: Plain) -> list[Section]:
        several = len(plain["intruders"]) > 1
        sections = [page.answer_section(plain)] if several else _answered(plain)
        sections += [page.compared_section(plain)] if several else []
        for intruder in plain["intruders"]:
            if several:
                sections.append(Section(intruder_heading(intruder["name"], several=several), ()))
            sections += page.measure_sections(intruder)
        return [*sections, *page.not_measured(plain["intruders"])]

    html = document_html(made, laid, exact=exact, language=language)
    return {"verdict": _verdict(made, exact=exact, language=language), "html": html}


def further_questions() -> dict[str, str]:
    """What can be asked of one file besides, by measure: the questions of the catalogue.

    >>> further_questions()["outliers"]
    'Which records have values so extreme that they are recognised as such?'
    """
    return {row.name: row.question for row in CATALOGUE if row.on_request and row.files == "one"}


def _answered(plain: Plain) -> list[Section]:
    """The answer section without its verdicts, which stand at the top of the page."""
    section = page.answer_section(plain)
    return [Section(section.title, tuple(block for block in section.blocks if block.kind != "verdicts"))]


def _verdict(made: Callable[[], Plain], *, exact: bool, language: str) -> str:
    try:
        return verdict_html(made(), of="The file as it is:", exact=exact, language=language)
    except DataError as error:
        if exact:
            raise
        return warned_html(str(error), language)


def helps(desk: Desk, tell: Tell, *, scenario: Plain, exact: bool = False, language: str = "en") -> dict[str, Any]:
    """What would help most: the next steps, and what every key contributes."""
    assessment = _assessed(desk, desk.scenario(scenario), tell)
    tell("leaving out the keys one by one")

    def laid(plain: Plain) -> list[Section]:
        sections = [Section("What would help most", (Items(tuple(decision.next_steps(plain)), ordered=True),))]
        for intruder in plain["intruders"]:
            only = {place: tree for place, tree in intruder.items() if place == decision.CONTRIBUTIONS}
            blocks = [block for place, view in views_of(only) for block in view.blocks(intruder, place)]
            title = intruder_heading(intruder["name"], several=len(plain["intruders"]) > 1, alone="Key by key")
            sections += [Section(title, tuple(blocks))] if blocks else []
        return sections

    return _html(desk, assessment, laid, exact=exact, language=language)


def levels(desk: Desk, tell: Tell, *, scenario: Plain, exact: bool = False, language: str = "en") -> dict[str, Any]:
    """How many records each level of a key has: pictures, with their tables folded away."""
    lean = without_measures(_assessed(desk, desk.scenario(scenario), tell), (decision.CONTRIBUTIONS,))

    def laid(plain: Plain) -> list[Section]:
        known: dict[str, Plain] = {
            key["name"]: key for intruder in reversed(plain["intruders"]) for key in intruder["key_facts"]
        }
        return [Section("Keys and their levels", tuple(page.level_charts(list(known.values()))))]

    return _html(desk, lean, laid, exact=exact, language=language)


def moved(
    desk: Desk, tell: Tell, *, scenario: Plain, intruder: str, keys: Sequence[str], exact: bool = False,
    language: str = "en",
) -> dict[str, Any]:  # fmt: skip
    """How the risk moves where an intruder knows only these of the keys: both side by side."""
    whole = desk.scenario(scenario)
    if intruder not in whole.intruders:
        raise ScenarioError(f"there is no intruder '{intruder}'; choose one of the list")
    if not keys:
        raise ScenarioError("without any key there is nothing to recognise people by; tick one at least")
    both = with_other_keys(whole, intruder, keys, name=wording.say(TICKED, language))
    lean = without_measures(_assessed(desk, both, tell), (decision.CONTRIBUTIONS,))
    return _html(desk, lean, lambda plain: [page.compared_section(plain)], exact=exact, language=language)


def further(
    desk: Desk, tell: Tell, *, scenario: Plain, measure: str, intruder: str = "", exact: bool = False,
    language: str = "en",
) -> dict[str, Any]:  # fmt: skip
    """A measure that is not always run, one of `further_questions`."""
    if measure not in (there := further_questions()):
        raise ScenarioError(f"{measure!r} is not one of {', '.join(there)}")
    whole = desk.scenario(scenario)
    name = intruder or next(iter(whole.intruders))
    key = [plain_of(whole.intruder(name)), measure]
    outcome = desk.remember("further", key, lambda: _further(desk, whole.intruder(name), measure, tell))
    if not outcome.results:
        reason = outcome.skipped[0][1] if outcome.skipped else "there is nothing for it to look at"
        return {"html": warned_html(f"Not measured: {reason}.", language)}
    title = view_of(measure).title
    return {"html": result_html(*outcome.results.values(), exact=exact, language=language, title=title)}


def _further(desk: Desk, intruder: Scenario, measure: str, tell: Tell) -> Any:
    (planned,) = plan_file(intruder, measures=(measure,), data=desk.original(intruder), tell=tell).values()
    with warnings.catch_warnings(action="ignore", category=SdcWarning):
        return carry_out([row for row in planned if row.row.name == measure])


def subgroups(
    desk: Desk, tell: Tell, *, scenario: Plain, by: Sequence[str], exact: bool = False, language: str = "en"
) -> dict[str, Any]:
    """The figures by subgroup: protected, the shares that many records carry; else all of them."""
    if not by:
        raise ScenarioError("choose a variable whose values are the subgroups")
    whole = desk.scenario(scenario)
    can_be = subgroup_columns(desk, scenario)
    for name in by:
        if name in desk.data.columns and name not in can_be:
            raise ScenarioError(NO_SUBGROUPS.format(name=name, n=MOST_LEVELS), argument="by")
    assessment = desk.remember("by", [plain_of(whole), list(by)], lambda: _assess_by(desk, whole, tell, by))
    lean = without_measures(assessment, (decision.CONTRIBUTIONS,))

    def laid(plain: Plain) -> list[Section]:
        sections = [Section(f"Subgroups by {', '.join(by)}", ())]
        for intruder in plain["intruders"]:
            several = f"{intruder['name']}: " if len(plain["intruders"]) > 1 else ""
            for place, view in views_of(intruder):
                blocks = subgroup_blocks(intruder, place)
                sections += [Section(several + view.title, tuple(blocks), 3)] if blocks else []
        return sections

    return _html(desk, lean, laid, exact=exact, language=language)


def subgroup_columns(desk: Desk, scenario: Plain) -> list[str]:
    """The columns whose values can be subgroups: none that tells records apart, and none with many values."""
    roles = (*scenario.get("identifiers", ()), *(scenario.get(role) for role in ("weight", "household", "person")))
    names = [name for name in desk.data.columns if name not in roles]

    def few() -> list[str]:
        start, limit = desk.data.head(FIRST_LOOK), MOST_LEVELS
        left = [name for name in desk.data.columns if start[name].n_unique() <= limit]
        return [name for name in left if start.height == desk.data.height or desk.data[name].n_unique() <= limit]

    with_few = desk.remember("few values", [], few)
    return [name for name in names if name in with_few]


def riskiest(
    desk: Desk, tell: Tell, *, scenario: Plain, intruder: str = "", number: int = 10, exact: bool = False,
    language: str = "en",
) -> dict[str, Any]:  # fmt: skip
    """The riskiest combinations of keys with their values; with exact figures only."""
    keys, rows = _riskiest(desk, tell, scenario, intruder, number, exact=exact)
    shown = [(*values.values(), records, risk) for values, records, risk, _ in rows]
    blocks = (Paragraph(FOR_THIS_SCREEN, "warning"), explanation.riskiest_block(keys, shown))
    levels = [value for values, *_ in rows for value in values.values()]
    return {"html": _confidential(Section("", blocks), keys, levels, language)}


def explained(
    desk: Desk, tell: Tell, *, scenario: Plain, intruder: str = "", number: int = 10, which: int = 1,
    exact: bool = False, language: str = "en",
) -> dict[str, Any]:  # fmt: skip
    """What singles out the records of one of the riskiest combinations, by its place; with exact figures only."""
    from sdckit.identity.special_uniques.explain import explain

    keys, rows = _riskiest(desk, tell, scenario, intruder, number, exact=exact)
    at = _in_range(which, "which", len(rows)) - 1
    tell("looking for what singles the record out")
    whole = desk.scenario(scenario)
    chosen = whole.intruder(intruder or next(iter(whole.intruders)))
    row = rows[at][-1]

    def make() -> Any:
        with warnings.catch_warnings(action="ignore", category=SdcWarning):
            return explain(desk.original(chosen), scenario=chosen, row=row)

    result: Any = desk.remember("explained", [plain_of(chosen), row], make)
    words = (Paragraph(FOR_THIS_SCREEN, "warning"), Paragraph(explanation.alone_words(result)))
    section = Section(f"What makes combination {which} risky", (*words, *explanation.explanation_blocks(result)))
    return {"html": _confidential(section, keys, [*result.values.values()], language)}


def _in_range(value: Any, name: str, most: int) -> int:
    if not arguments.is_whole(value) or not 1 <= value <= most:
        raise DataError(f"a whole number from 1 to {most} is needed here", argument=name)
    return int(value)


def _riskiest(
    desk: Desk, tell: Tell, scenario: Plain, intruder: str, number: int, *, exact: bool
) -> tuple[list[str], list[tuple[dict[str, str], int, float, int]]]:
    """The keys of an intruder; values, records, risk and a row of each of the riskiest combinations."""
    if not exact:
        raise DataError("single combinations are shown only where the session shows exact figures; switch to them")
    _in_range(number, "number", MOST_COMBINATIONS)
    whole = desk.scenario(scenario)
    chosen = whole.intruder(intruder or next(iter(whole.intruders)))
    tell("looking for the riskiest combinations")
    # what was measured for the first figures
    result: Any = _assessed(desk, chosen, tell)[next(iter(chosen.intruders))]["individual_risk"]
    cells = result.cells.in_memory()
    each = [np.bincount(codes, cells.table.size)[codes] for codes in cells.table.codes]
    rarity = np.log(each).sum(axis=0)  # among equals, the rarest values first
    places = np.lexsort((rarity, -cells.columns["risk"]))[:number]
    labels = [level.labels(codes[places]) for level, codes in zip(cells.levels, cells.table.codes, strict=True)]
    size, risk, of_row = cells.table.size, cells.columns["risk"], cells.table.of_row
    return list(cells.keys), [
        (
            {key: of_key[at] for key, of_key in zip(cells.keys, labels, strict=True)}, int(size[place]),
            float(risk[place]), int(np.flatnonzero(of_row == place)[0]) + 1,
        )
        for at, place in enumerate(places)
    ]  # fmt: skip


def _confidential(section: Section, keys: Sequence[str], levels: Sequence[str], language: str) -> str:
    named = {"scenario": {"intruders": dict.fromkeys(keys, (*keys, *levels))}}  # no column and no value is translated
    return sections_html([section], exact=True, language=language, plain=named)


def _html(
    desk: Desk, assessment: Assessment, laid: Callable[[Plain], list[Section]], *, exact: bool, language: str
) -> dict[str, Any]:
    return {"html": document_html(_figures(desk, assessment, exact=exact), laid, exact=exact, language=language)}


def _figures(desk: Desk, assessment: Assessment, *, exact: bool) -> Callable[[], Plain]:
    """Function that returns the protected document of an assessment, cached since the gate is slow."""
    measures = [sorted(intruder.results) for intruder in assessment.intruders]
    skipped = [intruder.skipped for intruder in assessment.intruders]
    key = [plain_of(assessment.scenario), list(assessment.by), measures, skipped, exact]
    return lambda: desk.remember("figures", key, lambda: protect(document.build_document(assessment), internal=exact))


def _assessed(
    desk: Desk, whole: Scenario, tell: Tell, hear: Callable[[Assessment], object] = lambda _: None
) -> Assessment:
    """Assessment of the file, cached intruder by intruder; `hear` gets what is there before the slow part begins."""
    check_insensitive(whole, desk.data.columns)
    measured = whole.changed(unconfirmed=())  # confirming a guess changes no figure
    intruders = [measured.intruder(name) for name in measured.intruders]
    with job():
        turns = [
            assess_in_turn(desk.original(intruder), scenario=intruder, step=tell, early=True) for intruder in intruders
        ]
        first = [
            desk.kept("assess", plain_of(intruder)) or next(turn)
            for intruder, turn in zip(intruders, turns, strict=True)
        ]
        if any(reason == NOT_YET for part in first for intruder in part.intruders for _, reason in intruder.skipped):
            hear(put_together(first, whole))
        parts = [
            desk.remember("assess", plain_of(intruder), lambda: [begun, *turn][-1])  # noqa: B023 - called at once
            for intruder, begun, turn in zip(intruders, first, turns, strict=True)
        ]
    return put_together(parts, whole)


def _assess_by(desk: Desk, scenario: Scenario, tell: Tell, by: Sequence[str]) -> Assessment:
    """Assess the file by subgroups: its warnings stand in the document, with their counts protected."""
    with warnings.catch_warnings(action="ignore", category=SdcWarning):
        return assess(desk.original(scenario), scenario=scenario, by=tuple(by), step=tell)


def plain_of(scenario: Scenario) -> Any:
    """Content of a scenario as plain values, used as a cache key."""
    return json.loads(scenario.model_dump_json())

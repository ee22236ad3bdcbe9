"""Tasks on releases: the verdict of the gate, the report, and two recipes side by side."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdckit.catalogue.attacks import COPIES
from sdckit.data.files import csv_beside, read_csv
from sdckit.data.limits import LIMITS
from sdckit.data.scenarios.scenario import Scenario
from sdckit.data.seeds import Mixed
from sdckit.errors import DataError, FileFormatError, ScenarioError, SdcWarning
from sdckit.report import blocks, rates, wording
from sdckit.report.chapters import page, release_page
from sdckit.report.chapters.recipe_chapter import limits_beside, plain_recipe, recipes_beside
from sdckit.report.formats.write import plain_document
from sdckit.report.gate.protect import protect_words
from sdckit.report.notebook import document_html, sections_html, verdict_html, warned_html
from sdckit.workflow.recipes.recipe import Applied, Recipe
from sdckit.workflow.sessions.answering import ALIKE, Desk, Tell
from sdckit.workflow.sessions.protecting import Plain, Steps, applied, digest, kept

if TYPE_CHECKING:
    from sdckit.workflow.assessment import ReleaseAssessment


PRINTED = "verdicts printed"
NO_LIMIT = "No threshold is declared, so nothing says that this release may go out. Declare limits on the page Roles."
NOT_ATTACKED = "No attack was simulated on this release yet."
NO_ATTACK_LIMIT = (
    "No limit on attacks is declared, so they decide nothing: weigh them yourself, or declare on the page Roles how "
    "far trial attacks may succeed."
)
NO_MEMBERSHIP = (
    "Membership is not judged: whether somebody was in the file is told only beside people of the same kind who were "
    "never in it. Choose a control file above, and simulate the attacks."
)


@dataclass(frozen=True, eq=False)
class Judged:
    """A release with its assessment; `passed` is False where a limit is exceeded, not judged, or none is declared."""

    name: str
    made: Applied
    assessment: ReleaseAssessment
    passed: bool
    why_not: str = ""


def judged(
    desk: Desk, scenario: Scenario, steps: Steps, secret: str, tell: Tell, *, models: Mapping[str, str] | None = None,
    control: str = "", attacks: bool = False,
) -> Judged:  # fmt: skip
    """Make the release and check it against every threshold, cached by its arguments."""
    made = applied(desk, scenario, steps, secret, tell)
    asked = [scenario.to_toml(), made.recipe.to_toml(), secret, dict(models or {}), control, attacks]
    name = digest(*asked)

    def hold() -> Judged:
        from sdckit.workflow.check import check_assessment

        tell("assessing the release")
        people = None if not control else _people(desk, control, scenario)
        # few are kept: page and report have the same figures, also where it is assessed anew between them
        seed = Mixed(bytes.fromhex(secret)).of_step(0)
        with warnings.catch_warnings(action="ignore", category=SdcWarning):  # the document tells them
            assessment = made.assess(seed=seed, models=dict(models or {}), control=people, attacks=attacks, step=tell)
        try:
            return Judged(name, made, assessment, check_assessment(assessment).passed)
        except ScenarioError as error:  # no threshold, or guesses that nobody has confirmed
            return Judged(name, made, assessment, passed=False, why_not=str(error))

    return kept(desk, "releases judged", asked, hold)


def _people(desk: Desk, control: str, scenario: Scenario) -> Any:
    """The people of a control file, read as the file itself is where it is written alike."""
    from sdckit.data.files.readers import read_file, scan_header

    if not Path(control).is_file():
        raise FileFormatError("the control file is not there any more; choose it again")
    given = read_csv.CsvOptions(**{name: desk.reading.get(name) for name in ALIKE})
    own = asdict(csv_beside.options_beside(Path(control), given, original=Path(desk.path)))
    how: dict[str, Any] = {**own, "user_missing": desk.reading.get("user_missing", False)}
    header = scan_header(control, **how)
    known = [name for name in scenario.identifiers if name in header.columns]
    return read_file(control, identifiers=known, missing=tuple(scenario.missing_codes), **how)


def check_control(
    desk: Desk, tell: Tell, *, scenario: Plain, path: str, exact: bool = False, language: str = "en"
) -> dict[str, Any]:  # fmt: skip
    """Whether a file can be the control file: it can be read, and has the columns, labelled alike."""
    from sdckit.data.files.read_labelled import check_labels_beside

    tell("reading the control file")
    chosen = desk.scenario(scenario)
    people = _people(desk, path, chosen)
    columns = dict.fromkeys([*chosen.all_keys, *chosen.sensitive])
    if lacking := [name for name in columns if name not in people.columns]:
        raise FileFormatError(f"the control file lacks columns of the file: {', '.join(lacking)}")
    check_labels_beside([(desk.path, desk.data.select(*columns)), (Path(path), people.select(*columns))])
    for name in columns:
        if people[name].dtype.is_numeric() != desk.data[name].dtype.is_numeric():
            raise FileFormatError(f"the control file has other values than the file in the column {name}")
    words = f"The control file is used: {people.height:,} records."
    return {"words": wording.say(words if exact else protect_words(words), language)}


def release(
    desk: Desk, tell: Tell, *, scenario: Plain, steps: Steps, secret: str, models: Mapping[str, str] | None = None,
    control: str = "", attacks: bool = False, exact: bool = False, language: str = "en",
) -> dict[str, Any]:  # fmt: skip
    """Make the release, and tell its verdict and the chapters that can be read."""
    chosen = desk.scenario(scenario)
    outcome = judged(desk, chosen, steps, secret, tell, models=models, control=control, attacks=attacks)
    facts = {"passed": outcome.passed, "release": {"digest": digest(scenario, list(steps)), "passed": outcome.passed}}
    tell("protecting the figures")
    try:
        plain = document_of(desk, outcome, exact=exact)
    except DataError as error:
        return {**facts, "verdict": warned_html(str(error), language), "html": "", "chapters": []}
    words = sections_html([_answer(plain)], exact=exact, language=language, plain=plain)
    extra = warned_html(NO_LIMIT if not plain["verdicts"] else outcome.why_not, language) if outcome.why_not else ""
    verdict = verdict_html(plain, of="The release:", exact=exact, language=language) + extra
    attacked = sections_html(_attacked(plain), exact=exact, language=language, plain=plain)
    chapters = [title for title, _ in _chapters(plain)]
    return {**facts, "verdict": verdict, "html": words, "attacked": attacked, "chapters": chapters}


def _attacked(plain: Plain) -> list[blocks.Section]:
    """What the attacks came to, and the limits they are held against; or that none was made, and what opens it."""
    kinds = {name for name, kind in LIMITS.items() if kind.judged == "attacks" or kind.measure == COPIES.name}
    limits = [verdict for verdict in plain["verdicts"] if verdict["name"] in kinds]
    held: blocks.Block = (
        page.verdicts_block({**plain, "verdicts": limits}) if limits else blocks.Paragraph(NO_ATTACK_LIMIT)
    )
    attacks = plain.get("attacks")
    opened = [] if attacks is not None and attacks["control"] else [blocks.Paragraph(NO_MEMBERSHIP, "warning")]
    sections = [blocks.Section("", (blocks.Paragraph(NOT_ATTACKED), *opened, held))]
    if attacks is not None:
        chapter = next(sections for title, sections in _chapters(plain) if title == rates.ATTACKS)
        sections = [blocks.Section("", (held, *opened)), *(replace(section, title="") for section in chapter)]
    return sections


def document_of(desk: Desk, outcome: Judged, *, exact: bool) -> Plain:
    """The protected document of the release, whose chapters are protected jointly."""
    asked, made = [outcome.name, exact], outcome.made
    plain: Plain = desk.remember("release", asked, lambda: plain_document(outcome.assessment, internal=exact))
    verdicts: dict[Any, bool | None] = desk.kinds.setdefault(PRINTED, {})
    verdicts[made.recipe.to_toml(), made.log.scenario, exact] = None if outcome.why_not else plain["passed"]
    return plain


def verdict_of(desk: Desk, scenario: Scenario, recipe: Recipe, *, exact: bool) -> bool | None:
    """Whether every limit held for the release of a recipe, as it was printed last; None where that was left open."""
    known: Mapping[Any, bool | None] = desk.kinds.get(PRINTED, {})
    return known.get((recipe.to_toml(), scenario.to_toml(), exact))


def _answer(plain: Plain) -> blocks.Section:
    answer = release_page.page_of(plain).sections[0]
    return replace(answer, blocks=tuple(block for block in answer.blocks if block.kind != "verdicts"))


def _chapters(plain: Plain) -> list[tuple[str, list[blocks.Section]]]:
    """Sections of the annex by chapter, without the answer section."""
    chapters: list[tuple[str, list[blocks.Section]]] = []
    for section in release_page.page_of(plain).sections[1:]:
        if section.level == 2 or not chapters:
            chapters.append((section.title, []))
        chapters[-1][1].append(section)
    return chapters


def chapter(
    desk: Desk, tell: Tell, *, scenario: Plain, steps: Steps, secret: str, title: str,
    models: Mapping[str, str] | None = None, control: str = "", attacks: bool = False, exact: bool = False,
    language: str = "en",
) -> dict[str, Any]:  # fmt: skip
    """Show one chapter of the report."""
    chosen = desk.scenario(scenario)
    outcome = judged(desk, chosen, steps, secret, tell, models=models, control=control, attacks=attacks)
    plain = document_of(desk, outcome, exact=exact)
    for name, sections in _chapters(plain):
        if name == title:
            return {"title": title, "html": sections_html(sections, exact=exact, language=language, plain=plain)}
    raise DataError("there is no such chapter; make the release again")


def compare(
    desk: Desk, tell: Tell, *, scenario: Plain, first: Steps, second: Steps, names: Sequence[str], secret: str,
    exact: bool = False, language: str = "en",
) -> dict[str, Any]:  # fmt: skip
    """Risk and loss of two recipes in the end, side by side, and which limits hold for what they make."""
    chosen = desk.scenario(scenario)
    both = [judged(desk, chosen, steps, secret, tell) for steps in (first, second)]

    def plains() -> dict[str, Any]:
        recipes = [plain_recipe(outcome.made.what_was_done, internal=exact) for outcome in both]
        return {"recipes": recipes, "releases": [document_of(desk, outcome, exact=exact) for outcome in both]}

    def laid(plain: Plain) -> list[blocks.Section]:
        return [recipes_beside(plain["recipes"], names), limits_beside(plain["releases"], names)]

    return {"html": document_html(plains, laid, exact=exact, language=language)}

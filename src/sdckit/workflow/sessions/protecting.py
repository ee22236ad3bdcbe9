"""Tasks of the page Protect: forms, previews, runs, starter and proposed recipes, and their comparison."""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from sdckit.data.domain import Domain
from sdckit.data.files import domain_files, whole_files
from sdckit.data.limits import limit_words
from sdckit.data.losses import COARSENING, DIFFERING, INFORMATION, MODEL
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError, ScenarioError, SdcError, SdcWarning
from sdckit.report.before_after import picture_blocks, plain_picture
from sdckit.report.blocks import Code, Paragraph, Section
from sdckit.report.chapters.map import plain_front, points_to_click
from sdckit.report.chapters.recipe_chapter import plain_recipe, recipe_section
from sdckit.report.notebook import document_html, sections_html, warned_html
from sdckit.report.wording import ENGLISH, say
from sdckit.workflow.recipes import release_files, starter_recipe, step_forms
from sdckit.workflow.recipes.recipe import Applied, Recipe
from sdckit.workflow.recipes.recipe_steps import columns_computed, columns_named, method_of
from sdckit.workflow.sessions.answering import One, keep_last

if TYPE_CHECKING:
    from sdckit.workflow.proposing.find_best import Begun
    from sdckit.workflow.proposing.proposal import Alternative, Candidate, Proposal
    from sdckit.workflow.recipes.explore import Point
    from sdckit.workflow.sessions.answering import Desk, Tell


# Shared by the tasks on recipes: steps as plain values, the recipe they make, and its cached run.


MOST_FILES = 2  # of a kind in memory at a time: each is as large as the one that is open
TRIED = "recipes tried"
RISK = "expected_reidentifications"  # what a map sets against a loss
TITLE = "Made in sdckit app"
BY_HAND = "make keys coarser in the steps, so that less has to be taken out"  # no field asks for the share
NOT_DRAWN = "No record was drawn by these steps yet: press Draw the records on the page Protect."
NO_PICTURE = "A picture before and after would compare with the original, which this recipe reads once, to draw."


def make_recipe(desk: Desk, steps: Steps) -> Recipe:
    """The recipe of the steps that are switched on."""
    tables = [{"method": step["method"], **step["arguments"]} for step in steps if step.get("on", True)]
    if not tables:
        raise ScenarioError("the recipe has no step that is switched on; add one")
    return Recipe(tables, title=TITLE, folder=desk.folder)


def plain_steps(recipe: Recipe) -> list[dict[str, Any]]:
    """The steps of a recipe as plain values, its derived columns as the last one; an open end of a band is None.

    >>> plain_steps(Recipe([{"method": "recode", "column": "age", "bands": [0, 40, math.inf]}]))[0]["arguments"]
    {'column': 'age', 'bands': [0, 40, None]}
    """
    return [{"method": step.method, "arguments": _plain(step.arguments), "on": True} for step in recipe.all_steps]


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return None if isinstance(value, float) and math.isinf(value) else value


def digest(*parts: Any) -> str:
    """Hash of the inputs of a release, to see whether it is still that of the steps."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:32]


def data_for(desk: Desk, recipe: Recipe, scenario: Scenario) -> Any:
    """The file without the identifiers that no step deals with, as ``sdckit protect`` reads it."""
    return desk.data.drop([name for name in release_files.unread(recipe, scenario) if name in desk.data.columns])


def applied(desk: Desk, scenario: Scenario, steps: Steps, secret: str, tell: Tell) -> Applied:
    """Run the steps with the session's secret for them, once; the figures after each step are measured.

    Records that are drawn under a promise are those that were drawn last: nothing but `draw` spends.
    """
    made = make_recipe(desk, steps)
    if made.reads_alone:
        return _drawn(desk, scenario, made)
    secret = _secret_of(desk, scenario, made, secret)

    def run() -> Applied:
        return _run(desk, made, scenario, secret, tell, watch=True)

    outcome = kept(desk, "recipes run", [scenario.to_toml(), made.to_toml(), secret], run)
    _remember(desk, scenario, outcome)
    return outcome


def _drawn(desk: Desk, scenario: Scenario, recipe: Recipe) -> Applied:
    """What was drawn by the same steps; limits and roles may be others where they decide nothing of it."""
    drawn = desk.drawn
    if drawn is None or drawn.recipe.to_toml() != recipe.to_toml():
        raise ScenarioError(NOT_DRAWN)
    if len(recipe.all_steps) > 1 and drawn.log.scenario != scenario.to_toml():
        raise ScenarioError(NOT_DRAWN)
    return replace(drawn, scenario=scenario, log=replace(drawn.log, scenario=scenario.to_toml()))


def tried(desk: Desk, scenario: Scenario, loss: str = DIFFERING) -> list[tuple[Point, Recipe]]:
    """The recipes that were run under a scenario while the file is open, each with its point of a map."""
    pairs = desk.kinds.get(TRIED, {}).get(scenario.to_toml(), {}).values()
    return [pair for pair in pairs if not any(math.isnan(pair[0].figures[name]) for name in (RISK, loss))]


def _remember(desk: Desk, scenario: Scenario, made: Applied) -> None:
    from sdckit.workflow.recipes.explore import Point
    from sdckit.workflow.recipes.recipe_figures import COARSER, worst_of

    points: dict[str, Any] = desk.kinds.setdefault(TRIED, {}).setdefault(scenario.to_toml(), {})
    name = digest(made.recipe.to_toml())
    if name not in points:
        figures = worst_of([figure for figure in made.figures if figure.step == len(made.log.steps)])
        figures |= _coarsened(scenario, made)
        behind, small, coarser = (int(figures.pop(few)) for few in ("behind", "small", COARSER))
        points[name] = Point({"recipe": len(points) + 1}, figures, "", behind, small, coarser), made.recipe


def _coarsened(scenario: Scenario, made: Applied) -> dict[str, float]:
    """What the keys lost by being coarser; undefined where they were changed otherwise, or rows belong to no record."""
    from sdckit.workflow.recipes.recipe_figures import COARSER, CoarseningLoss, Watch

    before = Watch(made.original, None).beside(made.log, made.original, made.recipe.folder).original
    try:
        return CoarseningLoss("loss", scenario).measured(before, made.data)
    except SdcError:
        return {**dict.fromkeys(COARSENING, math.nan), COARSER: 0.0}


def prefix_data(desk: Desk, scenario: Scenario, recipe: Recipe, n: int, secret: str, tell: Tell) -> Any:
    """The file after the first `n` steps, or before any."""
    if n == 0:
        return data_for(desk, recipe, scenario)
    first, secret = recipe.prefix(n), _secret_of(desk, scenario, recipe, secret)

    def run() -> Any:
        return _run(desk, first, scenario, secret, tell, watch=False).data

    files = kept(desk, "files on the way", [scenario.to_toml(), first.to_toml(), secret], run)
    return files[0] if isinstance(files, list) else files


def _run(desk: Desk, recipe: Recipe, scenario: Scenario, secret: str, tell: Tell, *, watch: bool) -> Applied:
    data = data_for(desk, recipe, scenario)
    keys = {
        str(step.arguments["column"]): _key(secret, str(step.arguments["column"]))
        for step in recipe.steps
        if method_of(step.method, "step").keyed
    }
    # they stand in the assessment of the release; edit rules that steps break are said with the figures
    with warnings.catch_warnings(action="ignore", category=SdcWarning):
        return recipe.apply(data, scenario=scenario, secret=secret, id_keys=keys or None, watch=watch, step=tell)


def _secret_of(desk: Desk, scenario: Scenario, recipe: Recipe, secret: str) -> str:
    """The secret of a file, scenario and recipe: two releases of a session share no noise, order or identifiers."""
    if not recipe.is_random and not any(method_of(step.method, "step").keyed for step in recipe.steps):
        return secret  # nothing is drawn
    parts = json.dumps([desk.opened, scenario.to_toml(), recipe.to_toml()]).encode()
    return hmac.digest(bytes.fromhex(secret), parts, "sha256").hex()


def _key(secret: str, column: str) -> str:
    """The key of new identifiers: of the secret of the steps, so that every run of them gives the same."""
    return hashlib.sha256(bytes.fromhex(secret) + column.encode()).hexdigest()


def kept(desk: Desk, kind: str, parts: list[Any], make: Callable[[], One]) -> One:
    """Cache the last few results that hold a file."""
    return keep_last(desk.kinds.setdefault(kind, {}), digest(*parts), make, MOST_FILES)


Plain = Mapping[str, Any]
Steps = Sequence[Plain]
NAMED = ("column", "columns", "keys", "weight", "household", "replace")  # what a picture may be of, in this order


def methods(desk: Desk, tell: Tell) -> dict[str, Any]:  # noqa: ARG001 - every task is called so
    """The methods and what their forms ask for."""
    return {"methods": [asdict(form) for form in step_forms.forms()]}


def run(
    desk: Desk, tell: Tell, *, scenario: Plain, steps: Steps, secret: str, exact: bool = False, language: str = "en"
) -> dict[str, Any]:
    """Run the steps: risk and loss before the first one and after each, and what was done."""
    try:
        made = applied(desk, desk.scenario(scenario), steps, secret, tell)
    except ScenarioError as error:
        if str(error) != NOT_DRAWN:
            raise
        return {"figures": [], "k": 0, "html": warned_html(NOT_DRAWN, language)}
    try:
        plain = plain_recipe(made.what_was_done, internal=exact)
    except DataError as error:
        return {"figures": [], "html": warned_html(str(error), language)}
    sections = [recipe_section(plain)]
    if made.broken:
        plain = {**plain, "variables": list(desk.data.columns)}  # kept in translations
        sections = [Section("", tuple(Paragraph(f"{sentence}.", "warning") for sentence in made.broken)), *sections]
    html = sections_html(sections, exact=exact, language=language, plain=plain)
    return {"figures": _figures(plain), "k": plain["k"], "html": html}


def draw(
    desk: Desk, tell: Tell, *, scenario: Plain, steps: Steps, secret: str, exact: bool = False, language: str = "en",
) -> dict[str, Any]:  # fmt: skip
    """Draw records under a promise, by steps of which the first alone reads the file, by its domain; spends each time.

    Raises
    ------
    ScenarioError
        The recipe begins with another step.
    """
    chosen, made = desk.scenario(scenario), make_recipe(desk, steps)
    if not made.reads_alone:
        raise ScenarioError("these steps do not begin with protected tables; they are carried out as they are changed")
    csv = {name: desk.reading.get(name) for name in ("delimiter", "encoding", "decimal")}
    drawn = made.apply(domain_files.DomainFile(desk.path, **csv), scenario=chosen, step=tell)
    desk.forget()  # what was measured is of records drawn before
    desk.drawn = replace(drawn, original=data_for(desk, made, chosen))
    return run(desk, tell, scenario=scenario, steps=steps, secret=secret, exact=exact, language=language)


def take_domain(desk: Desk, tell: Tell, *, path: str) -> dict[str, Any]:
    """Take a domain file into the session's folder, where it fits the header of the file."""
    tell("reading the domain")
    declared = Domain.from_toml(path)
    declared.check_columns(desk.data.columns)
    name = f"domain-{digest(declared.to_toml())[:8]}.toml"
    whole_files.write_whole(declared.to_toml(), desk.folder / name, private=True)
    return {"name": name}


def _figures(plain: Plain) -> list[dict[str, Any]]:
    """The printed figures after each step, for the list of steps."""
    wanted = ("sample_uniques", "below_k", "expected_reidentifications", "share_changed")
    return [
        {"step": figure["step"], "intruder": figure["intruder"]}
        | {name: str(figure[name]["text"]) for name in wanted if figure.get(name) is not None}
        for figure in plain["figures"]
    ]


def preview(
    desk: Desk, tell: Tell, *, scenario: Plain, steps: Steps, number: int, secret: str, column: str = "",
    exact: bool = False, language: str = "en",
) -> dict[str, Any]:  # fmt: skip
    """A variable before and after step `number` (from 0, counting those that are switched on)."""
    chosen = desk.scenario(scenario)
    recipe = make_recipe(desk, steps)
    if recipe.reads_alone:
        return {"variables": [], "html": warned_html(NO_PICTURE, language)}
    names = _pictured(recipe.steps[number], [*desk.data.columns], chosen.all_keys)
    if not names:
        return {"variables": [], "html": warned_html("The step changes no variable of its own.", language)}
    shown = column if column in names else names[0]
    with warnings.catch_warnings(action="ignore", category=SdcWarning):
        before = prefix_data(desk, chosen, recipe, number, secret, tell)
        after = prefix_data(desk, chosen, recipe, number + 1, secret, tell)
    picture = step_forms.picture_of(before, after, shown)
    html = document_html(
        lambda: plain_picture(picture, internal=exact), lambda plain: [Section("", tuple(picture_blocks(plain)))],
        exact=exact, language=language,
    )  # fmt: skip
    return {"variables": names, "column": shown, "html": html}


def _pictured(step: Any, columns: Sequence[str], keys: Sequence[str]) -> list[str]:
    method = method_of(step.method, "step")
    named = [name for role in NAMED for name in columns_named(method, step.arguments, role)]
    named += columns_computed(method, step.arguments)
    if not named and (method.kind.scenario_keys or method.kind.new_rows):
        named = [*keys]
    return [name for name in dict.fromkeys(named) if name in columns]


def file_before(desk: Desk, scenario: Plain, steps: Steps, number: int, secret: str, tell: Tell) -> Any:
    """The file as it is before step `number` (from 0)."""
    chosen = desk.scenario(scenario)
    return prefix_data(desk, chosen, make_recipe(desk, steps), number, secret, tell) if number > 0 else desk.data


def variable(
    desk: Desk, tell: Tell, *, scenario: Plain, steps: Steps, number: int, column: str, secret: str,
    levels: bool = False, exact: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """What an editor of bands or groups starts from: the bins or levels of a variable before step `number`."""
    before = file_before(desk, scenario, steps, number, secret, tell)
    picture = step_forms.picture_of(before, None, column, levels=levels)
    assert picture.before is not None
    plain = plain_picture(picture, internal=exact)["before"]
    rows = [
        {"level": str(row["level"]), "text": str(row["n"]["text"]), "size": _size(row["n"]),
         "pooled": bool(row.get("pooled"))}
        for row in plain["rows"]
    ]  # fmt: skip
    numeric = before[column].dtype.is_numeric()
    suggested = step_forms.bands_for(before, column) if numeric and not levels else []
    return {"column": column, "rows": rows, "edges": list(picture.before.edges), "suggested": suggested,
            "numeric": numeric, "whole": picture.before.whole}  # fmt: skip


def _size(leaf: Plain) -> float:
    """Length of a bar: the printed number, or half the bound of a hidden one."""
    value = leaf["value"]
    return float(leaf.get("below") or 0) / 2 if value is None else float(value)


def starter(desk: Desk, tell: Tell, *, scenario: Plain, exact: bool = False, language: str = "en") -> dict[str, Any]:
    """The recipe that the advice on the keys gives."""
    from sdckit.workflow.recipes.starter_recipe import make_starter

    tell("looking for recodings")
    chosen = desk.scenario(scenario)

    def make() -> dict[str, Any]:
        start = make_starter(
            desk.original(chosen), chosen, columns=desk.data.columns, share=0.05, internal=exact, folder=desk.folder
        )  # fmt: skip
        return {
            "steps": plain_steps(start.recipe), "text": start.text, "exceeded": list(start.exceeded),
            "unjudged": list(start.unjudged),
        }  # fmt: skip

    remembered = desk.remember("starter", [chosen.to_toml(), exact], make)
    return {**remembered, "html": _written(desk, remembered["text"], exact=exact, language=language)}


HOLDS = "Every limit holds with this recipe."
HOLDS_SO_FAR = "Every limit holds that could be judged; of some columns the scenario does not say enough."
JUDGED, NOT_JUDGED = "A recipe is being judged. These hold", "Not judged yet"
NO_FORMULA = "Write the regression whose intervals are to be kept, as in income ~ age + sex."


def propose(
    desk: Desk, tell: Tell, *, scenario: Plain, keep: Sequence[str] = (), loss: str = INFORMATION, formula: str = "",
    family: str = "linear", seconds: float | None = None, exact: bool = False, language: str = "en",
) -> dict[str, Any]:  # fmt: skip
    """The proposed recipe with the least loss, and the map of it and of its alternatives.

    `formula` and `family` are those of a loss that is a regression's.
    """
    from sdckit.workflow.proposing.find_best import Begun
    from sdckit.workflow.proposing.proposal import INSTEAD, about_loss, in_words
    from sdckit.workflow.proposing.propose import make_proposal

    chosen = desk.confirmed(scenario)
    by: dict[str, Any] = {"loss": loss, **({"formula": formula or None, "family": family} if loss == MODEL else {})}
    if loss == MODEL and not formula:
        raise ScenarioError(NO_FORMULA)
    hear = getattr(tell, "partial", lambda _: None)

    def shown(recipe: Alternative | Candidate, state: str) -> dict[str, Any]:
        loss = recipe.loss if exact else about_loss(recipe.loss, desk.data.height) or "–"
        return {"words": say(in_words(recipe.keys), language, desk.data.columns), "loss": _loss(loss), "state": state}

    def passes(alternative: Alternative) -> None:
        state = say(HOLDS if alternative.passed else HOLDS_SO_FAR, language)
        hear({**shown(alternative, state), "passed": alternative.passed, "steps": plain_steps(alternative.recipe)})

    def judging(candidate: Candidate | None) -> None:
        """Show what is being judged, without its steps: nobody takes what may not pass."""
        limits = {JUDGED: candidate.held, NOT_JUDGED: candidate.waiting} if candidate is not None else {}
        state = " ".join(
            say(f"{words}: {_limits(names, language)}.", language) for words, names in limits.items() if names
        )
        hear(shown(candidate, state) if candidate is not None and state else {})

    def make() -> dict[str, Any]:
        proposal = make_proposal(
            desk.original(chosen), chosen, columns=desk.data.columns, keep=list(keep), internal=exact,
            folder=desk.folder, time_limit=seconds, step=tell, passing=passes, judging=judging,
            kept=Begun() if keep or loss != INFORMATION else _begun(desk, chosen, exact=exact), **by,
        )  # fmt: skip
        plain = proposal.to_dict(internal=exact)
        recipes: list[Proposal | Alternative] = [proposal, *proposal.alternatives]
        rows = [
            {"words": row["words"], "loss": _loss(row["loss"]), "passed": bool(row["passed"]),
             "steps": plain_steps(recipe.recipe)}
            for row, recipe in zip([plain, *plain["alternatives"]], recipes, strict=True)
        ]  # fmt: skip
        try:
            drawn = points_to_click(plain_front(proposal.front(internal=exact), proposal.n, internal=exact), rows)
        except DataError:  # too few records for a document
            drawn = {"points": []}
        return {
            **rows[0], "text": proposal.text, "exceeded": list(proposal.exceeded),
            "unjudged": list(proposal.unjudged), "kept": proposal.kept, "caution": proposal.caution, "map": drawn,
        }  # fmt: skip

    remembered = desk.remember("propose", [chosen.to_toml(), list(keep), by, seconds, exact], make)
    points = [
        {**point, "words": say(point["words"], language, desk.data.columns)} for point in remembered["map"]["points"]
    ]
    html = _written(desk, remembered["text"], exact=exact, language=language)
    caution = remembered["caution"] and say(f"{remembered['caution'].replace(INSTEAD, BY_HAND)}.", language)
    kept = remembered["kept"] and say(f"{remembered['kept']}.", language)
    changed = {"html": html, "kept": kept, "caution": caution}
    return {**remembered, "map": {**remembered["map"], "points": points}, **changed}


def begin_proposal(desk: Desk, tell: Tell, *, scenario: Plain, exact: bool = False) -> dict[str, Any]:
    """Do ahead what `propose` begins with where nothing is wished for, up to the first recipe that passes.

    Guesses may be open still: nothing of it is shown before they are confirmed.
    """
    from sdckit.workflow.proposing.propose import begin_proposal

    chosen = desk.scenario({**scenario, "unconfirmed": ()})
    begin_proposal(desk.original(chosen), chosen, _begun(desk, chosen, exact=exact), internal=exact, step=tell)
    return {}


def _begun(desk: Desk, scenario: Scenario, *, exact: bool) -> Begun:
    """What `propose` begins with under a scenario, kept while the file is open."""
    from sdckit.workflow.proposing.find_best import Begun

    begun: Begun = kept(desk, "proposals begun", [scenario.to_toml(), exact], Begun)
    return begun


def _limits(names: Sequence[str], language: str) -> str:
    return ", ".join(say(limit_words(name), language) for name in names)


def _loss(share: float | str | None) -> str:
    return f"{share:.1%}" if isinstance(share, float) else share or "–"


def load_recipe(desk: Desk, tell: Tell, *, path: str, scenario: Plain) -> dict[str, Any]:
    """Read a recipe file and hold it against the open file; its derived columns are the last step."""
    tell("reading the recipe")
    steps = plain_steps(Recipe.from_toml(path))
    chosen, made = desk.scenario(scenario), make_recipe(desk, steps)
    made.check(data_for(desk, made, chosen), scenario=chosen)
    return {"steps": steps}


def _written(desk: Desk, text: str, *, exact: bool, language: str) -> str:
    """A recipe as HTML with its comments in the session's language."""
    if language != ENGLISH:
        text = starter_recipe.comments_in(text, lambda comment: say(comment, language, desk.data.columns))
    return sections_html([Section("", (Code("", text),))], exact=exact, language=language)

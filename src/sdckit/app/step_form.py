"""The form of a step: made from what the method asks for, and read back into the arguments of a recipe."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from shiny import ui
from shiny.ui import HTML, Tag, TagChild, TagList, tags

from sdckit.app.browser_sessions import Work
from sdckit.app.page_context import Room, Say, file_field
from sdckit.app.step_sentences import summary
from sdckit.data import losses, methods
from sdckit.data.derived_formula import ENTRY, read_derived
from sdckit.data.files.file_limits import toml_of
from sdckit.data.limits import limit_words
from sdckit.data.scenarios.scenario_toml import toml_value
from sdckit.errors import ScenarioError

Plain = Mapping[str, Any]
Read = Callable[[str], Any]
FIRST = ("columns", "column", "k", "intruder", "threshold", "risk")  # shown at once though not needed
A_LINE = "Each column that is computed has a line of its own: its name, an equals sign, and its formula."


def as_text(value: Any) -> str:
    """A value as a recipe file writes it; "" for none.

    >>> as_text([None, 40, None]), as_text({"a": ["x"]}), as_text(None), as_text("age"), as_text(True)
    ('[-inf, 40, inf]', '{a = ["x"]}', '', 'age', 'true')
    """
    if value is None or isinstance(value, str):
        return value or ""
    return toml_value(_opened(value))


def _opened(value: Any) -> Any:
    """Open ends as a file writes them."""
    if isinstance(value, Mapping):
        return {name: _opened(value_of_name) for name, value_of_name in value.items()}
    if isinstance(value, list | tuple):
        return [(math.inf if at else -math.inf) if part is None else _opened(part) for at, part in enumerate(value)]
    return value


def form(say: Say, asked: Plain, arguments: Plain, *, columns: Sequence[str], intruders: Sequence[str]) -> TagChild:
    """The fields of a method; those that few people need are folded away."""
    shown: list[Tag] = []
    folded: list[Tag] = []
    editors = methods.METHODS[asked["method"]].editors
    for entry in asked["entries"]:
        if entry["name"] in editors or (entry["name"] == "intruder" and len(intruders) < 2):
            continue
        first = entry["needed"] or entry["name"] in FIRST or entry["name"] in arguments
        (shown if first else folded).append(_field(say, entry, arguments.get(entry["name"]), columns, intruders))
    more = tags.details(tags.summary(say("More options")), *folded, class_="more") if folded else None
    return TagList(*shown, more)


def _field(say: Say, entry: Plain, value: Any, columns: Sequence[str], intruders: Sequence[str]) -> Tag:
    name, kind = entry["name"], entry["kind"]
    label = tags.span(name, tags.span(" *", title=say("needed")) if entry["needed"] else None, class_="argument")
    at = f"arg_{name}"
    if kind == "column":
        field = ui.input_select(at, label, {"": "–", **{column: column for column in columns}}, selected=value or "")
    elif kind == "columns":
        given = [value] if isinstance(value, str) else list(value or ())
        field = tags.div(ui.input_checkbox_group(at, label, list(columns), selected=given, inline=True), class_="many")
    elif kind == "choice" or (name == "intruder" and intruders):
        offered = entry["choices"] or intruders
        field = ui.input_select(at, label, {"": "–", **{choice: choice for choice in offered}}, selected=value or "")
    elif name == ENTRY:
        field = ui.input_text_area(
            at, label, value=_formula_lines(value), rows=4, width="100%", placeholder="total = wage + benefits"
        )
    elif kind == "flag":
        field = ui.input_select(at, label, {"": "–", "true": say("yes"), "false": say("no")}, selected=as_text(value))
    else:
        field = ui.input_text(at, label, value=as_text(value), placeholder=as_text(entry["default"]))
    a_line = f"{say(A_LINE)} " if name == ENTRY else ""
    about = tags.p(a_line, say(entry["about"]), class_="about", id=f"about_{name}")
    return tags.div(field, about, class_="field")


def _formula_lines(value: Any) -> str:
    r"""Computed columns with their formulas, a line each.

    >>> _formula_lines({"total": "wage + benefits", "annual": "12 * wage"})
    'total = wage + benefits\nannual = 12 * wage'
    """
    return "\n".join(f"{column} = {formula}" for column, formula in (value or {}).items())


def _formulas(say: Say, given: str) -> dict[str, str]:
    """The formulas of such lines, each read as a recipe reads it."""
    parts = [line.rpartition("=") for line in given.splitlines() if line.strip()]
    formulas = {column.strip(): formula.strip() for column, _, formula in parts}
    if "" in formulas or len(formulas) < len(parts):
        raise ScenarioError(say(A_LINE), argument=ENTRY)
    try:
        read_derived(formulas)
    except ScenarioError as error:
        raise ScenarioError(say(str(error).removeprefix(f"{ENTRY}: ")), argument=ENTRY) from None
    return formulas


def arguments_of(say: Say, asked: Plain, read: Read) -> dict[str, Any]:
    """The arguments that were filled in; `read` gives the value of a field by its name, None where there is none.

    Raises
    ------
    ScenarioError
        A field that is needed is empty, or holds no number or no value as a recipe file writes it.
    """
    arguments: dict[str, Any] = {}
    for entry in asked["entries"]:
        name = entry["name"]
        if name in methods.METHODS[asked["method"]].editors:
            continue
        given = read(f"arg_{name}")
        text = given.strip() if isinstance(given, str) else given
        if text in (None, "", (), []):
            if entry["needed"]:
                raise ScenarioError(say("{c} is needed", c=name), argument=name)
            continue
        arguments[name] = _value(say, entry, text)
    return arguments


def _value(say: Say, entry: Plain, given: Any) -> Any:
    name, kind = entry["name"], entry["kind"]
    if name == ENTRY:
        return _formulas(say, given)
    if kind == "columns":
        return list(given)
    if kind == "flag":
        return given == "true"
    if kind in ("column", "choice", "text"):
        return given
    try:
        number = float(given)
    except ValueError:
        number = math.nan
    if kind == "whole":
        if not number.is_integer():
            raise ScenarioError(say("{c} takes a whole number", c=name), argument=name)
        return int(number)
    if kind == "number":
        if not math.isfinite(number):
            raise ScenarioError(say("{c} takes a number", c=name), argument=name)
        return number
    return _toml(say, name, given)


def _toml(say: Say, name: str, given: str) -> Any:
    """A value as a recipe file writes it; a word without quotes is a text."""
    try:
        return _ends(toml_of(f"value = {given}")["value"])
    except ValueError:
        if any(mark in given for mark in '[]{}="\n'):
            raise ScenarioError(
                say("{c}: write a number, a list such as [1, 2] or a table such as {c2}", c=name, c2='{a = ["x"]}'),
                argument=name,
            ) from None
        return given


def _ends(value: Any) -> Any:
    """Open ends as None, which every pipe can carry."""
    if isinstance(value, Mapping):
        return {name: _ends(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_ends(part) for part in value]
    return None if isinstance(value, float) and math.isinf(value) else value


# The steps of a recipe as a list with its buttons, and what was found by a search.


KEEP = "A proposal leaves these as they are, but for single values"
FAMILIES = ("linear", "logistic", "poisson", "multinomial")
LOSS = "What is lost"
ABOUT_LOSS = (
    "A proposal looks for the recipe with the least of it. The map around a recipe shows it, too; for the share of "
    "what the keys tell, and for a regression, it shows the values that differ."
)


def is_ready(work: Work) -> bool:
    """Whether there is anything to protect from anybody.

    >>> is_ready(Work(path="a.csv", scenario={"keys": ["sex"]})), is_ready(Work(path="a.csv"))
    (True, False)
    """
    return bool(work.path and _keys(work))


def name_of(work: Work) -> str:
    """What figures depend on."""
    return f"{work.digest()} {work.exact} {work.language}"


def _keys(work: Work) -> list[str]:
    scenario = work.scenario or {}
    each = (scenario.get("intruders") or {}).values()
    return list(dict.fromkeys([*(scenario.get("keys") or ()), *(key for keys in each for key in keys)]))


def button(text: str, act: str, at: int = -1, *, disabled: bool = False, about: str = "") -> Tag:
    """A button that tells the page what it stands for; `about` is its name where its text is a mark."""
    return tags.button(
        text, type="button", class_="btn btn-sm btn-outline-secondary", data_act=act, data_at=str(at),
        disabled="" if disabled else None, aria_label=about or None, title=about or None,
    )  # fmt: skip


def _stepping(room: Room, act: str, *, redo: bool) -> Tag:
    """Undo or redo, with what it would take back or do again."""
    words, what = ("Redo" if redo else "Undo"), room.undoes(redo=redo)
    text = f"{room.say(words)}: {room.say(what)}" if what else room.say(words)
    return button(text, act, disabled=not what)


def _asking(say: Say, act: str) -> Tag:
    """The question before undo or redo changes the roles."""
    return tags.div(
        tags.p(say("This changes the roles, not only the steps. The state of now is kept among the versions.")),
        button(say("Change the roles"), f"{act}_roles"), button(say("Leave all as it is"), "leave"),
        class_="card-box", role="alert",
    )  # fmt: skip


def scenario_field(say: Say) -> Tag:
    """Where a scenario file is taken; the steps stay as they are."""
    return file_field(say, "scenario_file", say("Take roles and limits from a scenario file"), accept=[".toml"])


def regression_fields(say: Say, chosen: Plain | None = None) -> Tag:
    """Where a regression is written."""
    formula, family = ((chosen or {}).get(name) for name in ("formula", "family"))
    return tags.div(
        ui.input_text("formula", say("Regression"), formula or "", placeholder="income ~ age + sex"),
        ui.input_select("family", say("Of the kind"), list(FAMILIES), selected=family), class_="buttons",
    )  # fmt: skip


def start_shown(room: Room, asking: str = "", chosen: Plain | None = None) -> Tag:
    """The buttons above the list; `asking` is undo or redo where it waits for a word on the roles.

    `chosen`: what its fields say, which stays while it is drawn anew.
    """
    say, chosen = room.say, chosen or {}
    return tags.div(
        tags.div(
            ui.input_action_button("propose", say("Propose a recipe"), class_="btn-primary"),
            ui.input_action_button("starter", say("Start from the advice"), class_="btn-outline-primary"),
            ui.input_action_button("explore", say("Look around this recipe"), class_="btn-outline-primary")
            if room.work.get().recipe()
            else None,
            *(_stepping(room, act, redo=act == "redo") for act in ("undo", "redo")),
            class_="buttons",
        ),
        _asking(say, asking) if asking and room.crosses_roles(redo=asking == "redo") else None,
        file_field(say, "recipe_file", say("Take the steps of a recipe file"), accept=[".toml"]),
        scenario_field(say),
        tags.details(
            tags.summary(say("Variables to keep as they are")),
            ui.input_checkbox_group(
                "keep", say(KEEP), _keys(room.work.get()), selected=chosen.get("keep"), inline=True
            ),
        ),
        tags.details(
            tags.summary(say("What a proposal loses least of")),
            ui.input_select(
                "loss",
                say(LOSS),
                {name: say(words) for name, words in losses.LOSSES.items()},
                selected=chosen.get("loss"),
                width="36em",
            ),
            regression_fields(say, chosen),
            tags.p(say(ABOUT_LOSS), class_="quiet"),
            open="" if chosen.get("loss", losses.INFORMATION) != losses.INFORMATION else None,
        ),
        class_="start",
    )


def step_shown(say: Say, work: Work, at: int, figures: Plain) -> Tag:
    """One step: its switch, its buttons, what it is about, and risk and loss after it."""
    step, number, last = work.steps[at], at + 1, len(work.steps) - 1
    switch = tags.input(
        type="checkbox", data_act="switch", data_at=str(at), checked="" if step.on else None,
        aria_label=say("Step {n} is carried out", n=number),
    )  # fmt: skip
    named = tags.strong(f"{number}. {say(methods.METHODS[step.method].title)}")
    buttons = tags.span(
        button("↑", "up", at, disabled=at == 0, about=say("Move step {n} up", n=number)),
        button("↓", "down", at, disabled=at == last, about=say("Move step {n} down", n=number)),
        button(say("Edit"), "edit", at, about=say("Edit step {n}", n=number)),
        button(say("Remove"), "remove", at, about=say("Remove step {n}", n=number)),
        class_="buttons",
    )
    return tags.li(
        tags.div(tags.label(switch, named, class_="step-name"), buttons, class_="step-head"),
        tags.p(summary(say, step.method, step.arguments), class_="step-about"),
        *(tags.p(text, class_="step-after") for text in _after(say, work, at, figures)),
        class_="" if step.on else "off",
    )


def _after(say: Say, work: Work, at: int, figures: Plain) -> list[str]:
    """Risk and loss after a step, in words; nothing while other steps are measured."""
    if figures.get("name") != name_of(work) or not work.steps[at].on:
        return []
    number = sum(step.on for step in work.steps[: at + 1])
    rows = [figure for figure in figures["figures"] if figure["step"] == number]
    return [_words(say, row, figures["k"], several=len(rows) > 1) for row in rows]


def _words(say: Say, figures: Plain, k: int, *, several: bool) -> str:
    parts: list[str] = []
    if "below_k" in figures:
        parts.append(say("records in groups of fewer than {n}: {n2}", n=k, n2=figures["below_k"]))
    if "sample_uniques" in figures:
        parts.append(say("alone: {n}", n=figures["sample_uniques"]))
    parts.append(say("values that differ: {n}", n=figures["share_changed"]))
    who = f"{figures['intruder']} – " if several else ""
    return who + "; ".join(parts)


SINCE = "Steps, roles or limits have changed since; this was said of those before:"


def found_shown(say: Say, answer: Plain, *, changed: bool = False) -> Tag:
    """What a search or the advice has found, with its reasons; `changed`: steps, roles or limits are others by now."""
    exceeded, unjudged = (", ".join(say(limit_words(name)) for name in answer[of]) for of in ("exceeded", "unjudged"))
    failing = [
        say("Limits that do not hold yet: {c}.", c=exceeded) if exceeded else "",
        say("Not judged yet: {c}.", c=unjudged) if unjudged else "",
    ]
    words = " ".join(filter(None, failing)) or say("Every limit holds with this recipe.")
    since = say(SINCE) if changed else ""
    loss = say("Of what the keys tell, {n} is lost.", n=answer["loss"]) if answer.get("loss", "–") != "–" else ""
    return tags.div(
        tags.h3(say("What was found")),
        tags.p(f"{since} {words} {loss}".strip(), class_="warn" if changed or any(failing) else "good"),
        tags.p(answer["kept"]) if answer.get("kept") else None,
        tags.p(answer["caution"], class_="warn") if answer.get("caution") else None,
        tags.details(tags.summary(say("Why each step is there")), HTML(answer["html"])),
        class_="card-box",
    )


def passing_shown(say: Say, so_far: Plain, *, changed: bool = False) -> Tag:
    """The recipe that passes, or that is judged, while a better one is searched for; taken once all is judged."""
    words = f"{so_far['words']}. {say('Of what the keys tell, {n} is lost.', n=so_far['loss'])}"
    take = button(say("Take this one"), "passing") if "steps" in so_far else None
    look = "good" if so_far.get("passed") and not changed else "warn"
    state = f"{say(SINCE)} {so_far['state']}" if changed else so_far["state"]
    return tags.div(tags.p(state, class_=look, role="status"), tags.p(words), take, class_="card-box")

"""The page Roles: the guesses with their evidence, accepted or changed; intruders; limits; the scenario's file."""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from shiny import Inputs, Outputs, Session, module, reactive, render, ui
from shiny.module import resolve_id
from shiny.types import SilentException
from shiny.ui import TagChild, TagList, tags

from sdckit.app.page_context import Room, Say, file_field, meanings, named_upload, upon
from sdckit.data.limits import LIMITS
from sdckit.data.scenarios import scenario_form
from sdckit.errors import ScenarioError
from sdckit.workflow.sessions.refusals import field_of

# What stands on the page Roles: the table of columns, the intruders, the limits, the scenario's file.


Plain = Mapping[str, Any]


def files_part(say: Say) -> TagChild:
    """Where a scenario file is taken, and given."""
    return tags.div(
        tags.div(file_field(say, "load", say("Take roles and limits from a scenario file"), accept=[".toml"])),
        tags.div(
            tags.p(say("The roles and limits in use, for the command line and for other sessions.")),
            ui.download_button("save", say("Download the scenario"), class_="btn-outline-primary"),
        ),
        class_="columns",
    )


FILTERS = {"all": "All columns", "question": "Open questions", "key": "Keys", "ignore": "Without a role"}
MANY = 30  # columns; more of them are scrolled in a box of their own


def filter_part(say: Say) -> TagChild:
    """A search and a filter of the table, which the page does by itself: what it hides stays chosen."""
    options = [tags.option(say(text), value=value) for value, text in FILTERS.items()]
    return tags.div(
        tags.label(say("Search for a column"), " ", tags.input(type="search", class_="form-control")),
        tags.label(say("Show"), " ", tags.select(*options, class_="form-select")),
        tags.span(role="status", class_="quiet", data_words=say("Columns shown")),
        class_="buttons", data_rows="columns",
    )  # fmt: skip


def variables_part(say: Say, guessed: Plain, scenario: Plain) -> TagChild:
    """The table of columns: a role each, how sure the guess is, and why."""
    roles = {name: say(words) for name, words in scenario_form.ROLES.items()}
    body = []
    for at, row in enumerate(guessed["rows"]):
        name = say("Role of {c}", c=row["column"])
        body.append(
            tags.tr(
                tags.th(row["column"], tags.div(row["label"], class_="quiet") if row["label"] else None, scope="row"),
                tags.td(
                    ui.input_select(
                        f"role_{at}", tags.span(name, class_="visually-hidden"), roles,
                        selected=scenario_form.role_of(scenario, row["column"]),
                    )
                ),
                tags.td(say(row["confidence"]), class_=f"sure {row['confidence']}"),
                tags.td(*_why(row)),
                data_question="yes" if row["question"] else None,
            )
        )  # fmt: skip
    heads = (tags.th(say(head), scope="col") for head in ("Column", "Role", "How sure", "Evidence"))
    table = tags.table(
        tags.caption(say("What each column is"), class_="visually-hidden"),
        tags.thead(tags.tr(*heads)), tags.tbody(*body), class_="roles",
    )  # fmt: skip
    box = tags.div(table, id="columns", class_="wide long" if len(body) > MANY else "wide")
    return TagList(filter_part(say) if len(body) > 1 else None, box)


def _why(row: Plain) -> list[TagChild]:
    reasons: list[TagChild] = ["; ".join(row["evidence"])]
    if row["warning"]:
        reasons.append(tags.div(row["warning"], class_="warn"))
    if row["question"]:
        reasons.append(tags.div("? ", row["question"], class_="question"))
    return reasons


def intruder_part(say: Say, at: int, name: str, known: list[str], keys: list[str]) -> TagChild:
    """An intruder: a name, and which of the keys are known."""
    return tags.fieldset(
        tags.legend(say("Intruder {n}", n=at + 1)),
        ui.input_text(f"name_{at}", say("Name"), value=name),
        ui.input_checkbox_group(f"knows_{at}", say("Knows"), {key: key for key in keys}, selected=known, inline=True),
        class_="card-box",
    )


def drawn_part(turn: int, keys: list[str]) -> TagChild:
    """A field that nobody sees: which intruders the fields are of, and which keys they ask about."""
    return tags.input(type="text", id=resolve_id("drawn"), value=json.dumps([turn, *keys]), hidden="")


LIMIT_FIELDS = {name: kind.form for name, kind in LIMITS.items() if kind.form}


def limits_part(say: Say, scenario: Plain, records: int) -> TagChild:
    """Type of release, limits of one's own, the population, what a missing key value is."""
    stated = scenario_form.limits_of(scenario)
    fields = (
        ui.input_text(f"limit_{name}", say(words), value=_typed(stated.get(name)))
        for name, words in LIMIT_FIELDS.items()
    )
    rule = scenario.get("missing", "wildcard")
    fraction, population = scenario_form.sizes_of(scenario, records)
    return tags.fieldset(
        tags.legend(say("Limits and population")),
        tags.div(
            ui.input_select(
                "release", say("What the file is released as"),
                {choice: say(words) for choice, words in scenario_form.release_choices(scenario).items()},
                selected=scenario.get("release") or "",
            ),
            ui.input_text(
                "fraction", say("Share of the population in the file (without weights)"),
                value=fraction, placeholder="0.05",
            ),
            ui.input_text(
                "population", say("Or how large the population is"), value=population, placeholder="400000"
            ),
            ui.input_select(
                "missing", say("A missing value in a key"), {key: say(two) for key, two in scenario_form.RULES.items()},
                selected=rule if isinstance(rule, str) else "wildcard",
            ),
            class_="form-grid",
        ),
        tags.p(
            say("A limit that is left empty is that of the type of release; one that says none is not asked."),
            class_="quiet",
        ),
        tags.div(*fields, class_="form-grid"),
        class_="card-box",
    )  # fmt: skip


def _typed(value: object) -> str:
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def rest_part(say: Say, scenario: Plain) -> TagChild:
    """What is said of all others: no column has a role, or those that nobody named are insensitive, and why."""
    patterns = ", ".join(scenario_form.patterns_of(scenario))
    rest = (
        ui.input_checkbox("patterns", say("Insensitive by pattern: {c}", c=patterns), value=True, width="100%")
        if patterns
        else ui.input_action_button("rest", say("All others are insensitive: use it so"), class_="btn-outline-primary")
    )
    nobody = {role: say(words) for role, words in scenario_form.NOBODY_WORDS.items()}
    return tags.fieldset(
        tags.legend(say("All other columns")),
        ui.input_checkbox_group("nobody", say("It is so that"), nobody, selected=scenario_form.stated_none(scenario)),
        ui.input_text(
            "because", say("Who found all others insensitive, and why"),
            value=scenario.get("insensitive_because", ""), width="100%",
        ),
        rest, class_="card-box",
    )  # fmt: skip


Drawn = Callable[[render.ui], render.ui]
INTRUDER = "somebody else"
PARTS = ("variables", "rest", "limits")
TERMS = ("Intruder", "Key variables", "Sensitive variable", "Weight", "Sampling fraction", "Limit, threshold")


@module.ui
def panel(say: Say) -> TagChild:
    """What stands on the page."""
    about = "Keys are what a stranger could know of a person; sensitive is what they would learn. Guessed; you decide."
    return TagList(
        tags.p(say(about)),
        meanings(TERMS, say),
        ui.output_ui("quick"),
        ui.output_ui("variables"),
        ui.output_ui("others"),
        ui.output_ui("intruders"),
        ui.output_ui("limits"),
        ui.output_ui("use"),
        tags.details(tags.summary(say("The scenario as a file")), files_part(say), class_="card-box"),
    )


class _Form:
    """What the page shows now: the guesses, the intruders by name, and what stands in the fields."""

    def __init__(self, input: Inputs, room: Room) -> None:
        self.input, self.room = input, room
        self.guessed: reactive.Value[dict[str, Any] | None] = reactive.Value(None)
        self.checked: reactive.Value[dict[str, Any] | None] = reactive.Value(None)
        self.named: reactive.Value[dict[str, list[str]]] = reactive.Value({})
        self.turn = 0  # how often `named` was set: fields that were drawn before are of other intruders
        self.described: Plain | None = None  # the scenario that `checked` is of
        self._drawn: dict[str, Any] = {}  # by part: the scenario in use when its fields were drawn
        self._choices: tuple[Any, Plain] | None = None  # what was chosen while a scenario was in use

    def take(self, answer: dict[str, Any]) -> None:
        """Take a scenario that was checked into use."""
        self.described = answer["scenario"]
        self.checked.set(answer)
        self.room.change(scenario=answer["scenario"])

    def standing(self) -> Plain:
        """The scenario in use, else the guessed one; reactive."""
        guesses = self.guessed.get()
        return self.room.scenario.get() or (guesses["scenario"] if guesses else {})

    def keep(self) -> None:
        """Remember what the fields say, before they are drawn anew for the same file."""
        self._choices = None
        with reactive.isolate():
            used = self.room.scenario.get()
            if self._drawn != dict.fromkeys(PARTS, used):
                return  # they are of another scenario still
            with suppress(ScenarioError, SilentException):
                self._choices = used, self.stated()

    def drawn(self, part: str) -> Plain:
        """What a part's fields are drawn with: choices that were kept, while the same scenario is in use; reactive."""
        self._drawn[part] = used = self.room.scenario.get()
        if self._choices is not None and self._choices[0] == used:
            return self._choices[1]
        return self.standing()

    def forget(self) -> None:
        """Another file: what was chosen for the one before is of the past."""
        self._choices = None
        self._drawn.clear()

    def records(self) -> int:
        """How many the file has; reactive."""
        return int((self.room.facts.get() or {"records": 0})["records"])

    def roles(self) -> dict[str, str]:
        """The role of each column as the table has it; reactive."""
        rows = (self.guessed.get() or {"rows": ()})["rows"]
        return {row["column"]: self.input[f"role_{at}"]() for at, row in enumerate(rows)}

    def keys(self) -> list[str]:
        """The columns that are keys; reactive."""
        return [name for name, role in self.roles().items() if role.startswith("key")]

    def name(self, names: dict[str, list[str]]) -> None:
        """Take other intruders into the form; what was typed about those before is of the past."""
        self.turn += 1
        self.named.set(names)

    def typed(self) -> dict[str, list[str]]:
        """The intruders as the fields have them, by name; who is alone knows what became a key meanwhile.

        Fields are drawn anew after a role was changed, and answer later than a click may come: the field ``drawn``
        says which keys they asked about.
        """
        names: dict[str, list[str]] = {}
        with reactive.isolate():
            turn, *asked = json.loads(self._read("drawn", "") or "[0]")
            named_before, now = self.named.get(), turn == self.turn
            for at, (name, known) in enumerate(named_before.items()):
                typed = str(self._read(f"name_{at}", name)).strip() if now else name
                ticked = list(self._read(f"knows_{at}", known) if now else known)
                if len(named_before) == 1:
                    ticked += [key for key in self.keys() if key not in (asked if now else known)]
                names[typed or name] = ticked
        return names

    def _read(self, field: str, otherwise: Any) -> Any:
        """A field, which may not be there yet."""
        try:
            return self.input[field]()
        except SilentException:
            return otherwise

    def stated(self, *, rest: bool = False) -> dict[str, Any]:
        """The scenario that the fields say; `rest`: all columns without a role are insensitive.

        Raises `ScenarioError`: what is typed is no number, a role is given twice, or the rest has no reason.
        """
        input = self.input
        base = self.standing()
        limits = {
            name: scenario_form.limit_told(
                words, input[f"limit_{name}"](), whole=LIMITS[name].values == "level", argument=f"thresholds.{name}"
            )
            for name, words in LIMIT_FIELDS.items()
        }
        left, rule = list(base.get("unconfirmed", ())), base.get("missing")
        kept = isinstance(rule, Mapping) and input.missing() == "wildcard"
        because = str(self._read("because", base.get("insensitive_because", ""))).strip()
        patterns = scenario_form.patterns_of(base) if self._read("patterns", True) else []
        if rest:
            patterns = [scenario_form.REST]
        if patterns and not because:
            raise ScenarioError("say who found all other columns insensitive, and why", argument="insensitive_because")
        return scenario_form.declared(
            base, self.roles(), self.typed().items(), limits, release=input.release() or None,
            sampling_fraction=scenario_form.stated_fraction(base, self.records(), input.fraction(), input.population()),
            missing=rule if kept else input.missing(),
            unconfirmed=left if left and not input.confirmed() else None,
            nobody=self._read("nobody", scenario_form.stated_none(base)), patterns=patterns,
            insensitive_because=because,
        )  # fmt: skip


@module.server
def serve(input: Inputs, output: Outputs, _: Session, room: Room) -> None:
    """What its buttons do."""
    form = _Form(input, room)
    # Drawn at once, wherever one is: who comes back types into no field that is about to be drawn anew.
    drawn = output(suspend_when_hidden=False)
    _serve_guesses(form, drawn)
    _serve_intruders(form, drawn)
    _serve_use(form, drawn)
    _serve_description(form)
    _serve_files(form)


def _serve_guesses(form: _Form, drawn: Drawn) -> None:
    room, say = form.room, form.room.say
    asked: list[Any] = [None]
    place = room.place("variables")

    @reactive.effect
    def _() -> None:
        """Guess once for every file, way of reading it, and way of showing figures."""
        work = room.work.get()
        now = None if work.facts is None else [work.path, dict(work.reading), work.exact, work.language]
        if now == asked[0]:
            return
        is_same = now is not None and asked[0] is not None and now[:2] == asked[0][:2]
        asked[0] = now
        (form.keep if is_same else form.forget)()
        form.guessed.set(None)

        def take(guesses: dict[str, Any]) -> None:
            if asked[0] == now:  # else it is asked anew
                form.guessed.set(guesses)

        if now is not None:
            room.start(
                "roles.guess", take, label=say("Guessing the roles"), place=place, exact=work.exact,
                language=work.language,
            )  # fmt: skip

    @drawn
    @render.ui
    def variables() -> TagChild:
        guesses = form.guessed.get()
        if room.facts.get() is None:
            return tags.p(say("No file is open yet: the first page opens one."), class_="empty")
        if guesses is None:
            return place.shown()
        return variables_part(say, guesses, form.drawn("variables"))

    @drawn
    @render.ui
    def others() -> TagChild:
        return None if form.guessed.get() is None else rest_part(say, form.drawn("rest"))

    @drawn
    @render.ui
    def limits() -> TagChild:
        return None if form.guessed.get() is None else limits_part(say, form.drawn("limits"), form.records())


def _serve_intruders(form: _Form, drawn: Drawn) -> None:
    input, say = form.input, form.room.say

    shown: list[Any] = [None]

    @reactive.effect
    def _() -> None:
        """Show the intruders of another scenario."""
        known = scenario_form.intruders_of(form.standing())
        if known != shown[0]:
            shown[0] = known
            form.name(known)

    @drawn
    @render.ui
    def intruders() -> TagChild:
        if form.guessed.get() is None:
            return None
        every, told = form.keys(), form.named.get()
        fewer = ui.input_action_button("fewer", say("Remove the last intruder"), class_="btn-outline-secondary")
        return tags.section(
            tags.h3(say("Intruders")),
            tags.p(say("Each knows some of the keys. The file is measured against every one of them.")),
            *(intruder_part(say, at, name, known, every) for at, (name, known) in enumerate(form.typed().items())),
            drawn_part(form.turn, every),
            ui.input_action_button("more", say("Add an intruder"), class_="btn-outline-secondary"),
            fewer if len(told) > 1 else None,
        )

    @upon(input.more)
    def _() -> None:
        now, first = form.typed(), say(INTRUDER)
        names = [first, *(f"{first} {n}" for n in range(2, len(now) + 3))]
        form.name({**now, next(name for name in names if name not in now): form.keys()})

    @upon(input.fewer)
    def _() -> None:
        form.name(dict(list(form.typed().items())[:-1]))


def _serve_use(form: _Form, drawn: Drawn) -> None:
    input, room, say = form.input, form.room, form.room.say

    @drawn
    @render.ui
    def quick() -> TagChild:
        """Above a long table, so that the guesses are taken as they are in one click."""
        if form.guessed.get() is None or room.scenario.get():
            return None
        return ui.input_action_button("accept_all", say("Accept the guesses"), class_="btn-primary")

    @drawn
    @render.ui
    def use() -> TagChild:
        if form.guessed.get() is None:
            return None
        asked, checked = ", ".join(form.standing().get("unconfirmed", ())), form.checked.get()
        answered = say("I have answered the questions marked ? ({c})", c=asked)
        return tags.div(
            ui.input_checkbox("confirmed", answered, width="100%") if asked else None,
            ui.input_action_button("accept", say("Use these roles and limits"), class_="btn-primary"),
            tags.p(say("In use."), " ", checked["limits"], class_="good") if checked else None,
            tags.p(checked["columns"], class_="warn") if checked and checked["columns"] else None,
            class_="card-box",
        )

    def accepted(answer: dict[str, Any]) -> None:
        form.take(answer)
        room.go("risk")

    def use_stated(button: str) -> None:
        try:
            scenario = form.stated(rest=button == "rest")
        except ScenarioError as error:
            room.alert(say(str(error)), beside=field_of(error.argument or "") or button)
            return
        room.start(
            "roles.check", accepted, label=say("Checking the scenario"), beside=button,
            scenario=scenario, language=room.seat.work.language,
        )  # fmt: skip

    for button in ("accept", "accept_all", "rest"):
        upon(input[button])(partial(use_stated, button))


def _serve_description(form: _Form) -> None:
    """What is in use as a file, and its limits in words, wherever it came from."""
    room, say = form.room, form.room.say

    @reactive.effect
    def _() -> None:
        work = room.work.get()
        if work.facts is None or not work.scenario:
            form.checked.set(None)
        elif work.scenario != form.described:
            form.described = work.scenario
            room.start(
                "roles.check", form.checked.set, label=say("Checking the scenario"), beside="accept",
                scenario=dict(work.scenario), language=work.language,
            )  # fmt: skip


def _serve_files(form: _Form) -> None:
    input, room, say = form.input, form.room, form.room.say

    def loaded(answer: dict[str, Any]) -> None:
        fields = room.declared(answer["scenario"])
        if "facts" in fields:  # the file is read once more, by these codes
            room.change(**fields)
        else:
            form.take(answer)

    @upon(input.load)
    def _() -> None:
        if room.seat.work.facts is None:
            words = say("Open the file of the records first: the scenario is held against its columns.")
            room.alert(words, beside="load")
        elif chosen := input.load():
            room.start(
                "roles.load", loaded, label=say("Reading the scenario"), beside="load",
                path=str(named_upload(chosen[0])), language=room.seat.work.language,
            )  # fmt: skip

    @render.download_button(filename="scenario.toml")
    def save() -> Any:
        checked = form.checked.get()
        yield checked["toml"] if checked else ""

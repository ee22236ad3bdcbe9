"""The page Protect: the steps as a list, each with its form and picture, what they come to, and earlier versions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from shiny import Inputs, Outputs, Session, module, reactive, render, ui
from shiny.ui import HTML, Tag, TagChild, TagList, tags

from sdckit.app import step_form
from sdckit.app.browser_sessions import Step, Work, made_steps
from sdckit.app.page_context import Kept, Room, Say, named_upload, nothing_yet, upon
from sdckit.app.pages.step_editor import Draft, serve_editor
from sdckit.app.recipe_map import DID as DID_MAP, USE, WHY as WHY_MAP, RecipeMap, map_panel
from sdckit.app.step_form import button
from sdckit.data.methods import METHODS, kind_of
from sdckit.data.scenarios.scenario_form import fits

Plain = Mapping[str, Any]
SECONDS = 120  # of a search for a recipe
NOTHING = "Nothing can be protected yet: open a file and say what an intruder could know."
# What undo says of a change, and what the version is called that is kept before it.
DID = {
    "switch": "switch a step", "remove": "remove a step", "propose": "propose a recipe",
    "starter": "start from the advice", "load_recipe": "load a recipe",
}  # fmt: skip
WHY = {"propose": "before a proposal", "starter": "before the advice", "load_recipe": "before a recipe was loaded"}
ACTS = {**USE, "compare_point": "Compare"}  # of a recipe of the map
DRAW = (
    "These steps draw records of nobody from protected tables, at a press of this button alone. Each press under an ε "
    "spends it anew; the budget ledger named in the first step adds it up. Put all steps in before. "
    "What was drawn is gone with the session: take it away before it ends."
)
NO_STEP = "No step yet. Propose a recipe, start from the advice on the keys, or add a step."


@module.ui
def panel(say: Say) -> TagChild:
    """What stands on the page."""
    return TagList(
        tags.link(rel="stylesheet", href="protect.css"),
        tags.script(src="protect.js", defer=""),
        ui.output_ui("start"), ui.output_ui("found"), map_panel(),
        tags.div(
            tags.div(tags.h3(say("Steps")), ui.output_ui("steps"), ui.output_ui("add"), class_="steps"),
            tags.div(ui.output_ui("editor"), ui.output_ui("picture"), class_="editor"),
            class_="protect",
        ),
        ui.output_ui("versions"), ui.output_ui("outcome"),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Bench:
    """What the page knows besides the work: the step in the form, what was measured and found, undo that waits."""

    room: Room
    draft: reactive.Value[Draft | None]
    figures: Kept[dict[str, Any]]
    found: Kept[dict[str, Any]]
    so_far: Kept[dict[str, Any]]  # the recipe that passes, of a search that goes on
    beside: Kept[str]
    map: RecipeMap
    asking: reactive.Value[str]

    @classmethod
    def of(cls, room: Room) -> Bench:
        """An empty one."""
        figures, found, so_far = (Kept[dict[str, Any]](room, {}) for _ in range(3))
        recipes = RecipeMap(room, "Map of risk and loss", ACTS)
        return cls(room, reactive.Value(None), figures, found, so_far, Kept(room, ""), recipes, reactive.Value(""))

    def steps(self) -> list[Step]:
        """The steps as they are."""
        with reactive.isolate():
            return list(self.room.work.get().steps)

    def take(self, plain: Sequence[Plain], *, did: str, why: str) -> None:
        """Take the steps that a task gave; those of before are kept among the versions."""
        self.draft.set(None)
        self.room.change(steps=made_steps(plain), did=did, why=why)

    def step_back(self, act: str, *, asked: bool = False) -> None:
        """Undo or redo; where that changes the roles, ask first."""
        redo = act == "redo"
        with reactive.isolate():
            crosses = self.room.crosses_roles(redo=redo)
        self.asking.set(act if crosses and not asked else "")
        if crosses is not asked:  # it waits for an answer, or the answer is to a question of the past
            return
        if crosses:
            self.room.keep_version(why="before roles were changed")
        self.draft.set(None)
        (self.room.redo if redo else self.room.undo)()

    def open_version(self, at: int) -> None:
        """Go back to a version; the state of now becomes one."""
        work = self.room.work.get()
        if 0 <= at < len(work.versions) and can_open(work, version := work.versions[at]):
            self.draft.set(None)
            self.room.change(
                scenario=version["scenario"], steps=made_steps(version["steps"]), did="open a version",
                why="before a version was opened",
            )  # fmt: skip

    def compare_version(self, at: int) -> None:
        """Put the recipe beside that of a version, under the roles in use."""
        version = self.room.work.get().versions[at]
        steps = [step for step in version["steps"] if step["on"]]
        self.compare(steps, version["name"] or self.room.say(version["why"]))

    def take_passing(self) -> None:
        """Take the recipe that the search has so far, and end the search."""
        if "steps" in (so_far := self.so_far.get()):  # all of it is judged
            self.so_far.set({})
            self.found.set({})
            self.room.cancel("protecting.propose")
            self.take(so_far["steps"], did=DID["propose"], why=WHY["propose"])

    def look(self, task: str, label: str, **more: Any) -> None:
        """Ask for a recipe; of a search that ends without one, what passed so far stays, and what was judged goes."""
        asked = {name: value for name, value in self.asked().items() if name != "secret"}
        begun = self.room.work.get()
        under = replace(begun, steps=()).digest()
        keep, draw = self.found.taker(), self.map.taker()
        passing = self.so_far.taker(lambda answer: {**answer, "under": under})

        def then(answer: dict[str, Any]) -> None:
            self.so_far.set({})
            keep({**answer, "of": replace(begun, steps=made_steps(answer["steps"])).digest()})
            draw(answer)
            self.map.at.set(-1)
            self.take(answer["steps"], did=DID[task], why=WHY[task])

        def dropped() -> None:
            with reactive.isolate():
                if "steps" not in self.so_far.held():
                    self.so_far.set({})

        self.room.start(
            f"protecting.{task}", then, label=self.room.say(label), beside=task, partial=passing, dropped=dropped,
            **asked, **more,
        )  # fmt: skip

    def is_of_now(self) -> bool:
        """Whether what was found, or is being judged, is of the steps, roles and limits that stand here; reactive."""
        work = self.room.work.get()
        if so_far := self.so_far.get():  # its steps are not in the list yet
            return bool(so_far.get("under") == replace(work, steps=()).digest())
        return bool(self.found.get().get("of") == work.digest())

    def put(self, draft: Draft, arguments: Plain) -> None:
        """Put what a form says in the place of its step, or of a new one."""
        steps = self.steps()
        at = draft.place(steps)
        if at == draft.at:
            steps[at] = Step(draft.method, dict(arguments), steps[at].on)
        else:
            steps.insert(at, Step(draft.method, dict(arguments)))
        self.room.change(steps=tuple(steps), did="add a step" if draft.at is None else "change a step")

    def move(self, act: str, at: int) -> None:
        """Switch, move or remove a step."""
        steps = self.steps()
        if not 0 <= at < len(steps):
            return
        step = steps.pop(at)
        if act == "switch":
            steps.insert(at, replace(step, on=not step.on))
        elif act != "remove":
            steps.insert(max(0, min(at - 1 if act == "up" else at + 1, len(steps))), step)
        self.draft.set(None)
        self.room.change(steps=tuple(steps), did=DID.get(act, "move a step"))

    def edit(self, at: int) -> None:
        """Open the form of a step."""
        steps = self.steps()
        if 0 <= at < len(steps):
            self.draft.set(Draft(steps[at].method, dict(steps[at].arguments), at))

    def asked(self) -> dict[str, Any]:
        """What every task on a recipe is told besides its steps."""
        work = self.room.work.get()
        return {
            "scenario": dict(work.scenario or {}), "secret": work.secret, "exact": work.exact,
            "language": work.language,
        }  # fmt: skip

    def compare(self, second: Sequence[Plain], name: str) -> None:
        """Put the recipe beside another."""
        say, first = self.room.say, self.room.work.get().recipe()
        self.room.start(
            "releasing.compare", self.beside.taker(lambda answer: answer["html"]), label=say("comparing two recipes"),
            first=first, second=list(second), names=[say("the recipe here"), name], **self.asked(),
        )  # fmt: skip

    def do(self, act: str, at: int) -> None:
        """Carry out what a button says."""
        point = self.map.steps(at)
        acts: dict[str, Callable[[], object]] = {
            **{name: partial(self.step_back, name) for name in ("undo", "redo")},
            **{f"{name}_roles": partial(self.step_back, name, asked=True) for name in ("undo", "redo")},
            "leave": lambda: self.asking.set(""),
            "edit": lambda: self.edit(at),
            "passing": self.take_passing,
            "open_version": lambda: self.open_version(at),
            "compare_version": lambda: self.compare_version(at),
            "point": lambda: self.map.at.set(at),
            "use_point": lambda: self.take(point, did=DID_MAP, why=WHY_MAP),
            "compare_point": lambda: self.compare(point, self.room.say("recipe {n}", n=at + 1)),
        }
        if point or not act.endswith("_point"):  # a map that is gone has no points
            acts.get(act, lambda: self.move(act, at))()


@module.server
def serve(input: Inputs, output: Outputs, session: Session, room: Room) -> None:  # noqa: ARG001 - Shiny's own
    """What its buttons do."""
    bench = Bench.of(room)
    serve_editor(input, session, room, bench.draft, bench.put)
    _serve_list(input, bench)
    _serve_finding(input, bench)
    _serve_figures(input, session, bench)
    _serve_versions(input, bench)

    @upon(input.act)
    def _() -> None:
        bench.do(str(input.act()["act"]), int(input.act().get("at", -1)))


def _serve_list(input: Inputs, bench: Bench) -> None:
    """The list of steps, and a new one."""
    room = bench.room

    @render.ui
    def steps() -> TagChild:
        work = room.work.get()
        if not step_form.is_ready(work):
            return None
        if not work.steps:
            return tags.p(room.say(NO_STEP), class_="empty")
        figures = bench.figures.get()
        items = (step_form.step_shown(room.say, work, at, figures) for at in range(len(work.steps)))
        return tags.ol(*items, class_="step-list")

    @reactive.calc
    def ready() -> bool:
        return step_form.is_ready(room.work.get())

    @render.ui
    def add() -> TagChild:
        """Drawn once: a method that is chosen stays while steps are measured or moved."""
        if not ready():
            return None
        choices = {name: f"{room.say(kind.title)} ({name})" for name, kind in METHODS.items()}
        return tags.div(
            ui.input_select("method", room.say("Method"), choices),
            ui.input_action_button("add_step", room.say("Add a step"), class_="btn-outline-primary"),
            class_="add-step",
        )

    @upon(input.add_step)
    def _() -> None:
        bench.draft.set(Draft(str(input.method())))


def _serve_finding(input: Inputs, bench: Bench) -> None:
    """A recipe to start from."""
    room = bench.room

    def chosen() -> dict[str, Any]:
        return {name: input[name]() for name in ("keep", "loss", "formula", "family") if name in input}

    @render.ui
    def start() -> TagChild:
        asking = bench.asking.get()
        if step_form.is_ready(room.work.get()):
            with reactive.isolate():
                fields = chosen()
            return step_form.start_shown(room, asking, fields)
        nothing = nothing_yet(room.say, NOTHING, "Go to Roles", "roles")
        return nothing if room.facts.get() is None else TagList(nothing, step_form.scenario_field(room.say))

    @upon(input.scenario_file)
    def _() -> None:
        for chosen in input.scenario_file() or ():
            room.start(
                "roles.load", lambda answer: room.change(**room.declared(answer["scenario"])),
                label=room.say("Reading the scenario"), beside="scenario_file", path=str(named_upload(chosen)),
                language=room.seat.work.language,
            )  # fmt: skip

    @upon(input.recipe_file)
    def _() -> None:
        for chosen in input.recipe_file() or ():
            room.start(
                "protecting.load_recipe",
                lambda answer: bench.take(answer["steps"], did=DID["load_recipe"], why=WHY["load_recipe"]),
                label=room.say("reading the recipe"), beside="recipe_file", path=str(named_upload(chosen)),
                scenario=bench.asked()["scenario"],
            )  # fmt: skip

    @upon(input.propose)
    def _() -> None:
        bench.so_far.set({})
        wishes = {**chosen(), "keep": list(input.keep() or ())}
        wishes["formula"] = str(wishes.get("formula") or "").strip()
        bench.look("propose", "looking for the recipe that loses least", seconds=SECONDS, **wishes)

    @upon(input.starter)
    def _() -> None:
        bench.look("starter", "following the advice on the keys")

    @upon(input.explore)
    def _() -> None:
        room.start(
            "exploring.explore", bench.map.taker(), label=room.say("looking around the recipe"), beside="explore",
            partial=bench.map.taker(), steps=room.work.get().recipe(), loss=str(input.loss()), **bench.asked(),
        )  # fmt: skip

    @render.ui
    def found() -> TagChild:
        if bench.so_far.get():
            return step_form.passing_shown(room.say, bench.so_far.get(), changed=not bench.is_of_now())
        proposal = bench.found.get()
        return step_form.found_shown(room.say, proposal, changed=not bench.is_of_now()) if proposal else None


def _serve_figures(input: Inputs, session: Session, bench: Bench) -> None:
    """Risk and loss after every step, measured whenever the steps are others."""
    room, root = bench.room, session.root_scope()
    place = room.place("outcome")

    @reactive.effect
    def _() -> None:
        work = room.work.get()
        here = "page" in root.input and root.input.page() == "protect"
        if not here or not step_form.is_ready(work) or not work.recipe():
            return
        name = step_form.name_of(work)
        with reactive.isolate():
            if bench.figures.get().get("name") == name:
                return
        room.start(
            "protecting.run", bench.figures.taker(lambda answer: {**answer, "name": name}),
            label=room.say("measuring risk and loss after every step"), place=place, steps=work.recipe(),
            **bench.asked(),
        )  # fmt: skip

    @render.ui
    def outcome() -> TagChild:
        figures, work = bench.figures.get(), room.work.get()
        if not work.recipe():
            return None
        if not figures:
            return place.shown()
        same = figures["name"] == step_form.name_of(work)
        drawing = _drawing(room.say) if kind_of(work.recipe()[0]["method"]).first else None
        stale = None if same else tags.p(room.say("The steps have changed since."), class_="warn")
        title = room.say("Risk and loss after every step, in full")
        return TagList(
            drawing, place.shown(),
            tags.details(
                tags.summary(title), stale, HTML(figures["html"]), class_="card-box", open="" if drawing else None
            ),
        )  # fmt: skip

    @upon(input.draw)
    def _() -> None:
        """Each press draws anew, and spends; a release of records drawn before is none any more."""
        work = room.work.get()
        keep = bench.figures.taker(lambda answer: {**answer, "name": step_form.name_of(work)})

        def then(answer: dict[str, Any]) -> None:
            keep(answer)
            room.change(release=None)

        room.start("protecting.draw", then, label=room.say("drawing records under a promise"), place=place,
                   steps=work.recipe(), **bench.asked())  # fmt: skip


def _drawing(say: Say) -> TagChild:
    """The button that draws, where the first step does so under a promise."""
    button = ui.input_action_button("draw", say("Draw the records"), class_="btn-primary")
    return tags.div(tags.p(say(DRAW)), button, class_="card-box")


def _serve_versions(input: Inputs, bench: Bench) -> None:
    """Earlier states, two of them side by side."""
    room = bench.room

    there, compared = reactive.Value(False), reactive.Value(False)

    @reactive.effect
    def _() -> None:
        work = room.work.get()
        there.set(step_form.is_ready(work) and bool(work.versions or work.steps))
        compared.set(bool(bench.beside.get()))

    @render.ui
    def versions() -> TagChild:
        """The fold is drawn once, so that it stays open, and once more where a comparison opens it."""
        return versions_fold(room.say, unfolded=compared.get()) if there.get() else None

    @render.ui
    def version_list() -> TagChild:
        return version_list_shown(room)

    @render.ui
    def compared_recipes() -> TagChild:
        return HTML(bench.beside.get())

    @upon(input.keep_version)
    def _() -> None:
        if name := str(input.version_name()).strip():
            room.keep_version(name=name)
        else:
            room.alert(room.say("Give the version a name."), beside="version_name")


# Earlier scenarios and steps: kept under a name or by themselves, put side by side, opened again.


OTHER_FILE = "Its roles name columns that this file does not have."
ABOUT = "Every version holds roles, limits and steps. Undo leaves them alone; they are saved with your work."


def can_open(work: Work, version: Mapping[str, Any]) -> bool:
    """Whether the open file has the columns of a version.

    >>> can_open(Work(facts={"columns": ["age"]}), {"scenario": {"keys": ["sex"]}})
    False
    """
    return version["scenario"] is None or fits(version["scenario"], (work.facts or {}).get("columns", ()))


def versions_fold(say: Say, *, unfolded: bool) -> Tag:
    """The fold: a name to keep the state of now under, the list, and two of them side by side."""
    return tags.details(
        tags.summary(say("Versions")), tags.p(say(ABOUT), class_="quiet"),
        tags.div(
            ui.input_text("version_name", say("Name of the version")),
            ui.input_action_button("keep_version", say("Keep this version"), class_="btn-outline-primary"),
            class_="add-step",
        ),
        ui.output_ui("version_list"), ui.output_ui("compared_recipes"), class_="card-box",
        open="" if unfolded else None,
    )  # fmt: skip


def version_list_shown(room: Room) -> Tag:
    """Every version with its buttons, the latest first."""
    work = room.work.get()
    return tags.ul(*(_version(room.say, work, at) for at in reversed(range(len(work.versions)))), class_="others")


def _version(say: Say, work: Work, at: int) -> Tag:
    version = work.versions[at]
    name, on = version["name"] or say(version["why"]), any(step["on"] for step in version["steps"])
    openable = can_open(work, version)
    about = say("{n} steps", n=len(version["steps"]))
    return tags.li(
        tags.p(tags.strong(name), f" – {about}, {version['time']}"),
        None if openable else tags.p(say(OTHER_FILE), class_="warn"),
        tags.span(
            button(say("Open"), "open_version", at, disabled=not openable, about=say("Open: {c}", c=name)),
            button(
                say("Compare"), "compare_version", at, disabled=not (openable and on and work.recipe()),
                about=say("Compare: {c}", c=name),
            ),
            class_="buttons",
        ),
    )  # fmt: skip

"""The page Release: the recipe is carried out, held against every limit, and compared with the original."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import Any

from shiny import Inputs, Outputs, Session, module, reactive, render, ui
from shiny.ui import HTML, Tag, TagChild, TagList, tags

from sdckit.app.browser_sessions import Work, made_steps
from sdckit.app.page_context import Answer, Kept, Room, Say, file_field, named_upload, nothing_yet, upon
from sdckit.app.recipe_map import DID, WHY, RecipeMap, map_panel
from sdckit.app.step_form import regression_fields
from sdckit.app.tasks import Place
from sdckit.catalogue import CATALOGUE
from sdckit.data.losses import DIFFERING, DRAWN

NOTHING = "There is no release yet: it is made by the steps on the page Protect, and no step is switched on."
STALE = "Recipe, roles, control file or figures have changed since: make the release again."
MAP = "Risk and loss of every recipe that was carried out in this session"
CONTROL = "Control file: people of the same kind who are not in the file"
FOLDER = "control"  # of the control file, in the session's folder
SIMULATED = (
    "Simulated intruders attack the people in the file with the release in hand. What also succeeds on people who were "
    "never in the file, those of a control file, is not the release's doing."
)
NEEDS_CONTROL = "It needs a control file; without one it is not judged."
ABOUT = "The steps are carried out, and the release is held against every limit beside its original."


@module.ui
def panel(_: Say) -> TagChild:
    """What stands on the page."""
    outputs = ("make", "verdict", "attacked", "chapters", "chapter")
    return TagList(*(ui.output_ui(name) for name in outputs), map_panel())


def asked_of(work: Work, options: Mapping[str, Any]) -> dict[str, Any]:
    """What every task on a release is told."""
    return {
        "scenario": dict(work.scenario or {}), "steps": work.recipe(), "secret": work.secret, "exact": work.exact,
        "language": work.language, **options,
    }  # fmt: skip


def current(work: Work) -> Mapping[str, Any] | None:
    """The release, where it is still that of the file, the scenario, the steps and the control file.

    >>> work = Work(path="a.csv")
    >>> current(Work(path="a.csv", release={"of": work.digest()}))["of"] == work.digest()
    True
    >>> current(Work(path="b.csv", release={"of": work.digest()})) is None
    True
    """
    made = work.release
    control = (made or {}).get("options", {}).get("control", "")  # a control file that was replaced is gone
    return made if made is not None and made.get("of") == work.digest() and control in ("", work.control) else None


@dataclass(frozen=True, eq=False)
class Made:
    """What was told of the release, the chapter that is read and its title, the map, whether a release is gone."""

    room: Room
    told: reactive.Value[dict[str, Any]]
    verdict: Place
    chapter: Answer
    title: reactive.Value[str]
    mapped: RecipeMap
    gone: reactive.Value[bool]

    def is_current(self) -> bool:
        """Whether it is still that of the work, and shown as the session shows figures now; reactive."""
        work, answer = self.room.work.get(), self.told.get()
        return answer.get("of") == work.digest() and answer["shown"] == (work.exact, work.language)


@module.server
def serve(input: Inputs, output: Outputs, session: Session, room: Room) -> None:  # noqa: ARG001 - Shiny's own
    """What its buttons do."""
    chapter, title = Answer(room, "chapter"), reactive.Value("")
    verdict = room.place("verdict")
    made = Made(room, reactive.Value({}), verdict, chapter, title, RecipeMap(room, MAP), reactive.Value(False))
    _serve_verdict(made)  # first: it forgets what failed before, and making it again may be waiting by then
    _serve_making(input, made)
    _serve_control(input, room)
    _serve_chapters(input, made)
    _serve_map(input, made)


def _serve_making(input: Inputs, made: Made) -> None:
    room = made.room

    ready: reactive.Value[bool] = reactive.Value(False)
    again: reactive.Value[bool] = reactive.Value(False)

    @reactive.effect
    def _() -> None:
        work = room.work.get()
        ready.set(bool(work.recipe()))
        again.set(work.release is not None)

    @render.ui
    def make() -> TagChild:
        """The form is drawn once: what was chosen and typed in it stays."""
        if not ready.get():
            return nothing_yet(room.say, NOTHING, "Go to Protect", "protect")
        with reactive.isolate():
            return _form(room.say, again=again.get())

    @reactive.effect
    def _() -> None:
        ui.update_action_button("make_release", label=_make_words(room.say, again=again.get()))

    def options(*, attacks: bool) -> dict[str, Any]:
        models = {formula: str(input.family())} if (formula := str(input.formula() or "").strip()) else {}
        return {"models": models, "control": room.work.get().control if attacks else "", "attacks": attacks}

    def make_it(options: Mapping[str, Any]) -> None:
        work = room.work.get()
        of, shown = work.digest(), (work.exact, work.language)

        def then(answer: dict[str, Any]) -> None:
            made.chapter.clear()
            made.gone.set(False)
            made.told.set({**answer, "of": of, "shown": shown})
            release = {"of": of, "passed": answer["passed"], "options": options}
            room.change(release={**release, "verdict": answer["verdict"], "shown": shown})

        label = room.say("making the release and checking every limit")
        room.start("releasing.release", then, label=label, place=made.verdict, **asked_of(work, options))

    @reactive.effect
    def _() -> None:
        """Another language loads the page anew: what was released before stands on it again."""
        with reactive.isolate():
            if (before := current(room.work.get())) is not None:
                make_it(before["options"])

    @upon(input.make_release)
    def _() -> None:
        make_it(options(attacks=bool(input.attacks())))

    @upon(input.attack)
    def _() -> None:
        ui.update_checkbox("attacks", value=True)
        make_it(options(attacks=True))


def _serve_control(input: Inputs, room: Room) -> None:
    told: Kept[str] = Kept(room, "")

    @upon(input.control_file)
    def _() -> None:
        """The control file of before goes at once; the new one is taken once it was read."""
        work, folder = room.work.get(), room.folder / FOLDER
        shutil.rmtree(folder, ignore_errors=True)
        told.set("")
        room.change(control="")
        for file in input.control_file() or ():
            place = folder / token_hex(4)
            place.mkdir(mode=0o700, parents=True)
            target = Path(shutil.move(named_upload(file), place))
            take = told.taker(lambda answer: answer["words"])

            def then(answer: dict[str, Any], target: Path = target, take: Any = take) -> None:
                take(answer)
                ui.update_checkbox("attacks", value=True)
                room.change(control=str(target))

            room.start(
                "releasing.check_control", then, label=room.say("reading the control file"), beside="control_file",
                dropped=partial(shutil.rmtree, place, ignore_errors=True), path=str(target), exact=work.exact,
                scenario=dict(work.scenario or {}), language=work.language,
            )  # fmt: skip

    @render.ui
    def control_told() -> TagChild:
        if not room.work.get().control:
            return None
        return tags.p(told.get() or room.say("A control file is used."), class_="good", role="status")


def _serve_verdict(made: Made) -> None:
    room = made.room
    seen: list[Any] = [None]

    @reactive.effect
    def _() -> None:
        """A verdict does not outlive what it is about, and what failed with other steps is not offered again."""
        work = room.work.get()
        stale = work.release is not None and current(work) is None
        if stale or (made.told.get() and not made.is_current()):
            made.told.set({})
            made.chapter.clear()
            made.gone.set(True)
            room.change(release=None if stale or not work.release else {**work.release, "shown": None})
            room.seat.verdict = str(tags.p(room.say(STALE), class_="none"))
            room.verdict.set(room.seat.verdict)

        now = (work.digest(), work.exact, work.language)
        if seen[0] != now:
            seen[0] = now
            made.verdict.state.set((None, "", ""))

    @render.ui
    def verdict() -> TagChild:
        if waits := made.verdict.shown():
            return waits
        answer = made.told.get()
        if not answer or not made.is_current():
            return tags.p(room.say(STALE), class_="warn") if made.gone.get() else None
        beyond = "The release is not within the limits: see the verdict above."
        held = "Every limit holds." if answer["passed"] else beyond
        words = tags.p(room.say(held), class_="good" if answer["passed"] else "bad", role="status")
        return tags.section(tags.h3(room.say("The verdict")), words, HTML(answer["html"]), class_="card-box")

    @render.ui
    def attacked() -> TagChild:
        answer = made.told.get()
        if not answer.get("attacked") or not made.is_current():
            return None
        title = tags.h3(room.say("What the attacks came to"))
        button = ui.input_action_button("attack", room.say("Simulate the attacks"), class_="btn-outline-primary")
        return tags.section(title, HTML(answer["attacked"]), button, class_="card-box")


def _serve_chapters(input: Inputs, made: Made) -> None:
    room = made.room

    @render.ui
    def chapters() -> TagChild:
        if not made.told.get() or not made.is_current():
            return None
        now = made.title.get() if made.chapter.html.get() else ""
        buttons = (
            tags.button(
                room.say(title), type="button", class_="btn btn-sm btn-outline-primary", data_act="chapter",
                data_at=str(at), aria_pressed="true" if title == now else "false",
            )
            for at, title in enumerate(made.told.get()["chapters"])
        )  # fmt: skip
        words = room.say("Map of risk and loss")
        mapped = ui.input_action_button("map_wanted", words, class_="btn-sm btn-outline-primary")
        with reactive.isolate():
            loss = input.map_loss() if "map_loss" in input else DIFFERING
        losses = {name: room.say(said) for name, said in DRAWN.items()}
        field = ui.input_select("map_loss", room.say("Loss on the map"), losses, selected=loss, width="36em")
        title = tags.h3(room.say("The original beside the release"))
        return tags.section(title, tags.div(*buttons, mapped, class_="chapters"), field)

    @upon(input.act)
    def _() -> None:
        act, at = str(input.act()["act"]), int(input.act()["at"])
        if act == "point":
            made.mapped.at.set(at)
        elif act == "use_point" and (steps := made.mapped.steps(at)):
            room.change(steps=made_steps(steps), did=DID, why=WHY)
            room.go("protect")
        titles = made.told.get().get("chapters", []) if act == "chapter" else []
        work = room.work.get()
        release = current(work)
        if release is not None and 0 <= at < len(titles):
            made.title.set(titles[at])
            room.start(
                "releasing.chapter", made.chapter.html.taker(lambda answer: answer["html"]), title=titles[at],
                label=room.say("laying out a chapter"), place=made.chapter.place, **asked_of(work, release["options"]),
            )  # fmt: skip

    @render.ui
    def chapter() -> TagChild:
        answer = made.chapter.shown() if made.is_current() else None
        return tags.section(answer, class_="card-box") if answer else None


def _serve_map(input: Inputs, made: Made) -> None:
    room = made.room

    @upon(input.map_wanted)
    def _() -> None:
        label = room.say("drawing the recipes tried")
        asked = asked_of(room.work.get(), {}) | {"loss": str(input.map_loss())}
        room.start("exploring.map_of_recipes", made.mapped.taker(), label=label, beside="map_wanted", **asked)


def _make_words(say: Say, *, again: bool) -> str:
    return say("Make the release again") if again else say("Make the release")


def _form(say: Say, *, again: bool) -> Tag:
    attacks = [row for row in CATALOGUE if row.files == "attack"]
    needs = TagList(" ", tags.strong(say(NEEDS_CONTROL)))
    asked = (tags.li(say(row.question), needs if "control" in row.needs else None) for row in attacks)
    attacking = tags.section(
        tags.h3(say("Attacks")),
        tags.p(say(SIMULATED)),
        tags.ul(*asked),
        file_field(say, "control_file", say(CONTROL), width="36em"),
        ui.output_ui("control_told"),
        ui.input_checkbox("attacks", say("Simulate the attacks when the release is made"), width="100%"),
        class_="card-box",
    )  # fmt: skip
    more = tags.details(tags.summary(say("A regression of your own")), regression_fields(say), class_="more")
    button = ui.input_action_button("make_release", _make_words(say, again=again), class_="btn-primary")
    return tags.div(tags.p(say(ABOUT)), button, more, attacking, class_="start")

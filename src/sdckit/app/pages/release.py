"""The page Release: the recipe is carried out, held against every limit, and compared with the original."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from typing import Any

from htmltools import HTML, Tag, TagChild, TagList, tags
from shiny import Inputs, Outputs, Session, module, reactive, render, ui

from sdckit.app.room import Room
from sdckit.app.words import Say
from sdckit.app.work import Work

__all__ = ["asked_of", "current", "panel", "serve"]

FAMILIES = ("linear", "logistic", "poisson", "multinomial")
CONTROL = "control"


@module.ui
def panel(say: Say) -> TagChild:
    """What stands on the page."""
    return TagList(
        ui.output_ui("make"), ui.output_ui("verdict"), ui.output_ui("chapters"), ui.output_ui("chapter"), ui.output_ui("map"),
    )  # fmt: skip


def asked_of(work: Work, options: Mapping[str, Any]) -> dict[str, Any]:
    """What every task on a release is told."""
    return {
        "scenario": dict(work.scenario or {}), "steps": work.recipe(), "secret": work.secret, "exact": work.exact,
        "language": work.language, **options,
    }  # fmt: skip


def current(work: Work) -> Mapping[str, Any] | None:
    """The release, where it is still that of the file, the scenario and the steps."""
    made = work.release
    return made if made is not None and made.get("of") == work.digest() else None


@module.server
def serve(input: Inputs, output: Outputs, session: Session, room: Room) -> None:
    """What its buttons do."""
    told: reactive.Value[dict[str, Any]] = reactive.Value({})
    chosen: reactive.Value[dict[str, Any]] = reactive.Value({})
    drawn: reactive.Value[str] = reactive.Value("")

    @render.ui
    def make() -> TagChild:
        work = room.work.get()
        if not work.recipe():
            return _empty(room.say)
        return _make(room.say, again=work.release is not None)

    def options() -> dict[str, Any]:
        formula = str(input.formula() or "").strip()
        models = {formula: str(input.family())} if formula else {}
        return {"models": models, "control": room.work.get().control, "attacks": bool(input.attacks())}

    @reactive.effect
    @reactive.event(input.make_release)
    def _() -> None:
        work, wanted = room.work.get(), options()
        of = work.digest()

        def made(found: dict[str, Any]) -> None:
            chosen.set({})
            told.set({**found, "of": of, "shown": (work.exact, work.language)})
            room.change(release={"of": of, "passed": found["passed"], "options": wanted})

        room.start(
            "releasing.release", made, label=room.say("making the release and checking every limit"),
            **asked_of(work, wanted),
        )  # fmt: skip

    @reactive.effect
    @reactive.event(input.control_file)
    def _() -> None:
        for one in input.control_file() or ():
            ending = "".join(
                part
                for part in str(one["name"]).partition(".")[1:]
                if part.replace(".", "").isalnum() or part == "."
            )
            target = room.folder / f"{CONTROL}{ending}"
            shutil.copyfile(one["datapath"], target)
            room.change(control=str(target))

    @output(id="verdict")
    @render.ui
    def _() -> TagChild:
        found, work = told.get(), room.work.get()
        if not found:
            return None
        if found["of"] != work.digest() or found["shown"] != (work.exact, work.language):
            return tags.p(
                room.say("Recipe, roles or figures have changed since: make the release again."),
                class_="warn",
            )
        return tags.section(
            tags.h3(room.say("The verdict")), HTML(found["verdict"]), HTML(found["html"]), class_="card-box",
        )  # fmt: skip

    @render.ui
    def chapters() -> TagChild:
        found, work = told.get(), room.work.get()
        if not found or found["of"] != work.digest() or not found["chapters"]:
            return None
        now = chosen.get().get("title")
        buttons = (
            tags.button(
                room.say(title), type="button", class_="btn btn-sm btn-outline-primary", data_act="chapter",
                data_at=str(at), aria_pressed="true" if title == now else "false",
            )
            for at, title in enumerate(found["chapters"])
        )  # fmt: skip
        mapped = ui.input_action_button(
            "map_wanted", room.say("Map of risk and loss"), class_="btn-sm btn-outline-primary"
        )
        return tags.section(
            tags.h3(room.say("The original beside the release")),
            tags.div(*buttons, mapped, class_="chapters"),
        )

    @reactive.effect
    @reactive.event(input.act)
    def _() -> None:
        titles = told.get().get("chapters", [])
        at = int(input.act()["at"])
        if not 0 <= at < len(titles):
            return
        work = room.work.get()
        made = current(work)
        if made is None:
            return
        room.start(
            "releasing.chapter", chosen.set, label=room.say("laying out a chapter"), title=titles[at],
            **asked_of(work, made["options"]),
        )  # fmt: skip

    @reactive.effect
    @reactive.event(input.map_wanted)
    def _() -> None:
        work = room.work.get()
        asked = {name: one for name, one in asked_of(work, {}).items()}
        room.start(
            "releasing.map_of_recipes", lambda found: drawn.set(found["html"]),
            label=room.say("drawing the recipes tried"), **asked,
        )  # fmt: skip

    @render.ui
    def chapter() -> TagChild:
        return tags.section(HTML(chosen.get()["html"]), class_="card-box") if chosen.get() else None

    @output(id="map")
    @render.ui
    def _() -> TagChild:
        if not drawn.get():
            return None
        text = (
            "Every recipe that was carried out in this session: the lower and the further left, the better."
        )
        return tags.section(
            tags.h3(room.say("Map of risk and loss")),
            tags.p(room.say(text)),
            HTML(drawn.get()),
            class_="card-box",
        )


def _empty(say: Say) -> Tag:
    return tags.div(
        tags.p(
            say(
                "There is no release yet: it is made by the steps on the page Protect, and no step is switched on."
            )
        ),
        tags.button(say("Go to Protect"), type="button", class_="btn btn-primary", data_go="protect"),
        class_="empty",
    )


def _make(say: Say, *, again: bool) -> Tag:
    more = tags.details(
        tags.summary(say("Attacks, a control file, a regression of your own")),
        ui.input_checkbox("attacks", say("Simulate attacks: singling out, linking, guessing")),
        ui.input_file(
            "control_file", say("Control file: people of the same kind who are not in the file"),
            button_label=say("Browse…"), placeholder=say("No file chosen"),
        ),
        tags.div(
            ui.input_text("formula", say("Regression"), placeholder="income ~ age + sex"),
            ui.input_select("family", say("Of the kind"), list(FAMILIES)),
            class_="buttons",
        ),
        class_="more",
    )  # fmt: skip
    return tags.div(
        tags.p(
            say("The steps are carried out, and the release is held against every limit beside its original.")
        ),
        ui.input_action_button(
            "make_release",
            say("Make the release again") if again else say("Make the release"),
            class_="btn-primary",
        ),
        more,
        class_="start",
    )

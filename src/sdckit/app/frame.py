"""The frame of the app: title, the way through six pages, the verdict on top, the running task, the alert."""

import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from shiny import App, Inputs, Outputs, Session, reactive, render, ui
from shiny.ui import HTML, Tag, TagChild, TagList, tags
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from sdckit import __version__
from sdckit.app.browser_sessions import Seat, Seats
from sdckit.app.page_context import Room, Say, box, speaker, upon
from sdckit.data.scenarios.scenario_form import LOST, without_lost_files
from sdckit.report.wording import ENGLISH, languages

LOOK = 2.0  # seconds after which a tab looks again for work that waits
SLOWER = 8  # times as long at most, while there is nothing new
STATIC = Path(__file__).with_name("static")
# The way through, in its order: the name of the file of each page, and its title.
PAGES = {
    "file": "File", "roles": "Roles", "risk": "Risk", "protect": "Protect", "release": "Release",
    "take_away": "Take away",
}  # fmt: skip


def _page(name: str) -> ModuleType:
    return import_module(f"sdckit.app.pages.{name}")


def _rendered(app: App) -> str:
    ui: Any = app.ui
    return str(ui["html"])


def language_of(request: Any) -> str:
    """The language of a page: asked for in its address, or by the browser."""
    asked = request.query_params.get("language") or request.headers.get("accept-language", "")
    wanted = [language.split(";")[0].strip()[:2].lower() for language in asked.split(",")]
    return next((language for language in wanted if language in languages()), ENGLISH)


class Frame:
    """The page and the server function of the app.

    Parameters
    ----------
    seats
        Where tabs sit down.
    limit
        The largest upload in bytes, told on the page.
    stop
        Is called when the last session was ended.
    """

    def __init__(self, seats: Seats, *, limit: int, stop: Callable[[], None]) -> None:
        self._seats, self._stop = seats, stop
        self._html: dict[str, str] = {}  # by language: a page is the same for everybody
        self.limit = limit

    def app(self) -> App:
        """The Shiny application."""
        app = App(self.page(ENGLISH), self.serve, static_assets=STATIC)
        app.sanitize_errors = True  # an error of a library may hold a value
        self._html[ENGLISH] = _rendered(app)
        app.starlette_app.router.routes.insert(0, Route("/", self._asked))
        return app

    def html(self, language: str = ENGLISH) -> str:
        """The page as text: what its policy is made from."""
        if language not in self._html:
            self._html[language] = _rendered(App(self.page(language), None))
        return self._html[language]

    async def _asked(self, request: Request) -> HTMLResponse:
        return HTMLResponse(self.html(language_of(request)))

    def page(self, language: str) -> Tag:
        """The page as it is loaded, in a language."""
        say = speaker(language)
        return ui.page_fluid(
            ui.head_content(
                tags.script(src="theme.js"), tags.link(rel="stylesheet", href="app.css"),
                tags.link(rel="stylesheet", href="shown.css"),
                tags.link(rel="icon", href="icon.svg"),
                tags.meta(name="viewport", content="width=device-width, initial-scale=1"),
            ),
            tags.a(say("To the page"), href="#main", class_="skip"),
            _hidden(language, self.limit, say),
            _header(say, language),
            _status(say),
            _end_dialog(say),
            tags.main(*(_panel(name, title, say) for name, title in PAGES.items()), id="main", tabindex="-1"),
            tags.script(src="app.js"),
            title="sdckit", lang=language, class_="app",
        )  # fmt: skip

    def serve(self, input: Inputs, _: Outputs, session: Session) -> None:
        """Seat the tab that has come, and serve its pages."""
        with reactive.isolate():
            seat = self._seats.take(input.tab(), reloaded=input.tab_left() == "yes")
            language = input.page_language()
        if seat.work.language != language:
            seat.change(language=language)
        room = Room(seat, limit=self.limit)
        session.on_ended(lambda: self._left(room))
        _serve_status(input, session, room)
        _serve_switches(input, room)
        _serve_waiting(input, session, room, self._seats)
        _serve_saved(input, room, self._seats)
        self._serve_end(input, session, room)
        for name in PAGES:
            _page(name).serve(name, room)

    def _left(self, room: Room) -> None:
        if room.here():
            self._seats.leave(room.seat)

    def _serve_end(self, input: Inputs, session: Session, room: Room) -> None:
        """End the session at once, and with the last one the program."""

        @upon(input.end_now)
        async def _() -> None:
            room.seat.changed = _gone
            self._seats.end(room.seat)
            await session.send_custom_message("ended", {"text": room.say("This session has ended; close this window.")})
            if not self._seats.in_use():
                self._stop()


def _gone() -> None:
    """Nobody sits there any more."""


def _hidden(language: str, limit: int, say: Say) -> Tag:
    """What the page tells the server when it connects, where app.js fills in the name of the tab; and its limit."""
    told = {"tab": "", "tab_left": "", "page_language": language}
    fields = [tags.input(type="text", id=name, value=value) for name, value in told.items()]
    large = say("A file may have at most {n} MB here; open a larger one by its path.", n=f"{limit // 2**20:,}")
    full = say("The disk is full: free some space, then try again. Nothing of the file was kept.")
    broken = say("The file did not arrive. Nothing of it was kept; try again.")
    return tags.div(
        *fields, id="told", hidden="", data_limit=limit, data_large=large, data_full=full, data_broken=broken,
        data_try=say("Try again"),
    )  # fmt: skip


def _header(say: Say, language: str) -> Tag:
    steps = (
        tags.li(
            tags.button(
                tags.span(str(at), class_="at", aria_hidden="true"), say(title),
                type="button", class_="way", data_go=name, aria_current="page" if at == 1 else None,
            )
        )
        for at, (name, title) in enumerate(PAGES.items(), start=1)
    )  # fmt: skip
    end = tags.button(say("End session"), type="button", class_="btn btn-sm btn-outline-light", data_open="end")
    switches = tags.div(_exact(say), _languages(say, language), end, class_="switches")
    title = tags.h1("sdckit", tags.span(__version__, class_="version"))
    way = tags.nav(tags.ol(*steps), aria_label=say("The way through"))
    return tags.header(tags.div(title, switches, class_="title"), way)


def _exact(say: Say) -> Tag:
    mark = tags.span(say("confidential"), class_="mark", id="exact_mark", hidden="")
    return tags.div(ui.input_switch("exact", say("Exact figures")), mark, class_="exact")


def _languages(say: Say, language: str) -> Tag:
    names = {"en": "English", "de": "Deutsch"}
    links = (
        tags.a(names.get(tag, tag), href=f"?language={tag}", lang=tag, aria_current="true" if tag == language else None)
        for tag in languages()
    )  # fmt: skip
    return tags.nav(*links, aria_label=say("Language"), class_="languages")


def _status(say: Say) -> TagChild:
    """The verdict, the running task with its button, the alert and the notes: always in their place."""
    return TagList(
        tags.section(ui.output_ui("verdict"), id="verdict_bar", aria_label=say("Verdict")),
        tags.div(
            tags.span(class_="spinner", aria_hidden="true"),
            tags.span(id="busy_text", role="status", aria_live="polite"),
            ui.input_action_button("cancel", say("Cancel"), class_="btn-sm btn-outline-secondary"),
            id="busy", hidden="",
        ),
        box(say, "alert", "alert", "danger"),
        box(say, "notes", "status", "secondary"),
        tags.div(
            tags.p(say("The connection to sdckit is lost. If the program still runs, this page comes back by itself.")),
            id="lost", role="alert", hidden="",
        ),
        ui.output_ui("waiting"),
        ui.output_ui("saved"),
    )  # fmt: skip


def _end_dialog(say: Say) -> Tag:
    return tags.dialog(
        tags.h2(say("End this session?"), id="end_title"),
        tags.p(say("Uploaded files, figures and the release are removed; what you saved elsewhere stays.")),
        tags.form(
            ui.input_action_button("end_now", say("End and remove"), class_="btn-danger"),
            tags.button(say("Go on working"), class_="btn btn-outline-secondary", autofocus=""),
            method="dialog", action="",  # Shiny keeps every form without an action from being sent
        ),
        id="end", aria_labelledby="end_title",
    )  # fmt: skip


def _panel(name: str, title: str, say: Say) -> Tag:
    names = list(PAGES)
    onward = [
        tags.button(say("Continue: {t}", t=say(PAGES[after])), type="button", class_="btn btn-primary", data_go=after)
        for after in names[names.index(name) + 1 :][:1]
    ]  # fmt: skip
    return tags.section(
        tags.h2(say(title), id=f"title_{name}"), _page(name).panel(name, say), tags.p(*onward, class_="onward"),
        id=f"page_{name}", class_="page", aria_labelledby=f"title_{name}", hidden=None if name == names[0] else "",
    )  # fmt: skip


def _serve_status(input: Inputs, session: Session, room: Room) -> None:
    @reactive.effect
    async def _() -> None:
        shown = room.shown.get()
        status: dict[str, object] = {
            "label": shown.label, "progress": room.say(shown.progress), "error": room.say(shown.error),
            "beside": list(shown.failure.beside) if shown.failure else [], "notes": list(map(room.say, shown.notes)),
        }  # fmt: skip
        await session.send_custom_message("status", status)

    @reactive.effect
    async def _() -> None:
        await session.send_custom_message("seat", {"tab": room.seat.name})

    @reactive.effect
    async def _() -> None:
        if page := room.page.get():
            await session.send_custom_message("go", {"page": page})
            room.page.set("")

    @render.ui
    def verdict() -> TagChild:
        if opening := room.opening.get():
            return tags.p(f"{opening} …", class_="none")
        work = room.work.get()
        if work.release and work.release["shown"] == (work.exact, work.language):
            return HTML(work.release["verdict"])  # not that on the file, which a page that has come asks for anew
        if verdict_html := room.verdict.get():
            return HTML(verdict_html)
        return tags.p(room.say("No verdict yet: open a file and say who might recognise whom."), class_="none")

    @upon(input.cancel)
    def _() -> None:
        room.cancel()

    @upon(input.again)
    def _() -> None:
        if place := room.places.get(str(input.again())):
            place.again()

    @upon(input.closed)
    def _() -> None:
        room.close(str(input.closed()))


def _serve_switches(input: Inputs, room: Room) -> None:
    @upon(input.exact, ignore_init=True)
    def _() -> None:
        room.change(exact=bool(input.exact()))

    if room.seat.work.exact:
        ui.update_switch("exact", value=True)


def _serve_waiting(input: Inputs, session: Session, room: Room, seats: Seats) -> None:
    """Offer the work of tabs that are gone, as long as nothing was done in this one."""
    offered: reactive.Value[tuple[tuple[str, ...], ...]] = reactive.Value(())
    pause = [LOOK]

    @reactive.effect
    def _() -> None:
        room.work.get()
        if room.seat.has_work():
            offered.set(())
        else:
            offers = tuple(map(_offer, seats.waiting()))
            with reactive.isolate():
                pause[0] = min(2 * pause[0], SLOWER * LOOK) if offers == offered.get() else LOOK
            reactive.invalidate_later(pause[0])
            offered.set(offers)

    @render.ui
    def waiting() -> TagChild:
        say = room.say
        offers = (
            tags.div(
                tags.p(say("Go on with {c}? Steps of the recipe: {n}; left at {c2}.", c=name, n=steps, c2=left)),
                _offering(say("Go on with it"), "take", seat, "primary"),
                _offering(say("Remove it"), "remove", seat, "secondary"),
                class_="saved",
            )
            for seat, name, steps, left in offered.get()
        )  # fmt: skip
        return TagList(*offers)

    @upon(input.waiting_act)
    async def _() -> None:
        act = input.waiting_act()
        seat = next((seat for seat in seats.waiting() if seat.folder.name == act["seat"]), None)
        if seat is not None and act["act"] == "take":
            await session.send_custom_message("seat", {"tab": seats.hand_over(seat), "reload": True})
        elif seat is not None:
            seat.autosave.keep(seat.work)  # roles and steps can be taken up all the same
            seats.end(seat)
        offered.set(tuple(map(_offer, seats.waiting())))


def _offer(seat: Seat) -> tuple[str, ...]:
    """What a tab is told of a seat: the name of its folder, of its file, steps, when it was left."""
    left = time.localtime(seat.left)
    clock = time.strftime("%H:%M" if left[:3] == time.localtime()[:3] else "%Y-%m-%d %H:%M", left)
    return seat.folder.name, seat.work.name or "?", str(len(seat.work.steps)), clock


def _offering(text: str, act: str, seat: str, look: str) -> Tag:
    return tags.button(text, type="button", class_=f"btn btn-sm btn-outline-{look}", data_waiting=act, data_seat=seat)


def _serve_saved(input: Inputs, room: Room, seats: Seats) -> None:
    """Offer what is saved, as long as nothing was decided; not what waits for somebody with all else."""
    kept = room.seat.autosave
    offered: reactive.Value[dict[str, Any] | None] = reactive.Value(kept.found)

    @render.ui
    def saved() -> TagChild:
        work, saved_work = room.work.get(), offered.get()
        if saved_work is None or work.scenario or work.steps or any(seat.is_in(saved_work) for seat in seats.waiting()):
            return None
        return tags.div(
            tags.p(room.say("Scenario and recipe of {c} were saved.", c=saved_work.get("name") or "?")),
            ui.input_action_button("take_up", room.say("Take them up"), class_="btn-sm btn-outline-primary"),
            ui.input_action_button("forget", room.say("Forget them"), class_="btn-sm btn-outline-secondary"),
            class_="saved",
        )

    @upon(input.take_up)
    def _() -> None:
        if saved_work := offered.get():
            left, lost = without_lost_files(saved_work, room.folder)
            taken = room.seat.work.taken_up(left)
            room.change(
                did="take up what was saved", scenario=taken.scenario, steps=taken.steps, name=taken.name,
                versions=taken.versions,
            )  # fmt: skip
            if lost:
                room.alert(room.say(LOST, c=", ".join(lost)))

    @upon(input.forget)
    def _() -> None:
        kept.forget()
        offered.set(None)

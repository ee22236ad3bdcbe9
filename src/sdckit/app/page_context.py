"""What a page has of its session: what was decided, tasks to start, texts in its language."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Generic, TypeVar

from shiny import reactive, ui
from shiny.module import resolve_id
from shiny.session import get_current_session
from shiny.ui import HTML, Tag, TagChild, TagList, tags

from sdckit.app.browser_sessions import Seat, Work
from sdckit.app.tasks import Failure, Job, Jobs, Place, Shown
from sdckit.data.packaged import packaged
from sdckit.report.wording import SOFT_HYPHEN, say as say_in
from sdckit.workflow.sessions.refusals import field_of

# The texts of the app in the session's language.


Say = Callable[..., str]


def say(text: str, language: str, **words: Any) -> str:
    """A text with its places filled, in a language.

    The places are those of the language files (see `report/wording.py`): {n} for a number, {c} for a name.

    >>> say("{n} against {n2}", "de", n="1,200", n2="3.5")
    '1.200 gegenüber 3,5'
    """
    return say_in(text.format(**words) if words else text, language).replace(SOFT_HYPHEN, "")


def speaker(language: str) -> Say:
    """`say` in one language."""
    return lambda text, **words: say(text, language, **words)


# Parts that several pages have: a field for a file, a page that has nothing yet, a box that can be closed.


def file_field(say: Say, name: str, label: str, *, accept: Sequence[str] | None = None, **more: Any) -> Tag:
    """A field that takes a file; `label` is in the session's language."""
    every = None if accept is None else list(accept)
    words = say("Browse…"), say("No file chosen")
    return ui.input_file(name, label, accept=every, button_label=words[0], placeholder=words[1], **more)


def named_upload(chosen: Mapping[str, Any]) -> Path:
    """Where an upload lies, under the name that a refusal of it should say."""
    path = Path(str(chosen["datapath"]))
    name = Path(str(chosen["name"]).replace("\\", "/")).name.lstrip(".") or "file"
    return path.rename(path.with_name(name))


def nothing_yet(say: Say, text: str, words: str, page: str) -> Tag:
    """What stands on a page before there is anything to show: why, and a button to the page that changes it."""
    go = tags.button(say(words), type="button", class_="btn btn-primary", data_go=page)
    return tags.div(tags.p(say(text)), go, class_="empty")


def box(say: Say, name: str, role: str, look: str) -> Tag:
    """A hidden box for a text of the status, with a button that closes it."""
    close = tags.button(say("Close"), type="button", class_=f"btn btn-sm btn-outline-{look}", data_close=name)
    return tags.div(tags.p(id=f"{name}_text", role=role), close, id=name, hidden="")


def upon(*triggers: Any, **how: Any) -> Callable[[Callable[[], Any]], Any]:
    """A decorator of what is done when one of some inputs changes, and at no other time; `how` as shiny's `event`."""
    return lambda action: reactive.effect(reactive.event(*triggers, **how)(action))


# Terms with their meaning beside them, from the glossary of the documents.


@cache
def _meanings() -> dict[str, str]:
    return {entry["name"]: entry["means"] for entry in packaged("report/words/glossary.toml")["term"]}


def term(name: str, say: Say, *, text: TagChild = None) -> Tag:
    """A term of the glossary that tells its meaning under the pointer and at the focus.

    Parameters
    ----------
    name
        As the glossary has it; a `KeyError` says that it has not.
    say
        Of the session.
    text
        What is printed instead of the name.
    """
    return tags.button(
        say(name) if text is None else text,
        tags.span(say(_meanings()[name]), class_="means", role="tooltip"), type="button", class_="term",
    )  # fmt: skip


def meanings(names: Sequence[str], say: Say) -> Tag:
    """A line of terms that a page uses, each with its meaning."""
    each = [one for name in names for one in (" ", term(name, say), ",")][:-1]
    return tags.p(say("What the words mean:"), *each, class_="quiet")


Told = Mapping[str, Any] | None


class Room:
    """One per Shiny session; every page's server gets it.

    Attributes
    ----------
    work
        What was decided. Set it with `change`.
    facts, scenario
        The same of it: who asks for these is not asked again when another decision is made.
    shown
        The running task, its progress, the last refusal: the frame shows them.
    opening
        What is being opened instead of the file of the work: the verdict of that one is not shown above it.
    places
        Where answers will stand, by the id of the output.
    verdict
        HTML of the bar on top, from ``result["verdict"]`` of any task; that of a release stands there while it holds.
    page
        The page to go to; the frame's navigation follows.
    limit
        The most bytes of an upload.
    """

    def __init__(self, seat: Seat, *, limit: int) -> None:
        self.seat = seat
        self.limit = limit
        self.work: reactive.Value[Work] = reactive.Value(seat.work)
        self.facts: reactive.Value[Told] = reactive.Value(seat.work.facts)
        self.scenario: reactive.Value[Told] = reactive.Value(seat.work.scenario)
        self.verdict: reactive.Value[str] = reactive.Value(seat.verdict)
        self.page: reactive.Value[str] = reactive.Value("")
        if seat.jobs is None:
            seat.jobs = Jobs(seat)
        self._jobs: Jobs = seat.jobs
        self.shown: reactive.Value[Shown] = reactive.Value(self._jobs.shown)
        self.opening: reactive.Value[str] = reactive.Value(self._jobs.shown.opening)
        self._jobs.show = self._show
        self._jobs.warm()
        self.places: dict[str, Place] = {}
        seat.changed = self._changed

    def _changed(self) -> None:
        self.work.set(self.seat.work)
        self.facts.set(self.seat.work.facts)
        self.scenario.set(self.seat.work.scenario)
        self.verdict.set(self.seat.verdict)

    def _show(self, shown: Shown) -> None:
        self.shown.set(shown)
        self.opening.set(shown.opening)

    def here(self) -> bool:
        """Whether no other page has taken the seat meanwhile."""
        return self.seat.changed == self._changed

    @property
    def folder(self) -> Path:
        """The session's folder: what is written there goes with the session."""
        return self.seat.folder

    def undoes(self, *, redo: bool = False) -> str:
        """What undo would take back, or redo do again; empty for nothing; reactive."""
        self.work.get()
        return self.seat.history.undone(redo=redo)

    def crosses_roles(self, *, redo: bool = False) -> bool:
        """Whether undo, or redo, would change the roles; reactive."""
        return self.seat.history.crosses(self.work.get(), redo=redo)

    def change(self, **fields: Any) -> None:
        """Change fields of the work."""
        self.seat.change(**fields)

    def declared(self, scenario: Mapping[str, Any]) -> dict[str, Any]:
        """The fields that change with a scenario of a file: where its missing codes are others, it is read anew."""
        codes, reading = list(scenario.get("missing_codes", ())), dict(self.seat.work.reading)
        is_other = codes and codes != list(reading.get("missing", ()))
        return {"scenario": scenario, **({"reading": {**reading, "missing": codes}, "facts": None} if is_other else {})}

    def keep_version(self, *, name: str = "", why: str = "") -> None:
        """Keep scenario and steps under a name, or because of what comes next."""
        self.seat.keep_version(name=name, why=why)

    def undo(self) -> None:
        """Take back the last decision."""
        self.seat.undo()

    def redo(self) -> None:
        """Do again what was taken back."""
        self.seat.redo()

    def place(self, output: str) -> Place:
        """Where an answer will stand: the id of an output of the page; see `Place.shown`."""
        place = Place(self, resolve_id(output))
        self.places[place.name] = place
        return place

    def start(
        self, task: str, then: Callable[[dict[str, Any]], object], *, label: str, place: Place | None = None,
        beside: str = "", partial: Callable[[dict[str, Any]], object] = lambda _: None,
        dropped: Callable[[], object] = lambda: None, **arguments: Any,
    ) -> None:  # fmt: skip
        """Carry out a task in the worker; this returns at once.

        Parameters
        ----------
        task
            "FILE.FUNCTION" of `sdckit.workflow.sessions`.
        then
            Gets the result, in the session's context.
        label
            What is being done, in the session's language.
        place
            Where the answer will stand. It says that the task runs, why it failed, that it was cancelled, and starts
            it again; a task without one leaves the page as it is.
        beside
            Id, on this page, of the button or field that asked for it: a refusal stands there, unless the page has a
            field for the argument that is refused.
        partial
            Gets what the task sends before its result, in the session's context.
        dropped
            Is called where it ends without a result.
        **arguments
            Plain values.
        """
        session = get_current_session()

        def there(name: str) -> str:
            return str(session.ns(name)) if name and session is not None else name

        asked = (there(beside), lambda argument: there(field_of(argument)), partial, dropped)
        self.join(Job(task, arguments, label, then, session, place, *asked))

    def join(self, job: Job) -> None:
        """Put a task into the line."""
        self._jobs.start(job)

    def cancel(self, task: str = "") -> None:
        """End the running task and what waits behind it, or one task alone."""
        self._jobs.cancel(task)

    def alert(self, text: str, *, beside: str = "") -> None:
        """Show a refusal: beside the element of this id where it can be seen, else in the red box."""
        self._jobs.fail(Failure(text, beside=(resolve_id(beside),) if beside else ()))

    def close(self, box: str) -> None:
        """Somebody has closed the box of the alert or of the notes."""
        if box == "alert":
            self._jobs.fail(None)
        elif box == "notes":
            self._jobs.close_notes()

    def say(self, text: str, **words: Any) -> str:
        """A text in the session's language; its places are filled with `words`."""
        return say(text, self.seat.work.language, **words)

    def go(self, page: str) -> None:
        """Show another page."""
        self.page.set(page)


# What a task gave, shown only as the session shows figures now.


One = TypeVar("One")


class Kept(Generic[One]):
    """A value of a task; `empty` stands for it once the session is switched to other figures or another language.

    A result that comes after the switch is none either: exact figures never stay on a screen of protected ones.
    """

    def __init__(self, room: Room, empty: One) -> None:
        self._room, self._empty = room, empty
        self._held: reactive.Value[tuple[tuple[bool, str], One]] = reactive.Value((self._now(), empty))

    def _now(self) -> tuple[bool, str]:
        with reactive.isolate():
            work = self._room.work.get()
        return work.exact, work.language

    def taker(self, make: Callable[[dict[str, Any]], Any] = dict) -> Callable[[dict[str, Any]], None]:
        """What takes the result of a task that is started now."""
        asked = self._now()

        def take(answer: dict[str, Any]) -> None:
            self._held.set((asked, make(answer)))

        return take

    def set(self, value: One) -> None:
        """Hold a value as the session is now."""
        self._held.set((self._now(), value))

    def held(self) -> One:
        """The value however the session shows figures now: to work with, not to show; reactive."""
        return self._held.get()[1]

    def get(self) -> One:
        """The value; reactive."""
        asked, value = self._held.get()
        work = self._room.work.get()
        return value if asked == (work.exact, work.language) else self._empty


class Answer:
    """The answer of a task at an output of the page: HTML, or what its `Place` says instead of it.

    `so_far`: the HTML that stands below what the place says, of a part that was sent before the rest.
    """

    def __init__(self, room: Room, output: str) -> None:
        self.place = room.place(output)
        self.html, self.so_far = Kept(room, ""), Kept(room, "")

    def clear(self) -> None:
        """Show nothing: what was asked for is of the past."""
        self.html.set("")
        self.so_far.set("")
        self.place.state.set((None, "", ""))

    def shown(self) -> TagChild:
        """What stands at the output; reactive."""
        said = self.place.shown()
        html = self.so_far.get() if said else self.html.get()
        return TagList(said, HTML(html)) if html else said

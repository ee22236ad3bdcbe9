"""What the hierarchy editor asks the worker for, and in which order; it is tried in a browser with page Protect."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from shiny import reactive
from shiny.module import ResolvedId
from shiny.session import session_context

from sdckit.app.page_context import speaker
from sdckit.app.pages.hierarchy_editor import GROUP, MEMBER, OTHERS, Levels, level_shown
from sdckit.app.tasks import RUNNING

say = speaker("en")
ROWS = [{"name": "<b>hands", "text": "180", "members": [{"name": "cook", "text": "105"}]}]
TREE = {"rows": ROWS, "others": "<5", "level": 1, "levels": 2, "lacks": False, "column": "job", "name": "a.csv"}
INLINE = {"cook": ["hands"]}


class NotedRoom:
    """A room that notes what is started; its place says that it runs."""

    def __init__(self) -> None:
        self.work = reactive.Value(SimpleNamespace(exact=False, language="en"))
        self.started: list[tuple[Any, dict[str, Any]]] = []
        self.alerts: list[str] = []
        self.at = SimpleNamespace(state=reactive.Value((None, RUNNING, "")))

    def place(self, _: str) -> Any:
        """The place."""
        return self.at

    def start(self, _: str, then: Any, **given: Any) -> None:
        """Note it."""
        self.started.append((then, given))

    def alert(self, text: str, *, beside: str = "") -> None:
        """Note it."""
        self.alerts.append(f"{beside}: {text}")

    def say(self, text: str, **words: Any) -> str:
        """The text."""
        return text.format(**words)


def test_a_level_is_a_list_to_tick_with_its_counts() -> None:
    shown = str(level_shown(say, TREE, (OTHERS, "group:gone")))
    assert "&lt;b&gt;hands" in shown
    assert f'value="{MEMBER}cook"' in shown
    assert "180 records" in shown
    assert shown.count("checked=") == 1
    assert "Add them" in str(level_shown(say, {**TREE, "lacks": True}))


def test_changes_follow_each_other_and_nothing_is_overtaken() -> None:
    room: Any = NotedRoom()
    fields: dict[str, Any] = {
        "hierarchy": "a.csv", "level": 1, "arg_column": "job", "ticked": (f"{GROUP}cook", f"{MEMBER}x", OTHERS),
    }  # fmt: skip
    session: Any = SimpleNamespace(
        ns=ResolvedId(""), send_input_message=lambda *_: None, _process_ui=str, on_destroy=lambda _: None
    )
    with reactive.isolate(), session_context(session):
        levels = Levels(room, fields.get, lambda: {"scenario": {}, "inline": INLINE})
        assert levels.named() == "a.csv"
        levels.do("merge")
        fields["ticked"] = ()
        levels.do("add_level")
        applied: list[Any] = []
        levels.when_still(lambda: applied.append(levels.field("hierarchy")))
        ((then, first),) = room.started
        assert first["do"]["groups"] == ["cook"]
        assert first["do"]["members"] == ["x"]
        assert first["do"]["others"]
        assert first["beside"] == "do_merge"
        assert "inline" not in first
        then({**TREE, "name": "b.csv"})  # the field still says a.csv
        assert [given["hierarchy"] for _, given in room.started] == ["a.csv", "b.csv"]
        assert applied == []
        room.started[1][0]({**TREE, "name": "c.csv", "level": 2})
        assert applied == ["c.csv"]
        fields.update(hierarchy="c.csv", level=2)
        levels.settle()
        fields["hierarchy"] = "a.csv"
        assert levels.field("hierarchy") == "a.csv"
        fields.update(hierarchy="")
        assert levels.named() == INLINE
        fields["arg_column"] = ""
        levels.do("values")
        assert room.alerts == ["do_values: column is needed"]

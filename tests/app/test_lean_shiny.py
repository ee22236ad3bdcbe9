"""Shiny loads without what no page uses, works as before, and loads whole where it must."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import sys
from sdckit.app import lean_shiny
{before}
lean_shiny.load_shiny()
from shiny import App, render, ui
from shiny.testserver import test_server

def server(input, output, session):
    @render.text
    def told():
        return str(input.n())

left = [name for name in ("questionary", "shinychat", "shiny._main") if name in sys.modules]
with test_server(App(ui.page_fluid(ui.input_text("n", "")), server)) as session:
    print(session.set_inputs(n=5).get_output("told").value, *left)
import shinychat
print(shinychat.Chat.__name__)
"""


def done(before: str = "") -> list[str]:
    line = [sys.executable, "-c", CODE.format(before=before)]
    return subprocess.run(line, capture_output=True, text=True, check=True).stdout.splitlines()


def test_what_no_page_uses_is_not_loaded() -> None:
    assert done() == ["5", "Chat"]


def test_a_shiny_that_needs_it_is_loaded_whole() -> None:
    assert done('lean_shiny.UNUSED = (*lean_shiny.UNUSED, "htmltools")') == [
        "5 questionary shinychat shiny._main",
        "Chat",
    ]


def test_who_has_loaded_it_keeps_it() -> None:
    assert done("import shiny") == ["5 questionary shinychat shiny._main", "Chat"]


# Shiny reads no sources once it was told not to, and works as before.


UNTRACED_CODE = """
import inspect
from shiny import App, reactive, render, ui
from shiny.testserver import test_server
from sdckit.app.lean_shiny import leave_untraced

read = []
for name in ("getsourcelines", "stack"):
    setattr(inspect, name, lambda *_, was=getattr(inspect, name), **__: read.append(was) or was(*_, **__))

def server(input, output, session):
    value = reactive.Value(1)
    @reactive.effect
    def _():
        value.set(input.n())
    @render.text
    def told():
        return str(value())

def ask():
    with test_server(App(ui.page_fluid(), server)) as session:
        return session.set_inputs(n=5).get_output("told").value

print(ask(), bool(read), end=" ")
leave_untraced()
read.clear()
print(ask(), bool(read))
"""


def test_no_source_is_read_and_outputs_are_as_before() -> None:
    done = subprocess.run([sys.executable, "-c", UNTRACED_CODE], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["5", "True", "5", "False"]

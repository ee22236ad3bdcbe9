"""Shiny reads no sources once it was told not to, and works as before."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import inspect
from shiny import App, reactive, render, ui
from shiny.testserver import test_server
from sdckit.app.untraced import leave_untraced

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
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["5", "True", "5", "False"]

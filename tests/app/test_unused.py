"""Shiny loads without what no page uses, works as before, and loads whole where it must."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import sys
from sdckit.app import unused
{before}
unused.load_shiny()
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
    assert done('unused.UNUSED = (*unused.UNUSED, "htmltools")') == [
        "5 questionary shinychat shiny._main",
        "Chat",
    ]


def test_who_has_loaded_it_keeps_it() -> None:
    assert done("import shiny") == ["5 questionary shinychat shiny._main", "Chat"]

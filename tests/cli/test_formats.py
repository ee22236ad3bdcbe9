"""Numbers and tables for a terminal."""

from __future__ import annotations

import io
import math

import pytest
from rich.console import Console

from sdckit.cli.formats import count, make_console, make_table, number, percent


@pytest.mark.parametrize(("value", "text"), [(0, "0"), (6366, "6,366"), (2.0, "2"), (1.25, "1.2")])
def test_a_count(value: float, text: str) -> None:
    assert count(value) == text


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [(0, 10, "0 %"), (10, 10, "100 %"), (9999, 10000, ">99 %"), (1, 0, "0 %"), (1, 1000, "0.10 %")],
)
def test_a_share(part: float, whole: float, text: str) -> None:
    assert percent(part, whole) == text


def test_a_figure_that_is_undefined_is_a_dash() -> None:
    assert (number(math.nan), number(None), number(0.5)) == ("–", "–", "0.5")


def test_names_are_no_markup() -> None:
    stream = io.StringIO()
    table = make_table("[red]title", "[bold]a", "b", text=1)
    table.add_row("x", "1")
    Console(file=stream, markup=False, width=80).print(table)
    assert "x" in stream.getvalue()
    assert [column.justify for column in table.columns] == ["left", "right"]


def test_the_console_writes_what_it_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    make_console().print("[red]plain[/red]")
    assert capsys.readouterr().out == "[red]plain[/red]\n"

"""Paragraphs of help are broken by the terminal alone."""

from __future__ import annotations

from itertools import pairwise

import pytest
import typer

from sdckit.cli.app import app
from sdckit.cli.help_texts import flowing, let_help_flow


def test_lines_of_a_paragraph_are_joined():
    assert flowing("One.\n\n    Two\n    lines.\n") == "One.\n\nTwo lines."


def test_every_command_has_help_that_flows():
    made = typer.Typer()

    @made.command()
    def command() -> None:
        """Say
        something."""

    let_help_flow(made)
    assert made.registered_commands[0].help == "Say something."
    for one in app.registered_commands:
        assert one.help
        assert not [part for part in one.help.split("\n\n") if "\n" in part]


@pytest.mark.parametrize("name", ["attack", "population-risk", "check"])
def test_no_line_ends_early(sdckit, name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = sdckit(name, "--help").out.split("╭")[0].splitlines()
    words = [line.rstrip() for line in lines]
    for line, following in pairwise(words):
        if line and following and not line.startswith(" Usage"):
            assert len(line) + 1 + len(following.split()[0]) > 76

"""Help of commands: the terminal breaks the lines, not the docstring."""

from __future__ import annotations

import inspect

import typer

__all__ = ["flowing", "let_help_flow"]


def flowing(text: str) -> str:
    r"""Join the lines of each paragraph.

    Examples
    --------
    >>> flowing("First\n    line.\n\n    Second one.")
    'First line.\n\nSecond one.'
    """
    paragraphs = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def let_help_flow(app: typer.Typer) -> None:
    """Give each command of a program its docstring as help, in paragraphs."""
    for command in app.registered_commands:
        command.help = flowing(getattr(command.callback, "__doc__", None) or "")

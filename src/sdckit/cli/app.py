"""The program: its commands, and the one place where an error becomes a line and an exit code."""

from __future__ import annotations

import contextlib
import inspect
import sys
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from sdckit import __version__
from sdckit.catalogue import rows
from sdckit.cli import commands
from sdckit.cli.errors import BAD_INPUT, INTERRUPTED, OK, explain as explain_error, one_line_warnings
from sdckit.cli.measure_commands import MeasureCommand
from sdckit.errors import ScenarioError
from sdckit.numerics.threads import job


def flowing(text: str) -> str:
    r"""Join the lines of each paragraph.

    Examples
    --------
    >>> flowing("First\n    line.\n\n    Second one.")
    'First line.\n\nSecond one.'
    """
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in inspect.cleandoc(text).split("\n\n"))


def let_help_flow(app: typer.Typer) -> None:
    """Give each command of a program its docstring as help, in paragraphs."""
    for command in app.registered_commands:
        command.help = flowing(getattr(command.callback, "__doc__", None) or "")


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"sdckit {__version__}")
        raise typer.Exit


def _program(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Take the options that stand before a command."""


@cache
def _files() -> list[str]:
    return [command.name for command in iter_modules(commands.__path__)]


class Program(TyperGroup):
    """The commands of the files, and one for every measure that has no file of its own."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands.update({row.kind: MeasureCommand(row) for row in rows() if row.name not in _files()})


@cache
def program(only: str = "") -> typer.Typer:
    """The program with all its commands, or with one file of them beside the measures.

    Every file of `commands` is a command, or a group of them where it holds an `app` of its own.
    """
    app = typer.Typer(
        name="sdckit",
        cls=Program,
        no_args_is_help=True,
        pretty_exceptions_enable=False,  # they print the values of local variables, records among them
        context_settings={"help_option_names": ["-h", "--help"]},
        help="Statistical disclosure control: who can be recognised in a file, and what would be learnt.",
    )
    app.callback()(_program)
    for file in _files() if not only else [only] if only in _files() else []:
        module = import_module(f"{commands.__name__}.{file}")
        name = file.replace("_", "-")
        if isinstance(getattr(module, "app", None), typer.Typer):
            app.add_typer(module.app, name=name)
            let_help_flow(module.app)
        else:
            app.command(name)(getattr(module, file))
    let_help_flow(app)
    return app


def command_tree(only: str = "") -> Any:
    """The commands of the program, made once a process for the measures that are known."""
    return _made_tree(only, tuple(row.kind for row in rows()))


@cache
def _made_tree(only: str, _: tuple[str, ...]) -> Any:
    return get_command(program(only))


def _asked(typed: Sequence[str]) -> Any:
    """The program as a line needs it: loading all commands takes twice the time of one."""
    file = typed[0].replace("-", "_") if typed else ""
    known = file in _files() or file in {row.kind.replace("-", "_") for row in rows()}
    return command_tree(file if known else "")


def _options(typed: Sequence[str]) -> list[Any]:
    """The options and arguments of the command that was typed."""
    command = _asked(typed)
    for word in typed:
        command = getattr(command, "commands", {}).get(word, command)
    return list(command.params)


def _refuse_repeated(typed: Sequence[str]) -> None:
    """Refuse an option of one value that is given twice: the first value would be dropped without a word.

    Where a value is spelt like an option, the command line cannot be told from one that repeats it.
    """
    words = [word.partition("=")[0] for word in typed[: typed.index("--") if "--" in typed else None]]
    for option in _options(typed):
        has_one = option.nargs == 1 and not option.multiple and not getattr(option, "is_flag", True)
        if has_one and sum(word in option.opts for word in words) > 1:
            raise ScenarioError(f"{option.opts[0]} is given more than once and has one value; give it once")


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command line (by default the program's own) and give its exit code.

    No exception leaves: what went wrong is one line on standard error.
    """
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    typed = sys.argv[1:] if arguments is None else arguments
    try:
        with one_line_warnings(), job():
            _refuse_repeated(typed)
            code = _asked(typed)(args=arguments, prog_name="sdckit", standalone_mode=False)
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit as stop:  # typer leaves so after completion (0) and at a closed pipe (1)
        return BAD_INPUT if stop.code else OK
    except Exception as error:  # noqa: BLE001 - the last resort, which must not show a value
        return explain_error(error, typed, {name for option in _options(typed) for name in option.opts})
    return code if isinstance(code, int) else OK

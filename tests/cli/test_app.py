"""The program: help, version, completion, and exit codes for what is typed wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from sdckit import __version__
from sdckit.cli import main
from sdckit.cli.app import flowing, let_help_flow, program
from sdckit.cli.errors import BAD_INPUT, INTERNAL, INTERRUPTED

MEASURES = ("suda", "population-risk", "risky-cells", "outliers", "explain", "k-map", "delta-presence")
COMMANDS = ("assess", "attack", "check", "demo", "scenario", *MEASURES)


def test_help_names_every_command(sdckit) -> None:
    done = sdckit("--help")
    assert done.code == 0
    assert all(command in done.out for command in COMMANDS)


@pytest.mark.parametrize("command", [*((name,) for name in COMMANDS), ("scenario", "init")])
def test_every_command_has_help_of_80_columns(sdckit, command: tuple[str, ...], monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    done = sdckit(*command, "--help")
    assert done.code == 0
    assert done.err == ""
    assert max(map(len, done.out.splitlines())) <= 80


def test_version(sdckit) -> None:
    done = sdckit("--version")
    assert (done.code, done.out) == (0, f"sdckit {__version__}\n")


def test_without_a_command_it_shows_the_help(sdckit) -> None:
    done = sdckit()
    assert done.code == BAD_INPUT
    assert "assess" in done.out + done.err


def test_a_mistyped_command_or_option_is_one_clear_error(sdckit) -> None:
    done = sdckit("asess")
    assert done.code == BAD_INPUT
    assert "Did you mean 'assess'?" in done.lines[0]
    done = sdckit("assess", "x.csv", "--wieght", "w")
    assert done.code == BAD_INPUT
    assert "--weight" in done.lines[0]


@pytest.mark.parametrize(
    ("options", "name"), [(("--weight", "a", "--weight=b"), "--weight"), (("-o", "a", "--out", "b"), "--out")]
)
def test_an_option_of_one_value_is_given_once(sdckit, options: tuple[str, ...], name: str, tmp_path: Path) -> None:
    command = ("assess", "x.csv", "--keys", "a") if name == "--weight" else ("scenario", "init", "x.csv")
    done = sdckit(*command, *options)
    assert (done.code, done.out) == (2, "")
    assert done.err == f"error: {name} is given more than once and has one value; give it once\n"
    several = sdckit("assess", tmp_path / "x.csv", "--keys", "a", "--keys", "b", "--full", "--full")
    assert "there is no file x.csv" in several.err
    assert "there is no file" in sdckit("assess", "--keys", "a", "--", "--keys").err


def test_an_interruption_is_130(sdckit, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sdckit.cli.commands.demo.check_targets", interrupted)
    assert sdckit("demo", "--report", tmp_path / "r.html").code == INTERRUPTED


def test_so_it_is_while_the_program_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sdckit.cli.outputs.keep_stdout", stop)
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == INTERRUPTED


def test_a_fault_of_ours_is_one_line_without_values(sdckit, monkeypatch, tmp_path: Path) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("record 17 holds secret-4711")

    monkeypatch.setattr("sdckit.cli.commands.demo.check_targets", broken)
    done = sdckit("demo", "--report", tmp_path / "r.html")
    assert done.code == INTERNAL
    assert done.lines == [
        line for line in done.lines if line.startswith("internal error: RuntimeError in cli/commands/demo.py line")
    ]
    assert "secret" not in done.err


def test_the_runner_of_typer_agrees() -> None:
    done = CliRunner().invoke(program(), ["--version"])
    assert (done.exit_code, done.stdout) == (0, f"sdckit {__version__}\n")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_for_a_shell(shell: str) -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("sdckit")],
        env=os.environ | {"_SDCKIT_COMPLETE": f"source_{shell}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert "SDCKIT_COMPLETE" in done.stdout


def test_the_installed_program_runs() -> None:
    program_file = Path(sys.executable).with_name("sdckit")
    done = subprocess.run([program_file, "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"sdckit {__version__}\n", "")


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
    for one in program().registered_commands:
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

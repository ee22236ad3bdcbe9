"""An option means the same in every command that has it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from sdckit.cli.app import command_tree

# What an option takes may differ where it names a file by its kind, or a number of what the command makes.
KINDS = {
    "--out": {"OUT", "TABLE.csv", "RECIPE.toml", "S.toml", "D.toml"},
    "--report": {"OUT.html"},
    "--log": {"LOG.json"},
    "--key": {"FILE", "KEY.json"},
    "--k": {"K", "K,K"},
    # Of measures: a name where one value is chosen, a list of several, A=X where it may differ by column.
    "--distance": {"NAME", "A=NAME|NAME"},
    "--exclude-levels": {"A,B", "A=A,B"},
    "--guesses": {"N,N", "N|X,X"},  # how many, of canaries; of a Bayesian intruder the values, too
    "--kind": {"NAME", "A,B"},
    "--model": {"FORMULA", "NAME"},
    "--n": {"N", "X"},
    "--new": {"", "A,B"},  # of the app: another one beside one that runs; else columns
    "--ordered": {"A,B", "A,B|A=A,B"},
    "--scale": {"NAME", "X"},
    "--targets": {"A,B", "N"},  # variables that are learnt; of simulated attacks, how many people are drawn
    "--threshold": {"X|NAME", "N|N=N", "X"},
    "--width": {"X,X|A=X", "X", "X|A=X"},
    "--ledger": {"DIR", ""},  # protect takes that of its scenario, and says whether
}
# Arguments of one name that mean two things: none.
MEANINGS = {
    "--quiet": "Errors and warnings only: no tables, no progress.",
    "--no-progress": "Show no progress; all else stays.",
}


def commands(name: str = "", command: Any = None) -> Iterator[tuple[str, Any]]:
    command = command_tree() if command is None else command
    inner = getattr(command, "commands", None)
    if inner is None:
        yield name, command
    for word, one in (inner or {}).items():
        yield from commands(f"{name} {word}".strip(), one)


def options() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for name, command in commands():
        for one in command.params:
            if one.param_type_name == "option":
                found.setdefault(max(one.opts, key=len), {})[name] = one
    return found


def test_an_option_takes_the_same_everywhere() -> None:
    other = {}
    for option, by_command in options().items():
        taken = {one.metavar or "" for one in by_command.values()}
        if len(taken) > 1 and not taken <= KINDS.get(option, set()):
            other[option] = taken
    assert not other


def test_short_forms_and_words_are_the_same_everywhere() -> None:
    for option, by_command in options().items():
        assert len({tuple(sorted(one.opts)) for one in by_command.values()}) == 1, option
    for option, words in MEANINGS.items():
        assert {one.help for one in options()[option].values()} == {words}


def test_what_is_written_by_name_is_replaced_by_force_alone() -> None:
    found = options()
    assert set(found["--out"]) - {"canaries make"} == set(found["--force"])


def test_thresholds_are_called_so() -> None:
    told = " ".join(one.help or "" for by_command in options().values() for one in by_command.values())
    assert not re.search(r"\blimits?\b", told.lower())
    assert "threshold" in told.lower()


def test_help_shows_its_brackets() -> None:
    """Help is read as markup: what stands in brackets, as a table of a TOML file, vanishes unless it is escaped."""
    helps = {
        f"{name} {one.name}": one.help or ""
        for name, command in commands()
        for one in command.params
        if one.param_type_name == "option"
    }
    assert helps["ledger list scenario"].startswith(r"\[ledger]")
    assert not [where for where, words in helps.items() if re.search(r"(?<!\\)\[[a-z]", words)]

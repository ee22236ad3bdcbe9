"""Guesses written as a first scenario: TOML in which each is explained, to be corrected by people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sdckit.data.missing_values.missing_codes import Found
from sdckit.data.missing_values.missing_notes import MissingNotes, by_code, counted
from sdckit.data.scenarios.scenario_toml import toml_entry, toml_string

if TYPE_CHECKING:
    from sdckit.data.scenarios.guess import Guess

__all__ = ["write_guesses"]

_LISTS = (
    ("keys", "key", "What a stranger could know about a person."),
    ("sensitive", "sensitive", "What they would learn."),
    ("numeric", "numeric", "Measured numbers."),
    ("identifiers", "identifier", "Direct identifiers: listed so that they are never read."),
)
_SINGLE = (
    ("weight", "Each record stands for so many people."),
    ("household", "Records of one household."),
    ("person", "Records of one person."),
)
_RULE = """\
# What a missing value in a key is: "wildcard" (may be any value), "category" or "error".
# missing = "wildcard"
"""
_RULE_OF_PERSONS = """\
# What a missing value in a key is: with several rows per person it can only be a "category" or an "error".
missing = "category"
"""
_EXAMPLES = """\
# Release type, for the report: "public-use", "scientific-use" or "enclave".
# release = "scientific-use"

# Limits a release must keep; the figures are examples, decide your own.
# [thresholds]
# k = 3
# risk = 0.1
# l = 2
"""


def write_guesses(guesses: Sequence[Guess], *, name: str, looked_at: str, notes: MissingNotes) -> str:
    """Write guesses as a commented scenario.

    At least one guess is a key; `name` says what the columns come from; `looked_at` is a sentence on the
    sample, or empty where all records were looked at.
    """
    rule = _RULE_OF_PERSONS if any(guess.role == "person" for guess in guesses) else _RULE
    lines = [
        f"# Disclosure scenario for {toml_string(name)}.",
        "# Every role below is a guess from names, types and numbers of values:",
        "# read each, correct it, delete what does not apply.",
        *([f"# {looked_at}"] if looked_at else []),
    ]
    return "\n".join(["\n".join(lines) + "\n", *_blocks(guesses, notes), rule, _EXAMPLES])


def _blocks(guesses: Sequence[Guess], notes: MissingNotes) -> list[str]:
    entry, role, meaning = _LISTS[0]
    blocks = [_list(entry, meaning, [guess for guess in guesses if guess.role == role])]
    for role, meaning in _SINGLE:
        blocks += [_single(role, meaning, guess) for guess in guesses if guess.role == role]
    if not any(guess.role == "weight" for guess in guesses):
        told = "# No weight was found. Share of the population in the file:"
        blocks.append(f"{told}\n# sampling_fraction = 0.05\n")
    for entry, role, meaning in _LISTS[1:]:
        found = [guess for guess in guesses if guess.role == role]
        blocks += [_list(entry, meaning, found)] if found else []
    blocks += _codes(notes)
    left = [f"#   {toml_string(guess.column)}: {_why(guess)}" for guess in guesses if guess.role == "ignore"]
    return [*blocks, "\n".join(["# Left out:", *left]) + "\n"] if left else blocks


def _codes(notes: MissingNotes) -> list[str]:
    """Write the codes given, and the others as a line to be uncommented."""
    blocks = []
    if notes.given:
        line = toml_entry("missing_codes", notes.given)
        blocks.append(f"# Codes in the file that mean missing.\n{line}\n")
    lines = [f"# Taken for missing: {by_code(_quoted(notes.taken))}."] if notes.taken else []
    if notes.suspected:
        instead = ", write instead of the line above" if notes.given else ""
        lines.append(f"# {counted(_quoted(notes.suspected))}. If that means missing{instead}:")
    elif lines:
        lines.append("# To choose the codes yourself, which then hold alone:")
    if lines:
        lines.append("# " + toml_entry("missing_codes", notes.suggested))
        blocks.append("\n".join(lines) + "\n")
    return blocks


def _quoted(found: Sequence[Found]) -> list[Found]:
    """Spell column names so that a line end in one does not end the comment."""
    return [replace(one, column=toml_string(one.column)) for one in found]


def _list(entry: str, meaning: str, guesses: Sequence[Guess]) -> str:
    lines = [f"# {meaning}", f"{entry} = ["]
    for guess in guesses:
        lines += [f"    # {_why(guess)}", f"    {toml_string(guess.column)},"]
    return "\n".join([*lines, "]"]) + "\n"


def _single(entry: str, meaning: str, guess: Guess) -> str:
    return f"# {meaning}\n# {_why(guess)}\n{toml_entry(entry, guess.column)}\n"


def _why(guess: Guess) -> str:
    return guess.reason if guess.warning is None else f"{guess.reason}. WARNING: {guess.warning}"

"""Guesses written as a first scenario: TOML in which each is explained, to be corrected by people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sdckit.data.scenario_toml import toml_entry, toml_string

if TYPE_CHECKING:
    from sdckit.data.guess import Guess

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
_EXAMPLES = """\
# Release type, for the report: "public-use", "scientific-use" or "enclave".
# release = "scientific-use"

# What a missing value in a key is: "wildcard" (may be any value), "category" or "error".
# missing = "wildcard"

# Limits a release must keep; the figures are examples, decide your own.
# [thresholds]
# k = 3
# risk = 0.1
# l = 2
"""


def write_guesses(guesses: Sequence[Guess], *, name: str, looked_at: str, codes: Sequence[str]) -> str:
    """Write guesses as a commented scenario.

    Parameters
    ----------
    guesses
        One for each column; at least one key.
    name
        What the columns come from.
    looked_at
        A sentence on the sample, or empty where all records were looked at.
    codes
        Codes that mean missing.
    """
    lines = [
        f"# Disclosure scenario for {toml_string(name)}.",
        "# Every role below is a guess from names, types and numbers of values:",
        "# read each, correct it, delete what does not apply.",
        *([f"# {looked_at}"] if looked_at else []),
    ]
    return "\n".join(["\n".join(lines) + "\n", *_blocks(guesses, codes), _EXAMPLES])


def _blocks(guesses: Sequence[Guess], codes: Sequence[str]) -> list[str]:
    entry, role, meaning = _LISTS[0]
    blocks = [_list(entry, meaning, [guess for guess in guesses if guess.role == role])]
    for role, meaning in _SINGLE:
        blocks += [_single(role, meaning, guess) for guess in guesses if guess.role == role]
    if not any(guess.role == "weight" for guess in guesses):
        blocks.append(
            "# No weight was found. Share of the population in the file:\n# sampling_fraction = 0.05\n"
        )
    for entry, role, meaning in _LISTS[1:]:
        found = [guess for guess in guesses if guess.role == role]
        blocks += [_list(entry, meaning, found)] if found else []
    if codes:
        blocks.append("# Codes in the file that mean missing.\n" + toml_entry("missing_codes", codes) + "\n")
    left = [f"#   {toml_string(guess.column)}: {_why(guess)}" for guess in guesses if guess.role == "ignore"]
    return [*blocks, "\n".join(["# Left out:", *left]) + "\n"] if left else blocks


def _list(entry: str, meaning: str, guesses: Sequence[Guess]) -> str:
    lines = [f"# {meaning}", f"{entry} = ["]
    for guess in guesses:
        lines += [f"    # {_why(guess)}", f"    {toml_string(guess.column)},"]
    return "\n".join([*lines, "]"]) + "\n"


def _single(entry: str, meaning: str, guess: Guess) -> str:
    return f"# {meaning}\n# {_why(guess)}\n{toml_entry(entry, guess.column)}\n"


def _why(guess: Guess) -> str:
    return guess.reason if guess.warning is None else f"{guess.reason}. WARNING: {guess.warning}"

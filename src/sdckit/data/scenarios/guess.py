"""Guessing the roles of columns from names, labels and values, with reasons and confidence; a first scenario."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sdckit.data import arguments, frames, pa, pl, pt
from sdckit.data.columns import distinct_values, to_arrow, type_words
from sdckit.data.files.readers import describe_file
from sdckit.data.missing_values.missing import Found, MissingNotes, by_code, counted
from sdckit.data.packaged import packaged
from sdckit.data.scenarios.guessing.facts import facts_of
from sdckit.data.scenarios.guessing.judge import Guess, RoleGuesses, Setting, coordinates_of, judge
from sdckit.data.scenarios.guessing.spoken import spoken_of
from sdckit.data.scenarios.guessing.units import units_of, weights_of
from sdckit.data.scenarios.scenario_toml import INSIDE, toml_entry, toml_string
from sdckit.display import capital, counted as number_of
from sdckit.errors import DataError

# Guesses as a draft scenario: commented TOML, to be corrected by people.


_WIDTH = 80
_SAYS = packaged("data/scenarios/guess.toml")


def write_guesses(guesses: RoleGuesses, *, name: str, looked_at: str, notes: MissingNotes) -> str:
    """Write guesses as a commented TOML scenario.

    `name`: where the columns come from. `looked_at`: a sentence on the sample, or "" if all records were used.
    """
    rule = _SAYS["rule_of_persons"] if guesses.of("person") else _SAYS["rule"]
    size = f"{number_of(guesses.n_records, 'record')}, {number_of(len(guesses), 'column')}."
    head = [f"# Disclosure scenario for {toml_string(name)}.", *_comment(_rounded(size)), *_comment(looked_at), "#"]
    blocks = [*_questions(guesses), *_blocks(guesses, notes), rule, _SAYS["examples"]]
    return "\n".join(["\n".join([*head, *_comment(f"{_SAYS['head']} {INSIDE}")]) + "\n", *blocks])


# A scenario may go out with its release: counts in its comments are rounded as in documents. In quotes stand names.
_COUNTS = re.compile(r'"(?:[^"\\]|\\.)*"|\b(?P<n>\d[\d,]*) (?P<what>values?|ids?|records?|of them)\b')


def _rounded(text: str) -> str:
    """A text whose counts go to the nearest 5, those of 1 to 4 as "<5".

    >>> _rounded('"3 values" has 1 value; 301 ids, 299 of them in several records')
    '"3 values" has <5 values; 300 ids, 300 of them in several records'
    """
    return _COUNTS.sub(lambda match: match[0] if match["n"] is None else _to_five(match["n"], match["what"]), text)


def _to_five(number: str, what: str) -> str:
    n = int(number.replace(",", ""))
    nouns = what if what.endswith(("s", "m")) else f"{what}s"  # the singular would tell that it is 1
    return f"<5 {nouns}" if 0 < n < 5 else f"{(n + 2) // 5 * 5:,} {nouns}"


def _comment(text: str, indent: str = "", hanging: str = "") -> list[str]:
    """Wrap a text as comment lines of at most 80 characters."""
    return textwrap.wrap(
        text, _WIDTH, initial_indent=f"{indent}# ", subsequent_indent=f"{indent}# {hanging}",
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def _questions(guesses: RoleGuesses) -> list[str]:
    """The open questions, with the columns of each."""
    asked = dict.fromkeys(guess.question for guess in guesses if guess.question is not None)
    lines = [*_comment(_SAYS["open"]), "unconfirmed = ["]
    for question in asked:
        names = [toml_string(guess.column) for guess in guesses if guess.question == question]
        lines += _comment(f"{capital(question)}{'' if question.endswith('?') else '.'}", "    ")
        lines += _names(names)
    return ["\n".join([*lines, "]"]) + "\n"] if asked else []


def _names(names: Sequence[str]) -> list[str]:
    """Wrap a list of quoted names, without breaking a name."""
    lines, line = [], "   "
    for name in names:
        if len(line) + len(name) + 2 > _WIDTH and line.strip():
            lines.append(line)
            line = "   "
        line += f" {name},"
    return [*lines, line]


def _blocks(guesses: RoleGuesses, notes: MissingNotes) -> list[str]:
    blocks = _list(_SAYS["lists"][0], guesses) or ["\n".join([*_comment(_SAYS["no_key"]), "keys = []"]) + "\n"]
    for role, meaning in _SAYS["single"]:
        blocks += [_single(role, meaning, guess) for guess in guesses if guess.role == role]
    for role, words, line in _SAYS["none"]:
        if not guesses.of(role):
            blocks.append("\n".join([*_comment(words), f"# {line}"]) + "\n")
    blocks += [block for listed in _SAYS["lists"][1:] for block in _list(listed, guesses)]
    blocks.append(_magnitudes(guesses))
    blocks += _shared(guesses)
    blocks += _codes(notes)
    left = [f"  {toml_string(guess.column)}: {_why(guess)}" for guess in guesses if guess.role == "ignore"]
    lines = [line for text in left for line in _comment(text, "", "    ")]
    return [*blocks, "\n".join(["# Left out:", *lines]) + "\n"] if left else blocks


def _magnitudes(guesses: RoleGuesses) -> str:
    names = [guess.column for guess in guesses if guess.magnitude]
    lines = [*_comment(_SAYS["magnitudes"]), toml_entry("magnitudes", names)]
    return "\n".join(lines if names else [*_comment(_SAYS["no_magnitudes"]), "# magnitudes = []"]) + "\n"


def _shared(guesses: RoleGuesses) -> list[str]:
    apart = ("household", "person", "identifier", "insensitive", "ignore")
    names = [name for name in guesses.household_variables if guesses[name].role not in apart]
    comment = _comment("The same for all members of every household, and protected once for all of them.")
    lines = [*comment, toml_entry("household_variables", names)]
    return ["\n".join(lines) + "\n"] if names and guesses.of("household") else []


def _codes(notes: MissingNotes) -> list[str]:
    """Entry of the given codes for missing; suggested ones as a line to uncomment."""
    blocks = []
    if notes.given:
        blocks.append(f"# Codes in the file that mean missing.\n{toml_entry('missing_codes', notes.given)}\n")
    lines = _comment(_rounded(f"Taken for missing: {by_code(_quoted(notes.taken))}.")) if notes.taken else []
    if notes.suspected:
        instead = ", write instead of the line above" if notes.given else ""
        lines += _comment(f"{_rounded(counted(_quoted(notes.suspected)))}. If that means missing{instead}:")
    elif lines:
        lines.append("# To choose the codes yourself, which then hold alone:")
    if lines:
        lines.append("# " + toml_entry("missing_codes", notes.suggested))
        blocks.append("\n".join(lines) + "\n")
    if notes.given or notes.suspected:
        blocks.append("\n".join(_comment(_SAYS["not_asked"])) + "\n")
    return blocks


def _quoted(code_counts: Sequence[Found]) -> list[Found]:
    """Quote column names, so that a line break in one does not end the comment."""
    return [replace(code_count, column=toml_string(code_count.column)) for code_count in code_counts]


def _list(listed: Sequence[str], guesses: RoleGuesses) -> list[str]:
    entry, role, meaning = listed
    of_role = [guess for guess in guesses if guess.role == role]
    lines = [f"# {meaning}", f"{entry} = ["]
    for guess in of_role:
        lines += [*_comment(_why(guess), "    ", "  "), f"    {toml_string(guess.column)},"]
    return ["\n".join([*lines, "]"]) + "\n"] if of_role else []


def _single(entry: str, meaning: str, guess: Guess) -> str:
    return "\n".join([f"# {meaning}", *_comment(_why(guess), "", "  "), toml_entry(entry, guess.column)]) + "\n"


def _why(guess: Guess) -> str:
    reason = f"{guess.confidence}: {_rounded(guess.reason)}"
    return reason if guess.warning is None else f"{reason}. WARNING: {_rounded(guess.warning)}"


SAMPLE = 1_000_000  # records looked at
"""Fewer for files of many columns, at least 100,000."""


def guess_roles(
    data: Any, *, labels: Mapping[str, str] | None = None, value_labels: Mapping[str, Sequence[str]] | None = None
) -> RoleGuesses:
    """Guess a role for every column.

    Parameters
    ----------
    data
        A path, or a data frame of any engine; its first million records are looked at.
    labels
        Variable labels by column. SPSS, Stata and SAS files bring their own.
    value_labels
        Value labels by column, likewise.

    Raises
    ------
    DataError
        There are no records or no columns.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"v1": [1, 2] * 10, "wgt": [1.5, 2.25] * 10, "v3": [7] * 20})
    >>> found = guess_roles(frame, labels={"v1": "Geschlecht"})
    >>> [(guess.column, guess.role, guess.confidence) for guess in found]
    [('v1', 'key', 'sure'), ('wgt', 'weight', 'likely'), ('v3', 'insensitive', 'sure')]
    """
    of_columns = {} if labels is None else arguments.mapping(labels, "labels", "are by column")
    of_values = {} if value_labels is None else arguments.mapping(value_labels, "value_labels", "are by column")
    if isinstance(data, str | Path):
        sample = describe_file(data)
        return _guess(sample.frame, {**sample.labels, **of_columns}, {**sample.value_labels, **of_values})
    return _guess(_first(data), of_columns, of_values)


def scenario_toml(
    data: Any, *, missing: Sequence[str] = (), delimiter: str | None = None, encoding: str | None = None,
    decimal: str | None = None, labels: bool = True,
) -> str:  # fmt: skip
    r"""Write a commented scenario for a file or a frame, with guessed roles.

    Parameters
    ----------
    data
        A path, or a data frame of any engine.
    missing, delimiter, encoding, decimal, labels
        As in `sdckit.data.files.readers.read_file`; for paths only. Missing codes are written into the scenario.

    Returns
    -------
    str
        TOML that `Scenario.from_toml` accepts. It holds column names and numbers of values, never values; 1 to 4 are
        "<5", others go to the nearest 5, as in documents.
        What is not sure is asked in it, under ``unconfirmed``; where no column looks like a key, ``keys`` is
        left empty, to be filled.

    Raises
    ------
    DataError
        There are no records or no columns.

    Examples
    --------
    >>> import polars as pl
    >>> text = scenario_toml(pl.DataFrame({"sex": [1, 2] * 10, "person_weight": [1.5, 2.25] * 10}))
    >>> print("\n".join(line for line in text.splitlines() if line and not line.startswith("#")))
    keys = [
        # sure: its name speaks of sex or gender; <5 values; the values fit sex or
        #   gender
        "sex",
    ]
    weight = "person_weight"
    """
    guesses, name, looked_at, notes = guess_file(
        data, missing=missing, delimiter=delimiter, encoding=encoding, decimal=decimal, labels=labels
    )
    return write_guesses(guesses, name=name, looked_at=looked_at, notes=notes)


Guessed = tuple[RoleGuesses, str, str, MissingNotes]


def guess_file(data: Any, *, missing: Sequence[str] = (), **how: Any) -> Guessed:
    """Guess the roles of columns: the guesses, the name of the data, a note on the sample, codes for missing.

    Options and errors are those of `scenario_toml` and of `read_file`.
    """
    codes = (missing,) if isinstance(missing, str) else tuple(str(code) for code in missing)
    if not isinstance(data, str | Path):
        frame = _first(data)
        looked = f"At most the first {SAMPLE:,} records were looked at." if frame.height >= SAMPLE else ""
        return _guess(frame, {}, {}), "the data", looked, MissingNotes(codes)
    sample = describe_file(data, missing=codes, **how)
    guesses = _guess(sample.frame, sample.labels, sample.value_labels)
    n_rows = sample.header.n_rows
    looked = "" if n_rows is None or n_rows <= sample.frame.height else (
        f"Only the first {sample.frame.height:,} of {n_rows:,} records were looked at."
    )  # fmt: skip
    return guesses, Path(data).name, looked, sample.notes


def _guess(frame: pl.DataFrame, labels: Mapping[str, str], value_labels: Mapping[str, Sequence[str]]) -> RoleGuesses:
    if frame.height == 0 or frame.width == 0:
        raise DataError("there are no records to guess roles from")
    facts = {name: facts_of(frame[name], value_labels.get(name, ())) for name in frame.columns}
    spoken = spoken_of(tuple(facts.values()), labels)
    units = units_of(frame, facts, spoken)
    places = coordinates_of(facts, spoken, labels)
    finest = max((facts[name].levels for name in places), default=0)
    setting = Setting(units, weights_of(frame, facts, spoken, units), places, finest)
    guesses = tuple(judge(facts[name], spoken[name], setting) for name in frame.columns)
    return RoleGuesses(guesses, frame.height, units.constant)


def _first(frame: Any) -> pl.DataFrame:
    """The first records as a Polars frame, from any engine."""
    if isinstance(frame, pl.DataFrame):
        return frame.head(SAMPLE)
    wide = frames.open_frame(frame).head(SAMPLE)
    frames.check_plan_names(wide, frames.carried_out(wide.collect_schema).names())
    eager = frames.in_memory(wide)
    # column by column: Polars renames an empty name when converting a whole table
    return pl.DataFrame({name: pl.Series(name, _plain(eager[name])) for name in eager.columns})


def _plain(series: Any) -> Any:
    """A column as an Arrow array of a type that Polars reads; categories of intervals, as pandas cuts them, as text."""
    array = to_arrow(series)
    if pt.is_dictionary(array.type) and isinstance(array.type.value_type, pa.BaseExtensionType):
        distinct = distinct_values(series)
        return pa.array(distinct.values, pa.string()).take(pa.array(distinct.codes, mask=distinct.codes < 0))
    if isinstance(array.type, pa.BaseExtensionType):
        raise DataError(f"column {series.name!r} holds {type_words(array.type)}; convert it to text or dates first")
    return array

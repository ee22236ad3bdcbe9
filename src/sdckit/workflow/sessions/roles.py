"""Tasks of the page Roles: guess the roles of the columns, and check the scenario declared."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sdckit.data.frames import open_frame
from sdckit.data.scenarios.column_roles import look_at_columns
from sdckit.data.scenarios.guess import SAMPLE, guess_roles, write_guesses
from sdckit.data.scenarios.guessing.judge import RoleGuesses
from sdckit.data.scenarios.scenario import Scenario
from sdckit.display import capital
from sdckit.errors import DataError
from sdckit.report import wording
from sdckit.report.chapters import opened_file, sentences
from sdckit.report.gate.protect import protect
from sdckit.workflow.sessions.answering import Desk, Tell

RELEASE = "public-use"  # the strictest of the published types, until the user says otherwise


def plain_scenario(scenario: Scenario) -> dict[str, Any]:
    """A scenario as plain arguments of `Scenario`: what stands in its file, with intruders by name."""
    plain = tomllib.loads(scenario.to_toml())
    plain.pop("keys", None)
    return {**plain, "intruders": {name: list(keys) for name, keys in scenario.intruders.items()}}


def guess(desk: Desk, tell: Tell, *, exact: bool = False, language: str = "en") -> dict[str, Any]:
    """Guess the role of every column: how sure, why, what must be answered; and the scenario that follows."""
    tell("guessing the roles of the columns")
    guesses = guessed_roles(desk)
    rows = [{**row, "label": desk.sample.labels.get(row["column"], "")} for row in _rows(guesses, exact=exact)]
    for row in rows:
        row["evidence"] = [wording.say(text, language) for text in row["evidence"]]
        row["warning"], row["question"] = (wording.say(row[name], language) for name in ("warning", "question"))
    return {"rows": rows, "scenario": _proposed(desk, guesses)}


def guessed_roles(desk: Desk) -> RoleGuesses:
    """The guesses for the open file, made once."""

    def make() -> RoleGuesses:
        return guess_roles(desk.data.head(SAMPLE), labels=desk.sample.labels, value_labels=desk.sample.value_labels)

    return desk.remember("guess", [], make)


def _rows(guesses: RoleGuesses, *, exact: bool) -> list[dict[str, Any]]:
    """Guesses with protected evidence; without evidence where the file is too small."""
    try:
        plain = protect(opened_file.guesses_document(guesses), internal=exact)
    except DataError:
        bare: dict[str, Any] = {"evidence": (), "warning": ""}
        return [
            {
                "column": guessed.column,
                "role": guessed.role,
                "confidence": guessed.confidence,
                "question": guessed.question or "",
                **bare,
            }
            for guessed in guesses
        ]
    return [dict(row) for row in plain["guesses"]]


def _proposed(desk: Desk, guesses: RoleGuesses) -> dict[str, Any]:
    """The scenario that `sdckit scenario init` would write, with the strictest published type of release."""
    plain = tomllib.loads(write_guesses(guesses, name=desk.path.name, looked_at="", notes=desk.sample.notes))
    keys = plain.pop("keys", [])
    return {**plain, **({"intruders": {"default": keys}} if keys else {}), "release": RELEASE}


def check(desk: Desk, tell: Tell, *, scenario: Mapping[str, Any], language: str = "en") -> dict[str, Any]:
    """Check a scenario against the opened file; what is wrong is refused with the nearest name."""
    tell("checking the scenario")
    return _checked(desk, desk.scenario(scenario), language)


def load(desk: Desk, tell: Tell, *, path: str, language: str = "en") -> dict[str, Any]:
    """Read a scenario from its file, and check it against the opened one."""
    tell("reading the scenario")
    made = Scenario.from_toml(Path(path))
    made.check_columns(desk.data.columns)
    codes = desk.reading.get("missing", ())  # the file stays as it was read where the scenario says nothing of them
    return _checked(desk, made if made.missing_codes or not codes else made.changed(missing_codes=codes), language)


def _checked(desk: Desk, made: Scenario, language: str) -> dict[str, Any]:
    """The scenario as plain arguments and as its file; its limits, and the columns without a role, in a sentence."""
    columns = look_at_columns(made, [open_frame(desk.original(made))])
    lacking = f"{capital(columns.words)}." if columns.missing else ""
    tree = sentences.limits_tree(made, compared=False)
    sentence = sentences.release_sentence(tree) or "; ".join(sentences.limits_words(tree))
    return {
        "scenario": plain_scenario(made),
        "toml": made.to_toml(),
        "limits": wording.say(sentence, language) if sentence else "",
        "columns": wording.say(lacking, language) if lacking else "",
    }

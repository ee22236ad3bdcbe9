"""Verdicts as SARIF 2.1.0, which code hosts show beside a change: protected figures, and no line of any record."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from sdckit.data.limits import LIMITS
from sdckit.report.chapters.sentences import limit_name

if TYPE_CHECKING:
    from sdckit.workflow.check import ToldVerdict

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
VERSION = "2.1.0"
# Code hosts ask for a line. It is always the first one, whatever was found.
FIRST_LINE = {"startLine": 1}

Plain = dict[str, Any]


def render_sarif(
    verdicts: Sequence[tuple[ToldVerdict, str]], *, version: str, file: str, released: Sequence[str] = ()
) -> str:
    """Render verdicts, each with its sentence, as a SARIF log: a rule per limit, a result per exceeded one.

    A limit that was not judged is a notification of the run, which is then no successful one. Files are named as
    given, `file` or what is `released` of it.

    Source: OASIS, Static Analysis Results Interchange Format (SARIF) Version 2.1.0, 2020.
    """
    rules = list(dict.fromkeys(verdict.name for verdict, _ in verdicts))
    opened = [_notification(verdict, sentence, rules) for verdict, sentence in verdicts if verdict.holds is None]
    run = {
        "tool": {
            "driver": {
                "name": "sdckit",
                "version": version,
                "semanticVersion": version,
                "rules": [_rule(name) for name in rules],
            }
        },
        "invocations": [{"executionSuccessful": not opened, "toolExecutionNotifications": opened}],
        "results": [
            _result(verdict, sentence, rules, _files(verdict, file, released))
            for verdict, sentence in verdicts
            if verdict.holds is False
        ],
    }
    log = {"$schema": SCHEMA, "version": VERSION, "runs": [run]}
    return json.dumps(log, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def artifact(path: str) -> str:
    """Give a file as a relative reference; of one outside this folder its name alone, which tells no machine.

    Examples
    --------
    >>> artifact("out/new survey.csv")
    'out/new%20survey.csv'
    >>> artifact("../survey.csv")
    'survey.csv'
    """
    given = Path(path)
    if given.is_absolute() and given.is_relative_to(Path.cwd()):
        given = given.relative_to(Path.cwd())
    inside = not given.is_absolute() and ".." not in given.parts
    return quote(given.as_posix() if inside else given.name)


ONCE = {
    "roles": "Every column that goes out has a role.",
    "beside": "The file that goes out holds nothing beside its records.",
}


def _rule(name: str) -> Plain:
    judged = LIMITS[name].judged if name in LIMITS else ""
    words = ONCE.get(judged, f"The limit on {limit_name(name)} holds.")
    return {"id": f"sdckit/{name}", "shortDescription": {"text": words}, "defaultConfiguration": {"level": "error"}}


def _files(verdict: ToldVerdict, file: str, released: Sequence[str]) -> Sequence[str]:
    """The files a verdict is about: the released ones if there are any, else the original."""
    if verdict.release is not None and verdict.release <= len(released):
        return [released[verdict.release - 1]]
    return released or [file]


def _result(verdict: ToldVerdict, sentence: str, rules: Sequence[str], files: Sequence[str]) -> Plain:
    names = [artifact(file) for file in files]
    return {
        "ruleId": f"sdckit/{verdict.name}",
        "ruleIndex": rules.index(verdict.name),
        "kind": "fail",
        "level": "error",
        "message": {"text": sentence},
        "locations": [
            {"physicalLocation": {"artifactLocation": {"uri": name}, "region": FIRST_LINE}} for name in names
        ],
        "partialFingerprints": {"sdckitLimit/v1": _fingerprint(verdict, names)},
    }


def _fingerprint(verdict: ToldVerdict, names: Sequence[str]) -> str:
    """A hash of limit and files, by which a code host recognises the same result in a later run."""
    text = json.dumps([verdict.name, verdict.intruder, verdict.variable, verdict.release, *names])
    return hashlib.sha256(text.encode()).hexdigest()


def _notification(verdict: ToldVerdict, sentence: str, rules: Sequence[str]) -> Mapping[str, Any]:
    return {
        "level": "error",
        "message": {"text": sentence},
        "associatedRule": {"id": f"sdckit/{verdict.name}", "index": rules.index(verdict.name)},
    }

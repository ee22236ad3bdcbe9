"""The session as a script and as command lines: both make the release of the app again, byte for byte."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from sdckit.display import displayed

OPTIONS = ("delimiter", "encoding", "decimal", "join_key")


@dataclass(frozen=True)
class Session:
    """What the script of a session names: files by their names alone, since they lie beside it.

    Attributes
    ----------
    file : str
        What was opened; `reading` are the options of `read_file`.
    unread : tuple of str
        Identifiers that no step deals with.
    missing : tuple of str
        Codes for missing.
    released : str
        The file that went out.
    labelled : bool
        Whether its format keeps the labels of the file.
    passed : bool
        Whether it is within the limits.
    several : bool
        Whether several files come of the last step.
    """

    file: str
    released: str
    reading: Mapping[str, Any] = field(default_factory=dict)
    unread: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    labelled: bool = False
    passed: bool = True
    several: bool = False
    scenario: str = "scenario.toml"
    recipe: str = "recipe.toml"
    log: str = "log-secret.json"

    @property
    def again(self) -> str:
        """The name of the release that is made again."""
        path = PurePath(self.released)
        return f"{path.stem}-again{path.suffix}"


def command_lines(one: Session) -> str:
    """The command lines, for a shell in the folder of the files.

    >>> lines = command_lines(Session("a b.csv", "release.csv", {"missing": ["-9"]})).splitlines()
    >>> print(lines[-2].partition(" --out ")[2])
    release-again.csv --replay log-secret.json --missing=-9
    """
    read = _flags(one)
    file = f"./{one.file}" if one.file.startswith("-") else one.file
    again = [
        "sdckit", "protect", one.recipe, file, "--scenario", one.scenario, "--out", one.again,
        "--replay", one.log, *read,
    ]  # fmt: skip
    beside = [
        "sdckit",
        "check",
        file,
        *_released(one),
        "--scenario",
        one.scenario,
        "--log",
        one.log,
        *read,
    ]
    head = [
        "#!/bin/sh",
        f"# Makes {one.released} again, byte for byte, and holds it against every limit.",
        f"# Run it where {displayed(one.file)}, {one.recipe}, {one.scenario} and {one.log} lie.",
        *_warned(one),
        "set -e",
    ]
    return "\n".join([*head, shlex.join(again), shlex.join(beside), ""])


def _released(one: Session) -> Sequence[str]:
    path = PurePath(one.again)
    return ("--released", f"{path.stem}_1{path.suffix}" if one.several else one.again)


def _flags(one: Session) -> list[str]:
    found = [f"--missing={code}" for code in one.reading.get("missing", ())]
    for name in OPTIONS:
        if one.reading.get(name):
            found += [f"--{name.replace('_', '-')}", str(one.reading[name])]
    if one.reading.get("join"):
        found += ["--join", PurePath(str(one.reading["join"])).name]
    return [*found, *(["--user-missing"] if one.reading.get("user_missing") else [])]


def _warned(one: Session) -> list[str]:
    return (
        []
        if one.passed
        else ["# A limit of the scenario is exceeded or not judged: the last command says which."]
    )


def python_script(one: Session) -> str:
    """The Python script; it compiles and names no path of a machine.

    >>> compile(python_script(Session("a.csv", "release.csv")), "repeat.py", "exec") is not None
    True
    """
    how = {name: one.reading[name] for name in OPTIONS if one.reading.get(name)}
    if one.reading.get("user_missing"):
        how["user_missing"] = True
    if one.unread:
        how["identifiers"] = list(one.unread)
    if one.missing:
        how["missing"] = list(one.missing)
    given = [f"{name}={value!r}" for name, value in sorted(how.items())]
    labels = []
    if one.reading.get("join"):
        given.append(f"join=here / {PurePath(str(one.reading['join'])).name!r}")
    if one.labelled:
        encoding = f", encoding={one.reading['encoding']!r}" if one.reading.get("encoding") else ""
        labels = [f"labels = sdc.read_labels(file{encoding})"]
    options = ", labels=labels" if one.labelled else ""
    write = f"sdc.write_file(applied.data, here / {one.again!r}, sources=[file]{options})"
    if one.several:
        stem, ending = PurePath(one.again).stem, PurePath(one.again).suffix
        write = (
            "for number, release in enumerate(applied.data, 1):\n"
            f'    sdc.write_file(release, here / f"{stem}_{{number}}{ending}", sources=[file]{options})'
        )
    lines = [
        f'"""Makes {one.released} again, byte for byte, and holds it against every limit."""',
        "",
        "from pathlib import Path",
        "",
        "import sdckit as sdc",
        "",
        *_warned(one),
        "here = Path(__file__).parent",
        f"file = here / {one.file!r}",
        f"scenario = sdc.Scenario.from_toml(here / {one.scenario!r})",
        f"data = sdc.read_file({', '.join(['file', *given])})",
        f"applied = sdc.Recipe.replay(data, here / {one.log!r}, folder=here, watch=False)",
        *labels,
        write,
        "print(applied.assess())",
        "",
    ]
    return "\n".join(lines)

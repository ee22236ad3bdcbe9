"""Projects: scenario, steps, versions and hierarchies in one file; no record, secret, seed or exact figure.

Hierarchies go without the lines of values that few records have, unless somebody says that these go, too. Where a rule
gives the lines again (ends of codes, bands), they are built from the file as the project is taken up.
"""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PureWindowsPath
from typing import TYPE_CHECKING, Any

from sdckit.data import columns, hierarchy, methods
from sdckit.data.files import file_limits, whole_files
from sdckit.data.scenarios.scenario_toml import with_files
from sdckit.errors import FileFormatError, SdcError
from sdckit.workflow.sessions.hierarchies import RULES, Lines, lacking, line_counts, lines_of, rule_of, write_hierarchy
from sdckit.workflow.sessions.protecting import Plain, make_recipe

if TYPE_CHECKING:
    from sdckit.workflow.sessions.answering import Desk, Tell

FORMAT = "sdckit project 1"
LARGEST = 32 * 2**20  # bytes: steps and scenarios are some kilobytes, a hierarchy of many codes some megabytes
TEXTS = ("name", "why", "time")
FOLDER = "project"
FEWEST = 5  # records that a value has whose line goes out unasked
NO_PROJECT = "{c} is no project of sdckit; nothing was changed"
TOO_LARGE = "the project would be larger than 32 MB, which no project file may be: a hierarchy has too many lines"
LEFT_OUT = "hierarchy {c!r}: {n} of its {n2} lines are of values that few records have; without them a step stops there"
BUILT = "hierarchy {c!r}: {n} of its {n2} lines are of values that few records have; they are built again from the file"
LACKING = (
    "hierarchy {c!r} lacks values of the file: their lines were left out of the project, since few records have them. "
    "A step stops there until they are added: edit it and press “Add them as groups”, or take the file of the hierarchy"
)


def project_text(saved: Plain, hierarchies: Mapping[str, Plain] | None = None, *, confidential: bool = False) -> str:
    """Write what a session saves as a project.

    >>> project_text({"name": "a.csv", "scenario": None, "steps": [], "versions": [], "secret": "5"}).count("secret")
    0
    """
    entries = {"format": FORMAT, "confidential": confidential, "name": saved["name"], **_state(saved)}
    entries["versions"] = [{**_texts(version), **_state(version)} for version in saved["versions"]]
    entries["hierarchies"] = dict(hierarchies or {})
    return json.dumps(entries, indent=1, ensure_ascii=False) + "\n"


def _state(given: Plain) -> dict[str, Any]:
    scenario = given["scenario"]
    return {"scenario": None if scenario is None else with_files(scenario, _portable), "steps": given["steps"]}


def _portable(file: str) -> str:
    """A file without the folders of this machine.

    >>> _portable("/survey/ledger"), _portable("ledger.key")
    ('ledger', 'ledger.key')
    """
    return PureWindowsPath(file).name if _leads_out(file) else file


def _leads_out(path: str) -> bool:
    """Whether a path, of whatever system, leads out of the folder that it starts in.

    >>> [_leads_out(path) for path in ("in/a.csv", "../a.csv", "/a.csv", "C:a.csv")]
    [False, True, True, True]
    """
    parsed = PureWindowsPath(path)
    return bool(parsed.anchor) or ".." in parsed.parts


def _texts(given: Plain) -> dict[str, str]:
    return {name: str(given.get(name, "")) for name in TEXTS}


# Reading: whatever a file says is checked before anything is taken from it.


def read_project(path: str | Path) -> dict[str, Any]:
    """Read a project file, every scenario, step and hierarchy checked; what is not of a project is left out.

    Raises
    ------
    SdcError
        It cannot be read, names files outside of its folder, or holds something that is no scenario, no step or no
        hierarchy.
    """
    file = Path(path)
    refused = NO_PROJECT.format(c=file.name)
    try:
        if file.stat().st_size > LARGEST:
            raise FileFormatError(refused)
        entries = file_limits.json_of(file.read_bytes())
        if entries["format"] != FORMAT:
            raise FileFormatError(refused)
        versions = [{**_texts(version), **_checked(version)} for version in entries["versions"]]
        hierarchies = {_plain_name(name): _whole(made) for name, made in entries.get("hierarchies", {}).items()}
        return {"name": str(entries["name"]), **_checked(entries), "versions": versions, "hierarchies": hierarchies}
    except SdcError:
        raise
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise FileFormatError(refused) from None


def _checked(given: Plain) -> dict[str, Any]:
    from sdckit.data.scenarios.scenario import Scenario
    from sdckit.workflow.recipes.recipe import Recipe

    scenario = given["scenario"]
    if scenario is not None:
        if with_files(scenario, _portable) != with_files(scenario, str):
            raise ValueError
        Scenario(**scenario)
    steps = [
        {"method": step["method"], "arguments": dict(step["arguments"]), "on": step["on"] is True}
        for step in given["steps"]
    ]
    if any("method" in step["arguments"] for step in steps):
        raise KeyError
    if steps:
        Recipe([{"method": step["method"], **step["arguments"]} for step in steps])
    state = {"scenario": scenario, "steps": steps}
    for named, _, _ in _uses(state):
        if isinstance(named, str):
            _plain_name(named)
    return state


def _plain_name(name: Any) -> str:
    """The name of a hierarchy's file, which lies in the session's folder and nowhere else."""
    if not isinstance(name, str) or name != PureWindowsPath(name).name or _leads_out(name) or "\0" in name:
        raise ValueError
    return name


def _whole(made: Plain) -> dict[str, Any]:
    """What a project has of a hierarchy; whether its lines are nested is seen where they are written."""
    lines, groups, levels = made["lines"], made["groups"], int(made["levels"])
    rows = [*lines, *(["", *group] for group in groups)]
    texts = all(isinstance(row, list) and all(isinstance(text, str) for text in row) for row in rows)
    if not texts or not levels or any(len(row) != levels + 1 for row in rows):
        raise ValueError
    how = {"rule": str(made["rule"]), "left_out": bool(made["left_out"])}
    return {"levels": levels, "lines": lines, "groups": groups, **how}


# Which hierarchies scenario and steps name, and of which values.


def _uses(state: Plain) -> Iterator[tuple[Any, str, Sequence[Plain]]]:
    """What stands for each hierarchy, a name or its values, with the variable and the recodings of it before."""
    for column, named in ((state["scenario"] or {}).get("hierarchies") or {}).items():
        yield named, str(column), ()
    recoded: dict[str, list[Plain]] = {}
    for step in state["steps"]:
        method, column = methods.METHODS[step["method"]], str(step["arguments"].get("column", ""))
        before = recoded.setdefault(column, [])
        for named in filter(None, map(step["arguments"].get, method.files)):
            yield named, column, tuple(before)
        if step["on"] and method.banded:
            before.append(step)


def _renamed(state: Plain, name_of: Callable[[Any], Any]) -> dict[str, Any]:
    """Scenario and steps with other names for their hierarchies."""
    scenario = state["scenario"]
    if scenario is not None and scenario.get("hierarchies"):
        files = {column: name_of(named) for column, named in scenario["hierarchies"].items()}
        scenario = {**scenario, "hierarchies": files}
    steps = [
        {**step, "arguments": {
            name: name_of(value) if value and name in methods.METHODS[step["method"]].files else value
            for name, value in step["arguments"].items()
        }}
        for step in state["steps"]
    ]  # fmt: skip
    return {**state, "scenario": scenario, "steps": steps}


def _values_before(desk: Desk, column: str, recodings: Sequence[Plain]) -> Any:
    """A variable of the open file as it is after these steps; None where it has none."""
    if not desk.is_open or column not in desk.data.columns:
        return None
    frame = desk.data.select(column)
    with contextlib.suppress(SdcError):
        return make_recipe(desk, recodings).apply(frame, watch=False).data if recodings else frame
    return frame


# The tasks.


def save(
    desk: Desk, tell: Tell, *, saved: Plain, rare: bool = False, exact: bool = False, language: str = "en"
) -> dict[str, Any]:  # fmt: skip
    """Write a project into the session's folder, and say what was left out of its hierarchies, or would be.

    Parameters
    ----------
    saved
        What the session saves: scenario, steps, versions.
    rare
        Whether lines of values that few records have go, too: of fewer than five, and fewer than k. Its name says so
        then, and it is marked as confidential.
    """
    from sdckit.report.gate.protect import protect_message
    from sdckit.report.wording import say

    tell("writing the project")
    names, whole, frequent = _collected(desk, saved)
    packed, words = {}, []
    for name, lines in whole.items():
        left = [line for line in lines if line[0] not in frequent[name]]
        groups = list({line[1]: line[1:] for line in lines if (line[1],) in frequent[name]}.values())
        rule = rule_of(left, groups)
        if left:
            text = (BUILT if rule else LEFT_OUT).format(c=name, n=len(left), n2=len(lines))
            words.append(say(text if exact else protect_message(text), language))
        goes = lines if rare else [line for line in lines if line[0] in frequent[name]]
        how = {"rule": rule, "left_out": len(goes) < len(lines)}
        packed[name] = {"levels": len(lines[0]) - 1, "lines": goes, "groups": groups, **how}

    def portable(state: Plain) -> dict[str, Any]:
        return _renamed(state, lambda named: names.get(_key(named)) or PureWindowsPath(str(named)).name)

    given = {**portable(saved), "versions": [portable(version) for version in saved["versions"]]}
    confidential = rare and bool(words)
    text = project_text(given, packed, confidential=confidential)
    if len(text.encode()) > LARGEST:
        raise FileFormatError(TOO_LARGE)
    path = desk.folder / FOLDER / f"project{'-confidential' * confidential}.sdckit"
    path.parent.mkdir(mode=0o700, exist_ok=True)
    whole_files.write_whole(text, path, private=True)
    return {"path": str(path), "left_out": words}


def _collected(desk: Desk, saved: Plain) -> tuple[dict[str, str], dict[str, Lines], dict[str, set[Any]]]:
    """The hierarchies that can be read: their names in the project, their lines, and the values that go.

    Among these stands, as a tuple, every group of the lowest level that enough records are in.
    """
    names: dict[str, str] = {}
    whole: dict[str, Lines] = {}
    frequent: dict[str, set[Any]] = {}
    states = [saved, *saved["versions"]]
    limits = [((state["scenario"] or {}).get("thresholds") or {}).get("k") for state in states]
    fewest = max(FEWEST, *(k for k in limits if isinstance(k, int)), 0)
    uses = {_key(use): use for state in states for use in _uses(state)}  # versions have most of theirs in common
    for named, column, recodings in uses.values():
        with contextlib.suppress(SdcError):  # it is not there, or no hierarchy: its name alone goes
            lines = lines_of(hierarchy.as_hierarchy(desk.folder / named if isinstance(named, str) else named))
            about = Path(named).stem if isinstance(named, str) else column
            is_here = isinstance(named, str) and Path(named).name == named
            name = named if is_here else write_hierarchy(desk.folder, about.removeprefix("hierarchy-"), lines)
            names[_key(named)], whole[name] = name, lines
            goes, data = frequent.setdefault(name, set()), _values_before(desk, column, recodings)
            records: Counter[Any] = Counter()
            for line, n in zip(lines, line_counts(lines, data, column), strict=True) if data is not None else ():
                records.update({line[0]: n, (line[1],): n})
            goes.update(what for what, n in records.items() if n >= fewest)
    return names, whole, frequent


def _key(named: Any) -> str:
    return json.dumps(named, sort_keys=True)


def load(desk: Desk, tell: Tell, *, path: str) -> dict[str, Any]:
    """Read a project file and put its hierarchies into the session's folder, lines that a rule gives built again.

    Where no file of records is open the project is only checked: it waits for one.
    """
    tell("reading the project")
    project = read_project(path)
    if not desk.is_open:
        return {"waits": True}
    names: dict[str, str] = {}
    states, notes = [project, *project["versions"]], []
    uses = {_key(use): use for state in states for use in _uses(state)}

    def taken(state: Plain) -> dict[str, Any]:
        return _renamed(state, lambda named: names.get(named, named) if isinstance(named, str) else named)

    for name, made in project.pop("hierarchies").items():
        lines, left = list(made["lines"]), False
        for named, column, recodings in uses.values():
            if named == name and made["left_out"]:
                before = taken({"scenario": None, "steps": recodings})["steps"]
                built, rest = _built_again(lines, made, _values_before(desk, column, before), column)
                lines, left = [*lines, *built], left or rest
        if lines:
            names[name] = write_hierarchy(desk.folder, Path(name).stem.removeprefix("hierarchy-"), lines)
        if left:
            notes.append(LACKING.format(c=names.get(name, name)))
    return {**taken(project), "versions": [taken(version) for version in project["versions"]], "notes": notes}


def _built_again(lines: Lines, made: Plain, data: Any, column: str) -> tuple[Lines, bool]:
    """The lines of the values that lack one, by the rule of the hierarchy, and whether one has none of it."""
    if data is None:
        return [], True
    values = [str(value) for value in columns.distinct_values(data[column]).values if value is not None]
    rule, lacks = RULES.get(made["rule"]), lacking(lines, data, column) if lines else values
    built = [rule(text, made["groups"], made["levels"]) if rule else None for text in lacks]
    return [line for line in built if line is not None], None in built

"""Projects: scenario, steps and versions in one file, to carry on elsewhere; no record, secret, seed or figure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdckit.errors import FileFormatError, SdcError

if TYPE_CHECKING:
    from sdckit.workflow.sessions.answering import Desk, Tell

FORMAT = "sdckit project 1"
LARGEST = 8 * 2**20  # bytes: steps and scenarios are some kilobytes
PLACES = ("ledger", "tables", "hierarchies")  # entries of a scenario that name files
TEXTS = ("name", "why", "time")
NO_PROJECT = "{c} is no project of sdckit; nothing was changed"


def project_text(saved: Mapping[str, Any]) -> str:
    """Write what a session saves as a project.

    >>> project_text({"name": "a.csv", "scenario": None, "steps": [], "versions": [], "secret": "5"}).count("secret")
    0
    """
    entries = {"format": FORMAT, "name": saved["name"], **_state(saved)}
    entries["versions"] = [{**_texts(version), **_state(version)} for version in saved["versions"]]
    return json.dumps(entries, indent=1, ensure_ascii=False) + "\n"


def _state(given: Mapping[str, Any]) -> dict[str, Any]:
    scenario = given["scenario"]
    if scenario is not None:
        scenario = {name: _portable(entry) if name in PLACES else entry for name, entry in scenario.items()}
    return {"scenario": scenario, "steps": given["steps"]}


def _portable(value: Any) -> Any:
    """An entry that names files, without the folders of this machine.

    >>> _portable({"folder": "/survey/ledger", "key": "ledger.key"})
    {'folder': 'ledger', 'key': 'ledger.key'}
    """
    if isinstance(value, Mapping):
        return {name: _portable(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_portable(entry) for entry in value]
    return Path(value).name if isinstance(value, str) and Path(value).is_absolute() else value


def _texts(given: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(given.get(name, "")) for name in TEXTS}


def read_project(path: str | Path) -> dict[str, Any]:
    """Read a project file, every scenario and every step checked; what is not of a project is left out.

    Raises
    ------
    SdcError
        It cannot be read, or holds something that is no scenario or no step.
    """
    file = Path(path)
    refused = NO_PROJECT.format(c=file.name)
    try:
        if file.stat().st_size > LARGEST:
            raise FileFormatError(refused)
        entries = json.loads(file.read_bytes())
        if entries["format"] != FORMAT:
            raise FileFormatError(refused)
        states = [_checked(entries), *map(_checked, entries["versions"])]
        texts = map(_texts, entries["versions"])
        versions = [{**words, **state} for words, state in zip(texts, states[1:], strict=True)]
        return {"name": str(entries["name"]), **states[0], "versions": versions}
    except SdcError:
        raise
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise FileFormatError(refused) from None


def _checked(given: Mapping[str, Any]) -> dict[str, Any]:
    from sdckit.data.scenarios.scenario import Scenario
    from sdckit.workflow.recipes.recipe import Recipe

    scenario = given["scenario"]
    if scenario is not None:
        Scenario(**scenario)
    steps = [
        {"method": step["method"], "arguments": dict(step["arguments"]), "on": step["on"] is True}
        for step in given["steps"]
    ]
    if any("method" in step["arguments"] for step in steps):
        raise KeyError
    if steps:
        Recipe([{"method": step["method"], **step["arguments"]} for step in steps])
    return {"scenario": scenario, "steps": steps}


def load(desk: Desk, tell: Tell, *, path: str) -> dict[str, Any]:  # noqa: ARG001 - every task is called so
    """Read a project file."""
    tell("reading the project")
    return read_project(path)

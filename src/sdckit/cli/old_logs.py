"""Logs of older releases: none stays beside a file that it is not the log of."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from sdckit.errors import ScenarioError


def refuse_old_logs(files: Sequence[Path], *, replaced: Sequence[Path | None]) -> None:
    """Refuse to write files that a log beside them names, unless it is one of those that are replaced with them.

    Such a log would be taken for that of the new file. It is looked for in the folder of the files.
    """
    goes = {path.resolve() for path in replaced if path is not None}
    for folder in dict.fromkeys(path.resolve().parent for path in files):
        here = {path.name for path in files if path.resolve().parent == folder}
        for log in sorted(folder.glob("*.json")):
            if log.resolve() not in goes and (named := sorted(here & _named_by(log))):
                raise ScenarioError(
                    f"{log.name} is the log of an older {named[0]} and would be left beside the new one; "
                    f"--log {log.name} replaces both, or move it away"
                )


def _named_by(path: Path) -> set[str]:
    """The releases that a file is the log of; none where it is no log."""
    from sdckit.workflow.recipes.recipe_log import FORMAT

    try:
        with path.open("rb") as file:
            if FORMAT.encode() not in file.read(len(FORMAT) + 50):  # the format stands first
                return set()
        found = json.loads(path.read_text(encoding="utf-8"))["released"]
        return {name for name in found if isinstance(name, str)}
    except (OSError, ValueError, KeyError, TypeError):
        return set()

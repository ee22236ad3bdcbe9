"""The entries of a scenario file, with the paths in them as they stand from anywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sdckit.data.scenarios.scenario_toml import read_toml

LEDGER = ("folder", "key")


def placed_entries(path: str | Path) -> dict[str, Any]:
    """Read the entries of a scenario file; paths that start where it lies become whole ones.

    The entries are not checked: `Scenario` does it.

    Raises
    ------
    FileFormatError
        The file is absent or cannot be read.
    ScenarioError
        It is not TOML.
    """
    file = Path(path).resolve()
    entries = read_toml(file)

    def placed(value: Any) -> Any:
        return str(file.parent / value) if isinstance(value, str) else value

    if "release_types" in entries:
        entries["release_types"] = placed(entries["release_types"])
    if isinstance(found := entries.get("hierarchies"), dict):
        entries["hierarchies"] = {name: placed(one) for name, one in found.items()}
    if isinstance(found := entries.get("ledger"), dict):
        entries["ledger"] = {name: placed(one) if name in LEDGER else one for name, one in found.items()}
    if isinstance(found := entries.get("tables"), list):
        entries["tables"] = [
            {**one, "file": placed(one["file"])} if isinstance(one, dict) and "file" in one else one
            for one in found
        ]
    return entries

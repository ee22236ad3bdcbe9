"""Print the lowest versions that pyproject.toml allows, and the pinned tools that run the tests."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = ("app", "docx", "dp", "duckdb", "files", "linkage", "spark")
# Tools that run no test, and ask for newer releases of what is to be old.
LEFT_OUT = {"build", "import-linter", "mypy", "ruff"}


def main() -> None:
    """Print ``name==floor`` for what users install, and ``name==pin`` for the tools."""
    whole = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project = whole["project"]
    asked = [*project["dependencies"], *(one for name in EXTRAS for one in project["optional-dependencies"][name])]
    lowest = dict(one.partition(",")[0].split(">=") for one in asked)
    lines = (ROOT / "requirements-dev.txt").read_text(encoding="utf-8").splitlines()
    pins = dict(line.split("==") for line in lines if "==" in line)
    tools = {one.partition(">=")[0] for one in whole["dependency-groups"]["dev"]} - LEFT_OUT
    for name, version in sorted((lowest | {name: pins[name] for name in tools}).items()):
        print(f"{name}=={version}")  # noqa: T201 - what it is for


if __name__ == "__main__":
    main()

"""The pinned requirements: exact, no registry named, and agreeing with pyproject.toml."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib

from tree import ROOT, none_offends, parsed, sources, statements, third_party

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PINS = [
    line
    for line in (ROOT / "requirements-dev.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]
PINNED = dict(line.split("==") for line in PINS)
EXTRAS = PROJECT["project"]["optional-dependencies"]
CORE = PROJECT["project"]["dependencies"]
GROUPS = PROJECT["dependency-groups"]
DECLARED = [*CORE, *(one for group in [*EXTRAS.values(), *GROUPS.values()] for one in group)]
# Distribution names that differ from the module they bring.
MODULES = {"scikit-learn": "sklearn", "vl-convert-python": "vl_convert", "lazy-loader": "lazy_loader"}
MODULES |= {"python-docx": "docx"}
# statsmodels is read as data: its wheel ships the survey of the demo. DuckDB comes with the relation given,
# and pandas is what DuckDB and Spark hand record batches over with.
NOT_IMPORTED = {"duckdb"}


def test_a_line_is_a_name_and_an_exact_version() -> None:
    none_offends(
        (line for line in PINS if not re.fullmatch(r"[a-z0-9._-]+==[0-9][A-Za-z0-9.]*", line)),
        "a pin is a name and an exact version",
    )
    assert len(PINS) > 50


def test_no_host_and_no_option() -> None:
    text = (ROOT / "requirements-dev.txt").read_text(encoding="utf-8")
    assert "://" not in text
    assert not re.search(r"^\s*-", text, flags=re.MULTILINE)


def test_torch_stays_out() -> None:
    assert "torch" not in PINNED


def pinned_too_low(requirement: str) -> bool:
    name, _, bounds = requirement.partition(">=")
    floor = bounds.partition(",")[0]
    pin = tuple(int(part) for part in re.findall(r"\d+", PINNED[name]))
    return pin < tuple(int(part) for part in floor.split("."))


def test_everything_declared_is_pinned_at_or_above_its_floor() -> None:
    none_offends(filter(pinned_too_low, DECLARED), "a pin is at or above what pyproject.toml asks for")


def third_party_name(requirement: str) -> str:
    return requirement.partition(">=")[0]


def imported_packages() -> set[str]:
    """Every third-party package the sources import anywhere, functions included."""
    found: set[str] = set()
    for path in sources():
        for node in statements(parsed(path)):
            if isinstance(node, ast.Import):
                found.update(alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module.partition(".")[0])
    return found - set(sys.stdlib_module_names) - {"sdckit"}


def test_the_sources_import_what_is_declared_and_nothing_else() -> None:
    extras = [one for group in EXTRAS.values() for one in group]
    declared = {MODULES.get(name, name) for name in map(third_party, [*CORE, *extras])}
    assert imported_packages() - declared == set()
    assert declared - imported_packages() - NOT_IMPORTED == set()


def test_the_version_stands_in_one_place_and_others_agree() -> None:
    """The wheel reads it from the package; the changelog and the citation tell it."""
    import yaml

    import sdckit

    assert "version" in PROJECT["project"]["dynamic"]
    assert PROJECT["tool"]["hatch"]["version"]["path"] == "src/sdckit/__init__.py"
    assert re.fullmatch(r"\d+\.\d+\.\d+", sdckit.__version__)
    changes = re.findall(r"^## \[(\d[^]]*)\] - (\S+)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert changes[0] == (sdckit.__version__, str(citation["date-released"]))
    assert citation["version"] == sdckit.__version__
    hook = (ROOT / "docs" / "gates.md").read_text(encoding="utf-8")
    assert f"rev: v{sdckit.__version__}\n" in hook


def test_the_lowest_versions_are_those_declared() -> None:
    """`make test-lowest` installs the floor of everything that a user installs."""
    made = subprocess.run(
        [sys.executable, ROOT / ".ci" / "lowest.py"], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    floors = dict(line.split("==") for line in made)
    asked = [*CORE, *(one for listed in EXTRAS.values() for one in listed)]
    assert {name: floors[name] for name in map(third_party_name, asked)} == dict(
        one.partition(",")[0].split(">=") for one in asked
    )
    linters = {"build", "import-linter", "mypy", "ruff"}
    tools = {third_party_name(one) for one in PROJECT["dependency-groups"]["dev"]} - linters
    assert set(floors) == {third_party_name(one) for one in asked} | tools
    assert all(floors[name] == PINNED[name] for name in tools)

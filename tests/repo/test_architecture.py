"""ARCHITECTURE.md and the import rules describe the tree as it is."""

from __future__ import annotations

import re
import tomllib

from tree import ROOT, SRC, none_offends, text_files

PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")


def built() -> set[str]:
    """The rooms and top-level modules that exist."""
    rooms = {path.parent.name + "/" for path in SRC.glob("*/__init__.py")}
    modules = {path.name for path in SRC.glob("*.py")}
    return rooms | modules


def listed(heading: str) -> set[str]:
    """The names in the first column of the table under a heading."""
    section = PAGE.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    return set(re.findall(r"^\| `([^`]+)` \|", section, flags=re.MULTILINE))


AT_THE_ROOT = {
    "ARCHITECTURE.md", "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "Containerfile", "LICENSE", "Makefile",
    "README.md", "SECURITY.md", "action.yml", "paper.bib", "paper.md", "pylock.toml", "pyproject.toml",
    "requirements-dev.txt", "zensical.toml",
}  # fmt: skip


def test_no_file_of_a_trial_stands_at_the_root() -> None:
    at_the_root = [path for path in text_files() if path.parent == ROOT and not path.name.startswith(".")]
    none_offends(
        (path for path in at_the_root if path.name not in AT_THE_ROOT), "what stands at the root is named here"
    )


def test_the_page_lists_the_rooms_that_exist_and_no_other() -> None:
    assert listed("Rooms") == built()


def test_the_page_names_the_folders_of_each_room() -> None:
    """Those that exist and no other; and files that exist, where it names some."""
    rows = dict(re.findall(r"^\| `(\w+)/` \| (.+) \|$", PAGE, flags=re.MULTILINE))
    for room, text in rows.items():
        exist = {path.name for path in (SRC / room).iterdir() if path.is_dir() and path.name != "__pycache__"}
        assert set(re.findall(r"`(\w+)/`", text)) == exist, room
        none_offends(
            (name for name in re.findall(r"`(\w+\.py)`", text) if not (SRC / room / name).is_file()),
            f"a file that the row of {room} names stands there",
        )


def test_every_room_has_its_place_in_the_import_rules() -> None:
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    placed = {name.strip(" ()") for layer in rules["contracts"][0]["layers"] for name in layer.split("|")}
    names = {name.removesuffix("/").removesuffix(".py") for name in listed("Rooms")}
    assert names - {"__init__"} == placed


def test_the_page_fits_a_page() -> None:
    assert len(PAGE.splitlines()) <= 80

"""Every file of the package has its test, in the same room and under the same name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tree import SRC, TESTS, sources

# The room's docstring is no code; the package's own file is tested by repo/test_public_surface.py.
PACKAGE_FILE = "__init__.py"


def mirrored(path: Path) -> Path:
    inside = path.relative_to(SRC)
    return TESTS / inside.with_name(f"test_{inside.name}")


@pytest.mark.parametrize(
    "path",
    [path for path in sources() if path.name != PACKAGE_FILE],
    ids=lambda path: str(path.relative_to(SRC)),
)
def test_a_source_file_has_its_test(path: Path) -> None:
    assert mirrored(path).is_file(), f"{mirrored(path).relative_to(TESTS)} is missing"


@pytest.mark.parametrize(
    "room", sorted({path.parent for path in sources()} - {SRC}), ids=lambda path: path.name
)
def test_a_room_says_what_it_is(room: Path) -> None:
    text = (room / PACKAGE_FILE).read_text(encoding="utf-8")
    assert text.startswith('"""')

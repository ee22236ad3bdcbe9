"""Every file of the package has its test, in the same room and under the same name."""

from __future__ import annotations

from pathlib import Path

from tree import SRC, TESTS, none_offends, sources

# The room's docstring is no code; the package's own file is tested by repo/test_public_surface.py.
PACKAGE_FILE = "__init__.py"


def mirrored(path: Path) -> Path:
    inside = path.relative_to(SRC)
    return TESTS / inside.with_name(f"test_{inside.name}")


def test_a_source_file_has_its_test() -> None:
    none_offends(
        (path for path in sources() if path.name != PACKAGE_FILE and not mirrored(path).is_file()),
        "a source file has its test, in the same room and under the same name",
    )


def test_a_room_says_what_it_is() -> None:
    rooms = {path.parent for path in sources()} - {SRC}
    none_offends(
        (room for room in sorted(rooms) if not (room / PACKAGE_FILE).read_text(encoding="utf-8").startswith('"""')),
        "a room's own file begins with words on what it is",
    )

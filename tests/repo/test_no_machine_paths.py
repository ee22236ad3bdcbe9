"""Nothing in the project names a folder of the machine it was written on, or is left unfinished."""

from __future__ import annotations

import re

from tree import none_offends, sources, text_files

# Put together here so that this file does not match itself.
MACHINE = re.compile(
    "|".join(rf"(?<![\w.<-])/{name}/" for name in ("wo" + "rk", "ho" + "me", "ro" + "ot", "fa" + "rm"))
)
UNFINISHED = re.compile("|".join(("TO" + "DO", "FIX" + "ME", "XX" + "X", "NotImplemented" + "Error")))


def test_no_path_of_a_machine() -> None:
    none_offends(
        (path for path in text_files() if MACHINE.search(path.read_text(encoding="utf-8", errors="replace"))),
        "a file names no folder of a machine",
    )


def test_nothing_is_left_unfinished() -> None:
    none_offends(
        (path for path in sources() if UNFINISHED.search(path.read_text(encoding="utf-8"))), "a source file is finished"
    )


def test_no_text_file_is_large() -> None:
    none_offends((path for path in text_files() if path.stat().st_size > 1_000_000), "a text file is below 1 MB")


def test_the_rules_see_what_they_forbid() -> None:
    assert len(text_files()) > 1_000
    assert MACHINE.search("see /" + "ho" + "me/somebody")
    assert UNFINISHED.search("# " + "TO" + "DO: later")

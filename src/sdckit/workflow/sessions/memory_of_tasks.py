"""Whether a task fits the memory that is free: said before it starts, not by a process that is killed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sdckit.data.memory import AT_REST, bytes_of_file, bytes_of_records, free_bytes

GIGA = 2**30
ONE_FILE, TWO_FILES = 1, 2  # how many copies a task holds beside the original
OF_TASKS = {"protecting": TWO_FILES, "releasing": TWO_FILES, "taking_away": TWO_FILES}


def needed_bytes(task: str, arguments: Mapping[str, Any], facts: Mapping[str, Any] | None) -> int:
    """What a task may take: from records and columns once the file was read, before from its size."""
    if facts and "records" in facts:
        copies = OF_TASKS.get(task.partition(".")[0], ONE_FILE)
        columns = facts["columns"]
        width = columns if isinstance(columns, int) else len(columns)
        return AT_REST + copies * bytes_of_records(int(facts["records"]), width)
    path = Path(str(arguments.get("path") or ""))
    if not path.is_file():
        return 0
    return AT_REST + bytes_of_file(path)


def lacking(task: str, arguments: Mapping[str, Any], facts: Mapping[str, Any] | None) -> str:
    """The message where a task would not fit; empty where it does, or nobody knows."""
    free = free_bytes()
    needed = needed_bytes(task, arguments, facts)
    if free is None or needed <= free:
        return ""
    return (
        f"this may take {needed / GIGA:.1f} GB of memory and {free / GIGA:.1f} GB are free; "
        "close other programs, leave out columns that are not needed, or use the command line on a larger machine"
    )

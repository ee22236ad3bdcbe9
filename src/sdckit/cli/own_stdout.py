"""Standard output is for what the program says: what libraries in C print goes to standard error."""

from __future__ import annotations

import contextlib
import os
import sys

STDOUT, STDERR = 1, 2


def keep_stdout() -> None:
    """Give `sys.stdout` a descriptor of its own, and send descriptor 1 to standard error from here on.

    A solver that prints a line of its own, or a process that is begun, would otherwise stand among the JSON that
    somebody pipes on. Nothing is done where there is no standard output or no standard error.
    """
    before = sys.stdout
    with contextlib.suppress(OSError, ValueError, AttributeError):
        if before.fileno() != STDOUT:
            return
        os.fstat(STDERR)
        before.flush()
        own = os.dup(STDOUT)
        sys.stdout = os.fdopen(
            own, "w", encoding=before.encoding, errors=before.errors, buffering=1 if before.isatty() else -1
        )
        os.dup2(STDERR, STDOUT)

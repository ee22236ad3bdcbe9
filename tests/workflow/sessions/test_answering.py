"""What a request of a session is answered; how it comes and goes stands in tests/app/test_worker.py."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from sdckit.workflow.sessions.answering import answer


def test_everything_a_task_needs_can_be_loaded_ahead() -> None:
    imports = "import sys; from sdckit.workflow.sessions.answering import preload"
    code = f"{imports}; preload(); print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.returncode) == ("True", 0), done.stderr


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "not enough memory"),
        (PermissionError(13, "Permission denied", "/data/somebody/a.csv"), "Permission denied"),
        (OSError(), "internal error: OSError"),
        (RuntimeError("4711"), "internal error: RuntimeError"),
    ],
)
def test_no_exception_leaves_and_no_value_with_it(error: Exception, said: str) -> None:
    class Desk:
        def open(self, path: str, reading: dict[str, Any]) -> None:
            raise error

    told: list[Any] = []
    answer(Desk(), {"task": "x.y", "arguments": {}, "file": {"path": "a.csv"}}, told.append)
    assert len(told) == 1
    assert told[0]["error"].startswith(said)
    assert "somebody" not in told[0]["error"]
    assert "4711" not in told[0]["error"]

"""What the worker's own side loads; the rest stands in test_browser_sessions.py and test_worker_process_forked.py."""

from __future__ import annotations

import queue
import subprocess
import sys
from collections.abc import Iterator
from typing import Any


def test_the_process_is_there_before_anything_that_computes_is_loaded() -> None:
    code = "import sdckit.app.worker_process, sys; print('numba' in sys.modules, 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.returncode) == ("False False", 0), done.stderr


def test_it_loads_ahead_while_nobody_asks_and_not_before_a_request() -> None:
    from sdckit.app.worker_process import _taken

    waiting: queue.Queue[dict[str, Any]] = queue.Queue()
    loaded = []

    def loads() -> Iterator[str]:
        for name in ("first", "second"):
            loaded.append(name)
            yield name
        waiting.put({"task": "asked for at last"})

    steps = loads()
    waiting.put({"task": "asked for at once"})
    assert (_taken(waiting, steps), loaded) == ({"task": "asked for at once"}, [])
    assert (_taken(waiting, steps), loaded) == ({"task": "asked for at last"}, ["first", "second"])

"""What the worker's own side loads; the rest stands in test_worker.py."""

from __future__ import annotations

import subprocess
import sys


def test_the_process_is_there_before_anything_that_computes_is_loaded() -> None:
    code = "import sdckit.app.worker_process, sys; print('numba' in sys.modules, 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.returncode) == ("False False", 0), done.stderr

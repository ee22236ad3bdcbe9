"""The package as a program."""

from __future__ import annotations

import subprocess
import sys


def test_the_module_is_the_command():
    done = subprocess.run([sys.executable, "-m", "sdckit", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("sdckit ")

"""What libraries print by themselves does not stand among what the program says."""

from __future__ import annotations

import json
import subprocess
import sys

NOISY = """
import os, subprocess, sys
import sdckit.cli.app as app

def run():
    os.write(1, b"a line of a solver\\n")
    subprocess.run([sys.executable, "-c", "print('a child')"], check=True)
    print('{"ours": 1}')
    return 3

app.run = run
from sdckit.cli import main
main()
"""


def test_what_others_print_goes_to_stderr() -> None:
    done = subprocess.run([sys.executable, "-c", NOISY], capture_output=True, text=True, check=False)
    assert json.loads(done.stdout) == {"ours": 1}
    assert done.returncode == 3
    assert "a line of a solver" in done.stderr
    assert "a child" in done.stderr


def test_without_standard_error_the_program_still_speaks() -> None:
    closed = f"exec {sys.executable} -m sdckit --version 2>&-"
    done = subprocess.run(["sh", "-c", closed], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("sdckit ")


def test_a_stdout_that_is_closed_stops_nothing() -> None:
    closed = f'exec {sys.executable} -c "from sdckit.cli.own_stdout import keep_stdout; keep_stdout()" >&-'
    done = subprocess.run(["sh", "-c", closed], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")

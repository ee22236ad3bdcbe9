"""The command line, thin: options in, `assess` and its kin, tables, JSON and exit codes out."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line and leave with its exit code."""
    from sdckit.cli.outputs import keep_stdout

    keep_stdout()
    from sdckit.cli.app import run

    sys.exit(run())

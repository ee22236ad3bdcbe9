"""The command line, thin: options in, `assess` and its kin, tables, JSON and exit codes out."""

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line and leave with its exit code."""
    from sdckit.cli.outputs import keep_stdout, not_written

    keep_stdout()
    from sdckit.cli.app import run
    from sdckit.cli.errors import explain

    out = sys.stdout
    code = run()
    error = None if out is None else not_written(out)
    sys.exit(code or (0 if error is None else explain(error)))

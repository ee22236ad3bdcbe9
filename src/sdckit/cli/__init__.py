"""The command line, thin: options in, `assess` and its kin, tables, JSON and exit codes out."""

import gc
import sys


def main() -> None:
    """Run the command line and leave with its exit code."""
    try:
        from sdckit.cli.outputs import keep_stdout, not_written
        from sdckit.operating_system import no_collecting

        keep_stdout()
        with no_collecting():
            from sdckit.cli.app import run
            from sdckit.cli.errors import explain
    except KeyboardInterrupt:  # as `run` leaves
        sys.exit(130)
    gc.set_threshold(10_000, 20, 20)  # by default it is looked for after every 700 objects
    out = sys.stdout
    code = run()
    error = None if out is None else not_written(out)
    if "duckdb" not in sys.modules:  # which lists on standard error what is left of it in the end
        gc.freeze()  # nor is there any use in looking for garbage as the program ends: a fifth of a second and more
    sys.exit(code or (0 if error is None else explain(error)))

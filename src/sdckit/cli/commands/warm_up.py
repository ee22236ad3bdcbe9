"""``sdckit warm-up``: compile the kernels ahead."""

import time

from sdckit.cli import errors, progress
from sdckit.cli.options import Quiet
from sdckit.display import counted


def warm_up(*, quiet: Quiet = False) -> None:
    """Compile what the other commands run, so that their first run need not wait.

    Compiled kernels are kept in your cache directory, or in NUMBA_CACHE_DIR.
    Once, and again for those that a new version has changed; a minute or two.
    """
    start = time.perf_counter()
    names: list[str] = []
    with progress.Steps(quiet=quiet) as steps:
        steps.step("loading")
        from sdckit.numerics.compiling import cache_folder, heard
        from sdckit.workflow.warm_up import warm_up as run

        with heard(names.append):
            run(steps.step)
    if quiet:
        return
    seconds = time.perf_counter() - start
    what = counted(len(names), "kernel") + " compiled" if names else "All kernels were compiled before; looked at"
    where = cache_folder() or "where numba keeps its own"
    errors.tell(f"{what} in {seconds:.0f} s. They are kept in {where}.")

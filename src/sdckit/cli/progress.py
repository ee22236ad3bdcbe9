"""A display for what takes longer than a second, on standard error; in a log a line where the work goes on for long."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

from sdckit import operating_system

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


PATIENCE = 1.0  # seconds before anything is shown
IN_A_LOG = 10.0  # seconds before a log has a line; the next one is due after twice as long
COMPILING = "compiling, the first time only (sdckit warm-up does it ahead)"


class Steps:
    """Name the step under way; show it with its time once the work takes longer than a second.

    Where standard error is no terminal, work of more than ten seconds has a line there, and others ever more rarely. A
    program that took standard error for itself, as a notebook does, sees neither.
    """

    def __init__(self, *, quiet: bool) -> None:
        self._seen = sys.stderr.isatty()
        self._wanted = not quiet and (self._seen or sys.stderr is sys.__stderr__)
        self._lock = threading.RLock()
        self._step = ""
        self._display: Progress | None = None
        self._task: TaskID | None = None
        self._timer: threading.Timer | None = None
        self._hearing = ExitStack()
        self._own: TextIO | None = None
        self._compiling = self._listens = False

    def __enter__(self) -> Steps:
        if self._wanted:
            if sys.stderr is sys.__stderr__:  # shown also while what libraries write there is held back
                self._own = self._hearing.enter_context(operating_system.open_standard_error())
            self._begin, self._wait = time.monotonic(), IN_A_LOG
            self._after(PATIENCE, self._show) if self._seen else self._after(self._wait, self._write)
        return self

    def _after(self, seconds: float, shown: Callable[[], None]) -> None:
        self._timer = threading.Timer(seconds, shown)
        self._timer.daemon = True
        self._timer.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._wanted = False
            if self._timer is not None:
                self._timer.cancel()
            if self._display is not None:
                self._display.stop()
            self._hearing.close()

    def step(self, text: str) -> None:
        """Say what is being done now."""
        with self._lock:
            self._step, self._compiling = text, False
            self._listen()
            self._update()

    def _update(self) -> None:
        if self._display is not None and self._task is not None:
            self._display.update(self._task, description=self._text())

    def _text(self) -> str:
        return f"{self._step}; {COMPILING}" if self._compiling else self._step

    def _listen(self) -> None:
        """Hear of kernels that are compiled, once there are kernels: importing numba is no matter of a display."""
        compiling = sys.modules.get("sdckit.numerics.compiling")
        if self._wanted and not self._listens and hasattr(compiling, "heard"):
            self._listens = True
            self._hearing.enter_context(compiling.heard(self._compiled))  # type: ignore[union-attr]

    def _compiled(self, _: str) -> None:
        with self._lock:
            if not self._compiling:
                self._compiling = True
                self._update()

    def _write(self) -> None:
        with self._lock:
            if self._wanted:
                print(f"{self._text()} … {time.monotonic() - self._begin:.0f} s so far", file=self._own, flush=True)
                self._wait *= 2
                self._after(self._wait, self._write)

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        with self._lock:
            if not self._wanted:  # the work ended meanwhile
                return
            self._display = Progress(
                SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn(),
                console=Console(file=self._own, stderr=True), transient=True,
            )  # fmt: skip
            self._task = self._display.add_task(self._step, total=None)
            self._listen()
            self._display.start()

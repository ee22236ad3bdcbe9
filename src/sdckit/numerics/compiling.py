"""Kernels are compiled once: what numba makes of them is kept in the user's cache, one folder per version."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core import event

__all__ = ["FEW", "cache_folder", "heard", "njit"]

FEW = 1 << 14  # rows that NumPy is done with long before a kernel is compiled
PRIVATE = 0o700  # what is loaded from there is run


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Do as `numba.njit`, with compiled kernels kept in `cache_folder`.

    Where no folder can be written, kernels are compiled anew in every session. Nobody calls them from C, so that the
    door for it is not compiled.

    >>> @njit(cache=True)
    ... def twice(x):
    ...     return 2 * x
    >>> twice(3)
    6
    """

    def decorate(kernel: Callable[..., Any]) -> Any:
        given = {"no_cfunc_wrapper": True, **options}
        with _kept_in(cache_folder()):
            try:
                return numba.njit(**given)(kernel)
            except RuntimeError:  # numba found no folder either
                return numba.njit(**{**given, "cache": False})(kernel)

    return decorate


@cache
def cache_folder() -> Path | None:
    """Where compiled kernels are kept; None where numba decides, or the user's cache cannot be written.

    ``NUMBA_CACHE_DIR`` wins.
    """
    if os.environ.get("NUMBA_CACHE_DIR"):
        return None
    try:
        folder = _user_cache() / "sdckit" / "numba" / sys.modules["sdckit"].__version__
        folder.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # no home
        return None
    return folder if os.access(folder, os.W_OK | os.X_OK) else None


def _user_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


@contextlib.contextmanager
def _kept_in(folder: Path | None) -> Iterator[None]:
    """Let numba keep what is decorated now in a folder; other packages keep theirs where they did."""
    config: Any = numba.config
    before = config.CACHE_DIR
    if folder is not None:
        config.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        config.CACHE_DIR = before


@contextlib.contextmanager
def heard(tell: Callable[[str], None]) -> Iterator[None]:
    """Say the name of every kernel that is compiled within the block; what is in the cache is not compiled."""
    with event.install_listener("numba:compile", _Heard(tell)):
        yield


class _Heard(event.Listener):  # type: ignore[misc, unused-ignore]
    """Hears numba start to compile."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell

    def on_start(self, event: Any) -> None:
        """Tell it."""
        self._tell(event.data["dispatcher"].py_func.__name__)

    def on_end(self, event: Any) -> None:
        """Nothing more is to be said."""

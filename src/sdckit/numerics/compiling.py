"""Kernels are compiled once: what numba makes of them is kept in the user's cache."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, cached_property, wraps
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numba
import numpy as np
from numba.core import caching, compiler, event
from numba.core.dispatcher import Dispatcher

from sdckit.numerics.threads import jobs

# Where a compiled kernel is kept: under what it says, so that another version or checkout with the same has it too.
#
# Numba keeps a kernel under its file, line and time of change: it does not notice that a function which the kernel
# calls has changed, and forgets it when a line moves. Here the name of what is kept is a digest of the kernel's
# bytecode, of the constants it reads, of how it is compiled and of the kernels it calls.


UNUSED = 90 * 86_400  # seconds after which another version's kernel of the same name is removed
DAY = 86_400


def digest(kernel: Any) -> str:
    """What a kernel says, in 20 letters: the same wherever it stands.

    >>> @numba.njit
    ... def double(x):
    ...     return 2 * x
    >>> len(digest(double)), digest(double) == digest(numba.njit(double.py_func))
    (20, True)
    """
    description = "\n".join(_described(kernel, set()))
    return hashlib.sha256(f"{numba.__version__}\n{description}".encode()).hexdigest()[:20]


def _described(kernel: Any, known: set[int]) -> Iterator[str]:
    if id(kernel) in known:
        return
    known.add(id(kernel))
    python = kernel.py_func
    yield f"{python.__module__}.{python.__qualname__}"
    yield _as_text(kernel.targetoptions)
    names: list[str] = []
    yield from _bytecode(python.__code__, python.__doc__, names)
    yield _as_text(python.__defaults__)
    yield _as_text([cell.cell_contents for cell in python.__closure__ or ()])
    for name in dict.fromkeys(names):
        value = python.__globals__.get(name)
        if isinstance(value, Dispatcher):
            yield from _described(value, known)
        elif value is not None:
            yield f"{name} = {_as_text(value)}"


def _bytecode(code: CodeType, doc: str | None, names: list[str]) -> Iterator[str]:
    """Bytecode and constants; line numbers and docstrings change nothing."""
    names += code.co_names
    yield f"{code.co_code.hex()} {code.co_names} {code.co_varnames} {code.co_argcount}"
    for co_const in code.co_consts:
        if isinstance(co_const, CodeType):
            yield from _bytecode(co_const, None, names)
        elif doc is None or co_const != doc:
            yield _as_text(co_const)


def _as_text(value: Any) -> str:
    """A constant as text: of sets in order, of arrays with all values, of classes by name and fields."""
    if isinstance(value, set | frozenset):
        return f"{{{', '.join(sorted(map(_as_text, value)))}}}"
    if isinstance(value, dict):
        return f"{{{', '.join(sorted(f'{name}: {_as_text(entry)}' for name, entry in value.items()))}}}"
    if isinstance(value, list | tuple):
        return f"({', '.join(map(_as_text, value))})"
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape} {value.tobytes().hex()}"
    if isinstance(value, ModuleType):
        return value.__name__
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__} {getattr(value, '_fields', '')}"
    return f"{type(value).__name__} {value!r}"


class KernelCache:
    """The cache of one kernel, as numba asks it; opened when it is first asked, as all it calls is known by then."""

    def __init__(self, kernel: Any, folder: Path) -> None:
        self._kernel, self.cache_path = kernel, str(folder)

    @cached_property
    def _name(self) -> str:
        python = self._kernel.py_func
        name = re.sub("[<>]", "", f"{python.__module__}.{python.__code__.co_qualname}")
        return f"{name}-{digest(self._kernel)}.py{sys.version_info.major}{sys.version_info.minor}"

    @cached_property
    def _file(self) -> Any:
        module: Any = caching
        return module.IndexDataCacheFile(cache_path=self.cache_path, filename_base=self._name, source_stamp="")

    @property
    def _index(self) -> Path:
        return Path(self.cache_path) / f"{self._name}.nbi"

    def is_kept(self) -> bool:
        """Whether it was compiled before, for some types of arguments."""
        return self._index.exists()

    def load_overload(self, signature: Any, target: Any) -> Any:
        """The kernel compiled for types of arguments, or None."""
        target.refresh()
        kept = self._file.load(_key(signature, target.codegen()))
        if kept is None:
            return None
        with contextlib.suppress(OSError):  # used, and so not to be removed
            if time.time() - self._index.stat().st_mtime > DAY:
                os.utime(self._index)
        module: Any = compiler
        return module.CompileResult._rebuild(target, *kept)

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep a compiled kernel where that is possible, and remove what no version has used for long."""
        if compiled.lifted or compiled.library.has_dynamic_globals:
            return
        with contextlib.suppress(OSError):  # no room, or another process is writing
            Path(self.cache_path).mkdir(parents=True, exist_ok=True)
            self._file.save(_key(signature, compiled.codegen), compiled._reduce())
            self._forget_unused()

    def _forget_unused(self) -> None:
        for index in Path(self.cache_path).glob(f"{self._name.rpartition('-')[0]}-*.nbi"):
            if time.time() - index.stat().st_mtime > UNUSED:
                for cached in index.parent.glob(f"{index.stem}.*"):
                    cached.unlink()

    def enable(self) -> None:
        """Kernels are always kept."""

    disable = flush = enable


def _key(signature: Any, generator: Any) -> Any:
    """Types of arguments, and the processor."""
    return signature, generator.magic_tuple()


FEW = 1 << 14  # rows that NumPy is done with long before a kernel is compiled
STEPS = 1 << 17  # of a kernel that Python takes sooner than it is compiled: less than a tenth of a second
SPENT = 1 << 20  # steps, or rows, of one kernel in one process after which it is compiled all the same
OFTEN = 2  # calls of one kernel outside of a job
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
        given: Any = {"no_cfunc_wrapper": True, **options, "cache": False}
        made: Any = numba.njit(**given)(kernel)
        kept = options.get("cache", False)
        folder = cache_folder() if kept else None
        if folder is not None:
            made._cache = KernelCache(made, folder)
        elif kept:
            with contextlib.suppress(RuntimeError):  # numba finds no folder either
                made.enable_caching()
        return made

    return decorate


# What a process does without a kernel that it has not loaded, since compiling would take longer than all there is to
# do: by the same lines as plain Python (`sparing`) or by NumPy (`is_few`). Both cost a multiple of the kernel, so only
# the first job of a process goes without, or the first calls where there is no job; later all calls take the kernels.

_spent: Counter[Any] = Counter()
_uses: Counter[Any] = Counter()
_always = False


def sparing(kernel: Any, steps: float) -> Callable[..., Any]:
    """A kernel, or the same lines as plain Python where there is so little to do that compiling would take longer.

    `steps`: about how often its innermost loop is gone through. A kernel that was compiled before is taken as it is.
    Figures are the same to the last bit, so only kernels without ``fastmath`` are given.

    >>> @njit()
    ... def twice(x):
    ...     return 2 * x
    >>> sparing(twice, 1)(3)
    6
    """
    return _as_python(kernel) if is_early(kernel) and is_little(kernel, steps) else kernel


def is_few(kernel: Any, rows: int) -> bool:
    """Whether NumPy does the work of a kernel on some rows: they are few, and the process is at its first job."""
    if rows > FEW or not is_early(kernel) or _spent[kernel] > SPENT:
        return False
    _spent[kernel] += rows
    return True


def is_early(kernel: Any) -> bool:
    """Whether a process may do without a kernel yet."""
    if _always or _is_loaded(kernel) or jobs.ended:
        return False
    _uses[kernel] += 1
    return jobs.running > 0 or _uses[kernel] <= OFTEN


def _is_loaded(kernel: Any) -> bool:
    return bool(kernel.overloads)


def is_little(kernel: Any, steps: float, *, most: float = STEPS, spent: float = SPENT, loading: float = 0.0) -> bool:
    """Whether it takes less time to do without a kernel than to compile it, or to load it where it is kept.

    What was done without it is counted, so that whoever asks again gets the kernel: after `spent` steps it is compiled,
    at the second time loaded. Up to `loading` steps take less time than to load it: a third of a second in a process
    that has no other.
    """
    if _always or not steps <= most:
        return False
    if _is_compiled(kernel):
        if kernel.signatures or _spent[kernel] or steps > loading:
            return False
    elif _spent[kernel] > spent:
        return False
    _spent[kernel] += int(steps)
    return True


def _is_compiled(kernel: Any) -> bool:
    """Whether it was compiled in this process, or in an earlier one that kept it."""
    return bool(kernel.signatures) or _is_kept(kernel)


@cache
def _is_kept(kernel: Any) -> bool:
    return isinstance(kernel._cache, KernelCache) and kernel._cache.is_kept()


@contextlib.contextmanager
def compiling_all() -> Iterator[None]:
    """Compile every kernel that is called within the block, however little there is to do."""
    global _always  # noqa: PLW0603
    before, _always = _always, True
    try:
        yield
    finally:
        _always = before


@cache
def _as_python(kernel: Any) -> Callable[..., Any]:
    """The lines of a kernel, and of the kernels it calls, uncompiled; words wrap around as they do in a kernel."""
    lines = _uncompiled(kernel)

    @wraps(lines)
    def plain(*given: Any) -> Any:
        with np.errstate(all="ignore"):
            return lines(*given)

    return plain


@cache
def _uncompiled(kernel: Any) -> FunctionType:
    python = kernel.py_func
    names = {
        name: _uncompiled(value) if isinstance(value, Dispatcher) and name in python.__code__.co_names else value
        for name, value in python.__globals__.items()
    }
    return FunctionType(python.__code__, names, python.__name__, python.__defaults__)


@cache
def cache_folder() -> Path | None:
    """Where compiled kernels are kept; None where the user's cache cannot be written.

    ``NUMBA_CACHE_DIR`` wins.
    """
    own = os.environ.get("NUMBA_CACHE_DIR")
    try:
        folder = (Path(own) if own else _user_cache()) / "sdckit" / "kernels"
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

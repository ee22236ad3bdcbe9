"""Compilation of kernels by numba, kept in a cache in the user's folder; when to do without a compiled kernel."""

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
from numba.core.runtime.nrt import rtsys

from sdckit import operating_system
from sdckit.numerics.threads import jobs

# The cache of compiled kernels, by content, so that versions and checkouts with the same kernel share it.
#
# Numba's own cache goes by file, line and time of modification: it misses changes in functions that the kernel calls,
# and is invalidated when a line moves. Here the key is a digest of the kernel's bytecode, the constants it reads, its
# compilation options and the kernels it calls.


UNUSED = 90 * 86_400  # seconds after which another version's kernel of the same name is removed
DAY = 86_400


def digest(kernel: Any) -> str:
    """Digest of a kernel's content (20 hexadecimal digits), independent of its file and line.

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
    """Bytecode and constants, without line numbers and docstrings."""
    names += code.co_names
    yield f"{code.co_code.hex()} {code.co_names} {code.co_varnames} {code.co_argcount}"
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _bytecode(constant, None, names)
        elif doc is None or constant != doc:
            yield _as_text(constant)


def _as_text(value: Any) -> str:
    """A constant as text: sets sorted, arrays with all values, classes by name and fields."""
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
    """The cache of one kernel, with numba's cache interface; opened on first use, when all called kernels are known."""

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
        """Whether a compiled version is in the cache, for some types of arguments."""
        return self._index.exists()

    def load_overload(self, signature: Any, target: Any) -> Any:
        """The kernel compiled for types of arguments, or None.

        Numba would import all that it can compile (a third of a second) before it loads anything. Machine code needs
        the allocation of arrays alone: its other symbols are there once numba is imported.
        """
        rtsys.initialize(target)
        kept = self._file.load(_key(signature, target.codegen()))
        if kept is None:
            return None
        with contextlib.suppress(OSError):  # used, and so not to be removed
            if time.time() - self._index.stat().st_mtime > DAY:
                os.utime(self._index)
        module: Any = compiler
        return module.CompileResult._rebuild(target, *kept)

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Save a compiled kernel where possible, and remove versions that have not been used for long."""
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
        """Do nothing: the cache is always enabled."""

    disable = flush = enable


def _key(signature: Any, generator: Any) -> Any:
    """Cache key: types of arguments, and processor."""
    return signature, generator.magic_tuple()


FEW = 1 << 14  # rows that NumPy processes in less time than compiling a kernel takes
STEPS = 1 << 18  # loop steps that plain Python runs in less time than compiling takes: below a fifth of a second
SPENT = 1 << 20  # steps, or rows, of one kernel in one process after which it is compiled all the same
OFTEN = 2  # calls of one kernel outside of a job that may do without it
PRIVATE = 0o700  # what is loaded from there is run


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Do as `numba.njit`, with compiled kernels kept in `cache_folder`.

    Where no folder can be written, kernels are compiled anew in every session. The C wrapper is not compiled, since
    kernels are not called from C.

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


# Little work is done without a kernel that is not loaded yet, since compiling would take longer than the work: by the
# same code as plain Python (`sparing`) or by NumPy (`is_few`). Both are slower than the kernel, so only the first job
# of a process, or the first calls outside a job, do without; later calls all use the kernels.

_spent: Counter[Any] = Counter()
_uses: Counter[Any] = Counter()
_always = False


def sparing(kernel: Any, steps: float) -> Callable[..., Any]:
    """A kernel, or its plain Python code where there is so little to do that compiling would take longer.

    `steps`: approximate number of iterations of its innermost loop. A kernel that is compiled already is returned
    itself. Results are equal to the last bit, so only kernels without ``fastmath`` may be passed.

    >>> @njit()
    ... def twice(x):
    ...     return 2 * x
    >>> sparing(twice, 1)(3)
    6
    """
    return _as_python(kernel) if is_early(kernel) and is_little(kernel, steps) else kernel


def is_few(kernel: Any, rows: int) -> bool:
    """Whether NumPy replaces a kernel: there are few rows, and the process is at its first job."""
    if rows > FEW or not is_early(kernel) or _spent[kernel] > SPENT:
        return False
    _spent[kernel] += rows
    return True


def is_early(kernel: Any) -> bool:
    """Whether a process may still do without a kernel: it is not loaded, and this is the first job or few calls."""
    if _always or _is_loaded(kernel) or jobs.ended:
        return False
    _uses[kernel] += 1
    return jobs.running > 0 or _uses[kernel] <= OFTEN


def _is_loaded(kernel: Any) -> bool:
    return bool(kernel.overloads)


def is_little(kernel: Any, steps: float, *, most: float = STEPS, spent: float = SPENT, loading: float = 0.0) -> bool:
    """Whether working without a kernel takes less time than compiling it, or loading it from the cache.

    The steps done without it are counted: after `spent` steps it is compiled, at the second time loaded from the cache.
    Up to `loading` steps take less time than loading, which is .04 s for the first kernel of a process.
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
    """Whether it was compiled in this process, or is in the cache."""
    return bool(kernel.signatures) or _is_kept(kernel)


@cache
def _is_kept(kernel: Any) -> bool:
    return isinstance(kernel._cache, KernelCache) and kernel._cache.is_kept()


@contextlib.contextmanager
def compiling_all() -> Iterator[None]:
    """Use compiled kernels within the block, however little there is to do."""
    global _always  # noqa: PLW0603
    before, _always = _always, True
    try:
        yield
    finally:
        _always = before


@cache
def _as_python(kernel: Any) -> Callable[..., Any]:
    """The plain Python code of a kernel and of those it calls; integer overflow wraps silently, as in a kernel."""
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
    """Folder of compiled kernels; None where the user's cache cannot be written.

    ``NUMBA_CACHE_DIR`` wins.
    """
    own = os.environ.get("NUMBA_CACHE_DIR")
    try:
        folder = (Path(own) if own else operating_system.cache_base()) / "sdckit" / "kernels"
        folder.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # no home
        return None
    return folder if os.access(folder, os.W_OK | os.X_OK) else None


@contextlib.contextmanager
def heard(tell: Callable[[str], None]) -> Iterator[None]:
    """Call `tell` with the name of every kernel that is compiled (not loaded from the cache) within the block."""
    with event.install_listener("numba:compile", _Heard(tell)):
        yield


class _Heard(event.Listener):  # type: ignore[misc, unused-ignore]
    """Listener for the start of a compilation by numba."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell

    def on_start(self, event: Any) -> None:
        """Report the name of the kernel."""
        self._tell(event.data["dispatcher"].py_func.__name__)

    def on_end(self, event: Any) -> None:
        """Do nothing."""

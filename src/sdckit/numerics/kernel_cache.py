"""Where a compiled kernel is kept: under what it says, so that another version or checkout with the same has it too.

Numba keeps a kernel under its file, line and time of change: it does not notice that a function which the kernel calls
has changed, and forgets it when a line moves. Here the name of what is kept is a digest of the kernel's bytecode, of
the constants it reads, of how it is compiled and of the kernels it calls.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import sys
import time
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import numba
import numpy as np
from numba.core import caching, compiler
from numba.core.dispatcher import Dispatcher

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
    told = "\n".join(_said(kernel, set()))
    return hashlib.sha256(f"{numba.__version__}\n{told}".encode()).hexdigest()[:20]


def _said(kernel: Any, known: set[int]) -> Iterator[str]:
    if id(kernel) in known:
        return
    known.add(id(kernel))
    python = kernel.py_func
    yield f"{python.__module__}.{python.__qualname__}"
    yield _plain(kernel.targetoptions)
    names: list[str] = []
    yield from _code(python.__code__, python.__doc__, names)
    yield _plain(python.__defaults__)
    yield _plain([cell.cell_contents for cell in python.__closure__ or ()])
    for name in dict.fromkeys(names):
        value = python.__globals__.get(name)
        if isinstance(value, Dispatcher):
            yield from _said(value, known)
        elif value is not None:
            yield f"{name} = {_plain(value)}"


def _code(code: CodeType, doc: str | None, names: list[str]) -> Iterator[str]:
    """Bytecode and constants; line numbers and docstrings change nothing."""
    names += code.co_names
    yield f"{code.co_code.hex()} {code.co_names} {code.co_varnames} {code.co_argcount}"
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _code(one, None, names)
        elif doc is None or one != doc:
            yield _plain(one)


def _plain(value: Any) -> str:
    """A constant as text: of sets in order, of arrays with all values, of classes by name and fields."""
    if isinstance(value, set | frozenset):
        return f"{{{', '.join(sorted(map(_plain, value)))}}}"
    if isinstance(value, dict):
        return f"{{{', '.join(sorted(f'{name}: {_plain(one)}' for name, one in value.items()))}}}"
    if isinstance(value, list | tuple):
        return f"({', '.join(map(_plain, value))})"
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
        return module.IndexDataCacheFile(
            cache_path=self.cache_path, filename_base=self._name, source_stamp=""
        )

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
                for one in index.parent.glob(f"{index.stem}.*"):
                    one.unlink()

    def enable(self) -> None:
        """Kernels are always kept."""

    disable = flush = enable


def _key(signature: Any, generator: Any) -> Any:
    """Types of arguments, and the processor."""
    return signature, generator.magic_tuple()

"""Kernels run as plain Python, with the helpers that they call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest


def both_forms(module: ModuleType, kernel: str, *helpers: str) -> Iterator[Callable[..., Any]]:
    """A kernel compiled, and then as Python as long as it is looked at."""
    yield getattr(module, kernel)
    with pytest.MonkeyPatch.context() as patch, np.errstate(over="ignore"):
        for name in helpers:
            patch.setattr(module, name, getattr(module, name).py_func)
        yield getattr(module, kernel).py_func

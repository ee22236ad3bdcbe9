"""The two ways in which little is done: by NumPy or plain Python, and by kernels."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from sdckit.numerics import compiling
from sdckit.numerics.search import box_search, box_tree


def take(patch: pytest.MonkeyPatch, *, few: bool) -> None:
    """Do without kernels whatever the number of rows, or take them."""
    for module in (compiling, box_search, box_tree):
        patch.setattr(module, "is_early", lambda kernel: few)
    patch.setattr(compiling, "_is_compiled", lambda kernel: False)
    spent: Counter[Any] = Counter()
    patch.setattr(compiling, "_spent", spent)
    patch.setattr(compiling, "FEW", 10**12 if few else -1)
    patch.setattr(compiling, "SPENT", 10**18)

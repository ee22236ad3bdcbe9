"""The values of a column in the one form that any file and any type of storage gives them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sdckit.data.columns import Coded

SPARSE = 8  # code ranges wider than this times the records are sorted, narrower ones marked in a table
MIDNIGHT = " 00:00:00"


@dataclass(frozen=True, eq=False)
class Levels:
    """One column: codes (n,), 0 where a value is missing, and the text of each level from code 1 on."""

    name: str
    codes: NDArray[np.int32]
    texts: tuple[str, ...]

    def counts(self) -> NDArray[np.int64]:
        """Records with each code, from 0 on."""
        return np.bincount(self.codes, minlength=len(self.texts) + 1)

    def renumbered(self, texts: tuple[str, ...]) -> NDArray[np.int32]:
        """The codes in another numbering, which has all of these levels."""
        number = {text: code for code, text in enumerate(texts, 1)}
        return np.array([0, *(number[text] for text in self.texts)], np.int32)[self.codes]


def canonical(coded: Coded) -> Levels:
    """Give each value a text that does not depend on how a file stores it: 1, 1.0 and "1" are one value.

    >>> import narwhals.stable.v2 as nw, polars as pl
    >>> from sdckit.data.columns import code_column
    >>> column = lambda values: code_column(nw.from_native(pl.Series("a", values), series_only=True))
    >>> canonical(column([2, 1, None])).texts, canonical(column([2.0, 1.5, None])).codes.tolist()
    (('1', '2'), [2, 1, 0])
    """
    codes = coded.codes()
    if coded.span > SPARSE * len(codes):
        used, place = np.unique(codes, return_inverse=True)
        numbered = place.reshape(-1)
    else:
        present = np.zeros(coded.span + 1, np.bool_)
        present[codes] = True
        used = np.flatnonzero(present)
        table = np.zeros(coded.span + 1, np.int64)
        table[used] = np.arange(len(used))
        numbered = table[codes]
    used = used[used < coded.span]
    printed = [_plain(coded.kind, text) for text in coded.labels(used)]
    # two stored values may print alike: a decimal of two scales, say
    texts = tuple(dict.fromkeys(printed))
    number = {text: code for code, text in enumerate(texts, 1)}
    joint = np.array([*(number[text] for text in printed), 0], np.int32)
    return Levels(coded.name, joint[numbered], texts)


def _plain(kind: str, text: str) -> str:
    if kind == "number":
        value = float(text)
        return str(int(value)) if value.is_integer() else repr(value)
    return text.removesuffix(MIDNIGHT) if kind == "date" else text

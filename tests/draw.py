"""Small files for the property tests, and the one place where their warnings are set aside."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from dataclasses import dataclass

import polars as pl
from hypothesis import strategies as st

from sdckit.errors import SdcWarning

RULES = ("wildcard", "category")
ALPHAS = (0.0, 0.3, 0.5, 1.0)
# All that UTF-8 can hold: asked for by the name of the coding, Hypothesis encodes all 1.1 million characters (9 s).
CHARACTERS = st.characters(exclude_categories=["Cs"])
WIDE = 1 << 30  # levels so far apart that three keys do not fit into one word


@contextmanager
def quiet():
    """A file of ten records has constant keys and unique ones: that is not the point here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SdcWarning)
        yield


@dataclass(frozen=True)
class File:
    """Records as tuples of small numbers, None where missing."""

    rows: list[tuple]
    weights: list[float]
    rules: tuple[str, ...]
    wide: bool = False

    @property
    def keys(self):
        return [f"k{j}" for j in range(len(self.rows[0]))]

    @property
    def wild(self):
        return [rule == "wildcard" for rule in self.rules]

    @property
    def missing(self):
        return dict(zip(self.keys, self.rules, strict=True))

    def frame(self, **more):
        scale = WIDE if self.wide else 1
        columns = {
            key: pl.Series([None if row[j] is None else row[j] * scale for row in self.rows], dtype=pl.Int64)
            for j, key in enumerate(self.keys)
        }
        return pl.DataFrame({**columns, "w": self.weights, **more})


def _rows(draw, n, n_keys, levels, missing):
    value = st.integers(0, levels - 1)
    cell = st.one_of(value, value, st.none()) if missing else value
    rows = draw(st.lists(st.tuples(*[cell] * n_keys), min_size=n, max_size=n))
    # a key needs a value somewhere
    first = tuple(0 if all(row[j] is None for row in rows) else value for j, value in enumerate(rows[0]))
    return [first, *rows[1:]]


@st.composite
def files(draw, *, missing=True, wide=None, max_rows=24, min_keys=1, max_keys=4, levels=3):
    """A file of a few records, so that patterns meet often."""
    wide = draw(st.booleans()) if wide is None else wide
    n = draw(st.integers(1, max_rows))
    n_keys = draw(st.integers(max(min_keys, 3 if wide else 1), max_keys))
    rows = _rows(draw, n, n_keys, levels, missing)
    weights = draw(st.lists(st.integers(4, 400).map(lambda w: w / 4), min_size=n, max_size=n))
    rules = draw(st.tuples(*[st.sampled_from(RULES)] * n_keys))
    return File(rows, weights, rules, wide)

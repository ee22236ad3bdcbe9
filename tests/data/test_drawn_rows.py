"""Rows drawn by a keyed hash of their id: evenly."""

from __future__ import annotations

import numpy as np
import polars as pl

from sdckit.data.drawn_rows import hash_ids
from sdckit.data.frames import open_frame


def test_a_draw_is_even() -> None:
    """Of 400 draws of 40 of 90, each person is in some 178; whole numbers and text alike."""
    for ids in (range(90), [f"p{i}" for i in range(90)]):
        series = open_frame(pl.DataFrame({"pid": ids}))["pid"]
        times = np.zeros(90)
        for seed in range(400):
            times[np.argsort(hash_ids(series, np.random.default_rng(seed).bytes(32)))[:40]] += 1
        assert abs(times - 400 * 40 / 90).max() < 5 * np.sqrt(400 * 40 / 90 * 50 / 90)


def test_numbers_of_128_bits_are_ids_like_others() -> None:
    ids = pl.Series("pid", [2**70 + i for i in range(9)], dtype=pl.Int128)
    assert len(set(hash_ids(open_frame(ids.to_frame())["pid"], bytes(32)).tolist())) == 9

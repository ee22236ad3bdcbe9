"""`Spilled`: values come back as they were, in files for the owner alone that go with it."""

from __future__ import annotations

import gc
import os
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from sdckit.cells.plans import spilled
from sdckit.cells.plans.spilled import FEW, Spilled, dealt
from sdckit.errors import DataError


@pytest.fixture
def room(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def files(folder: Path) -> list[Path]:
    return [one for one in folder.rglob("*") if one.is_file()]


def test_values_come_back_and_files_go(room):
    made = Spilled()
    numbers, empty = made.array(np.array([1.5, -0.0])), made.array(np.empty(0, np.int64))
    table = made.table(pa.table({"a": ["x", None], "b": [1, 2]}))
    assert (numbers.tolist(), numbers.dtype, len(empty)) == ([1.5, 0.0], np.float64, 0)
    assert table.to_pydict() == {"a": ["x", None], "b": [1, 2]}
    assert len(files(room)) == 2
    numbers[0] = 2.5  # as memory may be, without the file taking it
    assert np.load(files(room)[0] if files(room)[0].suffix == ".npy" else files(room)[1])[0] == 1.5
    del made
    gc.collect()
    assert not files(room)
    assert (numbers[0], table["b"][1].as_py()) == (2.5, 2)  # who still has them keeps them


def test_what_is_there_is_not_written_again(room):
    made, old = Spilled(), np.array([1])
    found = made.columns({"a": old, "b": np.array([2])}, {"c": old})
    assert found["a"] is old
    assert (found["b"].tolist(), len(files(room))) == ([2], 1)


def test_a_full_disk(room, monkeypatch):
    made = Spilled()
    monkeypatch.setattr(spilled.np, "save", lambda *_: (_ for _ in ()).throw(OSError(28, "SECRET")))
    with pytest.raises(DataError, match=r"could not be put aside in files: the disk is full.*TMPDIR") as caught:
        made.array(np.array([1]))
    assert caught.value.__context__ is None


def test_parts_are_even_and_equal_codes_lie_together(room):
    codes = [np.repeat(np.arange(1000), 2), np.tile(np.arange(2000) // 2 % 7, 1)]
    order, ends = dealt(codes, 2000, 4)
    assert np.sort(order).tolist() == list(range(2000))
    assert np.diff(ends).min() > 350
    made, number = Spilled(), codes[0][order]
    for half in (slice(0, 1000), slice(1000, 2000)):
        order, ends = dealt([own[half] for own in codes], 1000, 4)
        made.append_parts("codes", codes[0][half][order], ends)
    parts = [made.appended(f"{part}-codes", np.int64) for part in range(4)]
    assert sorted(np.concatenate(parts).tolist()) == sorted(number.tolist())
    assert all((np.unique(part, return_counts=True)[1] == 2).all() for part in parts)


@pytest.mark.parametrize("beyond", [0, 1])
def test_parts_that_sixteen_bits_do_not_number_are_dealt_to_alike(beyond):
    """32,768 parts are the last that they do."""
    n_parts = FEW + beyond
    order, ends = dealt([np.arange(4 * n_parts)], 4 * n_parts, n_parts)
    assert (len(ends), ends[-1]) == (n_parts + 1, 4 * n_parts)
    assert np.sort(order).tolist() == list(range(4 * n_parts))
    assert np.diff(ends).max() < 20


def test_files_are_for_their_owner_alone(room):
    made = Spilled()
    made.append("a", np.array([1]))
    made.once("b", lambda: 1)
    kept = made.array(np.array([1])), made.table(pa.table({"a": [1]}))
    if os.name == "posix":  # Windows has no such modes
        assert {one.stat().st_mode & 0o777 for one in files(room)} == {0o600}
    assert len(files(room)) == 4 == 2 + len(kept)

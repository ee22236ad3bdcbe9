"""Records to cells: one word, many words, and what the codes say of each cell."""

from __future__ import annotations

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pytest
from hypothesis import given

from draw import WIDE, files
from sdckit.cells.packing import Layout, group_codes, tabulate
from sdckit.data.columns import code_column


def coded(frame, keys):
    return [code_column(nw.from_native(frame)[key]) for key in keys]


@given(files(max_keys=5))
def test_a_cell_is_a_distinct_record(file):
    columns, weight = coded(file.frame(), file.keys), np.array(file.weights)
    table = tabulate(columns, weight)
    cells = [None] * len(table.size)
    for row, cell in zip(file.rows, table.of_row, strict=True):
        assert cells[cell] in {None, row}
        cells[cell] = row
    assert len(set(cells)) == len(table.size) == len(set(file.rows))
    assert table.size.tolist() == [file.rows.count(cell) for cell in cells]
    for cell, total in zip(cells, table.weight, strict=True):
        own = [w for row, w in zip(file.rows, file.weights, strict=True) if row == cell]
        assert total == pytest.approx(sum(own), rel=1e-12)
    for j, (column, codes) in enumerate(zip(columns, table.codes, strict=True)):
        assert (codes[table.of_row] == column.codes()).all()
        assert [code == column.span for code in codes] == [cell[j] is None for cell in cells]


def test_few_bits_make_one_word():
    frame = pl.DataFrame({"a": [1, 2, 1], "b": [7, 7, 7], "c": [None, 3, None]})
    table = tabulate(coded(frame, ["a", "b", "c"]), None)
    assert table.layout == Layout((0, 1, 1), (1, 0, 1))
    assert table.words is not None
    assert table.weight is None
    assert [table.layout.field(j) for j in range(3)] == [1, 0, 2]


def test_many_bits_make_several_words():
    values = [0, WIDE, 5, 0]
    frame = pl.DataFrame(dict.fromkeys("abcdefg", values))
    table = tabulate(coded(frame, list("abcdefg")), np.ones(4))
    assert table.words is None
    assert table.layout is None
    assert table.size[table.of_row].tolist() == [2, 1, 1, 2]
    assert table.weight.tolist() == table.size.tolist()


@pytest.mark.parametrize("n_keys", [64, 65, 200])
def test_the_edge_of_a_word(n_keys):
    rng = np.random.default_rng(n_keys)
    rows = rng.integers(0, 2, (40, n_keys))
    rows[20:] = rows[:20]
    rows[0], rows[1] = 0, 1
    frame = pl.DataFrame({f"k{j}": rows[:, j] for j in range(n_keys)})
    table = tabulate(coded(frame, frame.columns), None)
    assert (table.words is None) == (n_keys > 64)
    _, cell, size = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    assert (table.size[table.of_row] == size[cell]).all()


def test_groups_of_codes():
    a, b = np.array([0, 1, 0, 1]), np.array([5, 5, 5, 2**40])
    groups = group_codes([a, b], 4)
    assert groups.size[groups.of_row].tolist() == [2, 1, 2, 1]
    assert group_codes([], 3).of_row.tolist() == [0, 0, 0]
    wide = group_codes([b, b + 1, a], 4)
    assert wide.size[wide.of_row].tolist() == [2, 1, 2, 1]

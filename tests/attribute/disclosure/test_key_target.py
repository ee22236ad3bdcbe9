"""Keys crossed with a target."""

from __future__ import annotations

import numpy as np

from sdckit.attribute.disclosure.key_target import codes_of_groups, key_target
from sdckit.cells.packing import group_files


def codes(*files):
    return tuple(np.array(one, np.int32) for one in files)


def test_groups_of_several_columns():
    groups = group_files([codes([0, 0, 1], [1, 2]), codes([5, 5, 0], [0, 0])])
    assert groups.n_groups == 3
    assert groups.of_row[0][0] == groups.of_row[0][1] != groups.of_row[0][2] == groups.of_row[1][0]
    assert sorted(zip(*(size.tolist() for size in groups.size), strict=True)) == [(0, 1), (1, 1), (2, 0)]
    assert codes_of_groups(groups, codes([0, 0, 1], [1, 2]))[groups.of_row[1]].tolist() == [1, 2]


def test_the_table():
    keys = group_files([codes([1, 1, 1, 2], [1, 3, 3])])
    target = codes([0, 0, 4, 4], [0, 2, 2])
    table = key_target(keys, target)
    rows = sorted(
        zip(
            table.target.tolist(), *(count.tolist() for count in table.count),
            *(size[table.key].tolist() for size in table.key_size), strict=True,
        )
    )  # fmt: skip
    assert rows == [(0, 2, 1, 3, 1), (2, 0, 2, 0, 2), (4, 1, 0, 1, 0), (4, 1, 0, 3, 1)]
    assert table.share(0)[table.of_row[0]].tolist() == [2 / 3, 2 / 3, 1 / 3, 1]
    assert table.share(1)[table.of_row[0]].tolist() == [1, 1, 0, 0]
    assert table.sole(0)[table.of_row[0]].tolist() == [False, False, False, True]
    assert table.sole(1)[table.of_row[0]].tolist() == [True, True, False, False]

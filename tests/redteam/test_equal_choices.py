"""A reader who knows the method, its arguments and the release tries what stands in the empty cells of a made file.

A way to fill them is possible where the method gives this release of it, and a value is certain where it is the same
in all possible ways. By fixed choices among equals all three values that go were certain: one way gave the release.
"""

from __future__ import annotations

from itertools import product

import polars as pl

import sdckit as sdc

KEYS = ["a", "b"]
DRAWS = 20
# Twelve people, six of them alone with what is known of them: three values go, which ones is drawn.
PEOPLE: list[tuple[int, int]] = [
    (1, 1), (2, 3), (2, 1), (0, 2), (1, 0), (0, 1), (0, 0), (0, 1), (2, 0), (2, 3), (2, 1), (0, 3),
]  # fmt: skip


def released(rows: list[tuple[int, ...]], seed: int) -> tuple[tuple[int | None, ...], ...]:
    file = pl.DataFrame(rows, schema=KEYS, orient="row")
    return tuple(sdc.local_suppression(file, keys=KEYS, k=2, exact=False, seed=seed).data.iter_rows())


def ways(release: tuple[tuple[int | None, ...], ...]) -> list[list[tuple[int, ...]]]:
    """The files that have this release if a value goes from records below k alone: others are not worth a try."""
    empty = [(i, j) for i, row in enumerate(release) for j, value in enumerate(row) if value is None]
    levels = [sorted({row[j] for row in PEOPLE}) for j in range(2)]
    tried = []
    for values in product(*(levels[j] for _, j in empty)):
        given = dict(zip(empty, values, strict=True))
        rows = [tuple(given.get((i, j), value) for j, value in enumerate(row)) for i, row in enumerate(release)]
        if all(rows.count(rows[i]) == 1 for i, _ in empty):
            tried.append(rows)
    return tried


def test_no_value_is_certain_for_who_tries_every_way() -> None:
    release = released(PEOPLE, 0)
    empty = [(i, j) for i, row in enumerate(release) for j, value in enumerate(row) if value is None]
    assert len(empty) == 3
    likely = {tuple(rows): sum(released(rows, seed) == release for seed in range(DRAWS)) for rows in ways(release)}
    assert likely[tuple(PEOPLE)] > 0
    for i, j in empty:
        weight: dict[int, int] = {}
        for rows, hits in likely.items():
            weight[rows[i][j]] = weight.get(rows[i][j], 0) + hits
        assert max(weight.values()) < 0.8 * sum(weight.values())


def test_a_reader_cannot_draw_the_release_again() -> None:
    assert len({released(PEOPLE, seed) for seed in range(DRAWS)}) > 8

"""Sets of possible values, against going through all pairs of records."""

from __future__ import annotations

import numpy as np
import pytest

from attacks.differencing.several import KEYS, people, possible, with_gaps
from sdckit.attacks.differencing.candidates import candidate_sets, every_level, listed, n_candidates
from sdckit.attacks.differencing.opened_release import open_release


@pytest.mark.parametrize("gaps", [(), ("sex",), ("region", "age"), ("job",), ("region", "sex", "age", "job")])
def test_the_values_are_those_of_every_record_that_may_have_the_same_keys(gaps: tuple[str, ...]) -> None:
    data = people(150)
    for number, column in enumerate(gaps):
        data = with_gaps(data, column, 0.1, seed=number)
    opened = open_release(data, [*KEYS, "job"], id=None, name="it", role="keys")
    combined, job = opened.combinations(KEYS), opened.levels["job"]
    sets = candidate_sets(combined, job.codes, len(job.texts))
    found: list[set[object]] = [set() for _ in combined.size]
    for row, level in zip(*listed(sets), strict=True):
        found[row].add(job.texts[level])
    assert [found[cell] for cell in combined.of_row] == possible(data, KEYS, "job")
    assert n_candidates(sets).tolist() == [len(one) for one in found]


@pytest.mark.parametrize("n", [1, 63, 64, 65, 130])
def test_a_set_of_all_levels_has_so_many(n: int) -> None:
    every = every_level(n)
    assert n_candidates(every[None]).tolist() == [n]
    assert listed(every[None])[1].tolist() == list(range(n))


def test_many_levels_take_several_words() -> None:
    opened = open_release(people(300).with_row_index("row"), ["sex", "row"], id=None, name="it", role="keys")
    row = opened.levels["row"]
    sets = candidate_sets(opened.combinations(["sex"]), row.codes, len(row.texts))
    assert sets.shape == (2, 5)
    assert n_candidates(sets).sum() == 300
    assert not np.bitwise_and(sets[0], sets[1]).any()

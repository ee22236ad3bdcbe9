"""Draws: repeatable by the seed kept, whatever the threads."""

from __future__ import annotations

import numpy as np
import pytest

from sdckit.data.seeds import open_rng
from sdckit.errors import DataError
from sdckit.numerics import threads
from sdckit.protect import draws
from sdckit.protect.draws import draw, key


def test_the_seed_kept_makes_the_same_numbers():
    for given in (None, 7, np.int64(7), np.random.default_rng(3)):
        rng, seed = open_rng(given)
        again, same = open_rng(seed)
        assert type(seed) is int
        assert seed == same
        assert rng.random() == again.random()
    assert open_rng(None)[1] != open_rng(None)[1]
    assert open_rng(np.random.default_rng(3))[1] == open_rng(np.random.default_rng(3))[1]


@pytest.mark.parametrize("seed", [-1, 1.0, "1", True, [1]])
def test_no_other_seed(seed):
    with pytest.raises(DataError, match="seed= takes a whole number"):
        open_rng(seed)


def uniform(rng, n):
    return draw(rng, n, lambda one, piece: one.random(out=piece))


def test_pieces_do_not_depend_on_the_threads(monkeypatch):
    monkeypatch.setattr(draws, "PIECE", 10)
    many = uniform(np.random.default_rng(1), 95)
    monkeypatch.setattr(threads, "n_threads", lambda: 1)
    assert (uniform(np.random.default_rng(1), 95) == many).all()
    assert len(np.unique(many)) == 95
    assert ((many >= 0) & (many < 1)).all()


def test_a_draw_is_not_the_next_one():
    rng = np.random.default_rng(1)
    assert (uniform(rng, 5) != uniform(rng, 5)).all()
    assert len(uniform(rng, 0)) == 0
    assert key(rng) != key(rng)
    assert key(rng).dtype == np.uint64

"""Draws: the same whatever the threads."""

from __future__ import annotations

import numpy as np

from sdckit.numerics import threads
from sdckit.protect import draws
from sdckit.protect.draws import draw, key


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

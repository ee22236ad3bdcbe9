"""Walks through files that fit."""

from __future__ import annotations

import numpy as np

from sdckit.attacks.published.audit_model import Axis, build, patterns_of
from sdckit.attacks.published.audit_moves import walk

ANY = np.ones((1, 3), np.bool_)


def start(upper):
    """Four records that may be anything, all of them the first level, in a table with room."""
    patterns = patterns_of(np.zeros((4, 1), np.int64), [ANY], [Axis(0, np.arange(3), 3)])
    system = build(patterns, [((0,), np.zeros(3, np.int64), np.array(upper))])
    point = np.array([4.0, 0.0, 0.0])[: len(system.low)]
    active = np.bincount(
        np.repeat(np.arange(len(system.relations.lower)), np.diff(system.relations.start)),
        point[system.relations.number],
    )
    n = len(point)
    return system, active, point, (np.zeros(n, np.int64), np.arange(n), np.array([0, n]))


def test_what_one_record_can_be_is_found():
    system, active, point, order = start([4, 1, 1])
    assert (
        walk(system.relations, system.weight, active, point.copy(), *order, np.ones(3, np.bool_)).tolist()
        == [True] * 3
    )


def test_what_no_room_is_for_is_not_found_and_the_walk_keeps_all_sums():
    system, active, point, order = start([4, 1, 0])
    assert system.completions.levels.ravel().tolist() == [0, 1]
    walked = point.copy()
    assert walk(system.relations, system.weight, active, walked, *order, np.ones(2, np.bool_)).all()
    assert walked.sum() == 4
    assert walked[1] <= 1

"""Levels that only a programme rules out."""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.sparse import csr_array

from sdckit.attacks.published import audit_programme, audit_programme as audit_search
from sdckit.attacks.published.audit_model import Axis, SummedCells, build, patterns_of
from sdckit.attacks.published.audit_programme import attainable, search_levels, walk

LEVELS = 3
ALLOWED = np.vstack([np.eye(LEVELS, dtype=bool), np.ones((1, LEVELS), np.bool_)])
AXES = [Axis(v, np.arange(LEVELS), LEVELS) for v in range(3)]


def made(seed, n=7, hidden=5):
    """A small file with values hidden, and its three tables of two variables."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, LEVELS, (n, 3))
    codes = truth.copy()
    codes.ravel()[rng.choice(n * 3, hidden, replace=False)] = LEVELS
    tables = []
    for a, b in ((0, 1), (0, 2), (1, 2)):
        counts = np.zeros((LEVELS, LEVELS), np.int64)
        np.add.at(counts, (truth[:, a], truth[:, b]), 1)
        tables.append(((a, b), counts, counts))
    return truth, codes, tables


def brute(codes, tables):
    """The levels of each hidden value in the files that fit."""
    rows, columns = np.nonzero(codes == LEVELS)
    found = {place: set() for place in zip(rows.tolist(), columns.tolist(), strict=True)}
    for values in product(range(LEVELS), repeat=len(rows)):
        file = codes.copy()
        file[rows, columns] = values
        for (a, b), counts, _ in tables:
            own = np.zeros_like(counts)
            np.add.at(own, (file[:, a], file[:, b]), 1)
            if (own != counts).any():
                break
        else:
            for place, value in zip(found, values, strict=True):
                found[place].add(value)
    return found


def test_every_level_is_that_of_a_file_that_fits_and_programmes_are_needed():
    programmes = 0
    for seed in range(12):
        _, codes, tables = made(seed)
        patterns = patterns_of(codes, [ALLOWED] * 3, AXES)
        found = attainable(build(patterns, tables))
        left = {}
        for p, v, a, possible in zip(found.pattern, found.variable, found.level, found.possible, strict=True):
            if possible:
                left.setdefault((p, v), set()).add(int(a))
        expected = brute(codes, tables)
        assert {place: left[patterns.of_row[place[0]], place[1]] for place in expected} == expected
        programmes += found.solved
    assert programmes > 0


def test_what_is_not_decided_counts_as_possible(monkeypatch):
    monkeypatch.setattr(audit_programme, "MOST_UNKNOWN", 0)
    undecided = 0
    for seed in range(12):
        _, codes, tables = made(seed)
        system = build(patterns_of(codes, [ALLOWED] * 3, AXES), tables)
        found = attainable(system)
        assert (found.possible == found.by_propagation).all()
        undecided += found.undecided
    assert undecided > 0


def test_only_what_is_asked_for_is_decided():
    _, codes, tables = made(3)
    system = build(patterns_of(codes, [ALLOWED] * 3, AXES), tables)
    nothing = np.zeros((len(system.patterns.size), 3), np.bool_)
    assert attainable(system, only=nothing).solved == 0


def test_programmes_end_where_the_work_is_done(monkeypatch):
    """Rounded tables without a file that fits: one large block, of which the rest stays undecided."""
    monkeypatch.setattr(audit_programme, "WORK_OF_PROGRAMMES", 0)
    _, codes, tables = made(1, n=40, hidden=60)
    loose = [(axes, np.maximum(counts - 2, 0), counts + 2) for axes, counts, _ in tables]
    system = build(patterns_of(codes, [ALLOWED] * 3, AXES), loose)
    ended = attainable(system)
    monkeypatch.undo()
    whole = attainable(system)
    assert ended.solved <= audit_programme.FEWEST_ROUNDS
    assert ended.undecided >= whole.undecided
    assert (ended.possible >= whole.possible).all()
    assert not (ended.proven & ~ended.possible).any()


def test_large_parts_that_sums_bind_get_no_integer_programme(monkeypatch):
    """A knapsack of many values keeps a solver busy for minutes: what a linear programme leaves is not decided."""
    undecided = 0
    for seed in range(6):
        truth, codes, _ = made(seed, n=12, hidden=10)
        values = np.arange(12.0)[:, None] ** 2 + 1
        sums = np.bincount(truth[:, 0], values.ravel(), LEVELS)
        table = SummedCells(0, 0, (0,), sums, sums)
        system = build(patterns_of(codes, [ALLOWED] * 3, AXES, values, np.arange(12)), [], [table])
        whole = attainable(system)
        with monkeypatch.context() as patch:
            patch.setattr(audit_programme, "MOST_SEARCHED", 0)
            ended = attainable(system)
        assert whole.undecided == 0
        assert ended.solved <= whole.solved
        assert (ended.possible >= whole.possible).all()
        undecided += ended.undecided
    assert undecided > 0


# Walks through files that fit.


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
        walk(system.relations, system.weight, active, point.copy(), *order, np.ones(3, np.bool_)).tolist() == [True] * 3
    )


def test_what_no_room_is_for_is_not_found_and_the_walk_keeps_all_sums():
    system, active, point, order = start([4, 1, 0])
    assert system.completions.levels.ravel().tolist() == [0, 1]
    walked = point.copy()
    assert walk(system.relations, system.weight, active, walked, *order, np.ones(2, np.bool_)).all()
    assert walked.sum() == 4
    assert walked[1] <= 1


# Searches in whole numbers: what a solver's tolerance would blur.


def searched(rows, lower, upper, groups, n):
    matrix, member = csr_array(np.array(rows, float)), csr_array(np.array(groups, float))
    return search_levels(
        matrix, np.array(lower, float), np.array(upper, float), np.zeros(n), np.ones(n), member
    ).tolist()


def test_every_answer_is_that_of_all_subsets():
    """Subset sums of large values that differ by one: which of them can be in."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        values = 10_000_000 + rng.choice(40, 9, replace=False)
        target = values[rng.random(9) < 0.5].sum()
        possible = np.zeros(9, np.bool_)
        for chosen in product([0, 1], repeat=9):
            if values @ np.array(chosen) == target:
                possible |= np.array(chosen, np.bool_)
        assert searched([values], [target], [target], np.eye(9), 9) == possible.astype(int).tolist()


def test_what_is_given_up_is_not_decided(monkeypatch):
    monkeypatch.setattr(audit_search, "WORK_OF_SEARCHES", -1)
    assert searched([[2, 3]], [2], [2], np.eye(2), 2) == [2, 2]
    monkeypatch.undo()
    monkeypatch.setattr(audit_search, "MOST_ENDS", 0)
    values = 10_000_000 + np.array([1, 2, 4, 8, 16, 32, 64, 128])
    assert set(searched([values], [40_000_003], [40_000_003], np.eye(8), 8)) <= {0, 2}


def test_a_group_is_possible_if_one_of_its_unknowns_is():
    assert searched([[2, 3, 9]], [5], [5], [[1, 0, 1], [0, 0, 1]], 3) == [1, 0]

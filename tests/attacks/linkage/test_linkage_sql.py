"""Counts of compared pairs against loops over the pairs."""

from __future__ import annotations

import math
from collections import Counter

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from sdckit.attacks.linkage.linkage_sql import (
    COMPARED,
    FILES,
    WEIGHED,
    Step,
    best_sql,
    compared_sql,
    patterns_sql,
    steps_sql,
    weighed_sql,
)

RNG = np.random.default_rng(3)
N = 25
LEFT, RIGHT = (
    {f"v{j}": RNG.choice(["a", "b", "c", None], N).tolist() for j in range(3)} for _ in range(2)
)  # fmt: skip
STEPS = [
    [Step(f"v{j}_l is null or v{j}_r is null", -1), Step(f"v{j}_l = v{j}_r", 1), Step("ELSE", 0)]
    for j in range(3)
]
RULES = {"all": ["1=1"], "blocked": ["l.v0 = r.v0", "l.v1 = r.v1 and l.v2 = r.v2"]}
WEIGHTS = [{-1: 0.0, 1: 2.25, 0: -1.5}, {-1: 0.0, 1: 1e-7, 0: -0.25}, {-1: 0.0, 1: 3.0, 0: -2.0}]


def agrees(i: int, k: int, j: int) -> int:
    a, b = LEFT[f"v{j}"][i], RIGHT[f"v{j}"][k]
    return -1 if a is None or b is None else int(a == b)


def rules_met(i: int, k: int, rules: list[str]) -> list[int]:
    if rules == ["1=1"]:
        return [0]
    g = [agrees(i, k, j) for j in range(3)]
    return [rule for rule, met in enumerate((g[0] == 1, g[1] == g[2] == 1)) if met]


@pytest.fixture(params=RULES)
def case(request):
    connection = duckdb.connect()
    for name, columns in zip(FILES, (LEFT, RIGHT), strict=True):
        connection.register(name, pa.table({"unique_id": np.arange(N), **columns}))
    rules = RULES[request.param]
    connection.execute(f"create table {COMPARED} as {compared_sql(STEPS, rules)}")
    connection.execute(f"create table {WEIGHED} as {weighed_sql(-1.0, WEIGHTS)}")
    met = {(i, k): rules_met(i, k, rules) for i in range(N) for k in range(N)}
    return connection, rules, {pair: rules for pair, rules in met.items() if rules}


def weight(i: int, k: int) -> float:
    return round(-1.0 + sum(WEIGHTS[j][agrees(i, k, j)] for j in range(3)), 9)


def test_patterns(case):
    connection, rules, met = case
    for rule in range(len(rules)):
        expected = Counter(
            tuple(agrees(i, k, j) for j in range(3)) for (i, k), which in met.items() if rule in which
        )
        found = connection.sql(patterns_sql(rule, 3)).fetchall()
        assert {row[:3]: row[3] for row in found} == expected


def test_best_candidates(case):
    connection, _, met = case
    expected = {}
    for k in range(N):
        weights = {i: weight(i, k) for i in range(N) if (i, k) in met}
        if weights:
            tied = [i for i, one in weights.items() if one >= max(weights.values()) - 1e-8]
            expected[k] = (max(weights.values()), (k in tied) / len(tied))
    found = {row[0]: row[1:] for row in connection.sql(best_sql()).fetchall()}
    assert found.keys() == expected.keys()
    for k, (top, correct) in expected.items():
        assert found[k] == (pytest.approx(top, abs=1e-9), pytest.approx(correct))


def test_steps_and_the_threshold(case):
    connection, _, met = case
    expected: Counter[tuple[int, int]] = Counter()
    hits: Counter[tuple[int, int]] = Counter()
    for i, k in met:
        at = (math.floor(weight(i, k)), int(weight(i, k) >= math.log2(0.7 / 0.3) - 1e-8))
        expected[at] += 1
        hits[at] += i == k
    found = connection.sql(steps_sql(0.7)).fetchall()
    assert {row[:2]: row[2] for row in found} == expected
    assert {row[:2]: row[3] for row in found if row[3]} == +hits

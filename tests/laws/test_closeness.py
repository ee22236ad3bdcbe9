"""C2: agreement with the definitions written record by record, distances as a transport problem, and their order."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import linprog

import brute
from draw import files, quiet
from sdckit import alpha_k, beta_likeness, delta_disclosure, l_diversity, t_closeness

TREE = {0: ["low", "any"], 1: ["low", "any"], 2: ["mid", "any"], 3: ["high", "any"], 4: ["high", "any"]}
FEW = settings(max_examples=15)  # a linear programme for every class


@st.composite
def sensitive_files(draw, missing=True):
    file = draw(files(max_rows=20, max_keys=3, levels=2))
    n = len(file.rows)
    value = st.integers(0, 4)
    values = draw(st.lists(st.one_of(value, value, st.none()) if missing else value, min_size=n, max_size=n))
    return file, [0, *values[1:]] if all(one is None for one in values) else values


def measured(measure, drawn, **options):
    file, values = drawn
    frame = file.frame(s=pl.Series(values, dtype=pl.Int64))
    with quiet():
        return measure(frame, **{"keys": file.keys, "sensitive": "s", "missing": file.missing, **options})


def classes(drawn):
    """Shares of each value in the file and in the class of each record."""
    file, values = drawn
    groups = brute.classes(file.rows, values, file.wild)
    return shares(values), [shares(group) for group in groups]


def shares(values):
    return {value: count / len(values) for value, count in Counter(values).items()}


def ground(distance, known):
    """The distance between two values, None being as far from all as can be."""
    place = {value: i for i, value in enumerate(known)}
    width = {"ordered": len(known) - 1, "numeric": known[-1] - known[0]}

    def between(a, b):
        if a == b:
            return 0.0
        if distance == "equal" or a is None or b is None:
            return 1.0
        if distance == "tree":
            return 0.5 if TREE[a][0] == TREE[b][0] else 1.0
        a, b = (place[a], place[b]) if distance == "ordered" else (a, b)
        return abs(a - b) / width[distance]

    return between


def moved(one, other, between):
    """The least cost of turning one distribution into another."""
    values = sorted({*one, *other}, key=lambda value: (value is None, value))
    m = len(values)
    cost = [between(a, b) for a in values for b in values]
    rows = np.kron(np.eye(m), np.ones(m)), np.kron(np.ones(m), np.eye(m))
    margins = [one.get(v, 0.0) for v in values] + [other.get(v, 0.0) for v in values]
    return linprog(cost, A_eq=np.vstack(rows)[:-1], b_eq=margins[:-1], method="highs").fun


@FEW
@given(sensitive_files(), st.sampled_from(["equal", "tree"]))
def test_equal_and_tree_distances_are_the_cheapest_transport(drawn, distance):
    p, groups = classes(drawn)
    between = ground(distance, sorted(value for value in p if value is not None))
    found = measured(t_closeness, drawn, distance=TREE if distance == "tree" else distance)
    expected = [moved(q, p, between) for q in groups]
    assert found.records["t_s"].to_list() == pytest.approx(expected, abs=1e-9)
    assert found.level["s"] == pytest.approx(max(expected), abs=1e-9)
    assert found.violations["s"] == {limit: int((found.records["t_s"] > limit + 1e-9).sum()) for limit in (0.1, 0.2)}


@FEW
@given(sensitive_files(missing=False), st.sampled_from(["ordered", "numeric"]))
def test_distances_on_a_line_are_the_cheapest_transport(drawn, distance):
    p, groups = classes(drawn)
    between = ground(distance, sorted(p))
    found = measured(t_closeness, drawn, distance=distance).records["t_s"].to_list()
    assert found == pytest.approx([moved(q, p, between) for q in groups], abs=1e-9)


@FEW
@given(sensitive_files(), st.sampled_from(["ordered", "numeric"]))
def test_missing_values_on_a_line_cost_their_share_and_never_too_little(drawn, distance):
    p, groups = classes(drawn)
    known = sorted(value for value in p if value is not None)
    between = ground(distance, known)
    found = measured(t_closeness, drawn, distance=distance).records["t_s"].to_list()
    file = conditional(p)
    for t, q in zip(found, groups, strict=True):
        a, b = 1 - q.get(None, 0.0), 1 - p.get(None, 0.0)
        inner = moved(conditional(q), file, between) if a > 0 else 0.0
        assert t == pytest.approx(abs(a - b) + min(a, b) * inner, abs=1e-9)
        assert t >= moved(q, p, between) - 1e-9
        assert t <= 1 + 1e-12


def conditional(p):
    known = {value: share for value, share in p.items() if value is not None}
    return {value: share / math.fsum(known.values()) for value, share in known.items()}


@given(sensitive_files())
def test_an_order_and_a_tree_make_values_nearer(drawn):
    equal, ordered, tree = (
        measured(t_closeness, drawn, distance=distance).records["t_s"] for distance in ("equal", "ordered", TREE)
    )
    assert (tree <= equal + 1e-12).all()
    assert (ordered <= 1 + 1e-12).all()
    if None not in drawn[1]:
        assert (ordered <= equal + 1e-12).all()


@given(sensitive_files())
def test_gains(drawn):
    p, groups = classes(drawn)
    result = measured(beta_likeness, drawn)
    gains = [{v: share / p[v] - 1 for v, share in q.items()} for q in groups]
    basic = [max(0.0, *gain.values()) for gain in gains]
    over = [sum(one > -math.log(p[v]) + 1e-12 for v, one in gain.items()) for gain in gains]
    enhanced = [math.inf if n else value for n, value in zip(over, basic, strict=True)]
    records = result.records
    assert records["beta_s"].to_list() == pytest.approx(basic, abs=1e-12)
    assert records["enhanced_beta_s"].to_list() == pytest.approx(enhanced, abs=1e-12)
    assert result.exceeding["s"] == sum(dict(zip(drawn[0].rows, over, strict=True)).values())
    assert (result.basic["s"], result.enhanced["s"]) == pytest.approx((max(basic), max(enhanced)), abs=1e-12)
    assert result.basic["s"] <= 1 / min(p.values()) - 1 + 1e-12
    assert result.violations["s"]["enhanced"][1.0] >= result.violations["s"]["basic"][1.0]


@given(sensitive_files())
def test_ratios(drawn):
    p, groups = classes(drawn)
    result = measured(delta_disclosure, drawn)
    present = [max(abs(math.log(share / p[v])) for v, share in q.items()) for q in groups]
    complete = [set(q) == set(p) for q in groups]
    records = result.records
    assert records["delta_present_s"].to_list() == pytest.approx(present, abs=1e-12)
    assert np.isfinite(records["delta_s"].to_numpy()).tolist() == complete
    assert result.delta["s"] == pytest.approx(max(present) if all(complete) else math.inf, abs=1e-12)
    assert result.delta["s"] >= result.delta_present["s"]


@given(sensitive_files())
def test_shares(drawn):
    _, groups = classes(drawn)
    file, values = drawn
    sizes = [len(group) for group in brute.classes(file.rows, values, file.wild)]
    result = measured(alpha_k, drawn, k=3)
    alphas = [max(q.values()) for q in groups]
    assert result.records["alpha_s"].to_list() == pytest.approx(alphas, rel=1e-12)
    assert result.k == min(sizes)
    assert result.small == sum(size < 3 for size in sizes)
    for limit in (0.5, 0.8):
        bad = [a > limit + 1e-9 or size < 3 for a, size in zip(alphas, sizes, strict=True)]
        assert result.violations["s"][limit] == sum(bad)


@given(sensitive_files())
def test_they_see_the_same_thing(drawn):
    """One value only in a class: alpha 1, l of 1; far from the file by the share of all other values."""
    file, values = drawn
    p, _ = classes(drawn)
    t, alpha, beta = (measured(measure, drawn).records for measure in (t_closeness, alpha_k, beta_likeness))
    diversity = measured(l_diversity, drawn, kind="distinct").records["distinct_s"]
    alone = (alpha["alpha_s"] > 1 - 1e-12).to_numpy()
    assert alone.tolist() == (diversity == 1).to_list()
    for i in np.flatnonzero(alone):
        group = brute.classes([file.rows[i], *file.rows], [None, *values], file.wild)[0][1:]
        assert t["t_s"][int(i)] == pytest.approx(1 - p[group[0]], abs=1e-12)
        assert beta["beta_s"][int(i)] == pytest.approx(1 / p[group[0]] - 1, rel=1e-9, abs=1e-12)


@given(sensitive_files(missing=False), st.permutations(range(5)))
def test_names_of_values_do_not_matter(drawn, names):
    file, values = drawn
    renamed = file, [names[value] for value in values]
    for measure, column in ((t_closeness, "t_s"), (beta_likeness, "beta_s"), (delta_disclosure, "delta_s")):
        one, two = (measured(measure, files_).records[column].to_list() for files_ in (drawn, renamed))
        assert one == pytest.approx(two, abs=1e-12)
    mirrored = file, [-value for value in values]
    for distance in ("ordered", "numeric"):
        one, two = (
            measured(t_closeness, files_, distance=distance).records["t_s"].to_list() for files_ in (drawn, mirrored)
        )
        assert one == pytest.approx(two, abs=1e-12)
    one = measured(t_closeness, drawn, distance="ordered").records["t_s"].to_list()
    two = measured(t_closeness, renamed, distance=[names[i] for i in range(5)]).records["t_s"].to_list()
    assert one == pytest.approx(two, abs=1e-12)

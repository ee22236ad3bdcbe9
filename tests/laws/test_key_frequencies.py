"""A1 and A2: agreement with the definition, and what must hold whatever the file."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import brute
from draw import ALPHAS, files, quiet
from sdckit import individual_risk, k_anonymity, key_frequencies

alphas = st.sampled_from(ALPHAS)


def frequencies(file, frame=None, **options):
    chosen = {"keys": file.keys, "weight": "w", "missing": file.missing, **options}
    with quiet():
        return key_frequencies(file.frame() if frame is None else frame, **chosen)


def f_of(*given, **options):
    return frequencies(*given, **options).records["sample_frequency"].to_numpy()


@given(files(), alphas)
def test_agrees_with_the_definition(file, alpha):
    f, big_f = brute.frequencies(file.rows, file.weights, file.wild, alpha)
    result = frequencies(file, alpha=alpha)
    records = result.records
    assert records["sample_frequency"].to_list() == pytest.approx(f, rel=1e-12)
    assert records["population_frequency"].to_list() == pytest.approx(big_f, rel=1e-12)
    assert records["cell_size"].to_list() == [file.rows.count(row) for row in file.rows]
    assert records["sample_unique"].to_list() == [abs(one - 1) < 1e-9 for one in f]
    assert result.sample_uniques == sum(abs(one - 1) < 1e-9 for one in f)
    assert result.n_cells == len(set(file.rows)) == sum(result.frequency_of_frequencies.values())


@given(files(min_keys=5, max_keys=12, levels=2, max_rows=12, wide=True), alphas)
def test_agrees_with_the_definition_when_the_keys_need_many_words(file, alpha):
    f, big_f = brute.frequencies(file.rows, file.weights, file.wild, alpha)
    records = frequencies(file, alpha=alpha).records
    assert records["sample_frequency"].to_list() == pytest.approx(f, rel=1e-12)
    assert records["population_frequency"].to_list() == pytest.approx(big_f, rel=1e-12)


@given(files(missing=False))
def test_cells_partition_a_complete_file(file):
    records = frequencies(file).records
    cells = dict(zip(file.rows, records["sample_frequency"], strict=True))
    assert sum(cells.values()) == len(file.rows)
    assert records["sample_frequency"].dtype == pl.Int64
    assert records["sample_frequency"].equals(records["cell_size"])


@given(files(), alphas)
def test_everybody_counts_themselves(file, alpha):
    records = frequencies(file, alpha=alpha).records
    assert (records["sample_frequency"] >= 1).all()
    assert (records["sample_frequency"] >= records["cell_size"]).all()
    own = np.array(file.weights)
    assert (records["population_frequency"].to_numpy() >= own * (1 - 1e-12)).all()


@given(files(), alphas, st.randoms(use_true_random=False))
def test_the_order_of_records_and_keys_does_not_matter(file, alpha, random):
    order = random.sample(range(len(file.rows)), len(file.rows))
    keys = random.sample(file.keys, len(file.keys))
    before = f_of(file, alpha=alpha)
    after = f_of(file, file.frame()[order], keys=keys, alpha=alpha)
    np.testing.assert_allclose(after, before[order], rtol=1e-12)


@given(files(), alphas, st.permutations(["x", "a much longer level than twelve bytes", ""]))
def test_the_names_of_levels_do_not_matter(file, alpha, names):
    column = lambda j: [None if row[j] is None else names[row[j]] for row in file.rows]  # noqa: E731
    renamed = pl.DataFrame(
        {key: pl.Series(column(j), dtype=pl.String) for j, key in enumerate(file.keys)}
    ).with_columns(w=pl.Series(file.weights))
    before, after = f_of(file, alpha=alpha), f_of(file, renamed, alpha=alpha)
    np.testing.assert_allclose(after, before, rtol=1e-12)


@given(files(min_keys=2), alphas)
def test_one_more_key_raises_f_only_by_records_that_lack_all_the_others(file, alpha):
    fewer = file.keys[:-1]
    rules = {key: file.missing[key] for key in fewer}
    few = f_of(file, keys=fewer, missing=rules, alpha=alpha)
    silent = sum(len(fewer) > 1 and all(value is None for value in row[:-1]) for row in file.rows)
    assert (f_of(file, alpha=alpha) <= few + silent + 1e-9).all()


@given(files(min_keys=2), alphas, st.integers(1, 3))
def test_blank_rows_change_no_other_record(file, alpha, more):
    blank = (None,) * len(file.keys)
    before, known = frequencies(file, alpha=alpha).records, [row != blank for row in file.rows]
    fuller = replace(file, rows=[*file.rows, *[blank] * more], weights=[*file.weights, *[7.25] * more])
    after = frequencies(fuller, alpha=alpha).records[: len(file.rows)]
    for column in ("cell_size", "sample_frequency", "population_frequency", "sample_unique"):
        assert after.filter(known)[column].to_list() == pytest.approx(before.filter(known)[column].to_list())


@given(files(min_keys=2), st.integers(1, 3))
def test_a_blank_row_is_matched_by_everybody(file, more):
    blank = (None,) * len(file.keys)
    fuller = replace(file, rows=[*file.rows, *[blank] * more], weights=[*file.weights, *[1.0] * more])
    f = f_of(fuller, missing="wildcard")
    assert (f[-more:] == len(fuller.rows)).all()


@given(files(), alphas)
def test_what_rests_on_others_missing_values_falls_without_them(file, alpha):
    options = {"keys": file.keys, "missing": file.missing, "k": range(2, 8)}
    with quiet():
        result = k_anonymity(file.frame(), alpha=alpha, **options)
        strict = k_anonymity(file.frame(), alpha=0, **options)
        category = k_anonymity(file.frame(), **options | {"missing": "category"})
    for k, resting in result.resting_on_missing.items():
        assert resting == strict.violations[k] - result.violations[k] >= 0
        assert strict.violations[k] <= category.violations[k]
    assert not any(category.resting_on_missing.values())
    f, _ = brute.frequencies(file.rows, file.weights, file.wild, alpha)
    alone, _ = brute.frequencies(file.rows, file.weights, file.wild, 0)
    hidden = sum(a == 1 and b > 1 + 1e-9 for a, b in zip(alone, f, strict=True))
    assert frequencies(file, alpha=alpha).resting_on_missing == hidden
    with quiet():
        risk = individual_risk(file.frame(), keys=file.keys, missing=file.missing, alpha=alpha)
    assert risk.resting_on_missing == sum(b > a + 1e-9 for a, b in zip(alone, f, strict=True))


@given(files())
def test_a_larger_alpha_never_lowers_f(file):
    by_alpha = [f_of(file, alpha=alpha) for alpha in ALPHAS]
    for low, high in itertools.pairwise(by_alpha):
        assert (low <= high * (1 + 1e-12)).all()


@given(files(), alphas)
def test_a_wildcard_never_gives_less_than_a_category(file, alpha):
    category = f_of(file, missing="category")
    assert (category <= f_of(file, missing="wildcard", alpha=alpha) * (1 + 1e-12)).all()


@given(files(), alphas, st.floats(0.01, 1))
def test_a_sampling_fraction_divides_f(file, alpha, fraction):
    records = frequencies(file, weight=None, sampling_fraction=fraction, alpha=alpha).records
    f = records["sample_frequency"].to_numpy()
    np.testing.assert_allclose(records["population_frequency"].to_numpy(), f / fraction, rtol=1e-12)


@given(files(), st.data())
def test_persons_are_counted_once(file, data):
    n = len(file.rows)
    who = data.draw(st.lists(st.integers(0, 5), min_size=n, max_size=n))
    weight_of = {p: 1.5 * p + 1 for p in who}
    frame = file.frame(person=who).with_columns(w=pl.Series([weight_of[p] for p in who]))
    records = frequencies(file, frame, person="person", missing="category").records
    f, big_f = brute.persons(file.rows, who, weight_of)
    assert records["sample_frequency"].to_list() == f
    assert records["population_frequency"].to_list() == pytest.approx(big_f, rel=1e-12)
    assert (records["sample_frequency"] <= records["cell_size"]).all()


@given(files(), alphas)
def test_k_anonymity_counts_small_frequencies(file, alpha):
    with quiet():
        result = k_anonymity(file.frame(), keys=file.keys, k=range(2, 8), missing=file.missing, alpha=alpha)
    f, _ = brute.frequencies(file.rows, file.weights, file.wild, alpha)
    assert result.level == int(min(f) + 1e-9)
    below = {k: sum(one < k - 1e-9 for one in f) for k in range(2, 8)}
    assert result.violations == below
    assert result.violation_rates == {k: count / len(f) for k, count in below.items()}
    assert all(count == 0 for k, count in result.violations.items() if k <= result.level)

"""Levels of a few records are in no name, whatever the label looks like; what was written by hand is kept."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from formulaic import Formula

from sdckit.utility.models.term_names import common_levels, names_apart, told_names, told_text

N = 80
MARKERS = ("ZQX", "z]:k[T.a", "a]", "77", "x:sex[T.f]", "'a'", "é ~")
rng = np.random.default_rng(2)


def frame(marker: str) -> pd.DataFrame:
    k = rng.choice(["a", "b", "c"], N)
    return pd.DataFrame(
        {
            "sex": pd.Categorical(rng.choice(["f", "m"], N)),
            "k": pd.Categorical([marker, *k[1:]], [marker, "a", "b", "c"]),
            "a b": rng.normal(size=N),
            "age": rng.normal(50, 9, N),
        }
    )


@pytest.mark.parametrize("marker", MARKERS)
@pytest.mark.parametrize(
    "terms",
    [
        "k", "C(k):sex", "sex:k", "0 + k:age", "C(k, contr.sum) * sex", "C(k, contr.helmert)", "C(k, contr.diff)",
        "k:bs(age, df=4)", "C(k, contr.treatment(base='b')):sex:`a b`",
    ],
)  # fmt: skip
def test_a_level_of_one_record(marker, terms):
    data = frame(marker)
    built = Formula(terms).get_model_matrix(data, output="pandas")
    names = list(map(str, built.columns))
    told = told_names(names, built.model_spec, common_levels(data, list(data.columns)))
    assert len(told) == len(names)
    for name, shown in zip(names, told, strict=True):
        if f"[{marker}]" in name or f".{marker}]" in name:
            assert marker not in shown.replace("(k, contr.treatment(base='b'))", "").replace("k[T.a]", "")
            assert "rare" in shown
    assert any(shown == name for name, shown in zip(names, told, strict=True))


def test_names_of_numbers_and_contrasts_stay():
    data = frame("ZQX")
    terms = "age + `a b` + np.log(age) + bs(age, df=4) + poly(age, 2) + C(sex, contr.poly) + I(age > 40) + C(age > 60)"
    built = Formula(terms).get_model_matrix(data, output="pandas")
    names = tuple(map(str, built.columns))
    assert told_names(names, built.model_spec, common_levels(data, list(data.columns))) == names


def test_a_base_named_in_the_formula():
    text = "y ~ C(k, contr.treatment(base=\"ZQX\")) + C(sex, contr.treatment(base='f'))"
    assert told_text(text, frozenset({"f"})) == text.replace('"ZQX"', "'rare'")


def test_equal_names_are_numbered():
    assert names_apart(["k[rare]", "k[rare]", "x"]) == ["k[rare]", "k[rare] (2)", "x"]

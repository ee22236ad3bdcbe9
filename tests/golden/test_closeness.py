"""t-closeness, beta-likeness, delta-disclosure and (alpha, k): the definitions on files anybody has, and pyCANON.

Where sdckit deliberately differs from pyCANON 1.3.6, and what is compared instead:

- enhanced beta: pyCANON cuts the one largest gain at the largest -ln p. Here it is infinite where a gain exceeds the
  -ln p of its own value; compared are the pairs that do, and whether any does.
- delta: pyCANON leaves out values that a class lacks; that is `delta_present`. `delta` is infinite then.
- t-closeness: pyCANON takes equal distances for text and ordered ones for numbers; here the caller says which.
- k and alpha are the same there and here.
- Records with a missing key value vanish from pyCANON's classes; the reference files have none.
"""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from draw import quiet
from golden.rebuild import rebuild
from sdckit import alpha_k, as_cells, beta_likeness, delta_disclosure, l_diversity, t_closeness

CASE = json.loads((Path(__file__).parent / "portable" / "closeness_fair.json").read_text(encoding="utf-8"))
TABLES = {f"{'_'.join(one['keys'])}-{one['sensitive']}": one for one in CASE["tables"]}
PYCANON = [
    "pycanon_StudentsMath_Score", "pycanon_StudentsMath_Score_k2", "pycanon_StudentsMath_Score_k5",
    "pycanon_StudentsMath_Score_k7", "pycanon_adult_anonymized_10", "pycanon_adult_anonymized_20",
    "pycanon_drug_type", "pycanon_drugs_k5", "pycanon_hospital", "pycanon_testdata_income_q5",
]  # fmt: skip
TIGHT = 1e-10


def close(value, rel=TIGHT):
    return pytest.approx(value, rel=rel, abs=1e-12)


@cache
def fair():
    return pl.from_pandas(rebuild(CASE["data"]))


@cache
def measured(name):
    """All measures of one table, from the same cells."""
    case = TABLES[name]
    with quiet():
        cells = as_cells(fair(), keys=case["keys"], missing="category")
        given = {"sensitive": case["sensitive"]}
        return {
            "equal": t_closeness(cells, **given),
            "ordered": t_closeness(cells, **given, distance="ordered"),
            "beta": beta_likeness(cells, **given),
            "delta": delta_disclosure(cells, **given),
            "alpha": alpha_k(cells, **given),
        }


@pytest.mark.parametrize("name", TABLES)
def test_the_file_satisfies(name):
    found, case = measured(name), TABLES[name]
    expected, s = case["textbook"], case["sensitive"]
    assert found["equal"].level[s] == close(expected["t_closeness_equal_distance"])
    assert found["ordered"].level[s] == close(expected["t_closeness_ordered_distance"])
    assert found["beta"].basic[s] == close(expected["basic_beta"])
    assert found["beta"].exceeding[s] == expected["n_gains_above_minus_ln_p"]
    assert math.isfinite(found["beta"].enhanced[s]) == expected["enhanced_beta_satisfiable"]
    assert found["delta"].delta_present[s] == close(expected["delta_ignoring_absent_values"])
    assert found["delta"].delta[s] == close(float(expected["delta_textbook"]))
    assert (found["alpha"].k, found["alpha"].alpha[s]) == (expected["k"], close(expected["alpha"]))
    assert found["equal"].cells.n_cells == expected["n_classes"]


@pytest.mark.parametrize("name", TABLES)
def test_pycanon_says_the_same_where_it_means_the_same(name):
    found, case = measured(name), TABLES[name]
    peer, s = case["pycanon"], case["sensitive"]
    assert found["ordered"].level[s] == close(peer["t_numeric"])
    assert found["equal"].level[s] == close(peer["t_text"])
    assert found["beta"].basic[s] == close(peer["basic_beta"])
    assert found["delta"].delta_present[s] == close(peer["delta_disclosure"])
    assert [found["alpha"].alpha[s], found["alpha"].k] == close(peer["alpha_k"])


@pytest.mark.parametrize("name", TABLES)
def test_every_class(name):
    found, case = measured(name), TABLES[name]
    s, width = case["sensitive"], len(case["keys"])
    columns = {
        2: ("equal", f"t_{s}"), 3: ("ordered", f"t_{s}"), 4: ("beta", f"beta_{s}"),
        5: ("delta", f"delta_present_{s}"), 1: ("alpha", f"alpha_{s}"),
    }  # fmt: skip
    classes = {tuple(row[:width]): row[width:] for row in case["classes"]}
    for place, (measure, column) in columns.items():
        for row in found[measure].table.iter_rows(named=True):
            expected = classes[tuple(float(row[key]) for key in case["keys"])]
            assert row["cell_size"] == expected[0]
            assert row[column] == close(expected[place])
    for row in found["delta"].table.iter_rows(named=True):
        lacks = classes[tuple(float(row[key]) for key in case["keys"])][6]
        assert math.isinf(row[f"delta_{s}"]) == lacks


def test_salaries_of_the_paper():
    """Nine salaries of 3 to 11 thousand: {3, 4, 5} is 0.375 away, {6, 8, 11} 0.167 (Li et al. 2007)."""
    frame = pl.DataFrame({"zip": list("aaabbbccc"), "salary": [3, 4, 5, 6, 8, 11, 7, 9, 10]})
    for distance in ("ordered", "numeric"):
        records = t_closeness(frame, keys=["zip"], sensitive="salary", distance=distance).records
        assert records["t_salary"][0] == pytest.approx(0.375, rel=1e-12)
        assert records["t_salary"][3] == pytest.approx(1 / 6, rel=1e-12)


def test_diseases_in_a_tree_by_hand():
    """Moves within a group cost 1/3, between respiratory and digestive diseases 1: 7, 8 and 5 of 27."""
    infection, stomach = (["infection", "respiratory", "any"], ["stomach", "digestive", "any"])
    tree = {**dict.fromkeys(("flu", "pneumonia", "bronchitis"), infection),
            **dict.fromkeys(("ulcer", "gastritis", "cancer"), stomach)}  # fmt: skip
    frame = pl.DataFrame(
        {"zip": list("aaabbbccc"),
         "disease": ["ulcer", "cancer", "pneumonia", "gastritis", "flu", "bronchitis", "gastritis", "bronchitis",
                     "cancer"]}
    )  # fmt: skip
    records = t_closeness(frame, keys=["zip"], sensitive="disease", distance=tree).records
    assert (records["t_disease"] * 27).to_list() == pytest.approx([7, 7, 7, 8, 8, 8, 5, 5, 5], rel=1e-12)


def read(folder, case):
    return pl.read_csv(folder / "data" / case["data"], infer_schema_length=None)


@pytest.mark.parametrize("name", PYCANON)
def test_files_of_pycanon(reference, name):
    case = json.loads((reference / f"{name}.json").read_text(encoding="utf-8"))
    frame, keys, (s,) = (read(reference, case), case["arguments"]["quasi_identifiers"], case["arguments"]["sensitive"])
    expected, peer = case["expected"]["textbook"], case["expected"]["pycanon_gen_True"]
    book = expected[s]
    text = case["arguments"]["dtypes"][s] == "object"
    with quiet():
        cells = as_cells(frame, keys=keys, missing="category")
        equal = t_closeness(cells, sensitive=s).level[s]
        listed = sorted(frame[s].unique().to_list())
        ordered = t_closeness(cells, sensitive=s, distance=listed if text else "ordered").level[s]
        beta = beta_likeness(cells, sensitive=s)
        delta = delta_disclosure(cells, sensitive=s)
        alpha = alpha_k(cells, sensitive=s)
        entropy = l_diversity(cells, sensitive=s).level[s]["entropy"]
    assert (alpha.k, cells.n_cells) == (expected["k"], expected["n_classes"])
    assert alpha.alpha[s] == close(book["alpha"])
    assert equal == close(book["t_equal_distance"])
    assert ordered == close(book["t_ordered_distance"])
    assert (equal if text else ordered) == close(peer["t_closeness"])
    assert beta.basic[s] == close(book["basic_beta"])
    assert delta.delta_present[s] == close(book["delta_ignoring_zero_q"])
    assert math.isinf(delta.delta[s]) == book["delta_textbook_infinite"]
    assert entropy == close(book["entropy_l_exact"])
    assert beta.basic[s] == close(peer["basic_beta"])


def test_the_gains_behind_the_enhanced_beta_of_pycanon():
    """Its figure is the largest of the gains, each cut at -ln of the share of its value."""
    for name, case in TABLES.items():
        s = case["sensitive"]
        shares = fair()[s].value_counts(normalize=True)
        share = dict(zip(*shares.get_columns(), strict=True))
        best = 0.0
        for _, part in fair().group_by(case["keys"]):
            for value, q in zip(*part[s].value_counts(normalize=True).get_columns(), strict=True):
                best = max(best, min(q / share[value] - 1, -np.log(share[value])))
        assert best == close(case["textbook"]["enhanced_beta_max_min_gain_lnp"])
        finite = measured(name)["beta"].enhanced[s]
        assert finite == close(best) or math.isinf(finite)

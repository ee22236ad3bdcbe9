"""`suppress_above`: values go where a risk is above a threshold."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from draw import quiet
from homes import people
from sdckit import ColumnError, DataError, individual_risk, k_anonymity, known_points, suda, suppress_above

DATA = {"job": ["cook", "smith", None, "cook"], "age": [31, 32, 33, 34], "risk": [0.5, 0.6, 0.9, 0.1]}


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table, pd.DataFrame])
@pytest.mark.parametrize("as_column", [True, False])
def test_values_go_where_the_risk_is_greater(make, as_column):
    frame = make(DATA)
    risk = "risk" if as_column else frame["risk"]
    safe, change = suppress_above(frame, risk=risk, threshold=0.5, columns=["job", "age"])
    assert type(safe) is type(frame)
    found = {
        name: [None if pd.isna(v) else v for v in (safe[name].to_pylist() if make is pa.table else safe[name])]
        for name in DATA
    }
    assert found == {"job": ["cook", None, None, "cook"], "age": [31, None, None, 34], "risk": DATA["risk"]}
    assert change.changed == {"job": 1, "age": 2}
    assert change.parameters == {
        "risk": "risk" if as_column else "given per record", "threshold": 0.5, "columns": ["job", "age"]
    }  # fmt: skip
    assert change.notes["risk"].startswith("the risk is that before")


def test_one_column_by_its_name_and_no_record_above():
    frame = pl.DataFrame(DATA)
    safe, change = suppress_above(frame, risk="risk", threshold=0.9, columns="age")
    assert safe.equals(frame)
    assert change.changed == {"age": 0}


def test_the_risk_of_a_measure():
    frame = pl.DataFrame({"sex": ["f", "f", "m"], "w": [10.0, 10.0, 1.0]})
    with quiet():
        risk = individual_risk(frame, keys=["sex"], weight="w").records["risk"]
    assert suppress_above(frame, risk=risk, threshold=0.5, columns=["sex"]).data["sex"].to_list() == ["f", "f", None]


def test_a_result_is_its_risk_per_record():
    frame = pl.DataFrame({"sex": ["f", "f", "m"], "job": ["a", "a", "b"], "w": [10.0, 10.0, 1.0]})
    with quiet():
        result = individual_risk(frame, keys=["sex"], weight="w", prefix="own_")
    safe, change = suppress_above(frame, risk=result, threshold=0.5, columns=["sex"])
    assert safe["sex"].to_list() == ["f", "f", None]
    assert change.parameters["risk"] == "individual_risk"
    scores = suda(frame, keys=["sex", "job"], sampling_fraction=0.1)
    dis = scores.records["dis_score"]
    by_result = suppress_above(frame, risk=scores, threshold=0.01, columns=["job"])
    assert by_result.data.equals(suppress_above(frame, risk=dis, threshold=0.01, columns=["job"]).data)
    assert by_result.change.changed == {"job": 1}


def test_a_result_that_has_no_risk_of_these_records_is_refused():
    frame = pl.DataFrame(DATA)
    whole = individual_risk(frame, keys=["job"])
    plan = individual_risk(frame.lazy(), keys=["job"])
    refused = {
        "k_anonymity has no risk of single records": k_anonymity(frame, keys=["job"]),
        "the result is of a plan": plan,
        "let go of the data": pickle.loads(pickle.dumps(whole)),
        "4 numbers for 3 records": whole,
    }
    for message, risk in refused.items():
        with pytest.raises(DataError, match=message):
            suppress_above(frame.head(3), risk=risk, threshold=0.5, columns=["age"])


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"risk": "rsk"}, ColumnError, "risk: no column 'rsk' in the data; did you mean 'risk'"),
        ({"risk": "job"}, DataError, "risk 'job' is"),
        ({"risk": [1.0]}, DataError, "1 numbers for 4 records"),
        ({"risk": ["a"] * 4}, DataError, "a column's name or a number per record"),
        ({"risk": [0.1, np.nan, 0.2, np.nan]}, DataError, r"missing in 2 records \(rows 2, 4\)"),
        ({"threshold": np.nan}, DataError, "threshold is the risk .* a finite number"),
        ({"threshold": "high"}, DataError, "threshold is the risk .* a finite number"),
        ({"columns": []}, ColumnError, "columns= is empty"),
        ({"columns": ["jobs"]}, ColumnError, "columns: no column 'jobs'"),
        ({"columns": ["risk"]}, ColumnError, "'risk' holds the risk itself"),
    ],
)
def test_bad_input(change, error, message):
    call = {"risk": "risk", "threshold": 0.5, "columns": ["age"], **change}
    with pytest.raises(error, match=message):
        suppress_above(pl.DataFrame(DATA), **call)


def test_a_series_in_another_order_than_the_records_is_refused():
    """Sorted by itself it has the index of its records: read by position it took values out of other people."""
    data = pd.DataFrame(DATA, index=[7, 3, 9, 4])
    risk = data["risk"].sort_values()
    with pytest.raises(DataError, match=r"another index than the data.*risk\.reindex\(data\.index\)"):
        suppress_above(data, risk=risk, threshold=0.5, columns=["age"])
    in_order = suppress_above(data, risk=risk.reindex(data.index), threshold=0.5, columns=["age"]).data
    assert in_order["age"].isna().tolist() == [False, True, True, False]
    assert in_order.equals(suppress_above(data, risk=data["risk"], threshold=0.5, columns=["age"]).data)
    by_position = suppress_above(data, risk=risk.to_numpy(), threshold=0.5, columns=["age"]).data
    assert by_position["age"].isna().tolist() == [False, False, True, True]
    safe = suppress_above(pl.DataFrame(DATA), risk=risk, threshold=0.5, columns=["age"]).data  # no index to go by
    assert safe["age"].is_null().to_list() == [False, False, True, True]


def test_a_household_variable_goes_for_all_members():
    data = people()
    risk = (np.arange(len(data)) % 17 == 0) * 1.0
    safe, change = suppress_above(data, risk=risk, threshold=0.5, columns=["region", "age"], household="home")
    hit = data["home"].is_in(data.filter(risk > 0.5)["home"].unique().implode())
    assert safe["region"].is_null().equals(hit)
    assert safe["age"].is_null().to_numpy().tolist() == (risk > 0.5).tolist()
    assert change.changed == {"region": int(hit.sum()), "age": int((risk > 0.5).sum())}
    assert change.parameters["household_variables"] == ["region"]
    alone = suppress_above(data, risk=risk, threshold=0.5, columns=["region"], household="home", household_variables=[])
    assert alone.data["region"].null_count() == int((risk > 0.5).sum())


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, pa.table])
def test_all_rows_of_the_people_who_are_found_most_often(make):
    """Of the last one nobody knows two rows: one counts."""
    panel = {"who": [3, 1, 1, 2, 2, 3, 4], "year": [1, 1, 2, 1, 2, 2, 1], "job": ["a", "a", "b", "a", "b", "c", "d"]}
    result = known_points(make(panel), person="who", time="year", keys=["job"], points=(1, 2))
    safe, change = suppress_above(make(panel), risk=result, threshold=0.5, columns=["job"])
    found = safe["job"].to_pylist() if make is pa.table else safe["job"].to_list()
    assert [None if pd.isna(job) else job for job in found] == [None, "a", "b", "a", "b", None, None]
    assert change.parameters["risk"] == "known_points"
    with pytest.raises(ColumnError, match="risk: no column 'who'"):
        suppress_above(make({"job": panel["job"]}), risk=result, threshold=0.5, columns=["job"])


def test_the_number_of_the_household_goes_with_what_its_members_mostly_share():
    data = pl.DataFrame({"home": [1, 1, 2, 2], "born": ["x", "x", "y", "z"]})
    safe, change = suppress_above(
        data, risk=[0.0, 0.0, 1.0, 0.0], threshold=0.5, columns=["born", "home"], household="home"
    )
    assert safe.rows() == [(1, "x"), (1, "x"), (None, None), (2, "z")]
    assert change.changed == {"born": 1, "home": 1}

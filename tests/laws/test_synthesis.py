"""E8: what must hold whatever the file: types, other columns, seeds, values that come from somewhere."""

from __future__ import annotations

import polars as pl
from hypothesis import assume, given, settings, strategies as st

from sdckit import mask_categorical, mask_continuous, synthesize

COLUMNS = {
    "sex": st.sampled_from(["f", "m", None]),
    "job": st.sampled_from(["a", "b", "c"]),
    "age": st.one_of(st.integers(0, 9), st.none()),
    "income": st.one_of(st.floats(-1e6, 1e6, allow_nan=False), st.none()),
    "flag": st.booleans(),
}
TYPES = {"sex": pl.String, "job": pl.Categorical, "age": pl.Int16, "income": pl.Float64, "flag": pl.Boolean}


@st.composite
def files(draw):
    n = draw(st.integers(10, 25))
    frame = pl.DataFrame(
        {
            name: pl.Series(draw(st.lists(one, min_size=n, max_size=n)), dtype=TYPES[name])
            for name, one in COLUMNS.items()
        }
    )
    return frame.with_columns(row=pl.int_range(n))


@settings(max_examples=30)
@given(files(), st.sampled_from(["cart", "sample"]), st.booleans(), st.integers(0, 99))
def test_donors_lend_values_that_there_are(frame, model, proper, seed):
    varying = [name for name in COLUMNS if frame[name].n_unique() > 1]
    assume(varying)
    options = {"columns": varying, "models": model, "proper": proper, "seed": seed, "predictors": []}
    two, change = synthesize(frame, m=2, **options)
    for one in two:
        assert one.schema == frame.schema
        assert one.columns == frame.columns
        assert one["row"].equals(frame["row"])
        for name in COLUMNS:
            assert set(one[name]) <= set(frame[name])
            assert name in varying or one[name].equals(frame[name])
    again, _ = synthesize(frame, m=2, **options)
    assert all(one.equals(other) for one, other in zip(two, again, strict=True))
    for name in varying:
        assert change.changed[name] == sum(int((one[name].ne_missing(frame[name])).sum()) for one in two)


@settings(max_examples=20)
@given(files(), st.integers(0, 99), st.data())
def test_other_records_stay(frame, seed, data):
    rows = data.draw(st.lists(st.booleans(), min_size=frame.height, max_size=frame.height))
    assume(frame["job"].n_unique() > 1)
    made, _ = synthesize(frame, columns=["job"], rows=rows, fit_to="all", seed=seed)
    kept = ~pl.Series(rows)
    assert made.filter(kept).equals(frame.filter(kept))
    assert made.drop("job").equals(frame.drop("job"))


def test_several_files_are_several():
    frame = pl.DataFrame({"x": [float(i % 17) for i in range(200)], "y": [i % 3 for i in range(200)]})
    for model in ("cart", "normal", "sample"):
        files = synthesize(frame, m=5, models=model, seed=1).data
        assert len({str(one["x"].to_list()) for one in files}) == 5


@given(files(), st.floats(0.01, 0.99), st.integers(0, 99))
def test_masks(frame, share, seed):
    assume(frame["job"].n_unique() > 1)
    found = mask_categorical(frame, columns=["job"], probability=share, seed=seed)
    assert found.data.drop("job").equals(frame.drop("job"))
    assert found.data.schema == frame.schema
    assert set(found.data["job"]) <= set(frame["job"])
    assert found.change.n_changed == (found.data["job"] != frame["job"]).sum()
    assume(frame["income"].drop_nulls().len() > 0)
    blurred = mask_continuous(frame, columns=["income"], sd=1, seed=seed)
    assert blurred.data.drop("income").equals(frame.drop("income"))
    assert blurred.data["income"].is_null().equals(frame["income"].is_null())
    assert blurred.data.equals(mask_continuous(frame, columns=["income"], sd=1, seed=seed).data)

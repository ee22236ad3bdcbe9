"""Plans of Polars and DuckDB give what the same data give in memory, with missing keys of every type."""

from __future__ import annotations

import datetime as dt
from typing import Any

import narwhals as nw
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import sdckit as sdc
from engines.comparing import assert_same_figures, assert_same_records, quiet
from sdckit.errors import ColumnError, DataError, SdcWarning

KEYS = ["text", "whole", "half", "flag", "day"]
RULES: list[dict[str, Any]] = [
    {},
    {"alpha": 0.5},
    {"missing": "category"},
    {"missing": {"text": "category"}, "alpha": 0.0},
]
FEW = settings(
    max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None
)


@st.composite
def surveys(draw: st.DrawFn) -> pl.DataFrame:
    """Small files whose keys are of every type and often missing; the first record is complete."""
    n, blank = draw(st.integers(4, 25)), draw(st.integers(0, 2))

    def column(*values: Any) -> list[Any]:
        """The last records have no value at all: two blank ones, at times."""
        m = n - 1 - blank
        rest = draw(st.lists(st.sampled_from([None, *values]), min_size=m, max_size=m))
        return [values[0], *rest, *[None] * blank]

    return pl.DataFrame(
        {
            "row": pl.Series(range(n), dtype=pl.Int64),
            "text": pl.Series(column("", "x", "naïve"), dtype=pl.String),
            "whole": pl.Series(column(0, 1, -3), dtype=pl.Int32),
            "half": pl.Series(column(0.0, 0.5, float("nan")), dtype=pl.Float64),
            "flag": pl.Series(column(False, True), dtype=pl.Boolean),
            "day": pl.Series(column(dt.date(1970, 1, 1), dt.date(2020, 2, 29)), dtype=pl.Date),
            "learnt": pl.Series(column("a", "b", "c"), dtype=pl.String),
            "home": pl.Series(column(1, 2, 3), dtype=pl.Int64),
            "who": pl.Series(draw(st.lists(st.integers(0, 5), min_size=n, max_size=n)), dtype=pl.Int64),
            "w": pl.Series(draw(st.lists(st.floats(1, 1e4), min_size=n, max_size=n)), dtype=pl.Float64),
        }
    )


@FEW
@given(survey=surveys(), rule=st.sampled_from(RULES))
def test_frequencies_and_risk(plan: Any, survey: pl.DataFrame, rule: dict[str, Any]) -> None:
    call = dict(keys=KEYS, weight="w", household="home", threshold="mad", **rule)
    here = quiet(sdc.individual_risk, survey, id="row", **call)
    there = quiet(sdc.individual_risk, plan(survey), **call)
    assert_same_records(here.records, there.records)
    assert_same_figures(here.to_dict()["figures"], there.to_dict()["figures"])
    assert_same_figures(here.threshold_for(0.3), there.threshold_for(0.3))
    assert here.histogram([0, 0.01, 0.1, 0.5, 1]) == there.histogram([0, 0.01, 0.1, 0.5, 1])


@FEW
@given(survey=surveys(), rule=st.sampled_from(RULES))
def test_counts_and_contributions(plan: Any, survey: pl.DataFrame, rule: dict[str, Any]) -> None:
    for measure in (sdc.key_frequencies, sdc.k_anonymity, sdc.key_contributions):
        here, there = (quiet(measure, data, keys=KEYS[:3], **rule) for data in (survey, plan(survey)))
        assert_same_figures(here.to_dict()["figures"], there.to_dict()["figures"])


@FEW
@given(survey=surveys(), c=st.sampled_from([0.5, 1.0, 2.0]))
def test_l_diversity(plan: Any, survey: pl.DataFrame, c: float) -> None:
    call = {"keys": ["text", "flag"], "sensitive": "learnt", "c": c}
    here = quiet(sdc.l_diversity, survey, id="row", **call)
    there = quiet(sdc.l_diversity, plan(survey), **call)
    assert_same_records(here.records, there.records)
    assert_same_figures(here.to_dict()["figures"], there.to_dict()["figures"])


@FEW
@given(survey=surveys())
def test_persons_and_households(plan: Any, survey: pl.DataFrame) -> None:
    survey = survey.with_columns(pl.col("w").first().over("who"))
    call = {"keys": ["text", "flag"], "person": "who", "weight": "w", "missing": "category"}
    here = quiet(sdc.key_frequencies, survey, id="row", **call)
    assert_same_records(here.records, quiet(sdc.key_frequencies, plan(survey), **call).records)
    here, there = (
        quiet(sdc.household_structure, data, keys=["text"], household="home") for data in (survey, plan(survey))
    )
    assert_same_figures(here.to_dict()["figures"], there.to_dict()["figures"])


def test_assess_gives_the_same_figures(plan: Any) -> None:
    survey = sdc.load_demo().with_columns(
        educ=pl.when(pl.int_range(pl.len()) % 53 == 7).then(None).otherwise(pl.col("educ"))
    )
    scenario = sdc.demo_scenario()
    here, there = sdc.assess(survey, scenario=scenario), sdc.assess(plan(survey), scenario=scenario)
    left, right = here.to_dict(), there.to_dict()
    for name, one in left["intruders"].items():
        other = right["intruders"][name]
        assert_same_figures(one["verdicts"], other["verdicts"])
        assert set(one["measures"]) == set(other["measures"])
        for measure in one["measures"]:
            assert_same_figures(one["measures"][measure]["figures"], other["measures"][measure]["figures"], measure)
    assert there.intruders[0].skipped == here.intruders[0].skipped
    assert [fact.level_counts for fact in there.intruders[0].key_facts if fact.kind == "text"] == []
    assert [(f.n_levels, f.n_missing, f.large_levels) for f in here.intruders[0].key_facts] == [
        (f.n_levels, f.n_missing, f.large_levels) for f in there.intruders[0].key_facts
    ]
    assert len(there.at_risk(7)) == 7


def test_records_are_the_callers_frame_with_columns_appended(plan: Any) -> None:
    survey = pl.DataFrame({"a": ["x", None, "y"], "payload": [[1], [2, 3], None]})
    records = quiet(sdc.key_frequencies, plan(survey), keys=["a"]).records
    assert type(records) is type(plan(survey))
    found = nw.from_native(records).collect("polars").to_native()
    assert found.columns == ["a", "payload", "cell_size", "sample_frequency", "sample_unique"]
    assert found.select("a", "payload").sort("a").equals(survey.sort("a"))


def test_name_taken_case_folded(plan: Any) -> None:
    survey = pl.DataFrame({"a": ["x", "x", "y"], "Sample_Frequency": [1, 2, 3]})
    result = sdc.key_frequencies(plan(survey), keys=["a"])
    with pytest.raises(ColumnError, match=r"Sample_Frequency.*prefix="):
        _ = result.records
    prefixed = sdc.key_frequencies(plan(survey), keys=["a"], prefix="r_").records
    assert "r_sample_frequency" in nw.from_native(prefixed).collect_schema().names()


@pytest.mark.parametrize(
    ("column", "kwargs", "message"),
    [
        ({"w": [1.0, None, -1.0]}, {"weight": "w"}, "1 missing, 1 zero or negative"),
        ({"w": ["1", "2", "3"]}, {"weight": "w"}, "not numbers"),
        ({"w": [0.2, 0.2, 5.0]}, {"weight": "w"}, "scaled to mean 1"),
        ({"b": [None, None, None]}, {"keys": ["a", "b"]}, "no value in any record"),
        ({"b": [1, None, 2]}, {"keys": ["a", "b"], "missing": "error"}, "missing in 1 record,"),
        ({"p": [1, None, 2]}, {"person": "p"}, "person 'p' is missing in 1"),
        ({"b": [[1], [2], [3]]}, {"keys": ["b"]}, "one plain value"),
    ],
)
def test_bad_input(plan: Any, column: dict[str, Any], kwargs: dict[str, Any], message: str) -> None:
    survey = pl.DataFrame({"a": ["x", "x", "y"], **column})
    if survey.columns[-1] == "b" and survey["b"].dtype == pl.Null:
        survey = survey.with_columns(pl.col("b").cast(pl.Int64))
    with pytest.raises(DataError, match=message):
        quiet(sdc.individual_risk, plan(survey), **{"keys": ["a"], **kwargs})


def test_no_records(plan: Any) -> None:
    with pytest.raises(DataError, match="no records"):
        sdc.key_frequencies(plan(pl.DataFrame({"a": pl.Series([], dtype=pl.String)})), keys=["a"])


def test_a_thousand_patterns_of_missing_keys(plan: Any) -> None:
    n, k = 1024, 10
    bits = {f"k{j}": [None if i >> j & 1 else "v" if i % 3 else "u" for i in range(n)] for j in range(k)}
    here, there = (
        quiet(sdc.k_anonymity, data, keys=list(bits)) for data in (pl.DataFrame(bits), plan(pl.DataFrame(bits)))
    )
    assert here.violations == there.violations


def test_warnings_of_a_plan_give_counts(plan: Any) -> None:
    survey = pl.DataFrame({"a": ["x", "x", "y"], "hh": [1, None, 1]})
    with pytest.warns(SdcWarning, match="1 record has no household id"):
        _ = sdc.individual_risk(plan(survey), keys=["a"], household="hh")
    with pytest.warns(SdcWarning, match="same value in every record"):
        sdc.key_frequencies(plan(survey.with_columns(b=pl.lit(1))), keys=["a", "b"])


def test_the_default_connection_of_duckdb() -> None:
    import duckdb

    survey = pl.DataFrame({"a": ["x", "x", "y"], "w": [3.0, 4.0, 5.0]})  # read by its name
    there = sdc.individual_risk(duckdb.sql("select * from survey"), keys=["a"], weight="w")
    assert_same_figures(sdc.individual_risk(survey, keys=["a"], weight="w").global_risk, there.global_risk)


def test_records_of_households_of_a_plan_need_an_id(plan: Any) -> None:
    survey = pl.DataFrame({"row": [0, 1, 2], "a": ["x", "y", "x"], "hh": [1, 1, 2]})
    call: dict[str, Any] = {"keys": ["a"], "household": "hh"}
    with pytest.raises(DataError, match="give id="):
        _ = sdc.household_structure(plan(survey), **call).records
    found = sdc.household_structure(plan(survey), id="row", **call).records
    assert_same_records(sdc.household_structure(survey, id="row", **call).records, found)


def test_a_person_of_several_rows_counts_once_in_the_household(plan: Any) -> None:
    survey = pl.DataFrame({"p": [1, 1, 1, 2], "h": [1, 1, 1, 1], "a": [1, 1, 1, 2], "w": [10.0] * 4})
    for data in (survey, plan(survey)):
        found = sdc.individual_risk(data, keys=["a"], weight="w", person="p", household="h")
        one = quiet(sdc.individual_risk, pl.DataFrame({"a": [1], "w": [10.0]}), keys=["a"], weight="w").max_risk
        assert found.household_risk == pytest.approx(1 - (1 - one) ** 2, rel=1e-12)

"""Files of made-up records: judged by copies and attacks, refused where they are none, and no way round k."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from draw import quiet
from sdckit.errors import ScenarioError
from sdckit.report.formats.write import plain_document

KEYS = ["age", "sex", "region"]
ROLES = {
    "keys": KEYS, "sensitive": ["ill"], "sampling_fraction": 0.01, "insensitive": ["pay", "q*"],
    "insensitive_because": "made up for this test",
}  # fmt: skip
SYNTHETIC = sdc.Scenario(**ROLES, release="synthetic")
ASKED = ["replicated_uniques", "copied_records", "correctly_disclosed", "residual_risk"]


def people(n: int, seed: int) -> pl.DataFrame:
    """Eleven columns, of which a scenario declares four."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n) // 4 * 4
    more = {f"q{i}": rng.choice(4, n, p=[0.6, 0.2, 0.15, 0.05]) for i in range(6)}
    return pl.DataFrame(
        {
            "age": age, "sex": rng.choice(["f", "m"], n), "region": rng.choice(["n", "s", "w", "e"], n),
            "ill": np.where(rng.random(n) < 0.1 + 0.004 * age, "yes", "no"), "pay": rng.geometric(0.2, n) * 100.0,
            **more,
        }
    )  # fmt: skip


WHOLE, ASIDE = people(1500, 1), people(1500, 2)
LEAKY = pl.concat([WHOLE[:702], people(798, 3)]).sample(fraction=1, shuffle=True, seed=1)  # 46.8 % are copies
HARMLESS = people(1500, 4)


def judged(released, scenario=SYNTHETIC, **more):
    with quiet():
        result = sdc.check(WHOLE, released, scenario=scenario, seed=1, **more)
    return {verdict.name: verdict for verdict in result.verdicts}, result


def test_whole_copies_are_refused_and_made_up_records_are_not():
    verdicts, result = judged(LEAKY)
    assert list(verdicts) == [*ASKED, "roles"]
    copied = verdicts["copied_records"]
    assert (copied.holds, result.passed) == (False, False)
    assert 0.3 < copied.value < 0.468
    assert "this is no synthetic file, and is to be judged as a public-use file" in copied.sentence
    verdicts, _ = judged(HARMLESS)
    assert (verdicts["copied_records"].holds, verdicts["copied_records"].value) == (True, 0)


def test_a_file_made_by_models_is_none_of_copies():
    made = sdc.synthesize(WHOLE, min_leaf=100, seed=1)
    verdicts, _ = judged(made.data)
    assert verdicts["copied_records"].holds is True


@pytest.mark.parametrize("control", [None, ASIDE])
def test_attacks_need_people_kept_aside(control):
    verdicts, result = judged(HARMLESS, control=control)
    risk = verdicts["residual_risk"]
    if control is None:
        assert (risk.word, result.passed) == ("not judged", False)
        assert "no people were kept aside" in risk.reason
    else:
        assert all(verdict.holds for verdict in verdicts.values())
        assert result.passed


def test_no_k_and_nothing_put_back_is_asked_of_made_up_records():
    verdicts, result = judged(HARMLESS.with_columns(region=pl.when(pl.int_range(1500) > 40).then("region")))
    assert list(verdicts) == [*ASKED, "roles"]
    assert "recoverable_values" not in result.assessment.intruders[0].results
    reasons = dict(result.assessment.intruders[0].skipped)
    assert reasons["recoverable_values"] == "nothing was taken out of the records of a synthetic file"
    own, _ = judged(HARMLESS, sdc.Scenario(**ROLES, release="synthetic", thresholds={"k": 3, "recoverable": 0.0}))
    assert list(own) == ["k", *ASKED[:3], "recoverable", "residual_risk", "roles"]
    assert own["recoverable"].word == "not judged"
    assert "0 %" not in own["recoverable"].sentence


def test_without_its_original_a_synthetic_file_is_not_judged():
    scenario = sdc.Scenario(**ROLES, release="synthetic", thresholds={"k": 2})
    with quiet():
        result = sdc.check(HARMLESS.filter(pl.len().over(KEYS) > 1), scenario=scenario)
    assert {verdict.name: verdict.word for verdict in result.verdicts if verdict.name in ("k", *ASKED)} == {
        "k": "holds", **dict.fromkeys(ASKED, "not judged"),
    }  # fmt: skip
    assert not result.passed


def test_other_types_show_no_copies():
    with quiet():
        for release in (None, "public-use", "scientific-use", "teaching", "enclave"):
            scenario = sdc.Scenario(**ROLES, release=release)
            assert "copied_records" not in sdc.assess(WHOLE, LEAKY, scenario=scenario)["default"].results
        asked = sdc.Scenario(**ROLES, thresholds={"copied_records": 0.1})
        assert sdc.assess(WHOLE, LEAKY, scenario=asked)["default"]["copied_records"].copied_records > 0.1


def test_the_document_of_a_leaky_file_says_what_it_is():
    _, result = judged(LEAKY)
    told = [verdict for verdict in result.told().verdicts if verdict.name == "copied_records"]
    assert [verdict.holds for verdict in told] == [False]
    assert told[0].sentence.endswith("to be judged as a public-use file. Limit of a fully synthetic file.")
    plain = plain_document(result.assessment)
    assert "copied_records" in plain["intruders"][0]["measures"]
    assert "left_out" not in plain["intruders"][0]["measures"]["copied_records"]


# --- what is no synthetic file ----------------------------------------------------------------------------


def test_rows_that_belong_together_are_no_synthetic_file():
    with pytest.raises(ScenarioError, match="contradict each other"):
        sdc.Scenario(**ROLES, release="synthetic", aligned=True)
    numbered = WHOLE.with_row_index("no")
    with pytest.raises(ScenarioError, match="id='no' says which record was made from which: this is not a fully syn"):
        sdc.assess(numbered, numbered, scenario=SYNTHETIC, id="no")


@pytest.mark.parametrize(
    ("step", "named"),
    [
        ({"method": "synthesize", "columns": ["age", "sex"]}, "region, ill, pay and 6 more"),
        ({"method": "synthesize", "rows": "flag"}, "age, sex, region and 8 more"),
        ({"method": "pram", "columns": ["region"]}, "age, sex, region and 8 more"),
    ],
)
def test_a_log_that_leaves_values_as_they_were_is_none_of_a_synthetic_file(step, named):
    data = WHOLE.with_columns(flag=pl.int_range(1500) < 700)
    with quiet():
        applied = sdc.Recipe([step, {"method": "drop_identifiers", "columns": ["flag"]}]).apply(data, seed=1)
    with pytest.raises(ScenarioError, match=f"the log does not synthesise {named} for all records"):
        sdc.assess(data, applied.data, scenario=SYNTHETIC, log=applied.log)


@pytest.mark.parametrize("columns", [None, WHOLE.columns])
def test_a_log_that_synthesises_every_column_is_one_of_a_synthetic_file(columns):
    data = WHOLE.with_columns(one=pl.lit(1))  # a constant tells nothing
    step = {"method": "synthesize", "min_leaf": 100, **({"columns": columns} if columns else {})}
    with quiet():
        applied = sdc.Recipe([step]).apply(data, scenario=SYNTHETIC, seed=1)
        found = applied.assess(seed=1)
    assert not found.aligned
    assert found["default"]["copied_records"].copied_records < 0.02  # the draws of a recipe are its own


# --- a release by itself, nothing of which looks changed --------------------------------------------------


def test_nothing_seen_is_not_judged():
    """Of other people's records nothing is given back: that nothing was taken out is not known."""
    for scenario in (
        sdc.Scenario(**ROLES, thresholds={"recoverable": 0.0}),
        sdc.Scenario(**ROLES, release="public-use", thresholds={"k": 2, "risk": 1.0, "l": 2}),
    ):
        verdicts, result = judged(HARMLESS, scenario)
        assert (verdicts["recoverable"].word, result.passed) == ("not judged", False)
        assert "no value looks as if it had been changed" in verdicts["recoverable"].reason
    aligned, _ = judged(WHOLE, sdc.Scenario(**ROLES, thresholds={"recoverable": 0.0}, aligned=True))
    assert aligned["recoverable"].holds is None
    assert aligned["recoverable"].reason == "nothing was taken out that could be given back"

"""What is tried of the rows of `coming-from/robosynth.md`: robosynth 0.1-1, IdentificationRiskCalculation 1.0.0."""

from __future__ import annotations

from functools import cache

import numpy as np
import polars as pl

import sdckit as sdc
from golden.peers.files import KNOWN, SYNTHETIC, golden, releases, survey
from golden.peers.rows import Row, Trials

TRY = Trials()
ROLES = {"known": KNOWN, "synthetic": SYNTHETIC}
MATRIX = {"f": {"f": 0.9, "m": 0.1}, "m": {"f": 0.2, "m": 0.8}}
MASKED = {"masked": {"age": "age_masked"}, "error": {"age": 2.0}, "predictors": {"age": "~ educ"}, "seed": 1}


def open_case() -> dict:
    return golden("matching_fair")["cases"]["cat_m3"]["open"]


@cache
def risk() -> sdc.MatchingRisk:
    return sdc.matching_risk(survey(), releases(), **ROLES, numeric=[])


@cache
def few() -> pl.DataFrame:
    """Every sixtieth woman with a masked age."""
    frame = survey().select("age", "educ", "children")[::60]
    return sdc.mask_continuous(frame, columns=["age"], sd=2.0, suffix="_masked", seed=1).data


@TRY("`mask.categorical(x, probability)`")
def _(row: Row) -> None:
    frame = survey().select("educ")
    made = row.run(frame, columns=["educ"], seed=1).data
    share = (made["educ"] == made["educ_masked"]).mean()
    assert abs(share - 0.8) < 0.02  # the probability that a value stays, in both


@TRY("`mask.categorical(x, .matrix)`")
def _(row: Row) -> None:
    frame = pl.DataFrame({"sex": ["f", "m"] * 40})
    made = row.run(frame, columns=["sex"], matrix={"sex": MATRIX}, seed=1).data
    both = frame.with_columns(sex_masked=made["sex"])
    given = {"masked": {"sex": "sex_masked"}, "error": {"sex": MATRIX}, "predictors": {"sex": "~ 1"}}
    row.run(both, call=1, **given, m=2, iterations=5, seed=1)


@TRY("`mask.continuous(x, reliability)`, `mask.continuous(x, .sd)`")
def _(row: Row) -> None:
    frame = survey().select("age")
    theirs = np.sqrt(1 / 0.9 - 1) * frame["age"].std()  # the noise's standard deviation, by robosynth's source
    made = row.run(frame, columns=["age"], seed=1).data
    spread = (made["age_masked"] - made["age"]).std()
    assert abs(spread / theirs - 1) < 0.03
    spread = (row.run(frame, call=1, columns=["age"], seed=1).data["age"] - frame["age"]).std()
    assert abs(spread / 2.0 - 1) < 0.03


@TRY("`synthesis.model(formula, type)`")
def _(row: Row) -> None:
    models = {"models": {"age": "normal"}}
    assert row.run(few(), **MASKED, **models, m=2, iterations=5).change.parameters["models"] == {"age": "normal"}
    row.run(few(), call=1, columns=["age"], models={"age": "normal"}, predictors={"age": ["educ"]}, seed=1)


@TRY("`masking.model(formula, type)`")
def _(row: Row) -> None:
    assert len(row.run(few(), **MASKED, m=2, iterations=5).data) == 2


@TRY("`combine.models(...)`")
def _(row: Row) -> None:
    assert len(sdc.impute_masked(few(), **MASKED, m=2, iterations=5).data) == 2


@TRY("`synthesize(models, m=10, iter=100)` with masks")
def _(row: Row) -> None:
    assert len(row.run(few(), **MASKED).data) == 10


@TRY("`synthesize(models, m)` without masks")
def _(row: Row) -> None:
    given = {"columns": ["age"], "models": {"age": "normal"}, "predictors": {"age": ["educ"]}, "seed": 1}
    assert len(row.run(few(), **given).data) == 10


@TRY("`extract(syn)`")
def _(row: Row) -> None:
    assert "age_masked" not in row.run(few(), **MASKED, m=2, iterations=5)[0].columns


@TRY("`shuffle(data)`")
def _(row: Row) -> None:
    assert sorted(row.run(few(), seed=1).data.rows()) == sorted(few().rows())


@TRY("`with(synlist, lm(...))`, `pool(...)`, `pool.estimates(...)`")
def _(row: Row) -> None:
    case = golden("models_fair")["cases"]["linear_m3"]
    estimates, variances = case["releases"]["estimate"], case["releases"]["variance"]
    found = row.run(estimates, variances)
    row.equal(np.sqrt(list(found.variance.values())), case["std_error"]["incomplete"])
    row.run(estimates, variances, call=1)
    row.run(survey(), releases(), call=2, formula=case["formula"])


@TRY("`compute.risk(data, original, known, synthetic, width, relative, tol)`")
def _(row: Row) -> None:
    for name in ("num_rel10_m1", "num_rel20_m1", "num_abs05_m1", "catnum_rel10_m3", "catnum_abs05_m3"):
        case = golden("matching_fair")["cases"][name]
        given = {role: case[role] for role in ("known", "synthetic", "numeric", "width", "relative")}
        found = row.run(survey(), releases()[: case["m"]], **given)
        row.equal(found.by_release["expected_match_risk"].to_list(), case["open"]["expected_match_risk"])


@TRY("`summary(risk, threshold, show.cases)`")
def _(row: Row) -> None:
    cases = row.run(survey(), releases(), **ROLES, numeric=[])
    riskiest = cases.filter(pl.col("figure") == "riskiest_row")["value"] - 1
    mean = risk().records["match_risk"]
    assert 0 < len(riskiest) <= 3
    assert mean[int(riskiest[0])] == mean.max()  # the expected risk of a record, as robosynth orders its cases
    assert len(row.run(survey(), releases(), call=1, **ROLES, numeric=[])) > 0


@TRY("`replace.high.risk(data, R, threshold, k, match.variables, replace.variables, n.replace, include)`")
def _(row: Row) -> None:
    given = {"match": ["age", "children"], "replace": ["educ"], "seed": 1}
    made = row.run(releases(), risk=risk(), **given)
    changed = [(new["educ"] != old["educ"]).sum() for new, old in zip(made.data, releases(), strict=True)]
    assert all(count <= 3 for count in changed)
    assert sum(changed) > 0


# --- outputs -------------------------------------------------------------------------------------------


@TRY("`risk$R`")
def _(row: Row) -> None:
    by_file = row.get(risk(), "records_by_release")
    row.equal(by_file.group_by("release", maintain_order=True).agg(pl.col("match_risk").sum())["match_risk"],
              open_case()["expected_match_risk"])  # fmt: skip
    row.equal(risk().records["match_risk"].sum(), np.mean(open_case()["expected_match_risk"]))


@TRY("`c`, `I` or `T`, `K`, `F` by record")
def _(row: Row) -> None:
    totals = {"match_count": "sum_of_counts", "true_match": "sum_of_true",
              "unique_true_match": "unique_true", "unique_false_match": "unique_false"}  # fmt: skip
    table = row.get(risk(), "records_by_release")
    for ours, theirs in totals.items():
        row.get(table, ours)
        found = table.group_by("release", maintain_order=True).agg(pl.col(ours).cast(pl.Int64).sum())[ours]
        row.equal(found, open_case()[theirs])


@TRY("expected risk, `exp.risk`")
def _(row: Row) -> None:
    row.equal(row.get(risk(), "expected_match_risk"), np.mean(open_case()["expected_match_risk"]))
    row.equal(risk().by_release["expected_match_risk"], open_case()["expected_match_risk"])


@TRY("true matches (a count), `true.rate`")
def _(row: Row) -> None:
    row.equal(row.get(risk(), "true_match_rate"), np.mean(open_case()["true_match_rate"]))
    row.equal(risk().by_release["true_match_rate"] * risk().n, open_case()["unique_true"])


@TRY("false matches (a count), `false.rate`")
def _(row: Row) -> None:
    row.equal(row.get(risk(), "false_match_rate"), np.mean(open_case()["false_match_rate"]))


@TRY("unique matches, `s`")
def _(row: Row) -> None:
    row.equal(row.get(risk(), "unique_matches"), np.mean(open_case()["unique_matches"]))


@TRY("high-risk cases")
def _(row: Row) -> None:
    first = risk().records_by_release.filter(pl.col("release") == 1)["match_risk"]
    assert risk().high_risk_counts(0.5)[0] == (first > 0.5).sum()
    found = sdc.matching_risk(survey(), releases(), **ROLES, numeric=[], high_risk=0.5)
    row.get(found, "n_high_risk_of_mean")
    # every unique true match is at risk, and no other: the risk of two matches is one half
    row.equal(risk().high_risk_counts(0.5), open_case()["unique_true"])


@TRY("")
def _(row: Row) -> None:
    assert all(value > 0 for value in row.get(risk(), "expected_by_chance", "expected_by_guessing"))


# --- what is refused -----------------------------------------------------------------------------------


@TRY("`compute.risk` with a variable that is both known and synthetic")
def _(row: Row) -> None:
    row.refused(survey(), releases(), known=["age", "educ"], synthetic=["educ"])


@TRY("`pool.estimates` of one file: its errors are NA")
def _(row: Row) -> None:
    row.refused([1.0], [0.5])


@TRY("`mask.categorical(x, .matrix)` with rows that do not add up to 1: they are scaled")
def _(row: Row) -> None:
    wrong = {"sex": {1.0: {1.0: 0.9, 2.0: 0.3}, 2.0: {1.0: 0.2, 2.0: 0.8}}}
    row.refused(pl.DataFrame({"sex": [1.0, 2.0] * 4}), columns=["sex"], matrix=wrong)


@TRY("`mask.continuous(x, .sd = 0)`")
def _(row: Row) -> None:
    row.refused(survey(), columns=["age"])

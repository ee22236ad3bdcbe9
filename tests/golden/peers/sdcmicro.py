"""What is tried of the rows of `coming-from/sdcmicro.md`; figures of sdcMicro 5.8.1."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from draw import quiet
from golden.peers.files import ANES_KEYS, STAR, file, golden, reference_case, schools, survey, their_file, voters
from golden.peers.rows import Row, Trials

TRY = Trials()
ANES = {"keys": ANES_KEYS, "weight": "weight"}
TEXT = pl.DataFrame({"name": ["Ann", "Ben"], "sex": ["f", "m"], "age": [30, 41]})
PRIMES = {"popul": 101, "age": 211, "educ": 307, "income": 401}


def compare(row: Row, column: pl.Series, case: dict) -> None:
    """A figure by record: its first values, and its sum."""
    row.equal(column[: len(case["first"])].to_list(), case["first"])
    row.equal(column.sum(), case["sum"])


def risk_of_voters(method: str = "approx") -> sdc.IndividualRisk:
    return sdc.individual_risk(voters(), **ANES, household="household", method=method)


# --- roles, files, documents ---------------------------------------------------------------------------


@TRY("`createSdcObj(dat, keyVars=, numVars=, weightVar=, hhId=, sensibleVar=, alpha=)`")
def _(row: Row) -> None:
    roles = {"numeric": ["income"], "household": "household", "sensitive": ["TVnews"], "alpha": 1.0}
    scenario = row.run(**ANES, **roles)
    found = sdc.individual_risk(voters(), scenario=scenario, method="approx")
    figures = golden("freq_risk_anes96")["figures"]
    row.equal(found.household_risk, figures["household_risk"])
    row.equal(found.global_risk, figures["global_risk"])


@TRY("`excludeVars=`", "`removeDirectID(obj, var)`")
def _(row: Row) -> None:
    assert row.run(TEXT, columns=["name"]).data.columns == ["sex", "age"]


@TRY("`pramVars=`, `strataVar=`")
def _(row: Row) -> None:
    change = row.run(survey(), columns=["religious"], strata=["children"], seed=1).change
    assert change.n_changed > 0


@TRY("`ghostVars=`, `addGhostVars`")
def _(row: Row) -> None:
    frame = voters().with_columns(party=pl.col("PID").cast(pl.String))
    safe = row.run(frame, keys=ANES_KEYS, together=[["PID", "party"]]).data
    assert safe["PID"].is_null().sum() > 0
    assert (safe["PID"].is_null() == safe["party"].is_null()).all()


@TRY("`randomizeRecords=`")
def _(row: Row) -> None:
    safe = row.run(voters(), household="household", seed=1).data
    assert not safe.equals(voters())
    assert safe.sort(safe.columns).equals(voters().sort(safe.columns))


@TRY("`readMicrodata(path, type)`")
def _(row: Row) -> None:
    Path("file.csv").write_text("sex,age\nf,30\nm,-9\n", encoding="utf-8")
    assert row.run(path="file.csv", missing=["-9"], labels=True)["age"].to_list() == [30, None]


@TRY("`writeSafeFile`, `extractManipData`")
def _(row: Row) -> None:
    safe = row.run(survey(), call=1, columns=["religious"], seed=1)
    row.run(safe.select("religious"), path="safe.csv", labels=None)
    assert pl.read_csv("safe.csv")["religious"].to_list() == safe["religious"].to_list()


@TRY("`print(obj, type)`, `obj@risk`")
def _(row: Row) -> None:
    summary = row.run(voters(), scenario=sdc.Scenario(**ANES, household="household"))
    uniques = summary.filter(pl.col("figure") == "sample_uniques")["value"].item()
    row.equal(uniques, golden("freq_risk_anes96")["alphas"]["1"]["sample_uniques"])


@TRY("`report(obj, filename=, title=, internal=)`")
def _(row: Row) -> None:
    row.run(voters(), scenario=sdc.Scenario(**ANES), path="report.html", name="Voters")
    assert "Voters" in Path("report.html").read_text(encoding="utf-8")


@TRY("`undolast`")
def _(row: Row) -> None:
    before = TEXT.clone()
    sdc.drop_identifiers(TEXT, columns=["name"])
    assert TEXT.equals(before)


@TRY("the script that `sdcApp` exports")
def _(row: Row) -> None:
    steps = [{"method": "drop_identifiers", "columns": ["name"]}]
    recipe = row.run(steps=steps)
    Path("recipe.toml").write_text(row.run(call=1, steps=steps), encoding="utf-8")
    assert sdc.Recipe.from_toml("recipe.toml").steps == recipe.steps


# --- risk ----------------------------------------------------------------------------------------------


@TRY("`freqCalc(x, keyVars, w, alpha)`: `fk`, `Fk`")
def _(row: Row) -> None:
    expected = golden("freq_risk_anes96")["alphas"]["1"]
    found = row.run(voters(), **ANES)
    compare(row, found["sample_frequency"], expected["sample_frequency"])
    compare(row, found["population_frequency"], expected["population_frequency"])


@TRY("`kAnon_violations(obj, weighted, k)`")
def _(row: Row) -> None:
    expected = golden("freq_risk_anes96")["alphas"]["1"]["violations"]
    for k in (2, 3, 5):
        row.equal(row.run(voters(), keys=ANES_KEYS, k=k)[k], expected[str(k)])


@TRY('`indivRisk(x, method="approx")`')
def _(row: Row) -> None:
    expected = golden("freq_risk_anes96")["alphas"]["1"]
    found = row.run(voters(), **ANES)
    compare(row, found.records["risk"], expected["risk_approx"])
    row.equal(found.expected_reidentifications, expected["expected_reidentifications_approx"])


@TRY("`measure_risk(obj, w, hid)`")
def _(row: Row) -> None:
    case = golden("freq_risk_anes96")
    found = row.run(voters(), **ANES, household="household", method="approx")
    compare(row, found.records["household_risk"], case["household_risk"])
    row.equal(found.household_risk, case["figures"]["household_risk"])


@TRY("`measure_risk(..., max_global_risk=0.01)`")
def _(row: Row) -> None:
    case = reference_case("risk_threshold_testdata")
    given = {"keys": case["arguments"]["keyVars"], "weight": case["arguments"]["w"], "method": "approx"}
    for target in case["expected"]["thresholds"]:
        found = row.run(their_file(), **given, global_risk=target["max_global_risk"])
        row.equal(found, target["global_threshold"])


@TRY("`ldiversity(obj, ldiv_index, l_recurs_c)`")
def _(row: Row) -> None:
    case = golden("ldiversity_anes96")
    found = row.run(voters(), keys=case["keys"], sensitive=case["sensitive"])
    for kind in ("distinct", "entropy", "recursive"):
        compare(row, found.records[f"{kind}_income"], case[kind])


@TRY("`suda2(obj, variables, DisFraction, original_scores)`")
def _(row: Row) -> None:
    case = golden("suda2_anes96_4keys")
    for scoring, expected in case["scoring"].items():
        found = row.run(voters(), keys=ANES_KEYS, scoring=scoring)
        compare(row, found.records["suda_score"], expected["score"])
        row.equal({key: 100 * share for key, share in found.contributions.items()}, expected["contributions_percent"])
        row.equal(found.records["dis_score"].sum(), expected["dis_score"]["0.01"]["sdcMicro"]["sum"], rel=1e-6)


@TRY("`riskyCells(obj, keyVars, threshold, maxDim)`")
def _(row: Row) -> None:
    case = golden("risky_cells_anes96")
    found = row.run(voters(), keys=ANES_KEYS, threshold={int(d): limit for d, limit in case["threshold"].items()})
    expected = {"+".join(cell["variables"]): cell["unsafe"] for cell in case["table"]}
    row.equal({"+".join(cell.variables): cell.n_unsafe for cell in found.table}, expected)


@TRY("`riskyCells(..., useIdentificationLevel=TRUE, level)`")
def _(row: Row) -> None:
    found = row.run(voters(), keys=ANES_KEYS, identification_levels={"PID": 1, "educ": 1, "age5": 2, "vote": 2})
    assert {cell.variables for cell in found.table} == {
        ("PID", "educ"), ("PID", "age5"), ("PID", "vote"), ("educ", "age5"), ("educ", "vote")
    }  # fmt: skip


@TRY("`modRisk(obj, method, weights, formulaM)`")
def _(row: Row) -> None:
    case = next(one for one in golden("population")["tau_textbook"] if one["interactions"] == 1)
    keys = case["keys"].split()
    found = row.run(survey(), keys=keys, weight="weight", formula=" + ".join(keys))
    slip = dict(zip(("tau1", "tau2"), case["mu_for_lambda"], strict=True))  # with modRisk's scale, from R
    for name, theirs in slip.items():
        row.differ(getattr(found, name), theirs, expected=case[name])


@TRY('`modRisk(..., method="CE")`, `"PML"`, `"weightedLLM"`: expected counts of the cells')
def _(row: Row) -> None:
    case = reference_case("modRisk_testdata2_3")
    keys = ["sex", "water", "roof"]
    for name, method in (("CE", "ce"), ("PML", "pml"), ("weightedLLM", "weighted")):
        given = {"keys": keys, "weight": "sampling_weight", "method": method, "linear": keys}
        ours = row.run(their_file("testdata2.csv"), **given)["expected_records"].to_numpy()
        theirs = np.array(case["expected"][name]["fitted_first50"])
        nearest = theirs[np.abs(theirs[None, :] / ours[:, None] - 1).argmin(1)]
        occurring = np.abs(nearest / ours - 1) < 1e-3  # theirs are the first 50 possible cells
        assert occurring.sum() > 20
        row.equal(ours[occurring], nearest[occurring], rel=1e-6)


@TRY("`modRisk(..., bound)`: the cells that `gr1`, `gr2` are means over")
def _(row: Row) -> None:
    expected = reference_case("modRisk_testdata_5")["expected"]
    keys = ["urbrur", "roof", "walls", "relat", "sex"]
    for bound, name in ((1, "default_bound1"), (5, "default_bound5")):
        found = row.run(their_file("testdata.csv"), keys=keys, weight="sampling_weight", bound=bound)
        row.equal(found, expected[name]["n_cells_in_denominator"])


@TRY("`dRisk(obj, xm, k=0.05)`")
def _(row: Row) -> None:
    case = reference_case("numeric_risk_utility_testdata_mdav3")
    names = case["arguments"]["variables"]
    masked = their_file("testdata_num_mdav3.csv")
    row.equal(row.run(their_file(), masked, numeric=names).rate, case["expected"]["dRisk_k0.05"])


@TRY("`dRiskRMD(obj, xm, k, k2)`")
def _(row: Row) -> None:
    case, (known, masked) = golden("interval_risk_star98"), schools()
    covariance = np.array(case["covariance"]).reshape(8, 8)
    found = row.run(known, masked, numeric=STAR, center=np.zeros(8), covariance=covariance)
    row.equal(found.rate, case["robust"]["rate"])
    ours = row.run(known, masked, numeric=STAR, seed=1)  # with the robust centre (difference 20)
    row.equal(ours.rate, case["robust"]["rate"], within=0.03)


@TRY("`recordLinkage(x, y, vars, distance, weights)`")
def _(row: Row) -> None:
    case, (known, masked) = reference_case("recordLinkage_200"), (
        their_file("reclink_orig200.csv"), their_file("reclink_masked200.csv")
    )  # fmt: skip
    names = case["arguments"]["vars_numeric"]
    found = row.run(known, masked, variables=names, numeric=names, weights=None, id="id")
    expected = case["expected"]["gower_numeric"]
    row.equal(found.correct_links, expected["correct_matches"])


# --- protection ----------------------------------------------------------------------------------------


def codes_of(data: pl.DataFrame, column: str) -> list[int]:
    """The place of each record's band, from 1."""
    return (data[column].to_physical() + 1).to_list()


def compare_bands(row: Row, column: str, name: str, **given: object) -> None:
    expected = reference_case("globalRecode_testdata")["expected"][name]
    codes = codes_of(row.run(their_file(), column=column, **given).data, column)
    row.equal(codes[:50], expected["codes_first50"])
    row.equal([codes.count(i + 1) for i in range(len(expected["levels"]))], list(expected["counts"].values()))


@TRY("`globalRecode(obj, column, breaks, labels)` with a vector of edges")
def _(row: Row) -> None:
    edges = [-1, 9, 19, 29, 39, 49, 59, 69, 100]
    compare_bands(row, "age", "breaks_vec", bands=edges, labels=[f"band {i}" for i in range(8)])


@TRY('`globalRecode(..., breaks=5, method="equidistant")`')
def _(row: Row) -> None:
    compare_bands(row, "age", "breaks_5")
    compare_bands(row, "income", "equidistant_income_6", bands=6)


@TRY('`globalRecode(..., breaks=4, method="logEqui")` of whole numbers')
def _(row: Row) -> None:
    compare_bands(row, "income", "logEqui_income_4")


@TRY("the same of a number with decimals: edges are rounded to whole ones, a factor e wider at either end")
def _(row: Row) -> None:
    values = [1.5, 4.25, 20.5, 90.75, 499.5, 500.5]
    spread = np.linspace(np.log(values[0]) - 1, np.log(values[-1]) + 1, 5)
    theirs = np.round(np.exp(spread))[1:-1]  # by sdcMicro's rule, which the case of whole numbers confirms
    bands = sdc.recode(pl.DataFrame({"x": values}), column="x", bands=4, how="log", closed="right").change
    edges = [float(label.rstrip("]").split(" ")[-1]) for label in bands.parameters["bands"][:-1]]
    row.differ(edges, theirs, expected=np.round(np.exp(np.linspace(np.log(1.5), np.log(500.5), 5)), 2)[1:-1])


@TRY('`globalRecode(..., breaks=4, method="equalAmount")`')
def _(row: Row) -> None:
    compare_bands(row, "age", "equalAmount_4")


@TRY("`groupAndRename(obj, var, before, after)`")
def _(row: Row) -> None:
    frame = pl.DataFrame({"job": ["a", "b", "c", None]})
    assert row.run(frame, column="job", groups={"ab": ["a", "b"]}).data["job"].to_list() == ["ab", "ab", "c", None]
    added = row.run(frame, column="job", groups={"ab": ["a", "b", None]}).data["job"].to_list()
    assert added == ["ab", "ab", "c", "ab"]


@TRY("`topBotCoding(obj, value, replacement, kind, column)`")
def _(row: Row) -> None:
    case = reference_case("topBotCoding_testdata")
    given, expected = case["arguments"], case["expected"]
    top = row.run(their_file(), column="income", top=given["top_value"], bottom=None, to=given["top_replacement"])
    row.equal([top.change.n_changed, top.data["income"].sum()], [expected["top"]["n_changed"], expected["top"]["sum"]])
    bottom = row.run(their_file(), column="income", top=None, bottom=given["bottom_value"], to="limit")
    row.equal(bottom.data["income"].sum(), expected["bottom"]["sum"])


@TRY("`localSuppression`, `kAnon(obj, k, importance, combs)`")
def _(row: Row) -> None:
    theirs = next(one for one in golden("local_suppression")["files"]["anes96"]["runs"] if one["k"] == 3)
    change = row.run(voters(), keys=ANES_KEYS, importance=None).change
    row.differ(change.n_changed, theirs["total"], expected=126)
    row.run(voters(), call=1, keys=ANES_KEYS, combinations={2: 5, 3: 3})


@TRY("`localSupp(obj, threshold, keyVar)`")
def _(row: Row) -> None:
    case, frame = reference_case("localSupp_threshold_francdat"), their_file("francdat.csv")
    keys = case["arguments"]["keyVars"]
    with quiet():
        risk = row.run(frame, call=1, keys=keys, weight="w", method="approx")
        given = {"threshold": case["arguments"]["threshold"], "columns": case["arguments"]["keyVar"]}
        safe = row.run(frame, risk=risk, **given).data
    row.equal(
        safe["Key1"].fill_null(-1).to_list(), [-1 if one is None else one for one in case["expected"]["Key1_after"]]
    )


@TRY("`pram(obj, variables, strata_variables, pd, alpha)`")
def _(row: Row) -> None:
    case = reference_case("pram_invariant_matrix")
    given, levels = case["arguments"], case["arguments"]["levels"]
    stay = {given["variable"]: dict(zip(levels, given["pds"], strict=True))}
    change = row.run(file_as_text("roof"), columns=["roof"], strata=None, pd=stay, alpha=given["alpha"]).change
    (matrix,) = change.secret["matrix"]["roof"]
    row.equal([[matrix[a][b] for b in levels] for a in levels], case["expected"]["Rs"], within=1e-12)
    own = {"f": {"f": 0.9, "m": 0.1}, "m": {"f": 0.1, "m": 0.9}}
    row.run(TEXT, call=1, columns=["sex"], matrix={"sex": own}, seed=1)


def file_as_text(column: str) -> pl.DataFrame:
    return their_file().select(pl.col(column).cast(pl.Int64).cast(pl.String))


@TRY("`microaggregation(obj, variables, aggr, strata_variables, method, measure)`")
def _(row: Row) -> None:
    case = golden("microaggregation")["cases"]["mdav_anes96_k3"]
    base = pl.from_pandas(file("anes96")).with_row_index("i")
    frame = base.select((pl.col(name) + pl.col("i") * p % 947 / 947).alias(f"u_{name}") for name, p in PRIMES.items())
    safe = row.run(frame, columns=case["columns"], strata=None).data
    names = case["columns"]
    row.equal(sum((((frame[name] - safe[name]) / frame[name].std()) ** 2).sum() for name in names), case["sse"])
    row.run(frame, columns=case["columns"], strata=None, how="individual_ranking")


@TRY("`addNoise(obj, variables, noise, method)`")
def _(row: Row) -> None:
    case = reference_case("addNoise_testdata_distribution")["expected"]["additive"]
    place, frame = case["columns"].index("sd_ratio_income"), their_file()
    safe = row.run(frame, columns=["income"], noise=50.0, seed=1).data
    ratio = safe["income"].std() / frame["income"].std()
    row.equal(ratio, case["mean"][place], within=4.5 * case["sd"][place])
    row.run(frame, columns=["income", "expend"], how="outlier", seed=1)


@TRY("`rankSwap(obj, variables, P, R0, K0, TopPercent, BottomPercent)`")
def _(row: Row) -> None:
    case = reference_case("rankSwap_testdata_distribution")["expected"]
    theirs, frame = case["mean"][case["columns"].index("max_rank_shift_expend")], their_file()
    safe = row.run(frame, columns=["expend"], p=15, seed=1).data
    ranks = [data["expend"].rank("average").to_numpy() for data in (frame, safe)]
    shift = np.abs(ranks[0] - ranks[1]).max()
    assert shift <= 0.15 * len(frame) < theirs  # P = 15 means the whole file there
    row.differ(shift, theirs, expected=0.15 * len(frame), rel=0.02)
    sdc.rank_swap(frame, columns=["expend"], r0=0.95, seed=1)


@TRY("`shuffle(obj, form)`")
def _(row: Row) -> None:
    safe = row.run(survey(), columns=["affairs"], given=["age", "yrs_married"], seed=1).data
    assert safe["affairs"].sort().to_list() == survey()["affairs"].sort().to_list()


@TRY("`recordSwap(data, hid, hierarchy, similar, swaprate, k_anonymity, risk_variables, carry_along)`")
def _(row: Row) -> None:
    frame = voters().with_columns(county=pl.col("household") % 10, size=pl.lit(2), place=pl.col("household") % 10)
    given = {"similar": [["size"]], "keys": ["age5", "vote"], "carry_along": ["place"], "seed": 1}
    safe = row.run(frame, household="household", hierarchy=["county"], **given).data
    assert (safe["county"] != frame["county"]).any()
    assert (safe["county"] == safe["place"]).all()


@TRY("`createNewID(obj, newID, withinVar)`")
def _(row: Row) -> None:
    safe = row.run(voters(), column="household", household=None, key=bytes(16)).data
    assert safe["household"].n_unique() == voters()["household"].n_unique()


@TRY("`selectHouseholdData`, `mergeHouseholdData`")
def _(row: Row) -> None:
    Path("people.csv").write_text("home,age\n1,30\n1,31\n2,70\n", encoding="utf-8")
    Path("homes.csv").write_text("home,rooms\n1,4\n2,1\n", encoding="utf-8")
    joined = row.run(path="people.csv", join="homes.csv", join_key="home")
    assert joined["rooms"].to_list() == [4, 4, 1]


# --- utility -------------------------------------------------------------------------------------------


@TRY('`dUtility(obj, xm, method="IL1")`, `"IL1s"`')
def _(row: Row) -> None:
    expected = golden("information_loss_star98")["figures"]
    known, masked = schools()
    row.equal(row.run(known, masked, numeric=STAR), expected["il1"])
    found = sdc.information_loss(known, masked, numeric=STAR, robust=False)
    row.equal([found.il1s, found.il1s_mean], [expected["il1s"], expected["il1s_mean"]])
    row.equal(found.il1_mean, expected["il1"] / (known != 0).sum().sum())


@TRY('`dUtility(..., method="eigen")`, `"robeigen"`')
def _(row: Row) -> None:
    known, masked = schools()
    row.equal(
        row.run(known, masked, numeric=STAR, robust=False), golden("information_loss_star98")["figures"]["eigenvalues"]
    )
    assert sdc.information_loss(known, masked, numeric=STAR, seed=1).robust_eigenvalues > 0


@TRY("`IL_correl(x, xm)`, `IL_variables(x, xm)`")
def _(row: Row) -> None:
    expected, (known, masked) = golden("information_loss_star98")["figures"], schools()
    row.equal(row.run(known, masked, numeric=STAR, categorical=[], ordered=[], robust=False), expected["il_correl"])
    found = sdc.information_loss(known, masked, numeric=STAR, robust=False)
    row.equal(found.il_variables, expected["il_variables"])


# --- outputs -------------------------------------------------------------------------------------------


@TRY("`fk`, `Fk`")
def _(row: Row) -> None:
    expected = golden("freq_risk_anes96")["alphas"]["1"]
    records = sdc.key_frequencies(voters(), **ANES).records
    for ours in ("sample_frequency", "population_frequency"):
        compare(row, row.get(records, ours), expected[ours])


@TRY('`rk`, `Res[, "risk"]`, `Res[, "hier_risk"]`')
def _(row: Row) -> None:
    case = golden("freq_risk_anes96")
    risk, household = row.get(risk_of_voters().records, "risk", "household_risk")
    compare(row, risk, case["alphas"]["1"]["risk_approx"])
    compare(row, household, case["household_risk"])


@TRY("`global_risk_ER`, `global_risk`, `global_risk_pct`")
def _(row: Row) -> None:
    expected = golden("freq_risk_anes96")["figures"]
    for name in ("expected_reidentifications", "global_risk"):
        row.equal(row.get(risk_of_voters(), name), expected[name])


@TRY("`hier_risk_ER`, `hier_risk`")
def _(row: Row) -> None:
    expected = golden("freq_risk_anes96")["figures"]
    for name in ("expected_household_reidentifications", "household_risk"):
        row.equal(row.get(risk_of_voters(), name), expected[name])


@TRY("`global_threshold`")
def _(row: Row) -> None:
    case = reference_case("risk_threshold_testdata")
    given = {"keys": case["arguments"]["keyVars"], "weight": case["arguments"]["w"], "method": "approx"}
    found = sdc.individual_risk(their_file(), **given)
    theirs = case["expected"]["thresholds"][0]
    row.equal(found.threshold_for(global_risk=theirs["max_global_risk"]), theirs["global_threshold"])
    assert np.isnan(found.threshold_for(global_risk=1e-12))


@TRY("the variable's name and `_Distinct_Ldiversity`, `_Entropy_Ldiversity`, `_Recursive_Ldiversity`")
def _(row: Row) -> None:
    case = golden("ldiversity_anes96")
    records = sdc.l_diversity(voters(), keys=case["keys"], sensitive=case["sensitive"], c=2.0).records
    for kind in ("distinct_", "entropy_", "recursive_"):
        row.read.add(kind)
        compare(row, records[f"{kind}income"], case[kind.rstrip("_")])


@TRY("`score`, `disScore`")
def _(row: Row) -> None:
    expected = golden("suda2_anes96_4keys")["scoring"]["elliot"]
    score, dis, *_ = row.get(
        sdc.suda(voters(), keys=ANES_KEYS).records, "suda_score", "dis_score", "n_msu", "smallest_msu"
    )
    compare(row, score, expected["score"])
    row.equal(dis.sum(), expected["dis_score"]["0.01"]["sdcMicro"]["sum"], rel=1e-6)


@TRY("`attribute_contributions`")
def _(row: Row) -> None:
    found = row.get(sdc.suda(voters(), keys=ANES_KEYS), "contributions")
    expected = golden("suda2_anes96_4keys")["scoring"]["elliot"]["contributions_percent"]
    row.equal({key: 100 * share for key, share in found.items()}, expected)


@TRY("`gr1`, `gr2` of `modRisk`")
def _(row: Row) -> None:
    case = next(one for one in golden("population")["tau_textbook"] if one["interactions"] == 1)
    result = sdc.population_risk(survey(), keys=case["keys"].split(), weight="weight")
    *found, first, second = row.get(result, "tau1", "tau2", "tau1_per_cell", "tau2_per_cell")
    assert [first * result.n_cells, second * result.n_cells] == pytest.approx(found)
    row.differ(found, case["mu_for_lambda"], expected=[case["tau1"], case["tau2"]])


@TRY("`unsafe_cells`")
def _(row: Row) -> None:
    case = golden("risky_cells_anes96")
    threshold = {int(d): limit for d, limit in case["threshold"].items()}
    found = sdc.risky_cells(voters(), keys=ANES_KEYS, max_dim=3, threshold=threshold)
    by_dimension, _ = row.get(found, "unsafe_cells", "table")
    expected = {d: sum(c["unsafe"] for c in case["table"] if len(c["variables"]) == d) for d in (1, 2, 3)}
    row.equal(by_dimension, expected)


@TRY("`correct_matches`, `correct_match_rate`")
def _(row: Row) -> None:
    case = reference_case("recordLinkage_200")
    names, files = (
        case["arguments"]["vars_numeric"],
        [their_file(f"reclink_{one}200.csv") for one in ("orig", "masked")],
    )
    found = sdc.record_linkage(*files, variables=names, numeric=names, method="assignment", id="id")
    links, rate, baseline = row.get(found, "correct_links", "rate", "baseline")
    theirs = case["expected"]["gower_numeric"]
    row.equal([links, rate], [theirs["correct_matches"], theirs["correct_match_rate"]])
    assert baseline == 1 / 200


# --- what is refused -----------------------------------------------------------------------------------


@TRY("`globalRecode(obj, breaks)` where a value lies outside the edges: it becomes missing")
def _(row: Row) -> None:
    ages = pl.DataFrame({"age": [5, 30, 70]})
    row.refused(ages, column="age", bands=[0, 18, 65])
    assert row.run(ages, call=1, column="age", bands=[0, 18, 65]).data["age"].null_count() == 1


@TRY("`groupAndRename` leaves levels alone that are not named")
def _(row: Row) -> None:
    row.refused(pl.DataFrame({"job": ["a", "b", "c"]}), column="job", groups={"ab": ["a", "b"]})


@TRY("`topBotCoding(obj, value=500000, replacement=1000)`, an example of its help page")
def _(row: Row) -> None:
    row.refused(pl.DataFrame({"income": [900.0, 400_000.0, 600_000.0]}), column="income")


@TRY('`addNoise(method="restr")`')
def _(row: Row) -> None:
    row.refused(survey(), columns=["affairs"])


@TRY("`kAnon(obj)` without `k`: 2")
def _(row: Row) -> None:
    row.refused(voters(), keys=ANES_KEYS)


@TRY("`kAnon_violations(obj, k=1)`: 0")
def _(row: Row) -> None:
    row.refused(voters(), keys=ANES_KEYS)

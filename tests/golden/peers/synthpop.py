"""What is tried of the rows of `coming-from/synthpop.md`; figures of synthpop 1.9-3, on its authors' files 1.9-2."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import sdckit as sdc
from golden.peers.files import golden, reference_case, releases, survey, their_file
from golden.peers.rows import Row, Trials

TRY = Trials()
CASE = "k6_a4"
SMALL = ["age", "educ", "children"]
IDENTITY = {"UiO": "unique_in_original", "UiS": "unique_in_released", "UiOiS": "unique_in_original_in_released",
            "repU": "replicated_uniques"}  # fmt: skip
LEARNT = {"Dorig": "disclosive_in_original", "Dsyn": "disclosive_in_released", "iS": "keys_in_released",
          "DiS": "disclosed", "DiSCO": "correctly_disclosed", "DiSDiO": "disclosed_and_disclosive"}  # fmt: skip
CAPS = {"baseCAPd": "baseline", "CAPd": "original_average", "CAPs": "released_average", "DCAP": "average"}


def few() -> pl.DataFrame:
    return survey().select(SMALL)[::20]


def disclosure() -> dict[str, Any]:
    return golden("disclosure_fair")["cases"][CASE]


def means(case: dict, names: dict[str, str]) -> list[float]:
    """What our mean over releases must be, of synthpop's percentages by release."""
    return [np.mean(case[theirs]) / 100 for theirs in names]


@cache
def learnt() -> sdc.AttributeDisclosure:
    return sdc.attribute_disclosure(survey(), releases(), keys=disclosure()["keys"], target="a4")


@cache
def recognised() -> sdc.IdentityDisclosure:
    return sdc.identity_disclosure(survey(), releases(), keys=disclosure()["keys"])


def of_acs(name: str) -> tuple[dict, list[pl.DataFrame]]:
    """A case on the authors' census file, with original and release."""
    case = reference_case(name)
    return case, [their_file(part) for part in case["data"].replace(",", "").split() if part.endswith(".csv")][:2]


# --- making --------------------------------------------------------------------------------------------


@TRY("`syn(data, m=, k=, proper=, seed=)`")
def _(row: Row) -> None:
    made = row.run(few(), n=50, models="normal", seed=1).data
    assert [len(one) for one in made] == [50, 50, 50]


@TRY("`syn(visit.sequence=)`")
def _(row: Row) -> None:
    change = row.run(few(), order=["educ", "age", "children"], seed=1).change
    assert list(change.parameters["order"]) == ["educ", "age", "children"]


@TRY("`syn(predictor.matrix=)`")
def _(row: Row) -> None:
    assert row.run(few(), predictors={"age": ["educ"]}, seed=1).data.columns == SMALL


@TRY('`syn(method=)`, `method = ""`')
def _(row: Row) -> None:
    made = row.run(few(), models={"educ": "normal"}, columns=["educ"], seed=1).data
    assert made["age"].equals(few()["age"])  # not synthesised, as with an empty method


def synthesised(model: Any, **given: Any) -> pl.DataFrame:
    frame = few().with_columns(group=pl.col("educ") > 14).with_columns(pl.col("group").cast(pl.String))
    return sdc.synthesize(frame, models=model, seed=1, **given).data


@TRY('`"cart"`')
def _(row: Row) -> None:
    assert synthesised("cart").equals(synthesised(None))


@TRY('`"norm"`, `"logreg"`, `"polyreg"`, `"sample"`')
def _(row: Row) -> None:
    for column, model in (("age", "normal"), ("group", "logistic"), ("group", "multinomial"), ("age", "sample")):
        assert len(synthesised({column: model}, columns=[column])) == len(few())


@TRY('`"satcat"`, `"catall"`')
def _(row: Row) -> None:
    frame = few().select(pl.all().cast(pl.String))
    made = row.run(frame, models="dirichlet_multinomial", seed=1).data
    assert set(made.rows()) <= set(frame.rows())  # counts as they are: no combination that the file lacks


@TRY('`"rf"`, `"bag"`, `"ranger"`')
def _(row: Row) -> None:
    from sklearn.ensemble import RandomForestRegressor

    forest = RandomForestRegressor(n_estimators=5, random_state=1)
    assert len(synthesised({"age": forest}, columns=["age"])) == len(few())


@TRY("`syn(rules=, rvalues=)`")
def _(row: Row) -> None:
    rules = {"children": [{"when": {"age": {"at_most": 22}}, "value": 0.0}]}
    made = row.run(few(), rules=rules, seed=1).data
    assert (made.filter(pl.col("age") <= 22)["children"] == 0).all()


@TRY("`syn(smoothing=)`")
def _(row: Row) -> None:
    frame = survey().select("age", "affairs")[::20]
    assert row.run(frame, seed=1).data["affairs"].n_unique() > 0


@TRY("`syn(cont.na=)`")
def _(row: Row) -> None:
    Path("file.csv").write_text("income\n100\n-8\n", encoding="utf-8")
    assert row.run(path="file.csv", missing=["-8"])["income"].to_list() == [100, None]


@TRY("`syn(models=TRUE)`")
def _(row: Row) -> None:
    secret = row.run(few(), columns=["age"], models={"age": "normal"}, seed=1)
    assert len(secret["draws"]["age"]["coefficients"]) == 100


@TRY("`numtocat.syn(data, numtocat, catgroups)`")
def _(row: Row) -> None:
    assert row.run(survey(), column="yrs_married").data["yrs_married"].n_unique() <= 5


@TRY("`sdc(rm.replicated.uniques=TRUE)`")
def _(row: Row) -> None:
    for case in golden("disclosure_fair")["uniques"].values():
        found = row.run(survey(), releases()[0], keys=case["keys"])
        row.equal(len(found), case["n_removed_replicated"])


@TRY("`sdc(bottom.top.coding=)`")
def _(row: Row) -> None:
    coded = row.run(survey(), column="age", bottom=22, top=37).data["age"]
    assert (coded.min(), coded.max()) == (22, 37)


@TRY("`read.obs`, `write.syn`")
def _(row: Row) -> None:
    row.run(few(), call=1, path="made.csv", labels=None)
    assert row.run(path="made.csv").rows() == few().rows()


# --- judging -------------------------------------------------------------------------------------------


@TRY("`disclosure(object, data, keys, target)`")
def _(row: Row) -> None:
    for case in golden("disclosure_fair")["cases"].values():
        found = row.run(survey(), releases(), keys=case["keys"])
        row.equal([getattr(found, name) for name in IDENTITY.values()], means(case, IDENTITY))
        found = row.run(survey(), releases(), call=1, keys=case["keys"], target=case["target"])
        names = LEARNT | CAPS
        row.equal([getattr(found, name) for name in names.values()], means(case, names))


@TRY("`disclosure(ngroups_target=, ngroups_keys=)`")
def _(row: Row) -> None:
    case = reference_case("disclosure_SD2011_income_grouped")
    given = case["arguments"]
    files = [survey_of_poland(part) for part in ("org", "syn1", "syn2", "syn3")]
    bins = {"income": given["ngroups_target"], "age": given["ngroups_keys"][1]}
    found = row.run(files[0], files[1:], keys=given["keys"], target="income", numeric=["income", "age"], bins=bins)
    expected = case["expected"].get("m3", case["expected"])["attrib"]
    row.equal([getattr(found, name) for name in LEARNT.values()], means(expected, LEARNT))


def survey_of_poland(part: str) -> pl.DataFrame:
    from needs import needs_reference

    return pl.read_csv(needs_reference() / "data" / f"SD2011_{part}.csv", infer_schema_length=None)


def compare_reduced(row: Row, name: str, **given: Any) -> None:
    case, files = of_acs(name)
    arguments = case["arguments"]
    found = row.run(*files, keys=arguments["keys"], target=arguments["target"], **given)
    row.equal([getattr(found, ours) for ours in LEARNT.values()], means(case["expected"]["attrib"], LEARNT))


@TRY("`disclosure(not.targetlev=)`")
def _(row: Row) -> None:
    compare_reduced(row, "disclosure_acs_k5_HICOV_nottargetlev", exclude_levels=[1])


@TRY("`disclosure(usetargetNA=FALSE, usekeysNA=FALSE)`")
def _(row: Row) -> None:
    keys = ["SEX", "RACE", "MAR", "MIG", "SCH"]
    compare_reduced(row, "disclosure_acs_na_usetargetNAFALSE_usekeysNAFALSE", exclude_missing_keys=keys)


@TRY("`disclosure(exclude.keys=, exclude.keylevs=, exclude.targetlevs=)`")
def _(row: Row) -> None:
    pairs = [("children", 0.0, 0)]
    assert row.run(survey(), releases(), keys=SMALL, target="a4", exclude_pairs=pairs).n_counted < len(survey())


@TRY("`disclosure(exclude_ov_denom_lim=TRUE, denom_lim=5)`")
def _(row: Row) -> None:
    compare_reduced(row, "disclosure_acs_k5_HICOV_denomlim5")


@TRY("`multi.disclosure(object, data, keys, targets)`")
def _(row: Row) -> None:
    case, files = of_acs("multi_disclosure_acs_k5")
    expected = case["expected"]["attrib.table"]
    names = [one.split()[1] for one in expected["target"]]
    found = row.run(*files, keys=case["arguments"]["keys"], targets=names)
    row.equal([100 * found.disclosive_in_original[name] for name in names], expected["attrib.orig"])
    row.equal([100 * found.correctly_disclosed[name] for name in names], expected["attrib.syn"])


@TRY("`replicated.uniques(object, data, keys)`")
def _(row: Row) -> None:
    for case in golden("disclosure_fair")["uniques"].values():
        found = row.run(survey(), releases()[0], keys=case["keys"])
        for name in ("original_uniques", "released_uniques", "released_uniques_in_original", "replicated"):
            row.equal(getattr(found, name), case[name])


def model_case() -> dict:
    return next(one for one in golden("propensity_fair")["models"] if (one["types"], one["maxorder"]) == ("factor", 1))


@TRY('`utility.gen(method="logit", maxorder=1, vars=)`')
def _(row: Row) -> None:
    case = model_case()
    found = row.run(survey(), releases()[0], variables=case["vars"], numeric=[])
    row.equal([found.pmse, found.ratio], [case["pMSE"][0], case["S_pMSE"][0]], rel=1e-5)
    row.equal([found.specks, 100 * found.po50, found.u], [case["SPECKS"][0], case["PO50"][0], case["U"][0]], rel=1e-6)


@TRY('`utility.gen(method="cart", resamp.method="perm", nperms=50)`')
def _(row: Row) -> None:
    names = ["age", "yrs_married", "religious", "educ", "affairs"]
    found = row.run(survey(), releases()[0], variables=names, numeric=names, resamples=5)
    assert found.ratio > 10  # the trees are not those of rpart


@TRY("`utility.tab(vars=, ngroups=5)`")
def _(row: Row) -> None:
    case = golden("tables_fair")["cases"]["age_religious_a4"]
    found = row.run(survey(), releases(), variables=case["variables"], numeric=[])
    for theirs, ours in {"pMSE": "pmse", "FT": "ft", "G": "g", "dBhatt": "dbhatt"}.items():
        row.equal(found.statistics[ours][:, 0], case["m3"][theirs])


@TRY('`utility.tables(tables="twoway", nworst=5)`')
def _(row: Row) -> None:
    case = golden("tables_fair")["cases"]["age_a4"]
    found = row.run(survey(), releases(), variables=["age", "a4"], numeric=[])
    row.equal(found["s_pmse"].item(), np.mean(case["m3"]["S_pMSE"]))
    row.run(survey(), releases(), call=1, variables=["age", "a4", "educ"], numeric=[])


@TRY("`compare(synds, data, vars)`")
def _(row: Row) -> None:
    case = golden("tables_fair")["cases"]["a4"]["cells"]
    found = row.run(survey(), releases()[0], variables=["a4"], numeric=[])
    table = found.table("a4")
    row.equal(table["original"], case["original"])
    row.equal(table["released"], case["released"])
    found.plot()


def linear() -> dict:
    return golden("models_fair")["cases"]["linear_m3"]


@TRY("`lm.synds`, `glm.synds`, `multinom.synds` and `compare`")
def _(row: Row) -> None:
    for name, family in (("linear_m3", "linear"), ("logistic_m1", "logistic")):
        case = golden("models_fair")["cases"][name]
        files = releases()[: case["m"]]
        found = row.run(survey(), files, formula=case["formula"], family=family)
        row.equal(found.table["estimate_released"], np.mean(case["releases"]["estimate"], axis=0), rel=1e-6)
        row.equal(found.lack_of_fit, case["lack_of_fit"], rel=1e-5)
    row.run(survey(), releases()[0], formula="children ~ age", family="poisson")
    row.run(survey(), releases()[0], formula="a4 ~ age", family="multinomial")


@TRY("`summary(fit)`")
def _(row: Row) -> None:
    found = row.run(survey(), releases(), formula=linear()["formula"])
    row.equal(found.table["std_error_released"], linear()["std_error"]["observed"], rel=1e-6)


@TRY("`summary(fit, population.inference=TRUE)`")
def _(row: Row) -> None:
    kinds = {"simple": "simple", "proper": "proper", "partial": "incomplete"}
    for ours, theirs in kinds.items():
        found = row.run(survey(), releases(), formula=linear()["formula"], kind=ours)
        row.equal(found.table["std_error_released"], linear()["std_error"][theirs], rel=1e-6)
    estimates, variances = linear()["releases"]["estimate"], linear()["releases"]["variance"]
    found = row.run(estimates, variances, call=1, n=len(survey()), n_synthetic=len(survey()))
    row.equal(np.sqrt(list(found.variance.values())), linear()["std_error"]["simple"])


# --- outputs -------------------------------------------------------------------------------------------


@TRY("UiO, UiS, UiOiS, repU")
def _(row: Row) -> None:
    row.equal(row.get(recognised(), *IDENTITY.values()), means(disclosure(), IDENTITY))


@TRY("Dorig, Dsyn, iS, DiS, DiSCO, DiSDiO")
def _(row: Row) -> None:
    row.equal(row.get(learnt(), *LEARNT.values()), means(disclosure(), LEARNT))


@TRY("max_denom, mean_denom")
def _(row: Row) -> None:
    for name, theirs in (("largest_disclosed_cell", "max_denom"), ("mean_disclosed_cell", "mean_denom")):
        row.get(learnt(), name)
        row.equal([one[name] for one in learnt().per_release], disclosure()[theirs])


@TRY("baseCAPd, CAPd, CAPs, DCAP")
def _(row: Row) -> None:
    row.equal(row.get(learnt(), *CAPS.values()), means(disclosure(), CAPS))


@TRY("TCAP")
def _(row: Row) -> None:
    theirs, ours = row.get(learnt(), "tcap_of_keys_in_released", "tcap_of_disclosed")
    row.equal(theirs, np.mean(disclosure()["TCAP"]) / 100)
    ratios = [right / all_of for right, all_of in zip(disclosure()["DiSCO"], disclosure()["DiS"], strict=True)]
    row.equal(ours, np.mean(ratios))


@TRY("check_1way, check_2way")
def _(row: Row) -> None:
    case, files = of_acs("disclosure_acs_k5_HICOV")
    found = sdc.attribute_disclosure(*files, keys=case["arguments"]["keys"], target=case["arguments"]["target"])
    flagged = [check for check in row.get(found, "checks") if check.key]
    said = case["expected"].get("m1", case["expected"])["check2"]
    row.equal(len(flagged), int(said.split()[0]) if said else 0)


@TRY("Nexclusions")
def _(row: Row) -> None:
    case, files = of_acs("disclosure_acs_k5_HICOV_nottargetlev")
    given = {name: case["arguments"][name] for name in ("keys", "target")}
    excluded, counted = row.get(sdc.attribute_disclosure(*files, **given, exclude_levels=[1]), "excluded", "n_counted")
    theirs = case["expected"]["Nexclusions"]
    row.equal([excluded["level of the target"], counted], [theirs["excluded target"][0], theirs["remaining"][0]])


@TRY("pMSE, S_pMSE, PO50, SPECKS, U")
def _(row: Row) -> None:
    case = model_case()
    found = sdc.propensity(survey(), releases()[0], variables=case["vars"], numeric=[], interactions=2)
    pmse, ratio, po50, specks, u, _ = row.get(found, "pmse", "ratio", "po50", "specks", "u", "auc")
    row.equal([pmse, ratio], [case["pMSE"][0], case["S_pMSE"][0]], rel=1e-5)
    row.equal([100 * po50, specks, u], [case["PO50"][0], case["SPECKS"][0], case["U"][0]], rel=1e-6)


@TRY("VW, FT, JSD, G, WMabsDD, MabsDD, dBhatt and the S_ columns")
def _(row: Row) -> None:
    case = golden("tables_fair")["cases"]["age_a4"]
    found = sdc.tabular_utility(survey(), releases(), variables=["age", "a4"], ways=2, numeric=[]).worst(1)
    for theirs in ("VW", "FT", "JSD", "G", "WMabsDD", "MabsDD", "dBhatt", "S_VW", "S_FT", "S_G", "S_WMabsDD", "S_pMSE"):
        row.equal(found[theirs.lower()].item(), np.mean(case["m3"][theirs]))


@TRY("S_JSD")
def _(row: Row) -> None:
    found = sdc.tabular_utility(survey(), releases()[0], variables=["age", "a4"], ways=2, numeric=[]).worst(1)
    row.differ(row.get(found, "s_jsd").item(), 8.4927, expected=8.1607, rel=1e-4)


@TRY("xpct(Beta), Beta.syn and their standard errors")
def _(row: Row) -> None:
    found = sdc.compare_models(survey(), releases(), formula=linear()["formula"])
    estimate, error = row.get(row.get(found, "table"), "estimate_released", "std_error_released")
    row.equal(estimate, np.mean(linear()["releases"]["estimate"], axis=0), rel=1e-6)
    row.equal(error, linear()["std_error"]["observed"], rel=1e-6)


@TRY("ci_overlap, mean_ci_overlap, mean_abs_std_diff")
def _(row: Row) -> None:
    found = sdc.compare_models(survey(), releases(), formula=linear()["formula"])
    overlap, difference = row.get(found, "mean_overlap", "mean_standardised_difference")
    overlaps = row.get(row.get(found, "table"), "overlap")
    theirs = np.mean(linear()["overlap_with_the_originals_error"])
    row.differ(overlap, theirs, expected=np.mean(overlaps.to_list()))
    assert abs(difference - linear()["mean_standardised_difference"]) < 1e-6


@TRY("lack_of_fit, lof_pvalue")
def _(row: Row) -> None:
    found = sdc.compare_models(survey(), releases(), formula=linear()["formula"])
    fit, p = row.get(found, "lack_of_fit", "lack_of_fit_p_value")
    row.equal([fit, p], [linear()["lack_of_fit"], linear()["lack_of_fit_p_value"]], rel=1e-5)


# --- what is refused -----------------------------------------------------------------------------------


@TRY("`glm.synds` where a term tells the outcome perfectly: R warns and gives its last step")
def _(row: Row) -> None:
    frame = pl.DataFrame({"y": [0, 0, 0, 1, 1, 1], "x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]})
    row.refused(frame, frame, formula="y ~ x")

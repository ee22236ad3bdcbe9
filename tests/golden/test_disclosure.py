"""Uniques, CAP and attribute disclosure against synthpop: on files that anybody can rebuild, and on its authors' files.

Where sdckit deliberately differs from synthpop 1.9, and what is compared instead:

- Shares are 0 to 1 there percentages; several releases give their mean, and one row each in `by_release`.
- Exclusions (level of the target, missing values, large cells) change synthpop's identity measures as well; here
  they are always of all records. The identity measures of the cases with exclusions are not compared.
- TCAP: synthpop divides by the original records whose key is released (`tcap_of_keys_in_released`). The one of Taub
  and Elliot divides by those in a class with one level (`tcap_of_disclosed`, and CAP's `tcap`).
- synthpop's `CAPs` is the release about itself (`released_average`); it is no part of CAP here.
- multi.disclosure sorts by DiSCO ascending, for its plot; here the most disclosed target is first.
- replicated.uniques of 1.9-2 divides by the size of the release, 1.9-3 and sdckit by that of the original: the
  reference files have equal sizes.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import polars as pl
import pytest

from golden.rebuild import rebuild
from sdckit import (
    attribute_disclosure,
    attribute_disclosure_table,
    cap,
    correct_attribution_probability,
    identity_disclosure,
    replicated_uniques,
)

PORTABLE = json.loads((Path(__file__).parent / "portable" / "disclosure_fair.json").read_text(encoding="utf-8"))
CASES, UNIQUES = PORTABLE["cases"], PORTABLE["uniques"]
IDENTITY = {
    "UiO": "unique_in_original",
    "UiS": "unique_in_released",
    "UiOiS": "unique_in_original_in_released",
    "repU": "replicated_uniques",
}
PERCENT = {
    "Dorig": "disclosive_in_original",
    "Dsyn": "disclosive_in_released",
    "iS": "keys_in_released",
    "DiS": "disclosed",
    "DiSCO": "correctly_disclosed",
    "DiSDiO": "disclosed_and_disclosive",
    "baseCAPd": "baseline",
    "CAPd": "original_average",
    "CAPs": "released_average",
    "DCAP": "average",
    "TCAP": "tcap_of_keys_in_released",
}
CELLS = {"max_denom": "largest_disclosed_cell", "mean_denom": "mean_disclosed_cell"}
# the figures that attribute_disclosure and CAP have in common
COMMON = ("average", "original_average", "baseline")


def listed(values):
    return values if isinstance(values, list) else [values]


def agree(result, names, expected, scale=100):
    for theirs, ours in names.items():
        found = [scale * one[ours] for one in result.per_release]
        assert found == pytest.approx(listed(expected[theirs]), rel=1e-10, abs=1e-12), theirs


@cache
def fair(name):
    return pl.from_pandas(rebuild(name))


def files(m):
    original, *releases = (fair(name) for name in PORTABLE["data"])
    return original, releases[:m]


@pytest.mark.parametrize("name", CASES)
def test_portable_disclosure(name):
    case = CASES[name]
    original, releases = files(3)
    result = attribute_disclosure(original, releases, keys=case["keys"], target=case["target"])
    agree(result, PERCENT, case)
    agree(result, CELLS, case, scale=1)
    guessed = correct_attribution_probability(original, releases, keys=case["keys"], target=case["target"])
    agree(guessed, {"DCAP": "average", "CAPd": "original_average", "baseCAPd": "baseline"}, case)
    agree(identity_disclosure(original, releases, keys=case["keys"]), IDENTITY, case)


@pytest.mark.parametrize("name", UNIQUES)
def test_portable_uniques(name):
    case = UNIQUES[name]
    original, releases = files(1)
    result = replicated_uniques(original, releases, keys=case["keys"])
    for figure in ("original_uniques", "released_uniques", "released_uniques_in_original", "replicated"):
        assert getattr(result, figure) == case[figure]
    assert len(result.released_rows()) == case["n_removed_replicated"]
    assert len(result.released_rows(replicated_only=False)) == case["n_removed_unique"]


# --- on the authors' own files ------------------------------------------------------------------------

FILES = {
    "ACS_org.csv": ["ACS_syn.csv", "ACS_syn2.csv", "ACS_syn3.csv"],
    "ACS_org_na.csv": ["ACS_syn_na.csv"],
    "SD2011_org.csv": ["SD2011_syn1.csv", "SD2011_syn2.csv", "SD2011_syn3.csv"],
}
WHOLE = [
    "acs_k3_DIS", "acs_k3_HICOV", "acs_k5_DIS", "acs_k5_HICOV", "acs_k7_DIS", "SD2011_3keys_depress",
    "SD2011_3keys_ls", "acs_na_usetargetNATRUE_usekeysNATRUE",
]  # fmt: skip
REDUCED = {
    "acs_k5_HICOV_denomlim5": {"max_cell": 5},
    "acs_k5_HICOV_nottargetlev": {"exclude_levels": [1]},
    "acs_na_usetargetNAFALSE_usekeysNAFALSE": {"exclude_missing_target": True, "exclude_missing_keys": True},
    "acs_na_usetargetNAFALSE_usekeysNATRUE": {"exclude_missing_target": True},
    "acs_na_usetargetNATRUE_usekeysNAFALSE": {"exclude_missing_keys": True},
}
REASONS = {
    "excluded target": "level of the target",
    "missing target": "missing target",
    "missing in  keys": "missing key",
    "over denom_lim": "large cell",
}


@cache
def read(path):
    return pl.read_csv(path, infer_schema_length=None)


def opened(folder, name):
    case = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    original = case["data"].split()[0]
    releases = [read(folder / "data" / one) for one in FILES[original]]
    expected = case["expected"]
    by_m = {1: expected.get("m1"), 3: expected.get("m3")} if "m1" in expected else {}
    if not by_m:
        by_m[len(listed(expected.get("ident", {}).get("UiO", 0)))] = expected
    return case["arguments"], read(folder / "data" / original), releases, by_m


def n_flagged(checks, *, pairs):
    return sum(bool(one.key) == pairs and one.release == 1 for one in checks)


def agree_on_checks(result, expected):
    assert n_flagged(result.checks, pairs=False) == bool(expected["check1"])
    said = [one for one in result.checks if not one.key and one.release == 1]
    assert all(expected["check1"].endswith(f"level  {one.target_level}") for one in said)
    number = int(expected["check2"].split()[0]) if expected["check2"] else 0
    assert n_flagged(result.checks, pairs=True) == number


@pytest.mark.parametrize("name", WHOLE)
def test_disclosure(reference, name):
    arguments, original, releases, by_m = opened(reference, f"disclosure_{name}")
    for m, expected in by_m.items():
        result = attribute_disclosure(original, releases[:m], keys=arguments["keys"], target=arguments["target"])
        figures = {**expected["attrib"], **expected["allCAPs"]}
        agree(result, PERCENT, figures)
        agree(result, CELLS, figures, scale=1)
        if "check1" in expected:
            agree_on_checks(result, expected)
        agree(identity_disclosure(original, releases[:m], keys=arguments["keys"]), IDENTITY, expected["ident"])


@pytest.mark.parametrize("name", REDUCED)
def test_disclosure_with_exclusions(reference, name):
    arguments, original, releases, by_m = opened(reference, f"disclosure_{name}")
    given = dict(REDUCED[name])
    if given.get("exclude_missing_keys"):
        given["exclude_missing_keys"] = arguments["keys"]
    expected = by_m[1]
    result = attribute_disclosure(original, releases[0], keys=arguments["keys"], target=arguments["target"], **given)
    figures = {**expected["attrib"], **expected["allCAPs"]}
    agree(result, PERCENT, figures)
    agree(result, CELLS, figures, scale=1)
    removed = expected["Nexclusions"]
    assert [result.n_counted, result.n_released_counted] == removed["remaining"][:2]
    for theirs, ours in REASONS.items():
        assert result.excluded.get(ours, 0) == removed[theirs][0]
    for ours, left in zip(list(PERCENT.values())[:6], removed["remaining"][2:], strict=True):
        assert getattr(result, ours) * result.n == pytest.approx(left)


def test_disclosure_of_numbers_in_classes(reference):
    arguments, original, releases, by_m = opened(reference, "disclosure_SD2011_income_grouped")
    bins = {"income": arguments["ngroups_target"], "age": arguments["ngroups_keys"][1]}
    result = attribute_disclosure(original, releases, keys=arguments["keys"], target=arguments["target"], bins=bins)
    figures = {**by_m[3]["attrib"], **by_m[3]["allCAPs"]}
    agree(result, PERCENT, figures)
    agree(result, CELLS, figures, scale=1)


def test_several_targets(reference):
    arguments, original, releases, by_m = opened(reference, "multi_disclosure_acs_k5")
    result = attribute_disclosure_table(original, releases[0], keys=arguments["keys"])
    expected = by_m[1]["attrib.table"]
    names = [one.split()[1] for one in expected["target"]]
    assert result.targets == tuple(reversed(names))
    for name, own, disclosed, level, pairs in zip(
        names, *(expected[part] for part in ("attrib.orig", "attrib.syn", "check1", "check2")), strict=True
    ):
        assert 100 * result.disclosive_in_original[name] == pytest.approx(own)
        assert 100 * result.correctly_disclosed[name] == pytest.approx(disclosed)
        agree_on_checks(result.results[name], {"check1": level, "check2": pairs})


@pytest.mark.parametrize("name", ["k3", "k5", "k7"])
def test_replicated_uniques(reference, name):
    arguments, original, releases, by_m = opened(reference, f"replicated_uniques_acs_{name}")
    expected = by_m[1]["number"]
    result = replicated_uniques(original, releases[0], keys=arguments["keys"])
    assert [
        result.original_uniques,
        result.released_uniques,
        result.released_uniques_in_original,
        result.replicated,
    ] == list(expected.values())
    assert len(result.released_rows()) == by_m[1]["n_removed_repU"]
    assert len(result.released_rows(replicated_only=False)) == by_m[1]["n_removed_synU"]


def test_the_lecture(reference):
    """ACS: what is learnt of disability from sex, race and marital status (three figures at seven digits)."""
    original, release = (read(reference / "data" / name) for name in ("ACS_org.csv", "ACS_syn.csv"))
    result = cap(original, release, keys=["SEX", "RACE", "MAR"], target="DIS")
    assert result.original_average == pytest.approx(0.7224124, abs=5e-8)
    assert result.average == result.average_matched == pytest.approx(0.7221299, abs=5e-8)
    assert result.baseline == pytest.approx(0.6989543, abs=5e-8)
    assert (result.n_targeted, result.tcap) == (212, pytest.approx(201 / 212))
    whole = attribute_disclosure(original, release, keys=["SEX", "RACE", "MAR"], target="DIS")
    for figure in COMMON:
        assert getattr(whole, figure) == pytest.approx(getattr(result, figure), rel=1e-14)

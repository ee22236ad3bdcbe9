"""The public files: no wrong weight, household or identifier, every demographic variable among the keys.

Expected roles were written by hand, from what the files' documentation says of their columns.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

from sdckit.data.scenarios.guess import guess_roles
from sdckit.data.scenarios.guessing.judge import RoleGuesses

ACS = "SEX RACE MAR LANX WAOB DIS MIG SCH"
HOUSES = "urbrur roof walls water electcon relat sex age hhcivil"
MASSACHUSETTS = (
    "PUMA AGEP SEX MSP HISP RAC1P NOC NPF HOUSING_TYPE OWN_RENT DENSITY INDP INDP_CAT EDU DVET DREM DPHY DEYE DEAR"
)
TAXES = "AGI EMCONTRB FEDTAX PTOTVAL STATETAX TAXINC POTHVAL INTVAL PEARNVAL FICA WSALVAL ERNVAL"


@dataclass(frozen=True)
class Expected:
    """Roles as a person gives them; `keys` must all be there, the rest exactly."""

    keys: str = ""
    weight: str = ""
    household: str = ""
    identifiers: str = ""
    person: str = ""


FILES = {
    "data/ACS_org.csv": Expected(ACS),
    "data/ACS_org_na.csv": Expected(ACS),
    "data/ACS_syn.csv": Expected(ACS),
    "data/ACS_syn2.csv": Expected(ACS),
    "data/ACS_syn3.csv": Expected(ACS),
    "data/ACS_syn_na.csv": Expected(ACS),
    "data/CASCrefmicrodata.csv": Expected(weight="AFNLWGT"),
    "data/CE_org.csv": Expected("UrbanRural Race"),
    "data/CE_syn1.csv": Expected("UrbanRural Race"),
    "data/CE_syn2.csv": Expected("UrbanRural Race"),
    "data/CE_syn3.csv": Expected("UrbanRural Race"),
    "data/EIA.csv": Expected("STATE", identifiers="UTILNAME"),
    "data/EIA_ma_mdav3.csv": Expected(),
    "data/SD2011_org.csv": Expected("sex age edu marital"),
    "data/SD2011_syn1.csv": Expected("sex age edu marital"),
    "data/SD2011_syn2.csv": Expected("sex age edu marital"),
    "data/SD2011_syn3.csv": Expected("sex age edu marital"),
    "data/Tarragona.csv": Expected(),
    "data/casc_ma_mdav3.csv": Expected(weight="AFNLWGT"),
    "data/casc_ma_onedims3.csv": Expected(weight="AFNLWGT"),
    "data/francdat.csv": Expected(weight="w"),
    "data/francdat_na.csv": Expected(weight="w"),
    "data/free1.csv": Expected(
        "REGION SEX AGE MARSTAT KINDPERS NUMYOUNG NUMOLD AGEYOUNG EDUC1 EDUC2 ETNI OCCUCODE", weight="WEIGHT"
    ),
    "data/ihsn_suda2.csv": Expected("Residence Gender Education_level Labor_status"),
    "data/il_vars_orig.csv": Expected("roof sex age walls"),
    "data/il_vars_pert.csv": Expected("roof sex age walls"),
    "data/microData.csv": Expected(),
    "data/pycanon_StudentsMath_Score.csv": Expected("Gender Ethnic", identifiers="Student"),
    "data/pycanon_StudentsMath_Score_k2.csv": Expected("Gender Ethnic", identifiers="Student"),
    "data/pycanon_StudentsMath_Score_k5.csv": Expected("Gender Ethnic", identifiers="Student"),
    "data/pycanon_StudentsMath_Score_k7.csv": Expected("Gender Ethnic", identifiers="Student"),
    "data/pycanon_adult_anonymized_10.csv": Expected("age education occupation relationship sex"),
    "data/pycanon_adult_anonymized_20.csv": Expected("age education occupation relationship sex"),
    "data/pycanon_drug_type.csv": Expected("Age Sex"),
    "data/pycanon_drugs_k5.csv": Expected("Age Sex"),
    "data/pycanon_hospital_anonymized.csv": Expected("gender city", identifiers="name"),
    "data/reclink_masked200.csv": Expected(HOUSES, "sampling_weight", "", "ori_hid id"),
    "data/reclink_orig200.csv": Expected(HOUSES, "sampling_weight", "", "ori_hid id"),
    "data/tarragona_ma_mdav3.csv": Expected(),
    "data/tarragona_ma_onedims3.csv": Expected(),
    "data/tarragona_ma_pca3.csv": Expected(),
    "data/tarragona_ma_rmd3.csv": Expected(),
    "data/tarragona_ma_simple3.csv": Expected(),
    "data/tarragona_ma_single3.csv": Expected(),
    "data/tarragona_uni_ma_mdav3.csv": Expected(),
    "data/tarragona_uni_ma_onedims3.csv": Expected(),
    "data/testdata.csv": Expected(HOUSES, "sampling_weight", "ori_hid"),
    "data/testdata2.csv": Expected(HOUSES, "sampling_weight", "ori_hid"),
    "data/testdata_ldiv.csv": Expected(HOUSES, "sampling_weight", "ori_hid"),
    "data/testdata_ldiv_na.csv": Expected("urbrur roof walls water sex"),
    "data/testdata_ma_mdav3.csv": Expected(),
    "data/testdata_na.csv": Expected(HOUSES, "sampling_weight", "ori_hid"),
    "data/testdata_num_mdav3.csv": Expected(),
    "data/testdata_num_noise1.csv": Expected(),
    "data/testdata_num_noise10.csv": Expected(),
    "public/census2011.csv.gz": Expected(
        "Region;Family Composition;Population Base;Sex;Age;Marital Status;Student;Country of Birth;Ethnic Group;"
        "Religion;Economic Activity;Occupation;Industry;Hours worked per week;Approximated Social Grade",
        identifiers="Person ID;",
    ),
    "public/ma2018.csv.gz": Expected(MASSACHUSETTS, "PWGTP"),
    "public/ma2019.csv.gz": Expected(MASSACHUSETTS, "PWGTP"),
    "public/wage_panel.csv.gz": Expected("hisp married educ occupation", person="nr"),  # "black" is left to a person
}  # fmt: skip
NO_HEADER = {"data/casc1.csv"}  # its names are numbers: sdckit refuses to read it
OF_MONEY = {
    "data/CASCrefmicrodata.csv": TAXES,
    "data/Tarragona.csv": "SALES LABOR.COSTS NET.PROFIT",
    "data/CE_org.csv": "Income Expenditure",
}


def guesses(path: Path) -> RoleGuesses:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if path.suffix == ".gz":
            return guess_roles(pl.read_csv(path, infer_schema_length=None))
        return guess_roles(path)


def names(text: str) -> set[str]:
    return {name for name in (text.split(";") if ";" in text else text.split()) if name}


def test_every_public_file_has_its_roles_written_down(reference: Path) -> None:
    there = {
        f"{folder}/{path.name}"
        for folder in ("data", "public")
        for path in (reference / folder).iterdir()
        if path.suffix in {".csv", ".gz"}
    }
    assert there == set(FILES) | NO_HEADER


@pytest.mark.parametrize("name", FILES)
def test_roles_of_a_public_file(reference: Path, name: str) -> None:
    expected, found = FILES[name], guesses(reference / name)
    assert set(found.of("weight")) == names(expected.weight)
    assert set(found.of("household")) == names(expected.household)
    assert set(found.of("identifier")) == names(expected.identifiers)
    assert set(found.of("person")) == names(expected.person)
    assert names(expected.keys) <= set(found.of("key"))
    assert not names(OF_MONEY.get(name, "")) & set(found.of("key"))


def test_what_members_of_a_household_share(reference: Path) -> None:
    shared = guesses(reference / "data/testdata.csv").household_variables
    assert shared == ("urbrur", "roof", "walls", "water", "electcon", "household_weights")


def test_a_wrong_role_would_be_seen(reference: Path) -> None:
    """A weight called income is neither taken nor a key; the test above can fail."""
    frame = pl.read_csv(reference / "data/free1.csv", infer_schema_length=None)
    assert guess_roles(frame.rename({"WEIGHT": "INCOME2"})).of("weight") == ()

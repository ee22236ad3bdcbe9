"""Kinds of files: known surveys, panels, hospitals, schools, firms, files with two sorts of weight or none."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

from sdckit.data.scenarios.guess import guess_roles

N = 1500
rng = np.random.default_rng(11)
SEX = rng.integers(1, 3, N)
AGE = rng.integers(16, 90, N)
HEIGHT = rng.normal(170, 9, N).round()
BODY = (HEIGHT - 95 + rng.normal(0, 9, N)).round()
SPREAD = rng.lognormal(0, 0.4, N)


def homes(count: int = 500):
    """Ids of households, numbers of members, sizes; one entry per person."""
    sizes = rng.choice([1, 2, 3, 4, 5], count, p=[0.25, 0.3, 0.2, 0.15, 0.1])
    member = np.concatenate([np.arange(1, size + 1) for size in sizes])
    return np.repeat(np.arange(count), sizes), member, np.repeat(sizes, sizes)


def guess(**columns):
    return guess_roles(pl.DataFrame(columns))


def test_eu_silc():
    home, member, size = homes()
    n, k = len(home), home.max() + 1
    weight = rng.uniform(200, 900, k)[home].round(4)
    found = guess(
        db030=home + 1, hsize=size, db040=rng.integers(1, 10, k)[home], rb030=(home + 1) * 100 + member,
        age=rng.integers(0, 95, n), rb090=rng.integers(1, 3, n), pl030=rng.integers(1, 8, n),
        pb220a=rng.integers(1, 4, n), py010n=rng.lognormal(9, 1, n), hy040n=rng.lognormal(9, 1, k)[home],
        db090=weight, rb050=weight,
    )  # fmt: skip
    assert (found.of("household"), found.of("weight")) == (("db030",), ("rb050",))
    assert found.of("identifier") == ("rb030",)
    assert {"hsize", "db040", "age", "rb090", "pl030", "pb220a"} == set(found.of("key"))
    assert found.of("sensitive") == ("py010n", "hy040n")
    assert set(found.household_variables) == {"hsize", "db040", "hy040n", "db090", "rb050"}


def test_personal_weights_of_a_file_of_adults():
    found = guess(pb030=np.arange(N) + 1, px030=np.arange(N) // 2, pb040=SPREAD * 500, pb150=SEX, pb140=2020 - AGE,
                  pe040=rng.integers(0, 6, N), pl031=rng.integers(1, 12, N))  # fmt: skip
    assert (found.of("weight"), found.of("household")) == (("pb040",), ("px030",))
    assert found.of("identifier") == ("pb030",)
    assert set(found.of("key")) == {"pb150", "pb140", "pe040", "pl031"}


def test_census_samples():
    home, member, size = homes()
    n, k = len(home), home.max() + 1
    found = guess(
        YEAR=[2019] * n, SERIAL=home * 3 + 17, HHWT=rng.integers(20, 400, k)[home],
        STATEFIP=rng.integers(1, 57, k)[home],
        NP=size, PERNUM=member, PERWT=rng.integers(20, 400, n), RELATE=np.where(member == 1, 1, rng.integers(2, 9, n)),
        SEX=rng.integers(1, 3, n), AGE=rng.integers(0, 95, n), MARST=rng.integers(1, 7, n), RACE=rng.integers(1, 9, n),
        EDUC=rng.integers(0, 12, n), INCTOT=rng.lognormal(10, 1, n).round(),
    )  # fmt: skip
    assert (found.of("household"), found.of("weight"), found.of("identifier")) == (("SERIAL",), ("PERWT",), ())
    assert set(found.of("key")) == {"STATEFIP", "NP", "RELATE", "SEX", "AGE", "MARST", "RACE", "EDUC"}
    assert '"PERWT" is taken' in found["HHWT"].reason


def test_dhs_women_have_no_household_of_their_own_and_weights_in_millionths():
    found = guess(
        caseid=[f"{i:7d}  1" for i in range(N)], v001=np.sort(rng.integers(1, 61, N)), v002=rng.integers(1, 200, N),
        v003=rng.integers(1, 5, N), v005=(SPREAD / SPREAD.mean() * 1e6).astype(int), v012=rng.integers(15, 50, N),
        v024=rng.integers(1, 6, N), v025=rng.integers(1, 3, N), v106=rng.integers(0, 4, N), v130=rng.integers(1, 6, N),
        v501=rng.integers(0, 6, N),
    )  # fmt: skip
    assert (found.of("weight"), found.of("household"), found.of("person")) == (("v005",), (), ())
    assert "1,000,000" in found["v005"].warning
    assert found["v005"].question is not None
    assert found.of("identifier") == ("caseid",)
    assert set(found.of("key")) == {"v012", "v024", "v025", "v106", "v130", "v501"}


def test_households_numbered_in_each_village_are_no_ids():
    home, member, _ = homes()
    village = home // 20
    found = guess(village=village, household=home % 20 + 1, person=member, sex=rng.integers(1, 3, len(home)),
                  age=rng.integers(0, 90, len(home)))  # fmt: skip
    assert found.of("household") == ()
    assert "number households in each place anew" in found["household"].question


def test_a_panel_repeats_persons_not_households():
    people, waves = 300, 4
    pid = np.repeat(np.arange(people) + 1000, waves)
    sex, born = (np.repeat(rng.integers(1, 3, people), waves), np.repeat(rng.integers(1930, 2000, people), waves))
    wave = np.tile(np.arange(waves) + 1, people)
    found = guess(pid=pid, wave=wave, sex=sex, gebjahr=born, lohn=rng.lognormal(7, 1, people * waves))
    assert (found.of("person"), found.of("household")) == (("pid",), ())
    silent = guess(q1=pid, q2=wave, sex=sex, gebjahr=born)
    assert (silent.of("person"), silent.of("household")) == (("q1",), ())
    assert silent["q1"].question is not None
    called = guess(serial=pid, wave=wave, sex=sex, gebjahr=born)
    assert called.of("household") == ()
    stacked = np.argsort(wave, kind="stable")
    found = guess(idind=pid[stacked], round=wave[stacked], sex=sex[stacked], gebjahr=born[stacked])
    assert (found.of("person"), found.of("household")) == (("idind",), ())


def test_households_that_nothing_names():
    home, member, size = homes()
    sex = rng.integers(1, 3, len(home))
    found = guess(x1=home + 50_000, x2=member, x3=size, sex=sex, x4=rng.uniform(1, 9, 500)[home])
    assert found.of("household") == ("x1",)
    assert found["x1"].confidence == "likely"
    assert found["x1"].question == "do the records with one value live together?"
    assert '"x3" counts its records' in found["x1"].reason
    assert found["x3"].role == "key"
    assert "is it the sampling weight?" in found["x4"].question
    only = guess(x1=home + 50_000, sex=sex)
    assert only.of("household") == ()
    assert "household?" in only["x1"].question


@pytest.mark.parametrize("name", ["weight", "gewicht", "poids", "peso"])
def test_a_body_weight_is_no_sampling_weight(name):
    for beside in ({"height": HEIGHT}, {}):
        found = guess(sex=SEX, age=AGE, income=rng.lognormal(8, 1, N), **{name: BODY}, **beside)
        assert found.of("weight") == ()
        assert found[name].role == "numeric"
        assert found[name].question is not None


def test_both_weights_in_one_file():
    found = guess(sex=SEX, age=AGE, weight=BODY, height=HEIGHT, wgt=SPREAD * 812.5)
    assert found.of("weight") == ("wgt",)
    assert found["weight"].role == "numeric"


def test_few_weights_of_strata_are_weights():
    region = rng.integers(0, 8, N)
    found = guess(sex=SEX, region=region, weight=np.linspace(40, 120, 8).round(1)[region])
    assert found.of("weight") == ("weight",)


def test_weights_with_a_mean_of_1_are_asked_about():
    normed = SPREAD / SPREAD.mean()
    named = guess(sexo=SEX, edad=AGE, ponderador=normed)
    assert named.of("weight") == ("ponderador",)
    assert "population / records" in named["ponderador"].warning
    assert "ponderador" in named.unconfirmed
    silent = guess(sexo=SEX, edad=AGE, q9=normed)
    assert silent.of("weight") == ()
    assert "is it a sampling weight?" in silent["q9"].question


def test_replicates_are_no_weights():
    replicates = {f"PWGTP{i}": rng.integers(1, 90, N) for i in range(1, 21)}
    found = guess(SEX=SEX, AGEP=AGE, PWGTP=rng.integers(1, 90, N), **replicates)
    assert found.of("weight") == ("PWGTP",)
    assert "replicate" in found["PWGTP7"].reason
    assert guess(SEX=SEX, AGEP=AGE, **replicates).of("weight") == ()


def test_an_income_is_no_weight():
    found = guess(id=np.arange(N), sex=SEX, inc=rng.lognormal(9, 1, N), v3=rng.lognormal(9, 1, N))
    assert found.of("weight") == ()
    assert (found["inc"].role, found["v3"].role, found["id"].role) == ("sensitive", "numeric", "identifier")


def test_a_hospital():
    patient = np.sort(rng.integers(10**6, 10**6 + 600, N))
    day = [date(2020, 1, 1) + timedelta(int(d)) for d in rng.integers(0, 700, N)]
    found = guess(
        patient=patient, geschlecht=["mw"[p % 7 % 2] for p in patient.tolist()],
        geb_datum=[date(1930 + p % 80, 1 + p % 12, 1 + p % 28) for p in patient.tolist()],
        plz=rng.integers(1000, 9999, N), aufnahme=day, entlassung=[one + timedelta(3) for one in day],
        hauptdiagnose=rng.choice(["I21.0", "C50.9", "J44.1", "E11.9"], N), kosten=rng.lognormal(8, 1, N),
    )  # fmt: skip
    assert (found.of("person"), found.of("household"), found.of("weight")) == (("patient",), (), ())
    assert set(found.of("key")) == {"geschlecht", "geb_datum", "plz", "aufnahme", "entlassung"}
    assert found.of("sensitive") == ("hauptdiagnose", "kosten")
    assert "merge areas" in found["plz"].warning
    assert "year" in found["geb_datum"].warning


def test_a_school():
    found = guess(
        class_id=np.arange(N) // 25 + 9000, teacher=[f"T{i // 25}" for i in range(N)],
        student_id=rng.permutation(N) + 10_000, gender=rng.choice(["girl", "boy"], N),
        birth_year=rng.integers(2005, 2009, N), math_score=rng.normal(500, 100, N).round(1),
    )  # fmt: skip
    assert (found.of("household"), found.of("person"), found.of("identifier")) == ((), (), ("student_id",))
    assert {"class_id", "teacher", "gender", "birth_year"} == set(found.of("key"))
    assert {"class_id", "teacher"} <= set(found.unconfirmed)


def test_a_school_whose_teachers_stand_there_by_name():
    """They were a group, numbers of schools were education for sure, and the school's weight was taken."""
    names = [
        f"{first} {last}" for first in ("Anna", "Bernd", "Clara", "David") for last in ("Meyer", "Berger", "Huber")
    ]
    school, weight = np.arange(N) // 50, rng.uniform(10, 60, N).round(4)
    found = guess(
        idschool=school + 10_203, schulgewicht=rng.uniform(1, 5, N // 50)[school].round(3), gesamtgewicht=weight,
        school_name=[f"Lincoln {('High', 'Middle', 'Elementary', 'Primary')[at % 4]} No {at % 11}" for at in school],
        teacher_name=[names[at % 12] for at in range(N)], FSMeligible=rng.integers(0, 2, N), sex=SEX,
        migback=rng.integers(0, 2, N), attendance_rate=rng.uniform(0.7, 1, N).round(3),
    )  # fmt: skip
    assert (found.of("identifier"), found.of("weight")) == (("teacher_name",), ("gesamtgewicht",))
    assert found.of("sensitive") == ("FSMeligible", "attendance_rate")
    assert {"idschool", "school_name"} <= {*found.unconfirmed} & {*found.of("key")}
    assert "migback" in found.of("key")


def test_tests_of_pupils():
    some, score = rng.integers(1, 5, N), rng.normal(500, 100, N)
    pisa = guess(
        CNTSCHID=SEX * 100 + some, CNTSTUID=np.arange(N) + 10, ST004D01T=SEX, ST003D02T=rng.integers(1, 13, N),
        HISCED=some, IMMIG=some, W_FSTUWT=SPREAD * 30, PV1MATH=score.round(3), PV2MATH=score[::-1].round(3),
    )  # fmt: skip
    timss = guess(IDSCHOOL=SEX * 10 + some, IDCLASS=SEX * 100 + some, ITSEX=SEX, ITBIRTHM=rng.integers(1, 13, N),
                  TOTWGT=SPREAD * 30, JKZONE=some, JKREP=SEX - 1, BSMMAT01=score.round(3))  # fmt: skip
    assert (pisa.of("sensitive"), timss.of("sensitive")) == (("PV1MATH", "PV2MATH"), ("BSMMAT01",))
    assert {"ST004D01T", "ST003D02T", "HISCED", "IMMIG"} <= {*pisa.of("key")}
    assert {"ITSEX", "ITBIRTHM", "IDCLASS"} <= {*timss.of("key")}
    assert (pisa.of("weight"), timss.of("weight")) == (("W_FSTUWT",), ("TOTWGT",))


def test_firms():
    found = guess(firm_id=np.arange(N) + 7, nace2=rng.integers(1, 99, N), employees=rng.integers(1, 4000, N),
                  turnover=rng.lognormal(14, 2, N), nuts3=rng.choice([f"AT{i}" for i in range(110, 135)], N),
                  legal_form=rng.integers(1, 6, N), design_weight=rng.uniform(1, 30, N))  # fmt: skip
    assert (found.of("identifier"), found.of("weight")) == (("firm_id",), ("design_weight",))
    assert set(found.of("key")) == {"nace2", "employees", "nuts3", "legal_form"}
    assert found.of("sensitive") == ("turnover",)


def test_direct_identifiers_by_how_they_are_written():
    letters = [f"{chr(97 + i % 26)}{chr(97 + i // 26 % 26)}" for i in range(N)]
    found = guess(
        c1=[f"Anna Muster{pair}" for pair in letters], c2=[f"a{i}@x.org" for i in range(N)],
        c3=[f"+43 660 {1_000_000 + i}" for i in range(N)],
        c4=[f"{100 + i % 800}-{10 + i % 80}-{1000 + i}" for i in range(N)],
        c5=[f"the {i}th person said that all was fine on that day" for i in range(N)],
        c6=rng.choice(["male", "female"], N), c7=rng.choice(["New York", "San Jose"], N),
    )  # fmt: skip
    assert found.of("identifier") == ("c1", "c2", "c3", "c4", "c5")
    assert found["c1"].question is not None
    assert "e-mail" in found["c2"].reason
    assert "free text" in found["c5"].reason
    assert found["c6"].role == "key"

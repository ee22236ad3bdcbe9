"""The files and names that the pages of the documentation suppose: what a reader has before page and command.

A stage runs before the first part of its page that is not an example, with the names of the page so far.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import homes
import sdckit as sdc
from sdckit.workflow.sessions.projects import project_text

Names = dict[str, Any]
Stage = Callable[[Names, Path], None]


def people(n: int = 400) -> pl.DataFrame:
    """A small survey with the columns that README and the pages of measures speak of."""
    rng = np.random.default_rng(17)
    return pl.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "age": rng.integers(18, 70, n),
            "region": rng.choice(["north", "south", "east"], n),
            "job": rng.choice(["cook", "vet", "clerk"], n),
            "income": rng.integers(1, 9, n) * 500,
            "w": rng.integers(20, 60, n) / 1.0,
        }
    )


def _scenario(folder: Path, **entries: Any) -> None:
    (folder / "scenario.toml").write_text(sdc.Scenario(**entries).to_toml(), encoding="utf-8")


def _recipe(folder: Path, recipe: sdc.Recipe) -> None:
    (folder / "recipe.toml").write_text(recipe.to_toml(), encoding="utf-8")


def readme(_: Names, folder: Path) -> None:
    """A survey, people put aside, a release made by somebody else, a scenario and a recipe."""
    everybody = people(600)
    everybody[:400].write_csv(folder / "survey.csv")
    everybody[400:].write_csv(folder / "aside.csv")
    sdc.synthesize(everybody[:400], seed=1).data.write_csv(folder / "synthetic.csv")
    keys = ["sex", "age", "region"]
    _scenario(folder, keys=keys, weight="w", sensitive=["income"], thresholds={"k": 3})
    _recipe(
        folder,
        sdc.Recipe(
            [
                {"method": "recode", "column": "age", "bands": [18, 30, 45, 60, None]},
                {"method": "local_suppression", "k": 3},
            ]
        ),
    )


def other_programs(_: Names, folder: Path) -> None:
    """The survey as Stata, SPSS and SAS write it, a scenario and a recipe."""
    import pyreadstat

    sdc.write_file(people(), folder / "survey.dta")
    sdc.write_file(people(), folder / "survey.sav")
    pyreadstat.write_xport(people(), str(folder / "survey.xpt"))
    _scenario(folder, keys=["sex", "age", "region"], weight="w", sensitive=["income"], thresholds={"k": 3})
    recode = {"method": "recode", "column": "age", "bands": [18, 30, 45, 60, None]}
    _recipe(folder, sdc.Recipe([recode, {"method": "local_suppression", "k": 3}]))


def from_raw(names: Names, folder: Path) -> None:
    """The survey and the recipe that the page wrote, and its scenario as a file."""
    for name in ("anes.csv", "recipe.toml"):
        shutil.copy(names["folder"] / name, folder)
    (folder / "scenario.toml").write_text(names["scenario"].to_toml(), encoding="utf-8")


def business(names: Names, folder: Path) -> None:
    """The establishments that the page wrote, and its scenario as a file."""
    shutil.copy(names["folder"] / "firms.csv", folder)
    (folder / "scenario.toml").write_text(names["scenario"].to_toml(), encoding="utf-8")


def panels(names: Names, folder: Path) -> None:
    """The panel that the page wrote, its scenario and its recipe as files."""
    shutil.copy(names["folder"] / "panel.csv", folder)
    (folder / "scenario.toml").write_text(names["scenario"].to_toml(), encoding="utf-8")
    if "recipe" in names:
        _recipe(folder, names["recipe"])


def proposed(names: Names, folder: Path) -> None:
    """The survey of the page and its scenario."""
    names["survey"].to_csv(folder / "anes.csv", index=False)
    (folder / "scenario.toml").write_text(names["scenario"].to_toml(), encoding="utf-8")


def against_original(names: Names, folder: Path) -> None:
    """Survey, release and scenario of the page, and the recipe of its bands."""
    if "recipe" in names:
        _recipe(folder, names["recipe"])
        return
    names["survey"].write_csv(folder / "affairs.csv")
    names["released"].write_csv(folder / "release.csv")
    (folder / "scenario.toml").write_text(names["scenario"].to_toml(), encoding="utf-8")


def attacks(names: Names, folder: Path) -> None:
    """The two halves of the survey as the page wrote them, its releases, its recipe, and a scenario."""
    for name in ("affairs.csv", "aside.csv"):
        shutil.copy(names["folder"] / name, folder)
    original = pl.read_csv(folder / "affairs.csv")
    names["recipe"].apply(original, seed=1).data.write_csv(folder / "banded.csv")
    sdc.pram(original, columns=["age", "educ"], seed=1).data.write_csv(folder / "release.csv")
    _recipe(folder, names["recipe"])
    _scenario(folder, keys=names["known"], sensitive=["affairs"], thresholds={"residual_risk": 0.1})


def good_for(names: Names, folder: Path) -> None:
    """Survey and release of the page."""
    names["survey"].write_csv(folder / "affairs.csv")
    names["released"].write_csv(folder / "release.csv")
    _scenario(folder, keys=["age", "educ", "occupation"], aligned=True, thresholds={"k": 3})


def recognised(names: Names, folder: Path) -> None:
    """The survey of the page."""
    names["survey"].write_csv(folder / "affairs.csv")


def scenarios(_: Names, folder: Path) -> None:
    """Households as SPSS would write them."""
    import pyreadstat

    labels = ["Haushaltsnummer", "Bundesland", "", "Haushaltsgröße", "", "Gewicht", "Alter", "Geschlecht", ""]
    pyreadstat.write_sav(homes.people().to_pandas(), folder / "survey.sav", column_labels=labels)


def a_survey(names: Names, folder: Path) -> None:
    """People, a file made of them and people put aside, as names and as a file."""
    everybody = people(600)
    names["sdckit"] = sdc
    names["survey"] = names["original"] = everybody[:400]
    names["holdout"] = everybody[400:]
    names["released"] = sdc.synthesize(everybody[:400], seed=1).data
    names["survey"].write_csv(folder / "survey.csv")


def regions(_: Names, folder: Path) -> None:
    """A table of regions and where they are."""
    (folder / "regions.csv").write_text("north;cold\nsouth;warm\neast;warm\n", encoding="utf-8")


def seeds(names: Names, folder: Path) -> None:
    """The survey of the demo and a recipe that draws."""
    sdc.load_demo().write_csv(folder / "affairs.csv")
    _recipe(folder, sdc.Recipe([{"method": "pram", "columns": ["occupation"], "pd": 0.8}]))


def release_types(_: Names, folder: Path) -> None:
    """The survey of the demo, and a scenario that names its type."""
    sdc.load_demo().write_csv(folder / "affairs.csv")
    _scenario(
        folder, keys=["age", "children", "religious"], sampling_fraction=0.01, sensitive=["affairs"], household="none",
        magnitudes=[], insensitive=["yrs_married", "educ", "occupation"], release="public-use",
    )  # fmt: skip


def gates(_: Names, folder: Path) -> None:
    """A survey, a release of it with its log, and their scenario."""
    survey = sdc.load_demo()
    survey.write_csv(folder / "survey.csv")
    steps = [{"method": "pram", "columns": ["occupation"], "pd": 0.8}]
    applied = sdc.Recipe(steps).apply(survey)
    applied.data.write_csv(folder / "released.csv")
    applied.log.write(folder / "log.json")
    _scenario(folder, keys=["age", "educ", "occupation"], thresholds={"k": 3, "global_risk": 0.2})


def documents(_: Names, folder: Path) -> None:
    """A survey, a release of it and their scenario, for reports on the command line."""
    sdc.load_demo().write_csv(folder / "survey.csv")
    sdc.local_suppression(sdc.load_demo(), keys=["age", "educ"], k=3).data.write_csv(folder / "released.csv")
    _scenario(folder, keys=["age", "educ"], sampling_fraction=0.01, thresholds={"k": 3})


def sdcmicro(names: Names, folder: Path) -> None:
    """The survey of the page."""
    names["survey"].write_csv(folder / "survey.csv")


def census(_: Names, folder: Path) -> None:
    """A survey as Parquet."""
    people().write_parquet(folder / "census.parquet")


def app(_: Names, folder: Path) -> None:
    """A file, what was declared of it, and a project."""
    a_survey(_, folder)
    _scenario(folder, keys=["age", "educ"], sampling_fraction=0.01, thresholds={"k": 3})
    saved = {"name": "survey.csv", "scenario": {"keys": ["age", "educ"]}, "steps": [], "versions": []}
    (folder / "project.sdckit").write_text(project_text(saved), encoding="utf-8")


def remembered(_: Names, folder: Path) -> None:
    """A survey, a scenario whose ledger has an earlier release of it, and a recipe."""
    if (folder / "ledger").exists():
        return
    everybody = people().with_row_index("id")
    everybody.write_csv(folder / "survey.csv")
    place = {"folder": "ledger", "key": "ledger.key"}
    ledger = sdc.ReleaseLedger.create(folder / "ledger", key=folder / "ledger.key", survey="Labour survey")
    ledger.add(everybody, name="wave 0", keys=["sex"], sensitive=["job"], id="id")
    _scenario(
        folder, keys=["sex"], sensitive=["job"], identifiers=["id"], ledger={**place, "id": "id"},
        thresholds={"differencing": 0.0},
    )  # fmt: skip
    steps = [{"method": "drop_identifiers", "columns": ["age", "income", "w"]}, {"method": "random_order"}]
    _recipe(folder, sdc.Recipe(steps))


def towns(names: Names, here: Path) -> None:
    """The files of the case by hand, and the hierarchy of its towns."""
    names["before"].write_csv(here / "survey.csv")
    names["after"].write_csv(here / "release.csv")
    levels = names["levels"]["town"]
    (here / "town.csv").write_text("".join(f"{town},{','.join(up)}\n" for town, up in levels.items()), encoding="utf-8")


def declared(_: Names, folder: Path) -> None:
    """A survey with several rows of some people, and a published table with its domain."""
    rng = np.random.default_rng(3)
    days = np.datetime64("1950-01-01") + rng.integers(0, 27_000, 900).astype("timedelta64[D]")
    survey = {
        "id": rng.integers(1, 600, 900), "sex": rng.choice(["female", "male"], 900), "age": rng.integers(0, 121, 900),
        "employed": rng.choice(["true", "false", "NA"], 900), "moved_in": days, "rate": rng.choice([0.5, 1.0], 900),
    }  # fmt: skip
    pl.DataFrame(survey).write_csv(folder / "survey.csv")
    table = pl.DataFrame({"sex": ["female", "male"] * 2, "age": [20, 20, 50, 50], "n": [120, 110, 140, 130]})
    table.write_csv(folder / "sex-by-age.csv")
    sex, age = (sdc.DomainColumn("sex", levels=("female", "male")),
                sdc.DomainColumn("age", type="integer", edges=(0, 30, 121)))  # fmt: skip
    (folder / "two.toml").write_text(sdc.Domain((sex, age)).to_toml(), encoding="utf-8")


STAGES: dict[str, Stage] = {
    "domain": declared,
    "generalization_loss": towns,
    "differencing": remembered,
    "app": app,
    "scale": census,
    "sdcmicro": sdcmicro,
    "what-can-be-learnt": recognised,
    "documents": documents,
    "gates": gates,
    "seeds": seeds,
    "README": readme,
    "from-raw-to-released": from_raw,
    "from-r-stata-sas-spss": other_programs,
    "business-surveys": business,
    "panels": panels,
    "release-against-original": against_original,
    "simulated-attacks": attacks,
    "propose": proposed,
    "what-is-it-good-for": good_for,
    "who-can-be-recognised": recognised,
    "scenarios": scenarios,
    "release-types": release_types,
    "canaries": a_survey,
    "linkability": a_survey,
    "key_contributions": regions,
}

"""What intruders know, and how attacks were asked for."""

from __future__ import annotations

import pickle

import pytest

import releases
import sdckit as sdc
from draw import quiet
from sdckit.errors import ColumnError, DataError, ScenarioError
from sdckit.workflow.asked import asked_for, declared_knowledge

EVERYBODY = releases.original(160)
ORIGINAL, CONTROL = EVERYBODY[:80], EVERYBODY[80:]
RELEASED = releases.release(ORIGINAL)
ALL = {
    "singling_out:univariate", "singling_out:multivariate", "membership", "distance_to_closest_record",
    "linkability:default", "inference:default:ill", "inference:default:income", "probabilistic_linkage:default",
}  # fmt: skip

PLACES = ["singling_out:univariate", "linkability:default"]


def test_the_keys_are_known_and_halved_in_their_order() -> None:
    scenario = releases.scenario(keys=None, intruders={"a": ["sex"], "b": ["sex", "age", "region"]})
    knows = declared_knowledge(scenario, ["sex", "age"], n_attacks=30)
    assert (knows["a"].known, knows["a"].halves) == (("sex",), None)
    assert (knows["b"].known, knows["b"].halves) == (("sex", "age", "region"), (("sex", "age"), ("region",)))
    assert (knows["b"].variables, knows["b"].n_attacks) == (("sex", "age"), 30)
    assert knows["b"].numbers("age", "income") == {"numeric": ("income",)}
    nothing = declared_knowledge(releases.scenario(numeric=[]), ["sex"], n_attacks=1)["default"]
    assert nothing.numbers("age") == {}


def test_how_the_attacks_were_asked_for() -> None:
    with quiet():
        made = sdc.assess(
            ORIGINAL, RELEASED, scenario=releases.scenario(), control=CONTROL, n_attacks=30, seed=1
        )
    asked = made.attacks_asked
    assert asked.columns == ("sex", "age", "region", "ill", "income")
    assert (asked.n_columns, asked.columns_at_once, asked.n_attacks, asked.seed) == (7, 3, 30, 1)
    assert asked.halves == {"default": (("sex", "age"), ("region",))}
    assert pickle.loads(pickle.dumps(asked)) == asked


def test_one_column_is_never_asked_for_with_others() -> None:
    knows = declared_knowledge(releases.scenario(keys=["sex"]), ["sex"], n_attacks=5)
    asked = asked_for(knows, PLACES, n_columns=None, seed=None)
    assert (asked.columns_at_once, asked.halves, asked.n_columns) == (None, {}, None)
    two = declared_knowledge(releases.scenario(keys=["sex", "age"]), ["sex", "age"], n_attacks=5)
    assert asked_for(two, PLACES, n_columns=2, seed=1).columns_at_once == 2
    assert asked_for(two, ["membership"], n_columns=2, seed=1).halves == {}


def test_assess_makes_them() -> None:
    with quiet():
        plain = sdc.assess(ORIGINAL, RELEASED, scenario=releases.scenario(), seed=1)
        found = sdc.assess(ORIGINAL, RELEASED, scenario=releases.scenario(), control=CONTROL, seed=1)
        alone = sdc.assess(ORIGINAL, RELEASED, scenario=releases.scenario(), attacks=True, seed=1)
        with pytest.raises(ColumnError, match="control file has no column 'sex'"):
            sdc.assess(ORIGINAL, RELEASED, scenario=releases.scenario(), control=CONTROL.drop("sex"))
    assert (plain.attacks, plain.attacks_skipped, plain.control) == ({}, (), False)
    assert set(found.attacks) == ALL
    assert set(alone.attacks) == ALL - {"membership"}
    assert set(found.to_dict()["attacks"]) == ALL
    assert "membership" in found.details()["measure"].to_list()
    for more in ({"control": CONTROL}, {"attacks": True}, {"n_attacks": 10}):
        with pytest.raises(ScenarioError, match="give released="):
            sdc.assess(ORIGINAL, scenario=releases.scenario(), **more)
    with pytest.raises(DataError, match="n_attacks is how many attacks are made; give a whole number"):
        sdc.assess(ORIGINAL, RELEASED, scenario=releases.scenario(), attacks=True, n_attacks=0)


def test_people_of_the_original_in_the_control_file_are_warned_of() -> None:
    with pytest.warns(sdc.SdcWarning):
        found = sdc.assess(ORIGINAL, RELEASED, scenario=releases.scenario(), control=ORIGINAL, seed=1)
    assert any("control file equal a record of the original" in text for text in found.warnings)

"""Keys may be left out; sizes of classes are one or several; the one shown is the limit declared."""

from __future__ import annotations

import pytest

import sdckit as sdc
from sdckit.attacks.recovery.recovery_roles import class_sizes, optional_roles, shown_size


def test_with_keys_or_a_scenario_the_roles_are_those_of_every_measure() -> None:
    scenario = sdc.Scenario(keys=["age", "sex"], weight="w")
    given = {"missing": None, "alpha": None, "id": None}
    assert optional_roles(keys=None, scenario=scenario, **given).weight == "w"
    assert optional_roles(keys=["age"], scenario=None, **given).keys == ("age",)


@pytest.mark.parametrize("role", ["id", "weight", "household"])
def test_without_keys_the_other_roles_are_looked_at(role: str) -> None:
    given = {"keys": None, "scenario": None, "missing": None, "alpha": None, "id": None}
    assert getattr(optional_roles(**{**given, role: "column"}), role) == "column"
    with pytest.raises(sdc.SdcError):
        optional_roles(**{**given, role: 7})


def test_sizes_of_classes() -> None:
    assert class_sizes(4) == (4,)
    with pytest.raises(sdc.SdcError, match="k"):
        class_sizes([1, 3])
    declared = sdc.Scenario(keys=["age"], thresholds={"k": 5})
    assert shown_size([2, 3, 5], declared) == 5
    assert shown_size([2, 3], declared) == 3
    assert shown_size([4, 7], None) == 4

"""After a warm-up the usual commands compile nothing."""

from __future__ import annotations

import pytest

import sdckit as sdc
from sdckit.data.methods import METHODS
from sdckit.numerics.compiling import heard
from sdckit.report.formats.write import plain_document
from sdckit.workflow.warm_up import STEPS, _people, warm_up


@pytest.mark.filterwarnings("ignore")
def test_nothing_is_left_to_compile() -> None:
    steps: list[str] = []
    warm_up(steps.append)
    assert steps == [
        "assessing", "writing a report", "protecting", "assessing a release", "synthesising", "attacking",
    ]  # fmt: skip
    names: list[str] = []
    with heard(names.append):
        warm_up(steps.append)
        plain_document(sdc.assess(sdc.load_demo(), scenario=sdc.demo_scenario()))
    assert not names


def test_its_recipe_is_one() -> None:
    assert METHODS[STEPS[-1]["method"]].plan == "order"  # what comes after it finds no record again
    sdc.Recipe(STEPS).check(_people(0))

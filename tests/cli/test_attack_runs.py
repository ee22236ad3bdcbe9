"""The attacks of the command line are those of Python, under the names of the documents."""

from __future__ import annotations

import pytest

import releases
import sdckit as sdc
from draw import quiet
from sdckit.cli.attack_files import Attacked
from sdckit.cli.attack_plan import make_plan
from sdckit.cli.attack_runs import run_attacks
from sdckit.cli.progress import Steps
from sdckit.errors import DataError

EVERYBODY = releases.original(160)
ORIGINAL, CONTROL = EVERYBODY[:80], EVERYBODY[80:]
RELEASED = releases.release(ORIGINAL)
NAMES = ("sex", "age", "region", "income")


def runs(
    *,
    released=RELEASED,
    control=CONTROL,
    declared=("income",),
    id: str | None = None,
    asked: bool = True,
    **given,
):
    plan = make_plan(
        **{"kinds": [], "known": [], "targets": [], "has_control": control is not None, "id": id, **given}
    )
    files = Attacked(ORIGINAL, [released], control, NAMES, declared, (), id)
    with quiet():
        return run_attacks(files, plan, n_attacks=40, seed=1, asked=asked, steps=Steps(quiet=True))


def test_each_is_what_python_gives() -> None:
    known = [["sex", "age"], ["region"]]
    found = runs(known=known, targets=["ill", "income"], id="pid", by=["sex"]).made
    both = {"control": CONTROL, "n_attacks": 40, "seed": 1, "by": ["sex"]}
    keys = ["sex", "age", "region"]
    with quiet():
        expected = {
            "singling_out:univariate": sdc.singling_out(ORIGINAL, RELEASED, variables=NAMES, **both),
            "singling_out:multivariate": sdc.singling_out(
                ORIGINAL, RELEASED, variables=NAMES, mode="multivariate", **both
            ),
            "linkability:default": sdc.linkability(
                ORIGINAL, RELEASED, known=(known[0], known[1]), numeric=[], **both
            ),
            "probabilistic_linkage:default": sdc.probabilistic_linkage(
                ORIGINAL, RELEASED, variables=keys, numeric=[], id="pid", seed=1
            ),
            "inference:default:ill": sdc.inference(
                ORIGINAL, RELEASED, known=keys, target="ill", numeric=[], **both
            ),
            "inference:default:income": sdc.inference(
                ORIGINAL, RELEASED, known=keys, target="income", numeric=["income"], **both
            ),
            "membership": sdc.membership(ORIGINAL, RELEASED, variables=NAMES, numeric=["income"], **both),
            "distance_to_closest_record": sdc.distance_to_closest_record(
                ORIGINAL, RELEASED, control=CONTROL, variables=NAMES, numeric=["income"], by=["sex"], seed=1
            ),
        }
    assert [one.place for one in found] == list(expected)
    for one in found:
        assert one.result.to_dict() == expected[one.place].to_dict()
        if one.place != "probabilistic_linkage:default":
            assert one.result.by_group.rows() == expected[one.place].by_group.rows()
    assert found[0].words == "singling out, one column"
    assert found[1].words == "singling out, 3 columns"
    assert found[4].words == "inference of ill"


def test_linkage_that_fails_is_an_error_only_where_it_was_asked_for() -> None:
    shorter = {
        "released": RELEASED[:70],
        "kinds": ["probabilistic-linkage", "singling-out"],
        "known": [["sex", "age"]],
    }
    with pytest.raises(DataError, match="or --id, the column"):
        runs(**shorter, aligned=True)
    found = runs(**shorter, aligned=True, asked=False)
    assert [one.place for one in found.made] == ["singling_out:univariate", "singling_out:multivariate"]
    ((place, words, reason),) = found.skipped
    assert (place, words) == ("probabilistic_linkage:default", "linkage despite slips")
    assert "--id" in reason


def test_the_id_says_which_rows_belong_together() -> None:
    given = {"kinds": ["probabilistic-linkage"], "known": [["sex", "age", "region"]]}
    (plain,) = runs(**given, id="pid").made
    (moved,) = runs(**given, id="pid", released=RELEASED.reverse()).made
    assert plain.result.rate == pytest.approx(moved.result.rate)
    (wrong,) = runs(**given, aligned=True, released=RELEASED.reverse()).made
    assert wrong.result.rate < plain.result.rate / 2


def test_rules_of_blocking_reach_the_linkage() -> None:
    known = [["sex", "age", "region"]]
    given = {"kinds": ["probabilistic-linkage"], "known": known, "aligned": True}
    (found,) = runs(**given, blocking=[["sex", "age"], ["region"]]).made
    (whole,) = runs(**given).made
    assert found.result.n_pairs < whole.result.n_pairs == 80**2
    with pytest.raises(DataError, match="two rules or more"):
        runs(**given, blocking=[["sex"]])

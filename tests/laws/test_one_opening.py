"""Files opened together are opened once and their columns coded once, however many measures look at them."""

from __future__ import annotations

from collections import Counter

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pytest

import sdckit
from recipes import SECRET
from sdckit.cells import as_cells as collect, pair
from sdckit.cells.pair import open_pair

MAKERS = {"in memory": lambda frame: frame, "plans": lambda frame: frame.lazy()}
SIZES = {"original": 120, "released": 119, "control": 90, "population": 300}  # all different, to tell them apart
KEYS = ["age", "region"]


def people():
    rng = np.random.default_rng(1)
    whole = pl.DataFrame(
        {
            "age": rng.integers(20, 60, 300),
            "region": rng.choice(["n", "s", "w"], 300),
            "ill": rng.choice(["yes", "no"], 300),
            "pay": rng.normal(2000, 300, 300).round(0),
        }
    )
    original = whole.head(SIZES["original"])
    moved = original.head(SIZES["released"]).with_columns(pl.col("age") + 1)
    return {"original": original, "released": moved, "control": whole.tail(SIZES["control"]), "population": whole}


def measure(files):
    """Measures of two files, attacks and measures of presence, each given the same opened files."""
    learnt = {"keys": KEYS, "target": "ill"}
    sdckit.identity_disclosure(files, keys=KEYS)
    sdckit.attribute_disclosure(files, **learnt)
    sdckit.correct_attribution_probability(files, **learnt)
    sdckit.compare_distributions(files, variables=[*KEYS, "pay"], numeric=["pay"])
    sdckit.tabular_utility(files, variables=[*KEYS, "ill"])
    sdckit.singling_out(files, variables=[*KEYS, "ill"], n_attacks=5, seed=1)
    sdckit.membership(files, variables=[*KEYS, "pay"], n_attacks=5, seed=1)
    sdckit.linkability(files, known=(["age"], ["region"]), n_attacks=5, seed=1)
    sdckit.inference(files, known=KEYS, target="ill", n_attacks=5, seed=1)
    found = sdckit.distance_to_closest_record(files, variables=[*KEYS, "pay"], resamples=19, seed=1)
    assert found.n_control == SIZES["control"]
    assert sdckit.k_map(files, keys=KEYS).level >= 1
    assert sdckit.delta_presence(files, keys=KEYS).population == SIZES["population"]


@pytest.mark.parametrize("kind", MAKERS)
def test_each_file_is_opened_once_and_each_column_coded_once(kind, monkeypatch):
    frames = {name: MAKERS[kind](frame) for name, frame in people().items()}
    opened, coded, brought = Counter(), Counter(), Counter()
    from_native, code_column, run_plan = nw.from_native, pair.code_column, collect.collect

    def counted_opening(native, *args, **kwargs):
        opened.update(name for name, frame in frames.items() if frame is native)
        return from_native(native, *args, **kwargs)

    def counted_coding(series):
        coded[series.name, len(series)] += 1
        return code_column(series)

    def counted_plan(plan):
        found = run_plan(plan)
        brought[len(found)] += 1
        return found

    monkeypatch.setattr(nw, "from_native", counted_opening)
    monkeypatch.setattr(pair, "code_column", counted_coding)
    monkeypatch.setattr(collect, "collect", counted_plan)
    files = open_pair(
        frames["original"], frames["released"], frames["control"], frames["population"],
        categories={"keys": KEYS, "variables": ["ill", "pay"]},
    )  # fmt: skip
    measure(files)
    assert opened == dict.fromkeys(SIZES, 1)
    assert set(coded.values()) == {1}
    assert {(name, SIZES[file]) for name in KEYS for file in ("original", "released", "control")} <= set(coded)
    plans = [] if kind == "in memory" else [size for file, size in SIZES.items() if file != "population"]
    assert brought == dict.fromkeys(plans, 1)


def test_the_figures_are_those_of_the_files_given_one_by_one():
    frames = people()
    files = open_pair(*frames.values(), categories={"keys": KEYS})
    two, known = ((frames["original"], frames["released"]), {"control": frames["control"], "n_attacks": 30, "seed": 3})
    numbers = {"variables": [*KEYS, "pay"], "n_attacks": 30, "seed": 3}
    for measure, options in (
        (sdckit.singling_out, {"variables": KEYS}),
        (sdckit.membership, {"variables": [*KEYS, "pay"]}),
        (sdckit.inference, {"known": KEYS, "target": "ill"}),
    ):
        alone = measure(*two, **options, **known)
        assert measure(files, **options, n_attacks=30, seed=3).to_dict() == alone.to_dict()
    assert sdckit.singling_out(files, **numbers).to_dict() != sdckit.singling_out(*two, **numbers).to_dict()
    assert sdckit.k_map(files, keys=KEYS).to_dict() == sdckit.k_map(two[0], frames["population"], keys=KEYS).to_dict()


def test_a_recipe_opens_its_file_once(monkeypatch):
    file, opened = people()["original"], []
    from_native = nw.from_native

    def counted_opening(native, *args, **kwargs):
        opened.extend([native] if native is file else [])
        return from_native(native, *args, **kwargs)

    monkeypatch.setattr(nw, "from_native", counted_opening)
    steps = [{"method": "round_to", "column": name, "base": 5} for name in ("age", "pay")]
    scenario = sdckit.Scenario(keys=KEYS, sensitive=["ill"], numeric=["pay"])
    applied = sdckit.Recipe(steps).apply(file, scenario=scenario, seed=1, secret=SECRET)
    assert [figures.step for figures in applied.figures] == [0, 1, 2]
    assert len(opened) == 1


@pytest.mark.filterwarnings("ignore::sdckit.errors.SdcWarning")
def test_an_assessment_opens_each_file_once(monkeypatch):
    files, opened = people(), []
    from_native = nw.from_native

    def counted_opening(native, *args, **kwargs):
        opened.extend(name for name, file in files.items() if native is file)
        return from_native(native, *args, **kwargs)

    monkeypatch.setattr(nw, "from_native", counted_opening)
    scenario = sdckit.Scenario(keys=KEYS, sensitive=["ill"], numeric=["pay"])
    found = sdckit.assess(
        files["original"], files["released"], control=files["control"], scenario=scenario, n_attacks=10, seed=1
    )
    assert found.attacks
    assert sorted(opened) == ["control", "original", "released"]

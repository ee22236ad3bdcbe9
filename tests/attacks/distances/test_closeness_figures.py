"""What is put together from the distances, release by release and group by group."""

from __future__ import annotations

import math

import numpy as np
import polars as pl

from sdckit.attacks.attack_files import AttackFiles
from sdckit.attacks.distances.closeness_figures import FIGURES, Drawing, closeness, group_figures
from sdckit.attacks.distances.compared_files import ComparedFiles
from sdckit.cells.pair import open_pair

ORIGINAL = pl.DataFrame({"x": [0.0, 1.0, 10.0], "g": ["a", "a", None]})
RELEASES = [pl.DataFrame({"x": [0.0, 9.0], "g": ["a", "b"]}), pl.DataFrame({"x": [5.0], "g": ["a"]})]


def found(notes):
    files = AttackFiles(
        open_pair(ORIGINAL, RELEASES, None, categories={"variables": ["x"], "by": ["g"]}, attack=True)
    )
    return files, closeness(
        ComparedFiles(files, ("x",), ()), Drawing(0.1, 19, np.random.default_rng(1)), notes
    )


def test_every_figure_of_every_release():
    notes = {}
    _, (first, second) = found(notes)
    assert tuple(first.figures) == FIGURES
    assert first.distance.round(9).tolist() == [0.0, 0.1, 0.1]
    assert first.hit.tolist() == [1.0, 1.0, 1.0]
    assert first.identifiable.tolist() == [1.0, 0.0, 1.0]
    assert (first.figures["copies"], second.figures["copies"]) == (0.5, 0.0)
    assert math.isnan(second.figures["nndr_original_to_released"])
    assert math.isnan(second.figures["adversarial_accuracy"])
    assert np.isnan(first.released["share_original"]).all()
    assert "identifiability" not in notes


def test_groups_with_the_nearest_originals_first():
    files, both = found({})
    table = group_figures(files, ["g"], both)
    assert table["release"] == [1, 1, 1, 2, 2, 2]
    assert table["g"] == ["a", "(missing)", "b", "a", "(missing)", "b"]
    assert table["n"] == [2, 1, 0, 2, 1, 0]
    assert table["n_released"] == [1, 0, 1, 1, 0, 0]
    assert math.isnan(table["dcr_original_to_released"][2])
    assert group_figures(files, [], both) == {"release": []}


def test_files_of_very_different_sizes_are_drawn_from_several_times():
    rng = np.random.default_rng(1)
    real, made = (pl.DataFrame({"x": rng.normal(size=n)}) for n in (300, 40))
    files = AttackFiles(open_pair(real, made, made.reverse(), categories={"variables": ["x"]}, attack=True))
    notes = {}
    (one,) = closeness(ComparedFiles(files, ("x",), ()), Drawing(0.1, 19, rng), notes)
    assert (
        notes["adversarial_accuracy"]
        == "on 40 records of each file, the mean of 30 random draws: sizes differ"
    )
    single = []
    for seed in range(200):
        part = real.sample(40, seed=seed)
        files = AttackFiles(open_pair(part, made, None, categories={"variables": ["x"]}, attack=True))
        (found,) = closeness(ComparedFiles(files, ("x",), ()), Drawing(0.1, 19, rng), {})
        single.append(found.figures["adversarial_accuracy"])
    assert abs(one.figures["adversarial_accuracy"] - np.mean(single)) < 4 * np.std(single) / np.sqrt(30)

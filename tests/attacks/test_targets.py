"""Who is attacked."""

from __future__ import annotations

import numpy as np

from attacks.made import CONTROL, ORIGINAL, OTHERS
from sdckit.attacks.attack_files import AttackFiles, options
from sdckit.attacks.targets import Outcome, draw_targets, group_labels, tallied
from sdckit.cells.pair import open_pair

FILES = AttackFiles(
    open_pair(ORIGINAL, [OTHERS, OTHERS], CONTROL, categories={"x": ["größe", "True"]}, attack=True)
)


def test_as_many_as_asked_for_each_once():
    notes = {}
    targets = draw_targets(FILES, options(50, 0.95, None, 1), notes)
    assert len(np.unique(targets.members)) == len(np.unique(targets.others)) == 50
    assert targets.members.max() < 300
    assert notes == {}
    again = draw_targets(FILES, options(50, 0.95, None, 1), {})
    assert (again.members == targets.members).all()


def test_no_more_than_there_are():
    notes = {}
    targets = draw_targets(FILES, options(290, 0.95, None, 1), notes)
    assert (len(targets.members), len(targets.others)) == (290, 280)
    assert "the control file has 280 records" in notes["n_control"]
    targets = draw_targets(FILES, options(500, 0.95, None, 1), notes)
    assert targets.members.tolist() == list(range(300))
    assert "500 attacks asked for, 300 records there are" in notes["n_attacks"]
    balanced = draw_targets(FILES, options(500, 0.95, None, 1), notes, balanced=True)
    assert "the smaller file has 280 records: as many of either" in notes["n_attacks"]
    assert len(balanced.members) == len(balanced.others) == 280


def test_subgroups():
    targets = draw_targets(FILES, options(20, 0.95, ["größe", "True"], 1), {})
    assert [part.labels for part in targets.parts] == [(), *group_labels(FILES, ["größe", "True"]).values()]
    for part in targets.parts[1:]:
        rows = ORIGINAL[targets.members[part.members].tolist()]
        assert {(sex, str(true)) for sex, true in rows.select("größe", "True").rows()} == {part.labels}
        assert len(rows) == 20


def test_tallied():
    asked = options(20, 0.95, "größe", 1)
    targets = draw_targets(FILES, asked, {})

    def attack(j):
        members = np.arange(len(targets.members)) % 2 == j % 2
        return Outcome(members, np.zeros(len(targets.others), bool), np.full(len(members), 0.25))

    per_release, groups, hits = tallied(targets, FILES, attack, asked, {})
    assert [one["success_rate"] for one in per_release] == [0.5, 0.5]
    assert per_release[0]["baseline_rate"] == 0.25
    assert [group.release for group in groups] == [1, 1, 2, 2]
    assert [len(set(rows.tolist())) for rows, _ in hits] == [20, 20]
    assert (np.mean([found for _, found in hits], axis=0) == 0.5).all()

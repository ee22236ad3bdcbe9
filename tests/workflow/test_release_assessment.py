"""The assessment of a release: its figures as a frame, a dict, documents and words."""

from __future__ import annotations

import json

import pytest

import releases
import sdckit as sdc
from draw import quiet


@pytest.fixture(scope="module")
def found():
    with quiet():
        return sdc.assess(
            releases.original(), [releases.release(seed=1), releases.release(seed=2)],
            scenario=releases.scenario(thresholds={"k": 2}), seed=1,
        )  # fmt: skip


def test_the_dict_is_json_and_whole(found):
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert (told["n"], told["m"], len(told["released"])) == (releases.N, 2, 2)
    one = told["intruders"]["default"]
    assert set(one["measures"]) == set(found["default"])
    assert len(one["measures"]["matching_risk"]["by_release"]) == 2
    assert one["verdicts"][0]["sentence"].endswith("(k = 2)")


def test_the_summary_names_the_files(found):
    frame = found.details()
    assert frame.columns == ["intruder", "measure", "figure", "file", "value"]
    assert set(frame["file"]) == {"original", "released 1", "released 2", "both"}


def test_it_reads_as_words(found):
    text = repr(found)
    assert text.startswith("2 releases against an original of 240 records")
    assert "matching_risk" in text
    assert "exceeded" in text


def test_an_intruder_by_name(found):
    assert found["default"] is found.intruders[0]
    with pytest.raises(KeyError):
        found["nobody"]


def test_documents(found, tmp_path):
    found.report(tmp_path / "r.html")
    found.to_json(tmp_path / "r.json")
    told = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert told["schema"] == "sdckit/release-assessment"
    assert "Can rows be matched back?" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_a_notebook_shows_protected_figures(found):
    assert "against" not in found._repr_html_()
    assert "within the declared limits" in found._repr_html_()


def test_it_draws(found):
    assert found.plot().to_dict()["vconcat"]


def test_without_attacks_nothing_was_asked(found):
    assert found.attacks_asked is None


def test_a_summary_is_small_and_part_of_the_details(found) -> None:
    for one in (found, found.original):
        small, every = one.summary(), one.details()
        assert 10 < small.height <= 20 < every.height
        assert small.columns == every.columns
        named = [name for name in small.columns if name != "value"]
        assert set(small.select(named).rows()) <= set(every.select(named).rows())
    assert set(found.original.summary()["measure"]) == set(found.original.details()["measure"])
    assert "released 1" in found.summary()["file"].to_list()

"""`targets=` of an assessment: who is drawn, what the document says, what no draw may decide."""

from __future__ import annotations

from typing import Any

import pytest

import sdckit as sdc
from engines.comparing import quiet
from every_measure import changed, people
from sdckit.catalogue import row
from sdckit.errors import DataError, ScenarioError

ORIGINAL, RELEASED = people(1).rename({"row": "pid"}), changed().rename({"row": "pid"})
SCENARIO = sdc.Scenario(
    keys=["sex", "region", "income"], sensitive=["ill"], numeric=["income", "hours"],
    thresholds={"residual_risk": 0.9, "membership_tpr": 4},
)  # fmt: skip
DRAWN = {"membership", "distance_to_closest_record", "linkability", "probabilistic_linkage", "inference"}


def _found(tree: Any, name: str) -> Any:
    """The first entry of a name, wherever it stands in a document."""
    if isinstance(tree, dict) and name in tree:
        return tree[name]
    inside = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list | tuple) else ()
    return next((part for entry in inside if (part := _found(entry, name)) is not None), None)


def assessed(original: Any, released: Any, **given: Any) -> Any:
    how = {"scenario": SCENARIO, "id": "pid", "control": people(2), "seed": 1, **given}
    return quiet(sdc.assess, original, released, **how)


def test_attacks_and_nearest_records_are_of_those_drawn(tmp_path) -> None:
    result = assessed(ORIGINAL, RELEASED, targets=40)
    of_drawn = {place.partition(":")[0] for place, made in result.attacks.items() if "targets" in made.notes}
    assert of_drawn == DRAWN
    linked = result["default"]["record_linkage"]
    assert (linked.n, linked.notes["targets"]) == (40, "of 40 people drawn by their id")
    assert "people drawn: the upper end of the interval" in result.verdicts[0].sentence
    assert result.verdicts[1].word == "not judged"  # of true positive rates
    plain = result.to_dict()
    assert _found(plain["intruders"], "record_linkage")["figures"]["n"] == 40
    page = tmp_path / "a.md"
    for language, words in (("en", "of 40 people drawn by their id"), ("de", "von 40 Personen, nach ihrer Kennung")):
        result.report(page, internal=True, language=language)
        assert words in page.read_text()
    result.report(page)
    assert "nearest original is the right one | 0.50 | 40 |" in page.read_text()
    assert "targets=40" in page.read_text()
    assert "Note: of 40 people drawn by their id" in page.read_text()
    result.report(page, language="de")
    assert "Personen, nach ihrer Kennung gezogen" in page.read_text()


def test_files_on_an_engine_draw_as_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = assessed(ORIGINAL, RELEASED, targets=40)
    monkeypatch.setattr(row, "MOST_ON_ENGINE", 50)
    monkeypatch.setattr(row, "TARGETS", 40)
    files = (frame.sample(fraction=1, shuffle=True, seed=1).lazy() for frame in (ORIGINAL, RELEASED))
    result = assessed(*files)
    found, known = (made["default"]["record_linkage"] for made in (result, expected))
    assert (found.rate, found.intervals) == (known.rate, known.intervals)
    for place, made in expected.attacks.items():
        if place.partition(":")[0] in DRAWN and not place.endswith(":all"):
            figures = {name: getattr(result.attacks[place], name) for name in made.figures}
            assert figures == pytest.approx({name: getattr(made, name) for name in made.figures}, nan_ok=True), place


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"id": None}, DataError, "give id="),
        ({"targets": 0}, DataError, "targets"),
        ({"by": "sex"}, DataError, "1,000 or more"),
        ({"released": None, "id": None, "control": None, "seed": None}, ScenarioError, "targets="),
    ],
)
def test_refused(given: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        assessed(ORIGINAL, **{"released": RELEASED, "targets": 40, **given})

"""What must not leave the room does not: planted markers, neighbouring files, numbers inside charts."""

from __future__ import annotations

import copy
import json
import random
import re
import warnings
from typing import Any
from xml.etree import ElementTree

import polars as pl
import pytest

import sdckit as sdc
from report.documents import all_documents
from report.drawn import words_of
from report.fakes import FULL, FakeAssessment, assess_fake, survey
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError
from sdckit.report.blocks import ChartBlock
from sdckit.report.chapters.page import lay_out
from sdckit.report.charts import describe
from sdckit.report.formats.html import figure_of
from sdckit.report.formats.write import plain_document
from sdckit.report.setting import RISK_EDGES

SEVERAL = Scenario(
    intruders={"neighbour": ["sex", "age", "region"], "colleague": ["sex", "age", "region", "occupation"]},
    sampling_fraction=0.05,
    household="household",
    sensitive=["income"],
    thresholds={"k": 3, "risk": 0.05, "l": 2},
)


def with_marker(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Put a record in which every column holds a value of its own."""
    marked = copy.deepcopy(rows)
    for column in ("sex", "age", "region", "occupation", "income"):
        marked[17][column] = f"MARKER-{column}"
    marked[17]["weight"] = 93617.4221
    marked[17]["household"] = 987654321
    return marked


@pytest.mark.parametrize("scenario", [FULL, SEVERAL], ids=["one", "several"])
def test_a_planted_record_appears_nowhere(scenario: Scenario) -> None:
    assessment = assess_fake(with_marker(survey(400, missing=0.02)), scenario)
    for kind, text in all_documents(assessment).items():
        for trace in ("MARKER", "93617", "93,617", f"{1 / 93617.4221:.3g}"):
            assert trace not in text, kind


@pytest.mark.filterwarnings("ignore::sdckit.errors.SdcWarning")
@pytest.mark.parametrize("scenario", [FULL, SEVERAL], ids=["one", "several"])
def test_a_planted_record_appears_nowhere_in_a_real_assessment(scenario: Scenario) -> None:
    rows = with_marker(survey(400, missing=0.02))
    rows[23]["household"] = None
    frame = pl.DataFrame(rows, infer_schema_length=None)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        documents = all_documents(sdc.assess(frame, scenario=scenario))
    for kind, text in [*documents.items(), *(("warning", str(one.message)) for one in said)]:
        for trace in ("MARKER", "93617", "93,617", "987654321", "987,654"):
            assert trace not in text, kind


def test_a_planted_record_is_in_the_confidential_document() -> None:
    rows = with_marker(survey(400))
    plain = plain_document(assess_fake(rows, FULL), internal=True)
    assert "MARKER-region" in json.dumps(plain)


def leaves(plain: Any, path: str = "") -> dict[str, Any]:
    if isinstance(plain, dict):
        own = {path: plain} if "text" in plain and "value" in plain else {}
        return own | {k: v for key, part in plain.items() for k, v in leaves(part, f"{path}/{key}").items()}
    if isinstance(plain, list):
        parts = [
            (f"{path}/{part.get('level', part.get('from', i)) if isinstance(part, dict) else i}", part)
            for i, part in enumerate(plain)
        ]
        return {k: v for name, part in parts for k, v in leaves(part, name).items()}
    return {}


def a_step_apart(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two prints are neighbours; one printed more coarsely covers the other, or nearly."""
    if one == other or "text" not in one or "withheld" in {one["text"], other["text"]}:
        return True
    steps = [leaf.get("rounded_to", leaf.get("below") or 5) for leaf in (one, other)]
    if any(leaf["value"] is None or leaf.get("rounded_to") for leaf in (one, other)):
        first, second = (
            leaf["value"] if leaf["value"] is not None else leaf.get("below", 0) / 2 for leaf in (one, other)
        )
        return abs(first - second) <= sum(steps)
    if "%" in one["text"] or isinstance(one["value"], float) or isinstance(other["value"], float):
        first, second = (x["value"] if x["value"] is not None else x.get("below", 0) for x in (one, other))
        return abs(first - second) <= 0.12 * max(abs(first), abs(second), 0.05)
    first, second = (x["value"] if x["value"] is not None else 2.5 for x in (one, other))
    return abs(first - second) <= (15 if one.get("approximate") else 5)


@pytest.mark.parametrize("seed", range(4))
def test_files_that_differ_in_one_record_differ_by_one_step(seed: int) -> None:
    rows = survey(900, seed=seed)
    place = random.Random(seed).randrange(len(rows))
    alone = {**rows[place], "region": "Islands", "occupation": "job 19", "age": "65+", "household": -1}
    before = leaves(plain_document(assess_fake(rows, FULL)))
    after = leaves(plain_document(assess_fake([*rows, alone], FULL)))
    for path in before.keys() & after.keys():
        # a share is that of its printed count: where that goes in wider steps, so does the share
        count = f"{path.removesuffix('rate')}n"
        at = count if path.endswith("/rate") and "rounded_to" in before.get(count, {}) | after.get(count, {}) else path
        assert a_step_apart(before[at], after[at]), (path, before[at], after[at])
    # A row may move into "other" or out of it, a bin may join its neighbour; nothing else comes or goes.
    for path in before.keys() ^ after.keys():
        assert "/level_counts/" in path or "/distribution/" in path or "/sizes/" in path, path


def _numbers(text: str) -> list[float]:
    return [float(found.replace(",", "")) for found in re.findall(r"\d[\d,]*\.?\d*(?:e-?\d+)?", text)]


def _drawn(block: ChartBlock) -> list[dict[str, Any]]:
    """Give the printed figures a chart may draw, in its order."""
    return [row["n"] for row in block.data["rows"]]


def _length(leaf: dict[str, Any]) -> float:
    return float(leaf["value"] if leaf["value"] is not None else leaf.get("below", 0.0))


LABELS = re.compile(
    r"[\d.]+ to [\d.]+|k = \d+.*|.*, l = \d+|\d+ to \d+ records|1 record|100 or more records|without .*|\d+ members?|"
    r"all other sizes|limit [\d.]+|Records|Share of records up to this risk|"
    r"individual risk \(upper edge of the bin\)"
)


@pytest.mark.parametrize("scenario", [FULL, SEVERAL], ids=["one", "several"])
def test_every_number_in_a_chart_is_a_printed_one(scenario: Scenario) -> None:
    page = lay_out(plain_document(assess_fake(survey(500, missing=0.03), scenario)))
    blocks = [one for section in page.sections for one in section.blocks if isinstance(one, ChartBlock)]
    assert len(blocks) >= 6
    edges = {f"{edge:g}" for edge in RISK_EDGES}
    for block in blocks:
        leaves_drawn = _drawn(block)
        texts = {leaf["text"] for leaf in leaves_drawn} | edges
        texts |= {row["cumulative"]["text"] for row in block.data["rows"] if "cumulative" in row}
        root = ElementTree.fromstring(figure_of(block)["svg"])
        for element in root.iter():
            text = words_of(element)
            assert not text or text in texts or LABELS.fullmatch(text), text
            assert not _numbers(element.get("aria-label", "")), element.get("aria-label")
            assert not _numbers(element.get("aria-description", ""))
        lengths, expected = _bars(root), [_length(leaf) for leaf in leaves_drawn]
        scale = max(expected) / (max(lengths) or 1)
        assert [n * scale for n in lengths] == pytest.approx(expected, abs=1e-3 * max(expected))
        assert set(_numbers(describe(block.name, block.data, ""))) <= _allowed(block, leaves_drawn)


def _allowed(block: ChartBlock, leaves_drawn: list[dict[str, Any]]) -> set[float]:
    rows = block.data["rows"]
    told = [leaf["text"] for leaf in leaves_drawn] + [row.get("label", "") for row in rows]
    told += [f"{row['from']:g} {row['to']:g} {row['cumulative']['text']}" for row in rows if "from" in row]
    return {number for text in told for number in _numbers(text)}


def _bars(root: ElementTree.Element) -> list[float]:
    """Give the lengths of the bars, along the way they differ."""
    found: list[float] = []
    for group in root.iter():
        if "mark-rect" in group.get("class", ""):
            sizes = [re.fullmatch(r"M[^h]*h(-?[\d.e-]+)v(-?[\d.e-]+)h.*", p.get("d", "")) for p in group]
            boxes = [(abs(float(s.group(1))), abs(float(s.group(2)))) for s in sizes if s]
            flat = len({round(height, 3) for _, height in boxes}) == 1
            found += [width if flat else height for width, height in boxes]
    return found


@pytest.mark.parametrize("kind", ["html", "json", "markdown"])
def test_warnings_and_reasons_are_protected(kind: str) -> None:
    warned = ("3 records have no household (first rows: 4, 17, 33)",)
    assessment = assess_fake(survey(200), FULL, warnings=warned)
    text = all_documents(assessment)[kind]
    assert "rows not shown" in text
    assert "4, 17, 33" not in text
    assert re.search(r"(&lt;|\\?<)\d+ records have no household", text)


def test_no_path_seed_or_user_is_told() -> None:
    text = all_documents(assess_fake(survey(200), FULL))["html"]
    for word in ("/home", "seed", "/tmp", "C:\\"):
        assert word not in text


def test_messages_show_no_value() -> None:
    small: FakeAssessment = assess_fake(with_marker(survey(30)), FULL)
    with pytest.raises(DataError) as error:
        plain_document(small)
    assert "MARKER" not in str(error.value)
    assert "30" not in str(error.value)

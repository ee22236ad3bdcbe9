"""Earlier documents of the same file: what they print is known, and narrows what the new one may print."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import sdckit as sdc
from draw import quiet
from sdckit.errors import FileFormatError
from sdckit.report.formats.json_out import render_json
from sdckit.report.formats.write import plain_document
from sdckit.report.gate.beside import Earlier, enter_beside, read_beside
from sdckit.report.gate.figures import Document, Ledger, Quantity, Relation
from sdckit.report.gate.protect import protect

ALONE = Quantity("Records alone with their combination", intruder="near: a, b")


def document(true: int) -> Document:
    ledger = Ledger()
    tree = {"n": ledger.count("n", 300, "n"), "u": ledger.count("u", true, "u", of=ALONE)}
    ledger.nested("n", "u")
    return Document(tree, ledger.variables, tuple(ledger.relations), 300, listed=True)


def earlier(name: str, keys: str, low: float, high: float, base: str = "") -> Earlier:
    return Earlier("old.json", Quantity(name, base, intruder=f"someone: {keys}"), low, high)


def test_a_quantity_that_both_have_is_known_as_both_print_it() -> None:
    found = enter_beside(document(7), [earlier(ALONE.name, "b, a", 5, 9)])
    assert Relation((("u", 1.0),), 5, 9) in found.relations
    assert set(found.variables) == {"n", "u", "n - u"}


def test_fewer_keys_and_smaller_groups_are_contained() -> None:
    fewer, smaller = (
        earlier(ALONE.name, "a", 1, 4),
        earlier("Records in groups of fewer than 3", "a, b", 5, 12),
    )
    found = enter_beside(document(7), [fewer, smaller])
    small = "beside: Records alone with their combination, , a"
    below = "beside: Records in groups of fewer than 3, , a, b"
    assert f"u - {small}" in found.variables
    assert f"{below} - u" in found.variables
    assert f"{small} - {below}" not in found.variables


def test_releases_and_nothing_at_all_leave_the_document() -> None:
    one = document(7)
    assert enter_beside(one, ()) is one
    assert enter_beside(one, [earlier(ALONE.name, "a, b", 1, 4, base="release 1")]).variables == dict(
        one.variables
    )


def test_a_document_of_another_file_is_refused() -> None:
    with pytest.raises(
        FileFormatError, match=r"old\.json says otherwise of 'Records alone.* of another file"
    ):
        enter_beside(document(7), [earlier(ALONE.name, "a, b", 10, 14)])


def test_what_earlier_documents_tell_alone_is_not_watched() -> None:
    found = enter_beside(document(4), [earlier(ALONE.name, "a, b", 1, 4), earlier(ALONE.name, "a, b", 4, 9)])
    assert found.variables["u"].watched == "nowhere"
    assert document(4).variables["u"].watched == "everywhere"


@pytest.fixture(scope="module")
def data() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "a": [["x", "y", "z"][i % 3] for i in range(300)],
            "b": [f"b{i % 7}" if i < 290 else f"r{i}" for i in range(300)],
        }
    )


def plain_of(data: pl.DataFrame, keys: list[str], beside: Path | None = None) -> dict[str, object]:
    with quiet():
        return plain_document(
            sdc.assess(data, scenario=sdc.Scenario(keys=keys, thresholds={"k": 3})), beside=beside
        )


def test_a_document_takes_in_those_of_its_folder(data: pl.DataFrame, tmp_path: Path) -> None:
    first = plain_of(data, ["b"])
    (tmp_path / "first.json").write_text(render_json(first), encoding="utf-8")
    read = read_beside(tmp_path)
    assert {one.of.name for one in read} >= {ALONE.name}
    assert all(one.low <= one.high and one.source == "first.json" for one in read)
    again = plain_of(data, ["b"], tmp_path)
    assert again["n"] == first["n"]
    assert plain_of(data, ["a", "b"], tmp_path)["quantities"]


@pytest.mark.parametrize(
    "text",
    ["{", "[]", "{}", '{"schema": "other"}', '{"schema": "sdckit/assessment", "protected": false, "quantities": []}',
     '{"schema": "sdckit/assessment", "protected": true}',
     '{"schema": "sdckit/assessment", "protected": true, "quantities": [{"name": "x"}]}', "\ud800"],
)  # fmt: skip
def test_anything_else_in_the_folder_is_one_clear_error(text: str, tmp_path: Path) -> None:
    (tmp_path / "odd.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(FileFormatError, match=r"^odd\.json is no protected JSON document"):
        read_beside(tmp_path)


def test_a_folder_without_documents_is_refused(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "none"):
        with pytest.raises(FileFormatError, match="is no folder with JSON documents"):
            read_beside(folder)


def test_a_confidential_document_lists_nothing(data: pl.DataFrame) -> None:
    with quiet():
        found = sdc.assess(data, scenario=sdc.Scenario(keys=["a"]))
    assert "quantities" not in plain_document(found, internal=True)
    assert json.loads(render_json(plain_document(found)))["quantities"]


def test_what_one_more_record_tells_is_what_the_docs_say() -> None:
    """Every fifth count: 0 and 4, then 7, 12, 17."""
    found: dict[tuple[str, str], list[int]] = {}
    texts = [protect(document(true))["u"]["text"] for true in range(60)]
    for before in range(58):
        found.setdefault((texts[before], texts[before + 1]), []).append(before)
    told = [counts[0] for counts in found.values() if len(counts) == 1]
    assert told == [0, 4, *range(7, 58, 5)]

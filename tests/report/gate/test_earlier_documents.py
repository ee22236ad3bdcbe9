"""Earlier documents of the same file: what they print is known, and narrows what the new one may print."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import polars as pl
import pytest

import sdckit as sdc
from draw import quiet
from sdckit.errors import FileFormatError
from sdckit.report.formats.write import plain_document, render_json
from sdckit.report.gate.earlier_documents import NAMES, Earlier, enter_beside, join, read_beside
from sdckit.report.gate.figures import (
    Count,
    Cumulative,
    Document,
    Histogram,
    InternalOnly,
    Leaf,
    Ledger,
    Levels,
    Moved,
    Quantity,
    Ratio,
    Relation,
    Share,
    SizeClasses,
    Told,
)
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
    fewer, smaller = (earlier(ALONE.name, "a", 1, 4), earlier("Records in groups of fewer than 3", "a, b", 5, 12))
    found = enter_beside(document(7), [fewer, smaller])
    small = "beside: Records alone with their combination, , a"
    below = "beside: Records in groups of fewer than 3, , a, b"
    assert f"u - {small}" in found.variables
    assert f"{below} - u" in found.variables
    assert f"{small} - {below}" not in found.variables


def test_releases_and_nothing_at_all_leave_the_document() -> None:
    one = document(7)
    assert enter_beside(one, ()) is one
    assert enter_beside(one, [earlier(ALONE.name, "a, b", 1, 4, base="release 1")]).variables == dict(one.variables)


def test_a_document_of_another_file_is_refused() -> None:
    with pytest.raises(FileFormatError, match=r"old\.json says otherwise of 'Records alone.* of another file"):
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
        return plain_document(sdc.assess(data, scenario=sdc.Scenario(keys=keys, thresholds={"k": 3})), beside=beside)


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


# Documents joined before they are protected: every leaf is renamed, one quantity has one variable.


def part(**trues: int) -> tuple[Ledger, dict[str, Count]]:
    ledger = Ledger()
    return ledger, {name: ledger.count(name, true, name) for name, true in trues.items()}


def test_every_kind_of_leaf_can_be_joined() -> None:
    assert set(NAMES) == set(get_args(Leaf))


@pytest.mark.parametrize(
    ("leaf", "found"),
    [
        (Share("a", "n"), Share("r: a", "whole")),
        (Ratio("a", "n"), Ratio("r: a", "whole")),
        (Moved(0.47, "a", 0.1), Moved(0.47, "r: a", 0.1)),
        (Cumulative(("a", "b"), ("n",)), Cumulative(("r: a", "r: b"), ("whole",))),
        (Told(Count("a"), ("b",), (Count("n"),)), Told(Count("r: a"), ("r: b",), (Count("whole"),))),
        (InternalOnly({"x": Count("a")}), InternalOnly({"x": Count("r: a")})),
        (Levels("a.level", (("f", 3),), "n", 9), Levels("r: a.level", (("f", 3),), "whole", 9)),
        (
            SizeClasses("cells", (("1", 3),), Quantity("alone")),
            SizeClasses("r: cells", (("1", 3),), Quantity("alone", "release 1")),
        ),
        (
            Histogram("risk", (0.0, 1.0), (9,), "n", "e", (("a", 0.1),), guard=("b",)),
            Histogram("r: risk", (0.0, 1.0), (9,), "whole", "r: e", (("r: a", 0.1),), guard=("r: b",)),
        ),
    ],
)
def test_leaves_are_renamed(leaf, found) -> None:
    ledger, _ = part(whole=90)
    other, _ = part(n=90, a=7, b=8)
    document = Document({"x": leaf, "y": ("words", 1)}, other.variables, (), 90, "release 1")
    tree = join(ledger, document, "r: ", same={"n": "whole"})
    assert tree == {"x": found, "y": ("words", 1)}


def test_one_quantity_is_entered_once_and_two_numbers_stay_two() -> None:
    ledger, other, of = Ledger(), Ledger(), Quantity("alone", "release 1")
    ledger.count("u", 7, "u", of=of)
    other.count("same", 7, "x", of=Quantity("alone"))
    document = Document({}, other.variables, (), None, "release 1")
    join(ledger, document, "r: ")
    assert list(ledger.variables) == ["u"]
    third = Ledger()
    third.count("other", 8, "x", of=of)
    join(ledger, Document({}, third.variables, (), None), "s: ")
    assert list(ledger.variables) == ["u", "s: other"]


def test_relations_follow_and_the_size_of_the_file_is_known() -> None:
    ledger, _ = part(whole=90)
    other, _ = part(n=90, a=7)
    other.nested("n", "a")
    other.equal("n", "n")
    join(ledger, Document({}, other.variables, tuple(other.relations), 90), "r: ", same={"n": "whole"})
    assert ledger.relations[0].terms == (("whole", 1.0), ("r: a", -1.0), ("r: n - a", -1.0))
    assert ledger.relations[-1] == Relation((("whole", 1.0),), 90, 90)
    assert len(ledger.relations) == 2


def test_a_difference_over_two_files_is_audited() -> None:
    """Twelve missing before and fourteen after: two values were suppressed, and both stand in one document."""
    before, after = Ledger(), Ledger()
    for one, missing in ((before, 12), (after, 14)):
        one.count("n", 300, "n")
        one.count("missing", missing, "missing")
    ledger = Ledger()
    tree = {
        name: join(ledger, Document({"m": Count("missing")}, one.variables, (), 300, name), f"{name}: ")
        for name, one in (("original", before), ("release 1", after))
    }
    changed = ledger.count("changed", 2, "changed")
    ledger.equal("release 1: missing", "original: missing", "changed")
    plain = protect(Document(tree | {"c": changed}, ledger.variables, tuple(ledger.relations), 300))
    low, high = (
        (leaf["value"] or 0) - leaf.get("rounded_to", 5) / 2
        if side
        else (leaf["value"] or leaf["below"]) + leaf.get("rounded_to", 5) / 2
        for side, leaf in ((1, plain["release 1"]["m"]), (0, plain["original"]["m"]))
    )
    assert plain["c"]["value"] is None
    assert low - high <= 2


@pytest.mark.parametrize("coarse", [3, 12])
def test_one_number_is_printed_one_way(coarse: int) -> None:
    """Two names for one number, of which one is coarsened by what stands beside it."""
    ledger = Ledger()
    for name in ("n", "m"):
        ledger.count(name, 300, name)
    ledger.count("a", 8, "a")
    ledger.count("b", 8, "b")
    ledger.equal("a", "b")
    ledger.count("c", 8 + coarse, "c")
    ledger.nested("c", "a")
    tree = {name: Count(name) for name in "abc"}
    plain = protect(Document(tree, ledger.variables, tuple(ledger.relations), 300))
    assert plain["a"]["text"] == plain["b"]["text"]

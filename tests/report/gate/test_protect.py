from __future__ import annotations

import json
import math
from typing import Any

import pytest

from report.fakes import FULL, assess_fake, survey
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError
from sdckit.report.chapters.document import build_document
from sdckit.report.gate.figures import (
    AllHold,
    Chance,
    Count,
    Cumulative,
    Difference,
    Document,
    Foreign,
    Guarded,
    Holds,
    InternalOnly,
    Ledger,
    Moved,
    Part,
    Quantity,
    Ratio,
    Share,
    Variable,
)
from sdckit.report.gate.protect import (
    CONFIDENTIAL,
    HIDDEN as REASON,
    Seen,
    _Printer,
    alike,
    by_records,
    coarsest,
    count_leaf,
    difference_leaf,
    guarded as guards_guarded,
    percentage,
    protect,
    protect_words,
    rate_leaf,
    seen,
)
from sdckit.report.gate.rounding import WITHHELD, Print, print_variable


def plain_of(tree: dict[str, Any], ledger: Ledger, *, n: int = 1000, internal: bool = False) -> dict[str, Any]:
    return protect(Document(tree, ledger.variables, tuple(ledger.relations), n), internal=internal)


def test_rates_come_from_rounded_counts() -> None:
    ledger = Ledger()
    tree = {"n": ledger.count("n", 1002, "n"), "v": ledger.count("v", 132, "v"), "rate": Share("v", "n")}
    assert plain_of(tree, ledger)["rate"] == {"text": "13.0 %", "value": 0.13, "of": "1,000"}
    ledger.count("v", 3, "v")
    assert plain_of(tree, ledger)["rate"] == {"text": "<0.50 %", "value": None, "below": 0.005, "of": "1,000"}


def test_a_mean_comes_from_the_printed_sum() -> None:
    ledger = Ledger()
    tree = {"n": ledger.count("n", 1002, "n"), "sum": ledger.value("e", 15.82, "e"), "mean": Ratio("e", "n")}
    plain = plain_of(tree, ledger)
    assert (plain["sum"]["text"], plain["mean"]["text"]) == ("16", "0.016")
    exact = plain_of(tree, ledger, internal=True)
    assert exact["mean"]["value"] == pytest.approx(15.82 / 1002)


@pytest.mark.parametrize(
    ("whole", "part", "text"),
    [
        (40, 0, "40"),
        (40, 21, "about 20"),
        (40, 40, "under 5"),
        (3, 0, "<5"),
        (3, 2, "under 4"),
        (0, 0, "0"),
        (42, 3, "about 35"),
    ],
)
def test_differences_come_from_printed_counts(whole: int, part: int, text: str) -> None:
    ledger = Ledger()
    ledger.count("a", whole, "a")
    ledger.count("b", part, "b")
    assert plain_of({"d": Difference("a", "b")}, ledger)["d"]["text"] == text


def test_shares_of_printed_parts_make_a_whole() -> None:
    ledger = Ledger()
    names = ("a", "b", "c")
    for name, n in zip(names, (1253, 4003, 1110), strict=True):
        ledger.count(name, n, "bins")
    tree = {str(i): Cumulative(names[:i], names) for i in range(1, 4)} | {"share": Cumulative(("a",), names)}
    plain = plain_of(tree, ledger)
    assert plain["share"] == plain["1"] == {"text": "19.7 %", "value": pytest.approx(1255 / 6370, abs=1e-6)}
    assert plain["3"] == {"text": "100 %", "value": 1}


def test_a_share_of_hidden_parts_is_a_bound() -> None:
    ledger = Ledger()
    for name, n in {"a": 3, "b": 0, "c": 995}.items():
        ledger.count(name, n, "bins")
    names = ("a", "b", "c")
    plain = plain_of({one: Cumulative((one,), names) for one in names} | {"n": Count("a")}, ledger)
    assert plain["a"] == {"text": "<0.50 %", "value": None, "below": 0.005}
    assert plain["b"] == {"text": "0 %", "value": 0}


def test_a_share_of_what_is_withheld_is_withheld() -> None:
    prints = {"a": print_variable(Variable(3), 8), "b": print_variable(Variable(100), 0)}
    printer = _Printer(prints, internal=False, in_words=None)
    assert printer.plain(Cumulative(("b",), ("a", "b"))) == {"text": "withheld", "value": None}
    assert printer.plain(Cumulative((), ())) == {"text": "undefined", "value": None}


def test_levels_only_hold_or_do_not() -> None:
    ledger = Ledger()
    tree = {"a": Holds(True), "b": Holds(False), "c": Holds(None, "3 records lack a weight")}
    plain = plain_of(tree, ledger)
    assert plain["a"] == {"text": "holds", "value": True}
    assert plain["b"] == {"text": "does not hold", "value": False}
    assert plain["c"]["reason"] == "<5 records lack a weight"


def test_undefined_figures_are_null() -> None:
    ledger = Ledger()
    tree = {"e": ledger.value("e", math.nan, "e"), "x": math.nan}
    plain = plain_of(tree, ledger)
    assert plain["e"] == {"text": "undefined", "value": None}
    assert plain["x"] is None
    json.dumps(plain, allow_nan=False)


def test_a_small_file_gives_no_document() -> None:
    document = build_document(assess_fake(survey(49), Scenario(keys=["sex"])))
    with pytest.raises(DataError, match=r"^a file of fewer than 50 records .* Use internal=True \(--internal\) for a "):
        protect(document)
    assert protect(document, internal=True)["confidential"] == CONFIDENTIAL


def test_internal_matter_stays_inside() -> None:
    tree = {"list": InternalOnly(("row 7",)), "words": Foreign("3 records at row 7")}
    assert plain_of(tree, Ledger()).keys() == {"protected", "confidential", "words"}
    exact = plain_of(tree, Ledger(), internal=True)
    assert exact["list"] == ["row 7"]
    assert exact["words"] == "3 records at row 7"


def test_an_unknown_leaf_is_refused() -> None:
    with pytest.raises(TypeError, match="no rule to print"):
        plain_of({"x": object()}, Ledger())  # type: ignore[dict-item]


def leaves(plain: Any, path: str = "") -> Any:
    if isinstance(plain, dict):
        if "text" in plain and "value" in plain:
            yield path, plain
        for key, value in plain.items():
            yield from leaves(value, f"{path}/{key}")
    elif isinstance(plain, list):
        for number, value in enumerate(plain):
            yield from leaves(value, f"{path}/{number}")


def test_every_count_is_rounded_or_hidden() -> None:
    plain = protect(build_document(assess_fake(survey(600, missing=0.03), FULL)))
    found = list(leaves(plain))
    assert len(found) > 100
    for path, leaf in found:
        value = leaf["value"]
        if isinstance(value, int) and not isinstance(value, bool):
            assert value % 5 == 0, path
        if value is None:
            assert "below" in leaf or leaf["text"] in {"withheld", "undefined", "not judged"}, path


def test_an_internal_document_is_exact() -> None:
    assessment = assess_fake(survey(603), FULL)
    plain = protect(build_document(assessment, internal=True), internal=True)
    assert plain["n"]["value"] == 603
    one, exact = plain["intruders"][0], assessment.intruders[0]
    assert one["key_frequencies"]["sample_uniques"]["value"] == exact["key_frequencies"].sample_uniques
    assert [row["n_cells"]["value"] for row in one["key_frequencies"]["frequency_of_frequencies"]] == list(
        exact["key_frequencies"].frequency_of_frequencies.values()
    )
    assert plain["records_at_risk"]


def chance(hits: int, misses: int, share: float) -> Any:
    ledger = Ledger()
    ledger.count("u", hits, "u")
    ledger.count("p", misses, "p")
    return plain_of({"x": Chance("u", "p", share)}, ledger)["x"]


def test_a_chance_follows_from_printed_counts() -> None:
    assert chance(52, 101, 0.1) == {"text": "0.053", "value": 0.053}
    assert chance(0, 101, 0.1) == {"text": "0", "value": 0.0}
    assert chance(50, 0, 0.1) == {"text": "1.0", "value": 1.0}
    for hits, misses in ((3, 100), (100, 3)):
        assert chance(hits, misses, 0.1) == {"text": "withheld", "value": None}


def guarded(uniques: int, *, internal: bool = False) -> Any:
    ledger = Ledger()
    ledger.count("u", uniques, "u")
    ledger.value("e", 1234.5, "e")
    tree = {
        "e": Guarded("e", "u"), "part": Part(0.3349, "u"), "trace": Part(0.001, "u"), "nan": Part(math.nan, "u"),
    }  # fmt: skip
    return plain_of(tree, ledger, internal=internal)


def test_what_few_uniques_would_tell_is_withheld() -> None:
    for uniques in (3, 20, 47):
        assert {guarded(uniques)[name]["text"] for name in ("e", "part", "trace")} == {"withheld"}
    found = guarded(60)
    assert found["e"] == {"text": "1,200", "value": 1200.0}
    assert found["part"] == {"text": "33 %", "value": 0.33}
    assert found["trace"] == {"text": "<1 %", "value": None, "below": 0.01}
    assert found["nan"] == {"text": "undefined", "value": None}
    exact = guarded(3, internal=True)
    assert (exact["e"]["value"], exact["part"]["value"]) == (1234.5, 0.3349)


HIDDEN = {"text": "<5", "value": None, "below": 5}


@pytest.mark.parametrize(
    ("printed", "found"),
    [
        ({"successes": {"text": "0", "value": 0}}, Seen(0, 0, 0)),
        ({"successes": HIDDEN}, Seen(0, 2.5, 5, few=True)),
        ({"successes": {"text": "45", "value": 45}}, Seen(42.5, 45, 47.5)),
        ({"successes": {"text": "40", "value": 40, "rounded_to": 10}}, Seen(35, 40, 45)),
        ({"failures": {"text": "0", "value": 0}}, Seen(100, 100, 100)),
        ({"failures": HIDDEN}, Seen(95, 97.5, 100, many=True)),
        ({"failures": {"text": "20", "value": 20}}, Seen(77.5, 80, 82.5)),
        ({"failures": {"text": "withheld", "value": None}}, None),
        ({}, None),
    ],
)
def test_what_a_printed_number_allows(printed: dict[str, Any], found: Seen | None) -> None:
    assert seen(printed, "", 100) == found
    other = {f"control_{side}": leaf for side, leaf in printed.items()}
    assert seen(other, "control_", 100) == found
    assert seen(other, "", 100) is None


def test_a_share_of_successes_has_its_bound() -> None:
    assert rate_leaf(Seen(0, 2.5, 5, few=True), 150) == {"text": "<3.3 %", "value": None, "below": 0.033333}
    assert rate_leaf(Seen(995, 997.5, 1000, many=True), 1000)["text"] == ">99.5 %"
    assert rate_leaf(Seen(42.5, 45, 47.5), 100) == {"text": "45.0 %", "value": 0.45}
    assert [percentage(one) for one in (0, 0.0049, 0.5, 1)] == ["0", "0.49", "50.0", "100"]


@pytest.mark.parametrize("n", [60, 120, 300, 700, 5000])
def test_a_counted_part_does_not_tell_small_counts_apart(n):
    """Of one column, a share in whole per cent would count its records."""
    said = set()
    for few in (1, 2, 3, 4):
        ledger = Ledger()
        tree = {"n": ledger.count("n", n, "n"), "part": Part(few / n, "n", counted=True)}
        said.add(protect(Document(tree, ledger.variables, (), n))["part"]["text"])
    assert len(said) == 1


def moved(change: float, n: int, largest: float, *, internal: bool = False) -> str:
    ledger = Ledger()
    tree = {"n": ledger.count("n", 5000, "n"), "x": ledger.count("x", n, "x"), "moved": Moved(change, "x", largest)}
    return protect(Document(tree, ledger.variables, (), 5000), internal=internal)["moved"]["text"]


def test_a_change_is_printed_in_steps_of_ten_records_and_of_the_largest() -> None:
    assert moved(0.4712, 5000, 0.001) == "47 %"
    assert moved(-0.4712, 5000, 0.001) == "-47 %"
    assert moved(0.4712, 5000, 0.07) == "50 %"  # one record has 7 % of the total: in steps of ten
    assert moved(0.4712, 120, 0.001) == "50 %"  # ten of 120 are more than 5 %
    assert moved(0.4712, 5000, 0.21) == moved(0.4712, 40, 0.001) == "withheld"
    assert moved(0.4712, 40, 0.9, internal=True) == "47.12 %"


@pytest.mark.parametrize("n", [60, 120, 300, 700, 5000])
def test_a_change_does_not_tell_small_numbers_of_records_apart(n: int) -> None:
    assert {moved(-few / n, n, 1 / n) for few in range(5)} == {"0 %"}


@pytest.mark.parametrize(
    ("limit", "holds", "told"), [(0.01, False, False), (0.05, True, None), (0.05, False, None), (0.2, True, True)]
)
def test_a_limit_on_a_mean_is_open_where_the_print_leaves_both_answers(limit, holds, told) -> None:
    """Thirty of 600 are printed: whether it is 29 or 31 decides a limit of .05, and would be told by its verdict."""
    ledger = Ledger()
    ledger.count("n", 600, "n")
    ledger.value("expected", 30.0, "e", kind="sum")
    leaf = Holds(holds, "3 of them", "expected", "n", limit)
    tree = {"one": leaf, "all": AllHold((Holds(True), leaf))}
    document = Document(tree, ledger.variables, tuple(ledger.relations), 600)
    plain = protect(document)
    assert plain["one"]["value"] is told
    assert plain["all"] is told
    assert plain["one"]["reason"] == (REASON if told is None else "<5 of them")
    assert protect(document, internal=True)["one"]["value"] is holds


def test_a_mean_of_what_is_withheld_is_withheld() -> None:
    """Not its bound, which a reader would take for a figure."""
    ledger = Ledger()
    ledger.count("n", 1000, "n")
    ledger.count("few", 3, "few")
    ledger.value("sum", 41.5, "sum", guard=("few",))
    tree = {"n": Count("n"), "mean": Ratio("sum", "n")}
    assert plain_of(tree, ledger)["mean"] == {"text": "withheld", "value": None}
    assert plain_of(tree, ledger, internal=True)["mean"]["value"] == 0.0415


FIVE = Print("5", 5, 5, 7, base=5)


def test_a_count_rounded_to_five_says_nothing_of_its_step() -> None:
    assert count_leaf(FIVE) == {"text": "5", "value": 5}
    assert count_leaf(Print("20", 20, 15, 24, base=10)) == {"text": "20", "value": 20, "rounded_to": 10}


def test_a_difference_that_may_be_none_is_a_bound() -> None:
    assert difference_leaf(FIVE, FIVE) == {"text": "under 3", "value": None, "below": 3}
    assert difference_leaf(FIVE, Print("withheld", None, 0, 9))["text"] == "withheld"
    assert difference_leaf(FIVE, Print("0", 0, 0, 0)) == {"text": "5", "value": 5}


# One number has one print; what few records carry is withheld, or has few digits.


def of_value(true: float):
    return print_variable(Variable(true, kind="value"), 0)


@pytest.mark.parametrize(
    ("n", "true", "nothing", "text"),
    [
        (0, 0.0123, 0.0, "0.012"), (3, 0.0123, 0.0, "withheld"), (44, 0.0123, 0.0, "withheld"),
        (50, 0.0123, 0.0, "0.01"), (50, 0.098, 0.0, "0.1"), (600, 0.098, 0.0, "0.098"),
        (50, 0.55, 0.5, "0.55"), (50, 0.95, 0.5, "0.9"), (60, 0.0, 0.0, "0"),
    ],
)  # fmt: skip
def test_digits_leave_five_records_in_a_step(n: int, true: float, nothing: float, text: str) -> None:
    found = by_records(of_value(true), [print_variable(Variable(n), 0)], nothing)
    assert found.text == text
    assert found.low <= true <= found.high


def test_a_figure_is_withheld_where_one_of_its_counts_is_few() -> None:
    ledger = Ledger()
    for name, n in (("many", 90), ("none", 0), ("few", 2)):
        ledger.count(name, n, name)
    ledger.value("told", 7.6, "x", guard=("many", "none"))
    ledger.value("hidden", 7.6, "y", guard=("many", "few"))
    prints = {name: print_variable(one, 0) for name, one in ledger.variables.items()}
    found = guards_guarded(prints, ledger)
    assert (found["told"].text, found["hidden"], found["few"].text) == ("8", WITHHELD, "<5")


def test_equal_numbers_are_printed_as_the_coarsest_of_them() -> None:
    ledger = Ledger()
    for name in ("a", "b", "c", "d"):
        ledger.count(name, 12 if name != "d" else 13, name)
    ledger.equal("a", "b")
    ledger.equal("c", "d")
    levels = {"a": 0, "b": 2, "c": 0, "d": 2}
    prints = {name: print_variable(ledger.variables[name], level) for name, level in levels.items()}
    found = alike(prints, {name: Quantity(name) for name in prints}, ledger)
    assert {name: one.text for name, one in found.items()} == {"a": "<20", "b": "<20", "c": "10", "d": "<20"}
    assert math.isfinite(found["a"].high)


def test_words_round_as_what_a_number_could_be_not_as_what_equals_it() -> None:
    ledger = Ledger()
    ledger.count("a", 2, "a")
    ledger.count("b", 63, "b")
    in_words = coarsest(
        ledger, {"a": print_variable(ledger.variables["a"], 1), "b": print_variable(ledger.variables["b"], 2)}
    )
    assert {in_words(n) for n in (1, 2, 3, 4, 9)} == {"<10"}
    assert (in_words(0), in_words(12), in_words(52), in_words(63), in_words(72)) == ("0", "10", "60", "60", "70")
    assert coarsest(ledger, {"b": WITHHELD})(7) == "<50"


@pytest.mark.parametrize(
    ("exact", "printed"),
    [
        ("weight of 3 records is missing", "weight of <5 records is missing"),
        ("1,203 records and 7 households", "1,205 records and 5 households"),
        ("see rows 3, 17 and 20 of the file", "see rows not shown of the file"),
        ("bad value at row 12", "bad value at rows not shown"),
        ("first rows: 4, 9, 11", "first rows not shown"),
        ("'age' has 4312 levels: recode it first", "'age' has 4310 levels: recode it first"),
        ("no record below k = 3", "no record below k = 3"),
        ("2-anonymity holds for income_2010", "2-anonymity holds for income_2010"),
        ("the weights sum to 12345.678", "the weights sum to 12,000"),
        ("Benedetti & Franconi (1998)", "Benedetti & Franconi (1998)"),
        ("k = 3 records", "k = <5 records"),
    ],
)
def test_counts_in_words_are_protected(exact: str, printed: str) -> None:
    assert protect_words(exact).replace(",", "") == printed.replace(",", "")


def test_a_count_is_rounded_as_its_table_is() -> None:
    assert protect_words("7 records", lambda n: f"<{n + 3}") == "<10 records"


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("job holds 'refused' in 1 record", "job holds 'refused' in 2 records"),
        ("1 household is in both files", "2 households are in both files"),
        ("1 record has no weight (row 17)", "2 records have no weight (rows 17 and 20)"),
        ("row 17 has no household", "rows 17, 20 have no household"),
        ("1 row was left out", "3 rows were left out"),
    ],
)
def test_grammar_does_not_tell_one_from_few(one: str, two: str) -> None:
    assert protect_words(one) == protect_words(two)

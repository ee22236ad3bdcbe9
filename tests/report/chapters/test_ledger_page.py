"""A release held against earlier ones, as a document: protected for all intruders together, exact inside."""

from __future__ import annotations

import pytest

import sdckit as sdc
from attacks.differencing.several import people
from draw import quiet
from sdckit.errors import DataError
from sdckit.report.chapters.ledger_page import ledger_page, plain_ledger
from sdckit.report.formats.html import render_page
from sdckit.workflow.verdicts import judge_differencing

DATA = people(200)


def against(n: int = 200, **more: list[str]) -> sdc.Differencing:
    given = {"keys": ["part", "sex", "age"], "earlier_keys": ["region", "band"], **more}
    with quiet():
        return sdc.differencing(DATA.head(n), earlier=DATA.head(n), sensitive=["job"], id="id", **given)


@pytest.fixture(scope="module")
def found() -> dict[str, sdc.Differencing]:
    return {"neighbour": against(), "colleague": against(keys=["part", "sex"])}


def test_figures_are_protected(found: dict[str, sdc.Differencing]) -> None:
    plain = plain_ledger(found, [])
    for one, result in zip(plain["intruders"], found.values(), strict=True):
        told = one["differencing"]["figures"]["people"]["n"]
        assert told["text"] != f"{result.people:,}" or result.people % 5 == 0
        assert not one["differencing"].get("exact")
    assert plain_ledger(found, [], internal=True)["intruders"][0]["differencing"]["exact"]


def test_the_page_says_what_holds(found: dict[str, sdc.Differencing]) -> None:
    for limit, state in ((0.0, "fail"), (1.0, "pass")):
        verdicts = [judge_differencing(limit, name, one, {}) for name, one in found.items()]
        page = ledger_page(plain_ledger(found, verdicts, internal=True), "second.csv")
        assert page.state == state
        text = render_page(page)
        assert "Intruder “colleague”" in text
        assert "second.csv: 200 records" in text


def test_a_limit_that_could_not_be_judged_says_why_and_what_to_do() -> None:
    with quiet():
        one = sdc.differencing(DATA.drop("id"), earlier=DATA.drop("id"), keys=["part", "sex", "age"],
                               earlier_keys=["region", "band"], sensitive=["job"])  # fmt: skip
    verdict = judge_differencing(0.9, "default", one, {})
    if verdict.holds is None:
        text = render_page(ledger_page(plain_ledger({"default": one}, [verdict]), "second.csv"))
        assert "could not be judged" in text
        assert "give an id" in text
    else:
        pytest.fail("nothing links the people of the two files")


def test_without_a_limit_the_page_says_so(found: dict[str, sdc.Differencing]) -> None:
    page = ledger_page(plain_ledger({"default": found["neighbour"]}, []), "second.csv")
    assert (page.state, page.headline) == ("open", "No limit is set on what releases disclose together.")


def test_few_records_have_no_document_that_may_leave() -> None:
    with pytest.raises(DataError, match="fewer than 50"):
        plain_ledger({"default": against(40)}, [])

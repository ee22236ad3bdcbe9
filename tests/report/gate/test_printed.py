"""A printed number knows what it is a number of, and is a text like any other."""

from __future__ import annotations

import json
import pickle
from copy import deepcopy

from sdckit.report.gate.figures import Document, Ledger, Quantity, Ratio, Share
from sdckit.report.gate.printed import Identity, Printed, leaves
from sdckit.report.gate.protect import protect

ALONE = Quantity("records alone", "original")


def test_it_is_a_text_that_can_be_copied() -> None:
    text = Printed("<5", Identity("count", (ALONE,)), 4.0)
    assert json.dumps({"text": text}) == '{"text": "<5"}'
    for again in (pickle.loads(pickle.dumps(text)), deepcopy(text)):
        assert (again, again.identity, again.span) == ("<5", text.identity, 4.0)


def test_every_figure_says_of_which_file_it_is() -> None:
    ledger = Ledger()
    tree = {
        "n": ledger.count("n", 200, "n"),
        "alone": ledger.count("u", 20, "u", of=Quantity("records alone")),
    }
    ledger.value("expected", 12.5, "e", kind="sum")
    tree |= {"rate": Share("u", "n"), "risk": Ratio("expected", "n")}
    plain = protect(Document(tree, ledger.variables, (), 200, "original"))
    assert [leaf["text"].identity.of[0] for leaf in leaves(plain)] == [
        Quantity("n", "original"), ALONE, ALONE, Quantity("expected", "original")
    ]  # fmt: skip


def test_a_quantity_that_stands_twice_is_coarsened_together() -> None:
    ledger = Ledger()
    ledger.count("u", 20, "first", of=ALONE)
    ledger.count("again", 20, "second", of=ALONE)
    ledger.count("other", 20, "second")
    assert [one.group for one in ledger.variables.values()] == ["first", "first", "second"]

"""Texts that are written like direct identifiers."""

from __future__ import annotations

import pytest

from sdckit.data.scenarios.guessing.patterns import written_like


@pytest.mark.parametrize(
    ("texts", "like"),
    [
        (["ann@example.org", "x.y@mail.example.com"], "an e-mail address"),
        (["+43 660 1234567", "0043 1 2345678"], "a phone number"),
        (["(555) 123-4567", "555-123-4567"], "a phone number"),
        (["123-45-6789", "987-65-4320"], "a social security number"),
        (["756.1234.5678.90"], "a social security number"),
        (["RSSMRA85T10A562S"], "a social security number"),
        (["AT61 1904 3002 3457 3201", "DE89370400440532013000"], "a bank account number"),
        (["123e4567-e89b-12d3-a456-426614174000"], "a universal id"),
        (["https://example.org/x", "www.example.org"], "a web address"),
        (["192.168.0.1", "10.0.0.7"], "an internet address"),
        (["Hauptstraße 12", "Gartenweg 7"], "a street address"),
        (["Anna Muster", "Bob van der Berg", "O'Neil, Mary"], "a person's name"),
        (["They said that the weather had been fine all week", "No further remarks were made at all"], "free text"),
        (["married", "single"], None),
        (["E12000001", "E12000002"], None),
        (["15-24", "25-34"], None),
        (["2020-01-31", "2021-05-07"], None),
        (["HS-grad", "Some-college"], None),
        (["MOSTLY SATISFIED", "VERY PLEASED"], None),
        (["", "  "], None),
    ],
)  # fmt: skip
def test_patterns(texts, like):
    assert written_like(texts) == like


def test_a_few_that_are_written_otherwise_do_not_matter():
    assert written_like(["a@x.org"] * 9 + ["none"]) == "an e-mail address"
    assert written_like(["a@x.org"] * 5 + ["none"] * 5) is None

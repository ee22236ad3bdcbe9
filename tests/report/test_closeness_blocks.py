"""Closeness of groups as typed figures: counts that contain each other, no largest value."""

from __future__ import annotations

import json

import pytest

import releases
import sdckit as sdc
from sdckit.report.chapters.document import build_document
from sdckit.report.chapters.page import lay_out
from sdckit.report.formats.write import plain_document
from sdckit.report.gate.protect import protect
from sdckit.report.notebook import result_chart, result_document

CLOSENESS = ("t_closeness", "beta_likeness", "delta_disclosure", "alpha_k")


@pytest.mark.parametrize("name", CLOSENESS)
def test_records_beyond_each_limit(name):
    result = getattr(sdc, name)(releases.original(), keys=["sex", "age"], sensitive=["ill"])
    document = result_document(result)
    plain = protect(document, internal=True)[name]
    kinds = plain["variables"]["ill"]
    exact = result.violations["ill"]
    for kind, limits in kinds.items():
        counts = exact.get(kind, exact)
        assert [leaf["n"]["value"] for leaf in limits.values()] == [counts[limit] for limit in sorted(counts)]
        names = [f"i0.{name}.ill.{kind}.{limit}" for limit in limits]
        assert f"{names[0]} - {names[1]}" in document.variables
    largest = {
        value for figure in ("level", "basic", "delta", "alpha") for value in getattr(result, figure, {}).values()
    }
    assert not any(f"{value:.4g}" in str(protect(document)) for value in largest)


@pytest.mark.parametrize("name", CLOSENESS)
def test_it_is_drawn(name):
    chart = result_chart(getattr(sdc, name)(releases.original(), keys=["sex", "age"], sensitive=["ill"]))
    assert "Records in groups beyond the limit" in str(chart.to_dict())


def test_each_measure_has_its_section(tmp_path):
    found = sdc.assess(
        releases.original(), scenario=releases.scenario(aligned=False),
        measures=["t_closeness", "beta_likeness", "delta_disclosure", "alpha_k"],
    )  # fmt: skip
    titles = [section.title for section in lay_out(plain_document(found)).sections]
    for words in ("t-closeness", "β-likeness", "δ-disclosure", "(α, k)-anonymity"):
        assert f"What would be learnt: {words}" in titles
    found.to_json(tmp_path / "a.json")
    told = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))["intruders"][0]
    assert set(told["t_closeness"]["variables"]) == {"ill", "income"}
    assert [one["name"] for one in json.loads((tmp_path / "a.json").read_text())["methods"]].count("t-closeness") == 1


def test_a_group_of_one_value_is_known_to_be_beyond_a_limit():
    """Whoever reads of both knows it: so the audit does, of every limit for which it holds, and of no other."""
    found = sdc.assess(
        releases.original(), scenario=releases.scenario(aligned=False), measures=["alpha_k", "delta_disclosure"]
    )
    variables = build_document(found).variables
    alike = [name for name in variables if name.endswith("l.ill.distinct.2") and " - " not in name]
    linked = {name.removesuffix(f" - {one}") for one in alike for name in variables if name.endswith(f" - {one}")}
    ours = {name for name in linked if "alpha_k" in name or "delta_disclosure" in name}
    shares, ratios = (found.intruders[0].results[name].violations["ill"] for name in ("alpha_k", "delta_disclosure"))
    assert ours == {
        *(f"i0.alpha_k.ill.alpha_k.{limit:g}" for limit in shares if limit < 1),
        *(f"i0.delta_disclosure.ill.delta.{limit:g}" for limit in ratios["delta"]),
    }

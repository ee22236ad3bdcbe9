"""Every result on two files, of one small survey, and what is printed and shown of it."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import releases
import sdckit as sdc
from draw import quiet
from sdckit.report.charts import to_svg
from sdckit.report.gate.protect import protect
from sdckit.report.notebook import result_blocks, result_document

KEYS = ["sex", "age", "region"]
EVERYBODY = releases.original(400)
CONTROL = {"control": EVERYBODY[240:], "seed": 1}


def _exposed(o: Any, r: Any) -> Any:
    made = sdc.canaries(o, n=60, variables=[*KEYS, "income"], seed=3)
    return made.exposure(made.data[: o.height + 30])


def _posterior(o: Any, r: Any) -> Any:
    draws = {"probability": np.random.default_rng(1).dirichlet([60, 40], 40)}
    return sdc.bayesian_attribute_risk(o, r, target="ill", draws=draws)


RULES = [
    {"column": "region", "when": {"sex": "f"}, "value": "north"},
    {"column": "ill", "when": {"age": {"below": 40}}, "value": "no"},
    {"column": "sex", "when": {"nowhere": 1}, "value": "f"},
]
SLOPES = {"one": [[1.1, 1.9], [0.25, 0.7]], "other": [[2.2, 2.345], [0.1, 0.8]]}
CALLS = {
    "matching_risk": lambda o, r: sdc.matching_risk(o, r, known=KEYS),
    "identity_disclosure": lambda o, r: sdc.identity_disclosure(o, r, keys=KEYS),
    "few_matches": lambda o, r: sdc.few_matches(o, r, keys=KEYS),
    "replicated_uniques": lambda o, r: sdc.replicated_uniques(o, r, keys=KEYS),
    "copied_records": sdc.copied_records,
    "record_linkage": lambda o, r: sdc.record_linkage(o, r, variables=KEYS, numeric=["age"]),
    "interval_risk": lambda o, r: sdc.interval_risk(o, r, numeric=["income"]),
    "robust_interval_risk": lambda o, r: sdc.robust_interval_risk(o, r, numeric=["income", "age"], seed=1),
    "exact_numbers": lambda o, r: sdc.exact_numbers(o, r, magnitudes=["income"], number_groups=["region"], k=9),
    "known_points": lambda o, r: sdc.known_points(o, r, person="pid", keys=KEYS),
    "correct_attribution_probability": lambda o, r: sdc.cap(o, r, keys=KEYS, target="ill"),
    "attribute_disclosure": lambda o, r: sdc.attribute_disclosure(o, r, keys=KEYS, target="ill"),
    "attribute_disclosure_table": lambda o, r: sdc.attribute_disclosure_table(o, r, keys=["sex", "age"]),
    "prediction_risk": lambda o, r: sdc.prediction_risk(o, r, keys=KEYS, target="income", numeric=["income"]),
    "bayesian_attribute_risk": _posterior,
    "propensity": lambda o, r: sdc.propensity(o, r, variables=KEYS, numeric=["age"]),
    "cluster_utility": lambda o, r: sdc.cluster_utility(o, r, variables=KEYS, numeric=["age"], seed=1),
    "ecdf_utility": lambda o, r: sdc.ecdf_utility(o, r, variables=["income", "age"]),
    "generalization_loss": lambda o, r: sdc.generalization_loss(
        o, r, hierarchies={"sex": {"f": ["*"], "m": ["*"]}}, aligned=True
    ),
    "information_loss": lambda o, r: sdc.information_loss(o, r, numeric=["income", "age"], robust=False),
    "compare_models": lambda o, r: sdc.compare_models(o, r, formula="income ~ age + C(region)"),
    "compare_estimates": lambda o, r: sdc.compare_estimates(o, r, statistic="mean", variables=["income"]),
    "compare_distributions": lambda o, r: sdc.compare_distributions(o, r, variables=KEYS, numeric=["age"]),
    "compare_associations": lambda o, r: sdc.compare_associations(o, r, variables=KEYS, numeric=["age"]),
    "utility_overview": lambda o, r: sdc.utility_overview(o, r, variables=KEYS, numeric=["age"]),
    "tabular_utility": lambda o, r: sdc.tabular_utility(o, r, variables=KEYS, numeric=["age"]),
    "edit_rules": lambda o, r: sdc.edit_rules(o, r, rules=RULES),
    "combine": lambda o, r: sdc.combine([[1.234, 2.0], [1.3, 2.1]], [[0.5, 1.0]] * 2, kind="partial"),
    "compare_intervals": lambda o, r: sdc.compare_intervals([[1.0, 2.0], [0.1, 0.9]], SLOPES),
    "singling_out": lambda o, r: sdc.singling_out(o, r, variables=[*KEYS, "income"], **CONTROL),
    "linkability": lambda o, r: sdc.linkability(o, r, known=(["sex", "age"], ["region"]), **CONTROL, by=["sex"]),
    "inference": lambda o, r: sdc.inference(o, r, known=KEYS, target="ill", **CONTROL, by=["sex"]),
    "membership": lambda o, r: sdc.membership(o, r, variables=[*KEYS, "income"], **CONTROL, by=["sex"]),
    "probabilistic_linkage": lambda o, r: sdc.probabilistic_linkage(
        o, r, variables=KEYS, seed=1, scenario=releases.scenario()
    ),
    "distance_to_closest_record": lambda o, r: sdc.distance_to_closest_record(
        o, r, variables=[*KEYS, "income"], **CONTROL, by=["sex"]
    ),
    "canaries": _exposed,
}  # fmt: skip


@cache
def result_of(measure: str) -> Any:
    original = EVERYBODY[:240]
    with quiet():
        return CALLS[measure](original, releases.release(original))


def printed(measure: str, *, internal: bool = False) -> dict[str, Any]:
    """The only tree of its document."""
    plain = protect(result_document(result_of(measure)), internal=internal)
    (tree,) = plain["measures"].values()
    return tree


def shown(measure: str, *, internal: bool = False) -> list[Any]:
    """The blocks laid out of it."""
    return result_blocks(protect(result_document(result_of(measure)), internal=internal))


def drawn(measure: str) -> list[dict[str, Any]]:
    """The rows behind its chart, once it was drawn."""
    chart = result_of(measure).plot()
    assert "<svg" in to_svg(chart)
    assert "withhold" not in result_of(measure)._repr_html_()
    return [row for rows in chart.to_dict()["datasets"].values() for row in rows]

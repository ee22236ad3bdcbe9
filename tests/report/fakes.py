"""An assessment made by counting with dictionaries: small, exact, independent of the package's kernels."""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import combinations
from statistics import quantiles
from types import SimpleNamespace
from typing import Any

from report.fake_results import (
    Anonymity,
    Contribution,
    Contributions,
    Diversity,
    Facts,
    FakeAssessment,
    Frequencies,
    Households,
    Intruder,
    Risk,
    Row,
    Verdict,
    pattern,
)
from sdckit.data.scenarios.scenario import Scenario
from sdckit.report.gate.relations import SIZE_CLASSES, risk_of_size


def matching(rows: list[Row], keys: tuple[str, ...], *, wildcard: bool) -> list[int]:
    if not wildcard:
        sizes = Counter(pattern(row, keys) for row in rows)
        return [sizes[pattern(row, keys)] for row in rows]
    blank = (None,) * len(keys)
    heard = [b for b in rows if len(keys) == 1 or pattern(b, keys) != blank]
    return [
        sum(all(a[k] == b[k] or a[k] is None or b[k] is None for k in keys) for b in heard)
        + (len(rows) - len(heard) if pattern(a, keys) == blank else 0)
        for a in rows
    ]


def strict_matching(rows: list[Row], keys: tuple[str, ...]) -> list[int]:
    """Records that match each, where others' missing values match nothing."""
    complete = [b for b in rows if None not in pattern(b, keys)]
    alike = Counter(pattern(b, keys) for b in rows)
    return [
        alike[pattern(a, keys)]
        + (pattern(a, keys).count(None) > 0) * sum(all(a[k] in (None, b[k]) for k in keys) for b in complete)
        for a in rows
    ]


def risks_of(rows: list[Row], frequencies: list[int], scenario: Scenario) -> tuple[float, ...]:
    if scenario.sampling_fraction:
        return tuple(risk_of_size(f, scenario.sampling_fraction) for f in frequencies)
    if scenario.weight:
        return tuple(
            risk_of_size(1, min(1.0, 1 / float(row[scenario.weight]))) / f
            for f, row in zip(frequencies, rows, strict=True)
        )
    return tuple(1 / f for f in frequencies)


def household_risks(rows: list[Row], risks: tuple[float, ...], column: str) -> tuple[float, ...]:
    safe: dict[Any, float] = defaultdict(lambda: 1.0)
    for row, risk in zip(rows, risks, strict=True):
        safe[row[column]] *= 1 - risk
    return tuple(1 - safe[row[column]] for row in rows)


def frequencies_of(rows: list[Row], keys: tuple[str, ...], f: list[int], strict: list[int], given: Any) -> Frequencies:
    cells = Counter(pattern(row, keys) for row in rows)
    classes = {
        label: sum(low <= size <= high for size in cells.values()) for label, (low, high) in SIZE_CLASSES.items()
    }
    resting = sum(b == 1 < a for a, b in zip(f, strict, strict=True))
    return Frequencies(len(rows), len(cells), sum(x == 1 for x in f), classes, given, resting)


def facts_of(rows: list[Row], key: str, rule: str) -> Facts:
    counts = Counter(str(row[key]) for row in rows if row[key] is not None)
    ordered = tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
    return Facts(
        key, "text", len(counts), ordered[:200], sum(row[key] is None for row in rows),
        sum(n >= 5 for n in counts.values()), rule,
    )  # fmt: skip


def contributions_of(rows: list[Row], keys: tuple[str, ...], scenario: Scenario) -> Contributions | None:
    if len(keys) < 2:
        return None
    with_all = matching(rows, keys, wildcard=False)
    uniques = sum(f == 1 for f in with_all)
    table = []
    for size in (1, 2):
        for dropped in combinations(keys, size):
            rest = tuple(key for key in keys if key not in dropped)
            if rest:
                f = matching(rows, rest, wildcard=False)
                left = sum(x == 1 for x in f)
                mean = math.fsum(risks_of(rows, f, scenario)) / len(rows)
                table.append(Contribution(dropped, left, uniques - left, {}, mean))
    return Contributions(tuple(table), uniques)


def households_of(rows: list[Row], keys: tuple[str, ...], column: str) -> Households:
    members: dict[Any, list[Row]] = defaultdict(list)
    for row in rows:
        members[row[column]].append(row)
    sizes = Counter(len(group) for group in members.values())
    compositions = Counter(tuple(sorted(str(pattern(row, keys)) for row in group)) for group in members.values())
    return Households(
        len(members), sum(n == 1 for n in sizes.values()), sum(n < 3 for n in sizes.values()),
        sum(n == 1 for n in compositions.values()), dict(sizes),
    )  # fmt: skip


def diversity_of(rows: list[Row], keys: tuple[str, ...], sensitive: tuple[str, ...]) -> Diversity | None:
    if not sensitive:
        return None
    violations: dict[str, dict[str, dict[int, int]]] = {}
    homogeneous, level, mean, quartiles = {}, {}, {}, {}
    for variable in sensitive:
        cells: dict[Any, Counter[Any]] = defaultdict(Counter)
        for row in rows:
            cells[pattern(row, keys)][row[variable]] += 1
        violations[variable] = {
            "distinct": {k: sum(c.total() for c in cells.values() if len(c) < k) for k in (2, 3)},
            "entropy": {k: sum(c.total() for c in cells.values() if _entropy(c) < k - 1e-9) for k in (2, 3)},
        }
        homogeneous[variable] = sum(len(c) == 1 and c.total() >= 2 for c in cells.values())
        level[variable] = {
            "distinct": min(len(c) for c in cells.values()),
            "entropy": min(_entropy(c) for c in cells.values()),
        }
        each = {
            "distinct": sorted(len(c) for c in cells.values() for _ in range(c.total())),
            "entropy": sorted(_entropy(c) for c in cells.values() for _ in range(c.total())),
        }
        mean[variable] = {kind: sum(one) / len(one) for kind, one in each.items()}
        quartiles[variable] = {kind: tuple(quantiles(one, method="inclusive")) for kind, one in each.items()}
    return Diversity(len(rows), sensitive, violations, homogeneous, level, mean, quartiles)


def _entropy(counts: Counter[Any]) -> float:
    n = counts.total()
    return math.exp(-sum(c / n * math.log(c / n) for c in counts.values()))


def intruder_of(rows: list[Row], name: str, keys: tuple[str, ...], scenario: Scenario) -> Intruder:
    holes = any(row[key] is None for row in rows for key in keys)
    wildcard = holes and scenario.missing == "wildcard"
    levels = sorted({2, 3, 5} | ({scenario.thresholds.k} if scenario.thresholds.k else set()))

    def measured(*, wildcard: bool) -> dict[str, Any]:
        f = matching(rows, keys, wildcard=wildcard)
        strict = strict_matching(rows, keys) if wildcard else f
        both = list(zip(f, strict, strict=True))
        risks = risks_of(rows, f, scenario)
        shared = household_risks(rows, risks, scenario.household) if scenario.household else None
        rule = "wildcard" if wildcard else "category" if holes else ""
        cells = SimpleNamespace(has_wildcards=wildcard, rule=rule)
        return {
            "key_frequencies": frequencies_of(rows, keys, f, strict, cells),
            "k_anonymity": Anonymity(
                min(f),
                {k: sum(x < k for x in f) for k in levels},
                cells,
                {k: sum(b < k <= a for a, b in both) for k in levels},
            ),
            "individual_risk": Risk(
                risks, scenario.thresholds.risk, shared, cells=cells, resting_on_missing=sum(a > b for a, b in both)
            ),
        }

    results: dict[str, Any] = {}
    strict = measured(wildcard=False) if wildcard else {}
    for place, result in measured(wildcard=wildcard).items():
        if wildcard:
            results[f"{place}:category"] = strict[place]
        results[place] = result
    further = {
        "key_contributions": contributions_of(rows, keys, scenario),
        "household_structure": households_of(rows, keys, scenario.household) if scenario.household else None,
        "l_diversity": diversity_of(rows, keys, scenario.sensitive),
    }
    results |= {place: result for place, result in further.items() if result is not None}
    made = Intruder(
        name, keys, tuple(facts_of(rows, key, str(scenario.missing)) for key in keys), results,
        skipped=() if scenario.sensitive else (("l_diversity", "no sensitive variable is declared"),),
    )  # fmt: skip
    return replace(made, verdicts=tuple(verdicts_of(made, scenario)))


def verdicts_of(one: Intruder, scenario: Scenario) -> list[Verdict]:
    limits = scenario.thresholds
    found = []
    if limits.k:
        n = one["k_anonymity"].violations[limits.k]
        found.append(Verdict("k", one.name, None, limits.k, n == 0, n))
        if "k_anonymity:category" in one.results:
            category = one["k_anonymity:category"].violations[limits.k]
            resting = one["k_anonymity"].resting_on_missing[limits.k]
            found[-1] = replace(found[-1], n_category=category, n_resting=resting)
    if limits.risk:
        n = one["individual_risk"].n_above or 0
        found.append(Verdict("risk", one.name, None, limits.risk, n == 0, n))
    if limits.global_risk:
        risk = one["individual_risk"].global_risk
        found.append(Verdict("global_risk", one.name, None, limits.global_risk, risk <= limits.global_risk, None, risk))
    if limits.l and "l_diversity" in one.results:
        for variable in one["l_diversity"].variables:
            n = one["l_diversity"].violations[variable]["distinct"][limits.l]
            found.append(Verdict("l", one.name, variable, limits.l, n == 0, n))
    elif limits.l:
        found.append(Verdict("l", one.name, None, limits.l, None, None, reason="no sensitive variable is declared"))
    return found


def assess_fake(rows: list[Row], scenario: Scenario, **more: Any) -> FakeAssessment:
    intruders = tuple(intruder_of(rows, name, keys, scenario) for name, keys in scenario.intruders.items())
    return FakeAssessment(scenario, len(rows), intruders, tuple(rows), **more)


def survey(n: int = 600, *, seed: int = 1, missing: float = 0.0) -> list[Row]:
    """Draw an invented survey: sex, age band, region, occupation, household, weight, income band."""
    draw = random.Random(seed)
    rows = []
    for number in range(n):
        row: Row = {
            "sex": draw.choice(["female", "male"]),
            "age": draw.choice(["15-24", "25-34", "35-44", "45-54", "55-64", "65+"]),
            "region": draw.choices(["North", "South", "East", "West", "Islands"], [40, 30, 20, 9, 0.4])[0],
            "occupation": draw.choices([f"job {i}" for i in range(20)], [1 / (i + 1) for i in range(20)])[0],
            "household": number // draw.choice([1, 2, 3]),
            "weight": draw.uniform(20, 60),
            "income": draw.choice(["low", "middle", "high", "very high"]),
        }
        for key in ("age", "occupation"):
            if draw.random() < missing:
                row[key] = None
        rows.append(row)
    return rows


FULL = Scenario(
    keys=["sex", "age", "region", "occupation"],
    weight="weight",
    household="household",
    sensitive=["income"],
    thresholds={"k": 3, "risk": 0.02, "l": 2, "global_risk": 0.02},
    release="scientific-use",
    title="Invented survey 2025",
)

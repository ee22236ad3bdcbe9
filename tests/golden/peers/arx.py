"""What is tried of the rows of `coming-from/arx.md`; ARX's figures are its formulas, worked out by plain loops."""

from __future__ import annotations

import math
from collections import Counter
from functools import cache
from pathlib import Path

import polars as pl

import sdckit as sdc
from golden.peers.files import FAIR_KEYS, golden, survey
from golden.peers.rows import Row, Trials

TRY = Trials()
KEYS = ["religious", "rate_marriage"]
SIX = FAIR_KEYS
AGES = {
    "17.5": ["under 25", "under 35"], "22": ["under 25", "under 35"], "27": ["25 to 34", "under 35"],
    "32": ["25 to 34", "under 35"], "37": ["35 and over", "35 and over"], "42": ["35 and over", "35 and over"],
}  # fmt: skip


def sizes(keys: list[str], frame: pl.DataFrame | None = None) -> Counter[tuple]:
    """Records of each class."""
    return Counter((survey() if frame is None else frame).select(keys).rows())


@cache
def shares(sensitive: str) -> tuple[dict[float, float], list[dict[float, float]]]:
    """The share of each sensitive value in the file, and in each class where it occurs."""
    values = survey()[sensitive].to_list()
    by_class: dict[tuple, Counter] = {}
    for key, value in zip(survey().select(KEYS).rows(), values, strict=True):
        by_class.setdefault(key, Counter())[value] += 1
    n = len(values)
    file = {value: count / n for value, count in Counter(values).items()}
    return file, [{v: c / counts.total() for v, c in counts.items()} for counts in by_class.values()]


# --- data and search -----------------------------------------------------------------------------------


@TRY("`Data.create(...)`")
def _(row: Row) -> None:
    Path("people.csv").write_text("age;sex\n30;m\n", encoding="utf-8")
    assert row.run(path="people.csv", delimiter=";", encoding="utf-8").rows() == [(30, "m")]


@TRY("`IDENTIFYING_ATTRIBUTE`")
def _(row: Row) -> None:
    assert row.run(identifiers=["name"], keys=["age"]).identifiers == ("name",)
    assert row.run(pl.DataFrame({"name": ["Ann"], "age": [30]}), call=1, columns=["name"]).data.columns == ["age"]


@TRY("quasi-identifying")
def _(row: Row) -> None:
    scenario = row.run(keys=SIX)
    row.equal(sdc.key_frequencies(survey(), scenario=scenario).cells.n_cells, len(sizes(SIX)))


@TRY("`SENSITIVE_ATTRIBUTE`")
def _(row: Row) -> None:
    assert row.run(keys=SIX, sensitive=["affairs"]).sensitive == ("affairs",)


@TRY("`INSENSITIVE_ATTRIBUTE`")
def _(row: Row) -> None:
    scenario = row.run(keys=["age"], insensitive=["form"], insensitive_because="the number of the form")
    assert scenario.insensitive == ("form",)


@TRY("`Hierarchy.create(file)`")
def _(row: Row) -> None:
    Path("age.csv").write_text("17.5;young\n22;young\n", encoding="utf-8")
    assert len(row.run(path="age.csv", delimiter=";").levels) == 1
    assert row.run(call=1, keys=["age"], hierarchies={"age": "age.csv"}).hierarchies


@TRY("a builder of intervals")
def _(row: Row) -> None:
    assert row.run(survey(), column="age", bands=[17, 25, 35, None]).data["age"].n_unique() == 3


@TRY("a builder of order or groups")
def _(row: Row) -> None:
    jobs = {"manual": [1, 2], "office": [3, 4], "academic": [5, 6]}
    assert row.run(survey(), column="occupation", groups=jobs).data["occupation"].n_unique() == 3


@TRY("a fixed level of generalisation")
def _(row: Row) -> None:
    assert row.run(survey(), column="age", hierarchy=AGES).data["age"].n_unique() == 3


@TRY("`ARXConfiguration`, `addPrivacyModel`")
def _(row: Row) -> None:
    assert row.run(keys=SIX, thresholds={"k": 3}).thresholds.k == 3


@TRY("`ARXAnonymizer().anonymize(data, config)`")
def _(row: Row) -> None:
    scenario = sdc.Scenario(keys=["age", "educ"], household="none", sensitive=[], thresholds={"k": 3})
    assert row.run(survey(), scenario=scenario).steps
    assert row.run(call=1, steps=step_of_bands(), apply=survey()).data["age"].n_unique() == 3


def step_of_bands() -> list[dict]:
    return [{"method": "recode", "column": "age", "bands": [17, 25, 35, None]}]


@TRY("several solutions, explored")
def _(row: Row) -> None:
    recipe = sdc.Recipe(steps=[{"method": "local_suppression", "keys": ["age", "children"], "k": 3}])
    found = row.run(survey(), recipe=recipe, grid={"1.k": [3, 5]}, scenario=sdc.Scenario(keys=["age", "children"]))
    assert len(found.table) == 2


@TRY("suppression of records")
def _(row: Row) -> None:
    keys = ["age", "educ"]
    safe = row.run(survey(), keys=keys).data
    assert len(safe) == len(survey())
    assert sdc.k_anonymity(safe, keys=keys, k=3).violations[3] == 0


@TRY("microaggregation")
def _(row: Row) -> None:
    assert row.run(survey(), columns=["affairs"]).change.n_changed > 0


@TRY("the result's handle")
def _(row: Row) -> None:
    assert row.run(steps=step_of_bands(), apply=survey())["age"].n_unique() == 3


def at_levels(age: int, educ: int) -> pl.DataFrame:
    """The survey with age and educ so many levels up; at the third there is one name for all."""
    up = {"age": age, "educ": educ}
    return survey().select(
        pl.col(name).cast(pl.Float64).map_elements(lambda v, of=LEVELS[name], to=to: of[f"{v:g}"][to], pl.String)
        for name, to in up.items()
    )


LEVELS: dict[str, dict[str, list[str]]] = {
    "age": {value: [value, *names, "any"] for value, names in AGES.items()},
    "educ": {
        value: [value, value, low, "any"]
        for value, low in zip(["9", "12", "14", "16", "17", "20"], ["low"] * 2 + ["high"] * 4, strict=True)
    },
}
ABOVE = {name: {float(value): names[1:] for value, names in of.items()} for name, of in LEVELS.items()}


@TRY("`setQualityModel(...)`, the best of all combinations")
def _(row: Row) -> None:
    for name, of in LEVELS.items():
        Path(f"{name}.csv").write_text("".join(";".join(names) + "\n" for names in of.values()), encoding="utf-8")
    files = {name: f"{name}.csv" for name in LEVELS}
    scenario = sdc.Scenario(keys=list(LEVELS), hierarchies=files, thresholds={"k": 300})
    classes = [sizes(list(LEVELS), at_levels(age, educ)) for age in range(4) for educ in range(4) if age + educ < 6]
    least = min(sum(n * n for n in of.values()) for of in classes if min(of.values()) >= 300)
    row.equal(row.run(survey().select(*LEVELS), scenario=scenario), least)


# --- what a result lost --------------------------------------------------------------------------------


def lost(row: Row, call: int = 0) -> object:
    """The call of a row on the survey with ages one level up and educ two."""
    return row.run(survey().select(*LEVELS), at_levels(1, 2), call=call, hierarchies=ABOVE)


def below(name: str, level: int) -> list[tuple[int, int, int]]:
    """Of each record, how often its value occurs, how often that of its class, and how many values that has."""
    values = [f"{value:g}" for value in survey()[name].to_list()]
    often, up = Counter(values), {value: of[level] for value, of in LEVELS[name].items()}
    of_class = Counter(up[value] for value in values)
    return [(often[v], of_class[up[v]], list(up.values()).count(up[v])) for v in values]


MADE = {"age": 1, "educ": 2}


@TRY("`createEntropyMetric()`")
def _(row: Row) -> None:
    bits = sum(math.log2(of_class / often) for name, to in MADE.items() for often, of_class, _ in below(name, to))
    row.equal(lost(row)[0]["entropy"], bits)
    row.equal(lost(row, call=1), bits)


@TRY("`createLossMetric()`")
def _(row: Row) -> None:
    n = len(survey())
    losses = {name: sum(size - 1 for _, _, size in below(name, to)) / 5 / n for name, to in MADE.items()}
    row.equal(lost(row), losses)


@TRY("`createPrecisionMetric()`")
def _(row: Row) -> None:
    row.equal(1 - lost(row), (1 / 3 + 2 / 3) / 2)


@TRY("`createHeightMetric()`")
def _(row: Row) -> None:
    row.equal(lost(row), 1 + 2)


@TRY("`createDiscernabilityMetric()`")
def _(row: Row) -> None:
    row.equal(lost(row), sum(n * n for n in sizes(list(LEVELS), at_levels(1, 2)).values()))


@TRY("`createAECSMetric()`")
def _(row: Row) -> None:
    row.equal(lost(row), len(survey()) / len(sizes(list(LEVELS), at_levels(1, 2))))


@TRY("`createAmbiguityMetric()`")
def _(row: Row) -> None:
    assert lost(row) > 1


# --- privacy models ------------------------------------------------------------------------------------


@TRY("`KAnonymity`")
def _(row: Row) -> None:
    row.equal(row.run(survey(), keys=SIX)[3], sum(n for n in sizes(SIX).values() if n < 3))


def every_tenth() -> pl.DataFrame:
    return survey()[::10]


@TRY("`KMap` with a subset")
def _(row: Row) -> None:
    people, part = sizes(SIX), sizes(SIX, every_tenth())
    found = row.run(every_tenth(), population=survey(), keys=SIX)
    row.equal(found.violations[3], sum(n for key, n in part.items() if people[key] < 3))


@TRY("`KMap` with a population model")
def _(row: Row) -> None:
    assert row.run(survey(), keys=SIX).violations[3] > 0


@TRY("`DPresence`")
def _(row: Row) -> None:
    people, part = sizes(SIX), sizes(SIX, every_tenth())
    found = row.run(every_tenth(), population=survey(), keys=SIX)
    delta = [part[key] / n for key, n in people.items()]
    row.equal([found.minimum, found.maximum], [min(delta), max(delta)])


@TRY("`DistinctLDiversity`, `EntropyLDiversity`, `RecursiveCLDiversity`")
def _(row: Row) -> None:
    found = row.run(survey(), keys=KEYS, sensitive=["occupation_husb"]).level["occupation_husb"]
    _, classes = shares("occupation_husb")
    row.equal(found["distinct"], min(len(one) for one in classes))
    row.equal(found["entropy"], min(2 ** -sum(q * math.log2(q) for q in one.values()) for one in classes))
    row.equal(found["recursive"], min(recursive(sorted(one.values(), reverse=True)) for one in classes))


def recursive(counts: list[float], c: float = 2.0) -> int:
    """The largest l for which ARX finds the class diverse: the largest count below c times those from the l-th on."""
    return max((ell for ell in range(1, len(counts) + 1) if counts[0] < c * sum(counts[ell - 1 :])), default=0)


@TRY("`EqualDistanceTCloseness`, `OrderedDistanceTCloseness`")
def _(row: Row) -> None:
    given = {"keys": KEYS, "sensitive": "occupation_husb"}
    file, classes = shares("occupation_husb")
    equal = max(sum(abs(one.get(v, 0) - p) for v, p in file.items()) / 2 for one in classes)
    row.equal(row.run(survey(), **given).level["occupation_husb"], equal)
    found = row.run(survey(), **given, distance="ordered")
    row.equal(found.level["occupation_husb"], max(ordered(one, file) for one in classes))
    row.run(survey(), **given, distance="numeric")


def ordered(one: dict[float, float], file: dict[float, float]) -> float:
    """The ordered distance of a class: partial sums in the order of the values."""
    total = distance = 0.0
    for value in sorted(file):
        total += one.get(value, 0.0) - file[value]
        distance += abs(total)
    return distance / (len(file) - 1)


@TRY("`HierarchicalDistanceTCloseness`")
def _(row: Row) -> None:
    frame = pl.DataFrame({"sex": ["f", "f", "m", "m"], "ill": ["flu", "cold", "flu", "flu"]})
    assert row.run(frame, keys=["sex"], sensitive="ill").level["ill"] > 0


@TRY("`BasicBLikeness`, `EnhancedBLikeness`")
def _(row: Row) -> None:
    file, classes = shares("occupation_husb")
    gains = [(q / file[v] - 1, -math.log(file[v])) for one in classes for v, q in one.items()]
    found = row.run(survey(), keys=KEYS, sensitive=["occupation_husb"])
    row.equal(found["occupation_husb"], max(gain for gain, _ in gains))
    enhanced = sdc.beta_likeness(survey(), keys=KEYS, sensitive=["occupation_husb"]).enhanced["occupation_husb"]
    fails = any(gain > most for gain, most in gains)  # for every beta
    row.equal(enhanced, math.inf if fails else max(gain for gain, _ in gains))


@TRY("`DDisclosurePrivacy`")
def _(row: Row) -> None:
    file, classes = shares("occupation_husb")
    theirs = max(abs(math.log2(q / file[v])) for one in classes for v, q in one.items())
    given = {"keys": KEYS, "sensitive": ["occupation_husb"]}
    row.equal(row.run(survey(), **given)["occupation_husb"] / math.log(2), theirs)
    lacks = any(len(one) < len(file) for one in classes)
    assert math.isinf(row.run(survey(), call=1, **given)["occupation_husb"]) == lacks


@TRY("`AverageReidentificationRisk`")
def _(row: Row) -> None:
    row.equal(row.run(survey(), keys=SIX), len(sizes(SIX)) / len(survey()))


@TRY("`SampleUniqueness`")
def _(row: Row) -> None:
    row.equal(row.run(survey(), keys=SIX), sum(n == 1 for n in sizes(SIX).values()) / len(survey()))


@TRY("`PopulationUniqueness`")
def _(row: Row) -> None:
    row.equal(row.run(survey(), keys=SIX).zayatz, golden("population")["uniques"]["0.1"]["zayatz"], rel=1e-7)


# --- risk analysis -------------------------------------------------------------------------------------


@TRY("`ARXPopulationModel.create(...)`")
def _(row: Row) -> None:
    assert row.run(keys=SIX).sampling_fraction == 0.1


@TRY("`getSampleBasedReidentificationRisk()`")
def _(row: Row) -> None:
    found = row.run(survey(), keys=SIX)
    row.equal([found.max_risk, found.global_risk], [1 / min(sizes(SIX).values()), len(sizes(SIX)) / len(survey())])
    row.run(survey(), call=1, keys=SIX, weight="weight")


@TRY("`getSampleBasedUniquenessRisk()`")
def _(row: Row) -> None:
    row.equal(row.run(survey(), keys=SIX), sum(n == 1 for n in sizes(SIX).values()))


@TRY("`getPopulationBasedUniquenessRisk()`")
def _(row: Row) -> None:
    case = golden("population")
    ours = row.run(survey(), keys=SIX)["pitman"].uniques
    row.differ(ours, case["pitman_asymptotic_uniques"], expected=case["uniques"]["0.1"]["pitman"], rel=1e-7)
    row.run(survey(), call=1, keys=["age", "children"], sampling_fraction=0.1)


@TRY("`getAttributeRisks()`: α-distinction of a set of columns (Motwani & Xu 2007)")
def _(row: Row) -> None:
    for keys in (["age"], ["age", "educ"], SIX):
        row.equal(row.run(survey(), keys=keys), len(sizes(keys)) / len(survey()))


@TRY("`getAttributeRisks()`: α-separation of a set of columns")
def _(row: Row) -> None:
    n = len(survey())
    for keys in (["age"], ["age", "educ"], SIX):
        theirs = 1 - sum(k * (k - 1) for k in sizes(keys).values()) / (n * (n - 1))
        row.equal(row.run(survey(), keys=keys), theirs)


@TRY("a ranking of the columns")
def _(row: Row) -> None:
    assert {(name,) for name in SIX} <= {one.variables for one in row.run(survey(), keys=SIX).table}


@TRY("minimal sample uniques")
def _(row: Row) -> None:
    counts = row.run(pl.read_json(b'[{"a":1,"b":1},{"a":1,"b":2},{"a":2,"b":1},{"a":2,"b":2}]'), keys=["a", "b"])
    row.equal(counts, {1: 0, 2: 4})


@TRY("`getHIPAAIdentifiers()`")
def _(row: Row) -> None:
    people = pl.DataFrame({"email": [f"p{i}@example.org" for i in range(60)], "sex": ["f", "m"] * 30})
    assert "email" in row.run(people, labels=None).of("identifier")


# --- outputs -------------------------------------------------------------------------------------------


@TRY("`getHighestRisk()`, `getAverageRisk()`")
def _(row: Row) -> None:
    found = row.get(sdc.individual_risk(survey(), keys=SIX), "max_risk", "global_risk")
    row.equal(found, [1 / min(sizes(SIX).values()), len(sizes(SIX)) / len(survey())])


def uniques() -> sdc.PopulationUniques:
    return sdc.population_uniques(survey(), keys=SIX, sampling_fraction=0.1)


@TRY("`getNumUniqueTuplesZayatz()`, `...Pitman()`, `...SNB()`, `...Dankar()`")
def _(row: Row) -> None:
    case, found = golden("population"), uniques().estimates
    row.equal(found["zayatz"].uniques, case["uniques"]["0.1"]["zayatz"], rel=1e-7)
    for name in ("pitman", "dankar"):
        theirs = case["pitman_asymptotic_uniques"]
        row.differ(found[name].uniques, theirs, expected=case["uniques"]["0.1"][name], rel=1e-7)


@TRY("0 for an estimate that is not available")
def _(row: Row) -> None:
    tiny = pl.DataFrame({"a": range(50), "b": range(50)})
    estimates = sdc.population_uniques(tiny, keys=["a", "b"], sampling_fraction=0.1).estimates
    assert all(row.get(one, "status") for one in estimates.values() if math.isnan(one.uniques))
    assert any(math.isnan(one.uniques) for one in estimates.values())


@TRY("`getPopulationUniquenessModel()`")
def _(row: Row) -> None:
    assert uniques().estimates["dankar"].status == golden("population")["dankar"]["0.1"]


# --- what is refused -----------------------------------------------------------------------------------


@TRY("`KAnonymity(1)`")
def _(row: Row) -> None:
    row.refused(survey(), keys=SIX)


@TRY("`DDisclosurePrivacy(attribute, 0)`")
def _(row: Row) -> None:
    row.refused(survey(), keys=KEYS, sensitive=["any"])


@TRY("`OrderedDistanceTCloseness` of text: in the order of the column")
def _(row: Row) -> None:
    frame = pl.DataFrame({"sex": ["f", "f", "m", "m"], "pay": ["low", "high", "middle", "high"]})
    row.refused(frame, keys=["sex"], sensitive="pay")
    assert row.run(frame, call=1, keys=["sex"], sensitive="pay").level["pay"] > 0

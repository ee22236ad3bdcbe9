"""View of the re-identification risk: expected re-identifications, and the individual risks in fixed bins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError
from sdckit.report import notebook, view
from sdckit.report.blocks import Block, ChartBlock, Facts, TableBlock
from sdckit.report.common_blocks import EXPECTED, bars, by_rule, figure, of_rule, of_whole, texts
from sdckit.report.gate.figures import Histogram, InternalOnly, Ratio, Share, Tree
from sdckit.report.gate.protect import protect
from sdckit.report.gate.relations import largest_size, link_records, link_risk, sum_of_risks
from sdckit.report.setting import RISK_EDGES, Setting, notes_tree, rule_of

if TYPE_CHECKING:
    from sdckit.identity.individual_risk import IndividualRisk

LARGEST = "Largest individual risk"
HELPED = "Records whose risk counts other records' missing values as matches"


def tree(result: IndividualRisk, setting: Setting) -> Mapping[str, Tree]:
    """Enter expected re-identifications, the histogram of individual risk, and the household risk."""
    ledger, suffix = setting.ledger, setting.suffix
    name = f"{setting.prefix}.expected{suffix}"
    kind: Literal["sum", "value"] = "sum" if setting.weights == "census" else "value"
    rule = rule_of(result)
    of = setting.quantity(EXPECTED, rule)
    guard = setting.guard(result)
    number = sum_of_risks(result.expected_reidentifications, kind)
    expected = ledger.value(name, number, f"{name}.value", kind=kind, of=of, guard=guard)
    by_size = setting.fraction_known if setting.own_cells_known(result) else None
    if by_size is not None:
        link_risk(ledger, setting.sizes, name, by_size, result.method)
    tree: dict[str, Tree] = {
        "method": result.method,
        "rule": rule,
        "expected_reidentifications": expected,
        "global_risk": Ratio(name, "n"),
        "max_risk": InternalOnly(result.max_risk),
    }
    above: tuple[tuple[str, float], ...] = ()
    threshold = setting.threshold
    if threshold is not None and result.threshold == threshold and result.n_above is not None:
        count = setting.count(f"above{suffix}", result.n_above, f"risk{suffix}", guard=guard)
        ledger.nested("n", count.name)
        ledger.ask(count.name)
        ledger.weigh(count.name)
        above = ((count.name, threshold),)
        tree |= {"threshold": threshold, "n_above": count, "rate_above": Share(count.name, "n")}
        if by_size is not None:
            most = largest_size(threshold, by_size, result.method, strictly=True)
            link_records(ledger, setting.sizes, count.name, 1, most)
    tree["distribution"] = Histogram(
        f"{setting.prefix}.risk{suffix}",
        RISK_EDGES,
        tuple(int(n) for n in result.histogram(RISK_EDGES)),
        "n",
        total=name,
        above=above,
        sizes=setting.sizes if by_size is not None else None,
        largest={} if by_size is None else {e: largest_size(e, by_size, result.method) for e in RISK_EDGES},
        guard=guard,
    )
    if not (setting.variant or setting.cells_known or setting.persons):
        helped = setting.count("helped", result.resting_on_missing, "helped")
        ledger.nested("n", helped.name)
        for known in [variable for variable in ledger.variables if variable.startswith(f"{setting.prefix}.resting.")]:
            ledger.nested(helped.name, known)
        tree["resting_on_missing"] = helped
    tree["notes"] = notes_tree(result)
    through = result.expected_household_reidentifications
    if through is not None and result.household_risk is not None:
        shared = f"{setting.prefix}.expected_household{suffix}"
        # Two digits would tell the sizes of households, of which the relations know nothing: printed like a count.
        leaf = ledger.value(shared, sum_of_risks(through, "sum"), f"{shared}.value", kind="sum", guard=guard)
        tree |= {"expected_household_reidentifications": leaf, "household_risk": Ratio(shared, "n")}
        ledger.bounded(shared, {name: (1.0, 1.0)}, upper=False)
        # Members of one household stand in one bin: five records may be a single one, so it stays inside.
        tree["household_distribution"] = InternalOnly(
            Histogram(
                f"{setting.prefix}.household_risk{suffix}",
                RISK_EDGES,
                tuple(int(n) for n in result.household_histogram(RISK_EDGES)),
                "n",
            )
        )
    return tree


def blocks(plain: view.Plain, place: str) -> list[Block]:
    """Expected numbers under each rule for missing values, and the histogram of risk."""
    tree, of = plain[place], of_rule(plain[place])
    rules = {rule: dict(_facts(plain[at])) for rule, at in by_rule(plain, place)}
    laid = [
        _under_rules(rules) if len(rules) > 1 else Facts(tuple((f"{name}{of}", words) for name, words in _facts(tree))),
        *_distribution("individual", tree["distribution"], of, tree.get("threshold")),
    ]
    if "household_distribution" in tree:
        laid += _distribution("household", tree["household_distribution"], of)
    return laid


def _distribution(kind: str, bins: Sequence[view.Plain], of: str, threshold: float | None = None) -> list[Block]:
    """Chart and table of the records by their risk."""
    kept = _filled(bins)
    data = {"rows": bins, "threshold": threshold, "kind": kind}
    rows = tuple(
        (f"{row['from']:g} to {row['to']:g}", *texts(row["n"], row["rate"], row["cumulative"])) for row in kept
    )
    columns = (f"{kind.capitalize()} risk", "Records", "Share", "Share up to here")
    dark = "" if threshold is None else f"; dark: above the limit of {threshold:g}"
    drawn = (
        (
            f"{row['from']:g} to {row['to']:g}", {**row["n"], "text": of_whole(row["n"], row["rate"])},
            "dark" if threshold is not None and row["from"] >= threshold else "light",
        )
        for row in kept
    )  # fmt: skip
    caption = f"Records by {kind} risk{of}"
    return [
        ChartBlock("risk", data, f"Distribution of {kind} risk, and its cumulative curve{of}", aside=True),
        *figure(
            replace(bars(f"{caption}{dark}", "records", drawn), paper=True),
            TableBlock(caption, columns, rows, (1, 2, 3)),
        ),
    ]


def _filled(bins: Sequence[view.Plain]) -> Sequence[view.Plain]:
    """The bins without the empty ones below the first and above the last record."""
    filled = [number for number, row in enumerate(bins) if row["n"]["text"] != "0"]
    return bins[filled[0] : filled[-1] + 1] if filled else bins


def _under_rules(rules: Mapping[str, Mapping[str, str]]) -> TableBlock:
    """Table of the figures, a column for each rule for missing values."""
    names = dict.fromkeys(name for facts in rules.values() for name in facts)
    rows = tuple((name, *(facts.get(name, "–") for facts in rules.values())) for name in names)
    heads = ("Figure", *(f"missing as {rule}" for rule in rules))
    return TableBlock("Expected re-identifications", heads, rows, tuple(range(1, len(heads))))


def _facts(tree: view.Plain) -> list[tuple[str, str]]:
    facts = [
        (EXPECTED, tree["expected_reidentifications"]["text"]),
        ("Global risk, the mean of the individual risks", tree["global_risk"]["text"]),
    ]
    if "max_risk" in tree:
        facts.append((LARGEST, f"{tree['max_risk']:.4g}"))
    if "n_above" in tree:
        words = of_whole(tree["n_above"], tree["rate_above"])
        facts.append((f"Records with a risk above {tree['threshold']:g}", words))
    if "resting_on_missing" in tree:
        facts.append((HELPED, tree["resting_on_missing"]["text"]))
    if "household_risk" in tree:
        facts.append(("Household risk, mean over the records", tree["household_risk"]["text"]))
        expected = tree["expected_household_reidentifications"]["text"]
        facts.append(("Expected re-identifications through a household", expected))
    return facts


def _figures(plain: view.Plain, place: str) -> Mapping[str, view.Plain]:
    tree = plain[place]
    leaves = {EXPECTED: tree["expected_reidentifications"], "Global risk": tree["global_risk"]}
    if "max_risk" in tree:
        leaves[LARGEST] = {"text": f"{tree['max_risk']:.4g}", "value": tree["max_risk"]}
    if "n_above" in tree:
        leaves[f"Records with a risk above {tree['threshold']:g}"] = tree["n_above"]
    return leaves


def _answer(plain: view.Plain, place: str, n: view.Plain) -> str:
    tree = plain[place]
    expected, mean = tree["expected_reidentifications"], tree["global_risk"]["text"]
    sentence = (
        f"If every record were linked to the population, {_about(expected)} of {n['text']} records would be "
        f"expected to be linked to the right person: a global risk of {mean}{of_rule(tree)}."
    )
    if "household_risk" in tree:
        household = tree["household_risk"]["text"]
        sentence += f" Counting recognition through a household member, the mean risk is {household}{of_rule(tree)}."
    return sentence


def _about(expected: view.Plain) -> str:
    """Expected number for a sentence: rounded to a tenth, the table has the printed figure."""
    text: str = expected["text"]
    if text.startswith("<"):
        return f"fewer than {text[1:]}"
    if text == "withheld":
        return text
    return f"about {expected['value']:,.1f}" if "." in text and expected["value"] >= 1 else f"about {text}"


def _notes(scenario: Scenario) -> Sequence[view.Note]:
    whole = scenario.weight is None and scenario.sampling_fraction is None
    return (view.note("whole_population" if whole else "individual_risk"),)


def _household(result: IndividualRisk, internal: bool) -> ChartBlock:
    """Chart of the household risk, for a confidential document only, as in `tree`."""
    if not internal:
        raise DataError(
            "the members of a household have one risk, so that the records of a bin may be a single household; "
            "internal=True draws it, plot() draws what may leave",
            argument="household",
        )
    drawn = protect(notebook.result_document(result), internal=True)[result.measure]
    first, *_ = _distribution("household", drawn["household_distribution"], of_rule(drawn))
    assert isinstance(first, ChartBlock)
    return first


VIEW = view.View("Risk of re-identification", tree, blocks, _notes, _figures, _answer, charts={"household": _household})

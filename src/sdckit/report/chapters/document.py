"""Build the document of an assessment: a tree of typed, still exact figures with the names of the API."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sdckit.data.drawn_rows import SAMPLED
from sdckit.data.limits import LIMITS
from sdckit.data.scenarios.scenario import Scenario
from sdckit.report.chapters.sentences import limits_tree
from sdckit.report.gate import figures as gate, relations
from sdckit.report.setting import PairSetting, Setting, intruder_words, missing_words, release_sizes, setting_for
from sdckit.report.subgroups import rates_tree, subgroups_tree
from sdckit.report.view import find_view, note

if TYPE_CHECKING:
    from sdckit.workflow.assessment import Assessed, Assessment, IntruderAssessment, KeyFacts
    from sdckit.workflow.verdicts import Verdict

# The calls that reproduce a report, in Python and on the command line.


ATTACKS = 500  # attempts of each attack unless others are asked for
RECOVERY = "recoverable_values"
# Entries of a scenario that are printed as they are.
SINGLE = ("weight", "sampling_fraction", "household", "person", "time")
LISTS = ("sensitive", "numeric", "magnitudes", "number_groups", "identifiers", "insensitive")


def python_call(scenario: Scenario, measures: Sequence[str] = (), by: Sequence[str] = ()) -> str:
    """Write the call that reproduces the report, without a path or a seed.

    Examples
    --------
    >>> print(python_call(Scenario(keys=["sex", "age"], weight="w")))
    scenario = sdc.Scenario(keys=['sex', 'age'], weight='w')
    assessment = sdc.assess(data, scenario=scenario)
    """
    arguments = ", ".join(f"{name}={value!r}" for name, value in _arguments(scenario).items())
    further = f", measures={list(measures)!r}" if measures else ""
    further += f", by={list(by)!r}" if by else ""
    return f"scenario = sdc.Scenario({arguments})\nassessment = sdc.assess(data, scenario=scenario{further})"


def _arguments(scenario: Scenario) -> dict[str, object]:
    given: dict[str, object] = {}
    if len(scenario.intruders) == 1 and "default" in scenario.intruders:
        given["keys"] = list(scenario.keys)
    else:
        given["intruders"] = {name: list(keys) for name, keys in scenario.intruders.items()}
    for name in (*SINGLE, "insensitive_because", "release"):
        if (value := getattr(scenario, name)) not in (None, ""):
            given[name] = value
    for name in (*LISTS, "ordered", "missing_codes"):
        if value := getattr(scenario, name):
            given[name] = list(value)
    given |= scenario.stated_none
    if scenario.hierarchies:
        given["hierarchies"] = dict(scenario.hierarchies)
    tables = {"release_types": scenario.release_types, "thresholds": scenario.thresholds.entries}
    given |= {name: deepcopy(table) for name, table in tables.items() if table}
    if scenario.missing != "wildcard":
        missing = scenario.missing
        given["missing"] = missing if isinstance(missing, str) else dict(missing)
    if scenario.alpha != 1:
        given["alpha"] = scenario.alpha
    if scenario.aligned:
        given["aligned"] = True
    for table in filter(None, (scenario.ledger, scenario.children, scenario.matching)):
        if declared := table.declared:
            given[table.place] = {
                name: list(value) if isinstance(value, tuple) else value for name, value in declared.items()
            }
    return given


def release_calls(
    scenario: Scenario, measures: Sequence[str] = (), *, by: Sequence[str] = (), id: str | None, m: int,
    models: Sequence[tuple[str, str]] = (), attacks: str = "", n_attacks: int = ATTACKS, seed: str = "",
    recoding: str = "", targets: int | None = None,
) -> dict[str, str]:  # fmt: skip
    """Write the call and the command that reproduce the report of a release, the files' names left open.

    `attacks` is "control", "attacks" or ""; `seed` is the seed itself, or a name that stands for it; `recoding`
    is "recipe" or "log" where one was given.

    Examples
    --------
    >>> calls = release_calls(Scenario(keys=["sex", "age"]), id="pid", m=2)
    >>> print(calls["python"])
    scenario = sdc.Scenario(keys=['sex', 'age'])
    assessment = sdc.assess(original, [released_1, released_2], scenario=scenario, id='pid')
    >>> calls["command"]
    'sdckit assess ORIGINAL --released FILE_1 --released FILE_2 --keys sex,age --id pid'
    """
    files = [f"released_{j}" for j in range(1, m + 1)] if m > 1 else ["released"]
    options = [f"--released {file.replace('released', 'FILE')}" for file in files]
    arguments, flags = (f", id={id!r}", f" --id {shlex.quote(id)}") if id else ("", "")
    if models:
        arguments += f", models={dict(models)!r}"
    for formula, family in models:
        flags += f" --model {shlex.quote(formula if family == 'linear' else f'{family}: {formula}')}"
    arguments += {"control": ", control=control", "attacks": ", attacks=True"}.get(attacks, "")
    flags += {"control": " --control CONTROL", "attacks": " --attacks"}.get(attacks, "")
    arguments += f", {recoding}={recoding}" if recoding else ""
    flags += {"recipe": " --recipe RECIPE.toml", "log": " --log LOG.json"}.get(recoding, "")
    if attacks and n_attacks != ATTACKS:
        arguments, flags = f"{arguments}, n_attacks={n_attacks}", f"{flags} --n-attacks {n_attacks}"
    if targets is not None:
        arguments, flags = f"{arguments}, targets={targets}", f"{flags} --targets {targets}"
    if seed:
        arguments, flags = f"{arguments}, seed={seed}", f"{flags} --seed {seed}"
    released = files[0] if m == 1 else f"[{', '.join(files)}]"
    call = python_call(scenario, measures, by).replace("(data, ", f"(original, {released}, ")
    command = command_line(scenario, measures, by).replace(" FILE", f" ORIGINAL {' '.join(options)}", 1)
    return {"python": f"{call[:-1]}{arguments})", "command": command + flags}


def command_line(scenario: Scenario, measures: Sequence[str] = (), by: Sequence[str] = ()) -> str:
    """Write the command for the same scenario, the file's name left open.

    Examples
    --------
    >>> command_line(Scenario(keys=["sex", "age"], weight="w", missing_codes=["NA"]))
    'sdckit assess FILE --keys sex,age --weight w --missing NA'
    """
    further = ["--measures", ",".join(measures)] if measures else []
    further += ["--by", ",".join(by)] if by else []
    options = {"keys", "weight", "household", "release", "sensitive", "numeric", "missing_codes"}
    if not _arguments(scenario).keys() <= options or scenario.stated_none:
        return shlex.join(["sdckit", "assess", "FILE", "--scenario", "SCENARIO.toml", *further])
    words = ["sdckit", "assess", "FILE", "--keys", ",".join(scenario.keys)]
    for name in ("weight", "household"):
        if value := getattr(scenario, name):
            words += [f"--{name}", value]
    if scenario.release is not None:
        words += ["--release-type", scenario.release]
    for name in ("sensitive", "numeric"):
        if several := getattr(scenario, name):
            words += [f"--{name}", ",".join(several)]
    for code in scenario.missing_codes:
        words += [f"--missing={code}"] if code.startswith("-") else ["--missing", code]
    return shlex.join([*words, *further])


SCHEMA_VERSION = "1"
CATEGORY = ".category"
COVERED = ("origin", "single_rows", "alone", "unmatched", "singly", "beside", "keyless")  # by a verdict, as it says
PROTECTION = note("protection")


def build_document(assessment: Assessment, *, internal: bool = False) -> gate.Document:
    """Build the document of an assessment, for `protect`; `internal` adds the list of records at risk."""
    ledger = gate.Ledger()
    scenario = assessment.scenario
    n = ledger.count("n", assessment.n, "n")
    settings = {
        intruder.name: replace(
            setting_for(ledger, f"i{number}", scenario, intruder.results, assessment.n),
            intruder=intruder_words(intruder.name, intruder.keys),
        )
        for number, intruder in enumerate(assessment.intruders)
    }
    if any(map(_alone, assessment.intruders)):
        ledger.equal("n", release_sizes(ledger, [assessment.n])[0].name)
    intruders = tuple(_intruder(intruder, settings[intruder.name]) for intruder in assessment.intruders)
    for intruder in filter(_alone, assessment.intruders):
        _link_missing(ledger, settings[intruder.name].prefix, intruder)
    if scenario.person is None:
        pairs = ((settings[intruder.name], intruder) for intruder in assessment.intruders)
        known = [(setting.sizes, frozenset(intruder.keys), not setting.cells_known) for setting, intruder in pairs]
        relations.link_intruders(ledger, known)
    first = next(iter(settings.values()), None) or setting_for(ledger, "i0", scenario, {}, assessment.n)
    trees = dict(zip(settings, intruders, strict=True))
    judged = [
        (verdict, settings.get(verdict.intruder, first), _released_share(verdict, trees.get(verdict.intruder, {})))
        for verdict in assessment.verdicts
    ]
    tree: dict[str, gate.Tree] = {
        "schema": "sdckit/assessment",
        "schema_version": SCHEMA_VERSION,
        "package": {"name": "sdckit", "version": assessment.version},
        "date": assessment.date,
        "title": scenario.title or "Disclosure risk assessment",
        "n": n,
        "engine": assessment.engine,
        "passed": gate.AllHold(tuple(_holds(verdict, None, setting, share) for verdict, setting, share in judged)),
        "verdicts": tuple(verdict_tree(*entry) for entry in judged),
        "column_roles": column_roles_tree(assessment),
        "stands_for": stands_for_tree(assessment.stands_for, ledger),
        "scenario": scenario_tree(scenario, judged=[verdict.name for verdict in assessment.verdicts]),
        "intruders": intruders,
        "warnings": tuple(gate.Foreign(text) for text in assessment.warnings),
        "coverage": tuple(assessment.coverage.rows()) or None,
        "methods": method_notes((place for intruder in assessment.intruders for place in intruder.results), scenario),
        "reproduce": {
            "python": python_call(scenario, assessment.measures, assessment.by),
            "command": command_line(scenario, assessment.measures, assessment.by),
            "scenario": scenario.to_toml(),
        },
        "records_at_risk": gate.InternalOnly(_records(assessment) if internal else None),
    }
    return gate.Document(tree, ledger.variables, tuple(ledger.relations), assessment.n, listed=True)


def stands_for_tree(people: float | None, ledger: gate.Ledger) -> gate.Tree:
    """How many the records stand for; None where neither weights nor a sampling fraction say it."""
    return None if people is None else ledger.value("stands_for", people, "stands_for")


def scenario_tree(scenario: Scenario, *, judged: Collection[str], compared: bool = False) -> dict[str, gate.Tree]:
    """The declared roles and rules: set by the analyst, not computed from the data.

    `compared`: whether a release is compared with its original; some limits apply only then, or where they were
    `judged` of the file by itself; `judged` are the limits with a verdict.
    """
    missing = scenario.missing
    return {
        "title": scenario.title,
        **limits_tree(scenario, compared=compared, judged=judged),
        "intruders": {name: tuple(keys) for name, keys in scenario.intruders.items()},
        **{entry: getattr(scenario, entry) for entry in (*SINGLE, *LISTS)},
        "stated_none": tuple(scenario.stated_none),
        "insensitive_because": scenario.insensitive_because,
        "thresholds": dict(scenario.thresholds.entries),
        "missing": missing if isinstance(missing, str) else dict(missing),
        "missing_codes": tuple(scenario.missing_codes),
        "matching": _plain_entries(scenario.matching.declared),
        "children": None if scenario.children is None else _plain_entries(scenario.children.declared),
        "alpha": scenario.alpha,
        "n_columns": len(scenario.columns),
        "unconfirmed": tuple(scenario.unconfirmed),
        "tables": tables_kinds(scenario),
    }


def tables_kinds(scenario: Scenario) -> tuple[str, ...]:
    """Of each table that is published beside the file: whether its counts stand in a "file" or are "counted"."""
    return tuple("file" if "file" in table else "counted" for table in scenario.tables)


def column_roles_tree(assessment: Assessed) -> gate.Tree:
    """The roles of the columns that go out, and what is said of them where no type of release asks for them."""
    columns = assessment.column_roles
    if columns is None:
        return None
    return {
        "roles": dict(columns.shown),
        "n": len(columns.roles),
        "n_without": len(columns.missing),
        "line": columns.line if assessment.scenario.release is None else "",
    }


def has_no_figure(verdict: Verdict) -> bool:
    """Whether a verdict is on names of columns and what is said of them: its reason has no count of records.

    A number in such a reason is one of columns, and printed as it is.
    """
    return LIMITS[verdict.name].scope == "columns"


def _plain_entries(entries: Mapping[str, Any]) -> dict[str, gate.Tree]:
    return {name: dict(entry) if isinstance(entry, Mapping) else entry for name, entry in entries.items()}


def method_notes(places: Iterable[str], scenario: Scenario) -> tuple[Mapping[str, gate.Tree], ...]:
    """Notes on the methods of the measures at these places, each once, and on the protection of the document."""
    views = map(find_view, dict.fromkeys(place.partition(":")[0] for place in places))
    notes = [note for view in views if view is not None for note in view.notes(scenario)]
    return tuple(
        {"name": note.name, "text": note.text, "source": note.source} for note in dict.fromkeys([*notes, PROTECTION])
    )


def _intruder(intruder: IntruderAssessment, setting: Setting) -> dict[str, gate.Tree]:
    tree: dict[str, gate.Tree] = {
        "name": intruder.name,
        "keys": tuple(intruder.keys),
        "key_facts": tuple(_key(facts, setting, alone=_is_only_key(facts, intruder)) for facts in intruder.key_facts),
    }
    # In their order: of two rules for missing values the stricter comes first.
    for place, result in intruder.results.items():
        view = find_view(place)
        own = PairSetting(setting.ledger, setting.prefix, place, [setting.n]) if hasattr(result, "pair") else None
        if view is not None and (figures := view.tree(result, own or setting.at(place))):
            tree[place.replace(":", "_")] = figures
    named = {place.replace(":", "_"): result for place, result in intruder.results.items()}
    tree |= {**subgroups_tree(named, setting.ledger, setting.prefix), "rates": rates_tree(named)}
    tree["skipped"] = tuple({"measure": name, "reason": gate.Foreign(reason)} for name, reason in intruder.skipped)
    return tree


def _alone(intruder: IntruderAssessment) -> bool:
    """Whether a measure of a release ran on the file by itself."""
    return any(hasattr(result, "pair") for result in intruder.results.values())


def _link_missing(ledger: gate.Ledger, prefix: str, intruder: IntruderAssessment) -> None:
    """Enter that the missing values of a key are those looked for, where the key shows nothing else."""
    audit: Any = intruder.results.get(RECOVERY)
    columns = () if audit is None or SAMPLED in audit.notes else audit.columns[0]
    for number, column in enumerate(column for column in columns if column.touched):
        missing, changed = f"key.{column.column}.missing", f"{prefix}.{RECOVERY}.1.{number}.touched"
        if missing in ledger.variables and ledger.variables[missing].true == column.touched:
            ledger.equal(missing, changed)


def _is_only_key(facts: KeyFacts, intruder: IntruderAssessment) -> bool:
    """Whether every other key is constant, so that the levels of this one are the equivalence classes."""
    return all(len(other.level_counts) + (other.n_missing > 0) < 2 for other in intruder.key_facts if other != facts)


def _key(facts: KeyFacts, setting: Setting, *, alone: bool) -> dict[str, gate.Tree]:
    """A key: rule for missing values, missing rate, levels; `alone`: its levels are the equivalence classes."""
    name = f"key.{facts.name}"  # whoever knows it: the same numbers for every intruder
    of = gate.Quantity(missing_words(facts.name))
    missing = setting.ledger.count(f"{name}.missing", facts.n_missing, name, of=of)
    cells = None
    if not setting.persons and (setting.cells_known or not facts.n_missing):
        cells = setting.sizes if alone else relations.sizes_by_key(setting.ledger, facts.name)
    counts = tuple(facts.level_counts)
    levels = gate.Levels(f"{name}.level", counts, "n", setting.n, missing.name, facts.n_missing, sizes=cells)
    return {
        "name": facts.name,
        "kind": facts.kind,
        "missing": facts.rule,
        "levels_of_5_or_more": facts.large_levels,
        "n_levels": gate.InternalOnly(facts.n_levels),
        "n_missing": missing,
        "missing_rate": gate.Share(missing.name, "n"),
        "level_counts": levels,
    }


def _records(assessment: Assessment) -> gate.Tree:
    """The riskiest records, and the totals per intruder; a record counts once for each intruder."""
    records = assessment.at_risk()
    totals = assessment.n_at_risk()
    listed = Counter(str(record["intruder"]) for record in records)
    rows = tuple(
        {
            str(key): {str(k): _plain(v) for k, v in value.items()} if isinstance(value, Mapping) else _plain(value)
            for key, value in record.items()
        }
        for record in records
    )
    return {
        "listed": len(rows),
        "total": sum(int(n) for n in totals.values()),
        "intruders": {name: {"listed": listed[name], "total": int(n)} for name, n in totals.items()},
        "rows": rows,
    }


def _plain(value: object) -> str | int | float | bool | None:
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def _released_share(verdict: Verdict, tree: Mapping[str, gate.Tree]) -> gate.Share | None:
    """The share that a limit on a release is on, of the figures of an intruder against a file by itself."""
    kind = LIMITS[verdict.name]
    figures: Any = tree.get(kind.measure)
    return figures["releases"][0].get(kind.figure) if figures and kind.scope == "release" else None


def verdict_tree(verdict: Verdict, setting: Setting, share: gate.Share | None = None) -> dict[str, gate.Tree]:
    """A verdict with the figures it rests on, as the measures entered them in the ledger.

    `share`: of a limit on a release, where a file by itself was held against it.
    """
    count = None if share else _verdict_count(verdict, setting)
    return {
        "name": verdict.name,
        "intruder": verdict.intruder,
        # Naming the worst column would disclose which has the largest exact share.
        "variable": None if share or LIMITS[verdict.name].judged == "worst column" else verdict.variable,
        "limit": verdict.limit,
        "points": verdict.points,
        "holds": _holds(verdict, count, setting, share),
        "n_records": count,
        "rate": gate.Share(count.name, "n") if count is not None else None,
        "n_category": _count_by_missing_rule("violations.category", verdict, verdict.n_category, setting),
        "n_resting": _count_by_missing_rule("resting", verdict, verdict.n_resting, setting),
        "value": share or _verdict_value(verdict, setting),
        "reason": verdict.reason if has_no_figure(verdict) else gate.Foreign(verdict.reason),
        **{name: getattr(verdict, name) for name in COVERED},
    }


def _holds(verdict: Verdict, count: gate.Count | None, setting: Setting, share: gate.Share | None = None) -> gate.Holds:
    """Whether the limit holds.

    Where the answer depends on whether a count is 0, it discloses that of the count. A limit on a share or mean that
    has no count of records is judged as far as the printed figures decide it.
    """
    if has_no_figure(verdict):
        return gate.Holds(verdict.holds)
    if share is not None:  # of records beyond a limit, none may be
        base = LIMITS.get(LIMITS[verdict.name].of)
        counted = base is not None and base.judged in {"violations", "count"}
        limit = 0.0 if counted or verdict.limit is None else float(verdict.limit)
        return gate.Holds(verdict.holds, verdict.reason, value=share.part, base=share.whole, limit=limit)
    if (
        verdict.limit is not None
        and LIMITS[verdict.name].judged != "count"
        and (parts := _part_and_base(verdict, setting))
    ):
        return gate.Holds(verdict.holds, verdict.reason, value=parts[0], base=parts[1], limit=float(verdict.limit))
    is_none = count is not None and verdict.holds == (setting.ledger.variables[count.name].true == 0)
    return gate.Holds(verdict.holds, verdict.reason, none=(count.name,) if count is not None and is_none else ())


def _verdict_count(verdict: Verdict, setting: Setting) -> gate.Count | None:
    """The count a verdict is about; one that is in the ledger already is used again, so that both are printed alike."""
    if verdict.n_records is None or verdict.limit is None:
        return None
    prefix, ledger = setting.prefix, setting.ledger
    level = int(verdict.limit) if float(verdict.limit).is_integer() else verdict.limit
    places = [
        f"{prefix}.{name}"
        for name in {
            "k": [f"violations.{level}", f"violations{CATEGORY}.{level}"],
            "risk": ["above", f"above{CATEGORY}"],
            "l": [f"l.{verdict.variable}.{kind}.{level}" for kind in ("distinct", "entropy", "recursive")],
        }.get(verdict.name, [])
    ]
    for name in places:
        if name in ledger.variables and ledger.variables[name].true == verdict.n_records:
            return gate.Count(name)
    count = setting.count(f"verdict.{verdict.name}.{verdict.variable}", verdict.n_records, "verdict")
    ledger.ask(count.name)
    if LIMITS[verdict.name].judged == "count":  # a risk
        ledger.weigh(count.name)
    ledger.nested("n", count.name)
    if LIMITS[verdict.name].judged == "linked":
        ledger.nested(f"{prefix}.differencing.linked", count.name)
        if LIMITS[LIMITS[verdict.name].of].judged == "violations":  # who is alone is in a group that is too small
            ledger.nested(count.name, f"{prefix}.differencing.linked_uniques")
    above = ledger.variables.get(f"{prefix}.above")
    if LIMITS[verdict.name].needs == "household" and above is not None and (above.true or 0) <= verdict.n_records:
        # A household is recognised at least as easily as its member.
        ledger.nested(count.name, f"{prefix}.above")
    return count


def _count_by_missing_rule(name: str, verdict: Verdict, true: int | None, setting: Setting) -> gate.Count | None:
    """The count of k-anonymity for a rule for missing values, if it is in the ledger."""
    if true is None or verdict.limit is None:
        return None
    known = f"{setting.prefix}.{name}.{verdict.limit:g}"
    return gate.Count(known) if known in setting.ledger.variables else None


def _verdict_value(verdict: Verdict, setting: Setting) -> gate.Tree:
    parts = _part_and_base(verdict, setting)
    if parts is None:
        return None
    return gate.Ratio(*parts) if LIMITS[verdict.name].mean else gate.Share(*parts)


def _part_and_base(verdict: Verdict, setting: Setting) -> tuple[str, str] | None:
    """Variables of numerator and denominator of the share or mean that a limit is on; None if the ledger lacks them."""
    variables, prefix = setting.ledger.variables, setting.prefix
    found = []
    for points in range(1, (verdict.points or 1) + 1):
        value, base = (name.format(points=points) for name in LIMITS[verdict.name].part or ("", ""))
        if (name := f"{prefix}.{value}") in variables:
            found.append((name, base if base in variables else f"{prefix}.{base}"))
    if len(found) < 2:
        return found[0] if found else None
    return max(found, key=lambda parts: (variables[parts[0]].true or 0) / (variables[parts[1]].true or 1))

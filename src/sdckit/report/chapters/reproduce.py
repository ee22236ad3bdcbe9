"""The calls that reproduce a report, in Python and on the command line."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from copy import deepcopy

from sdckit.data.scenarios.scenario import Scenario

ATTACKS = 500  # attempts of each attack unless others are asked for


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
    for name in ("weight", "sampling_fraction", "household", "person", "release"):
        if (value := getattr(scenario, name)) is not None:
            given[name] = value
    for name in ("sensitive", "numeric", "ordered", "identifiers", "missing_codes"):
        if value := getattr(scenario, name):
            given[name] = list(value)
    if scenario.hierarchies:
        given["hierarchies"] = dict(scenario.hierarchies)
    tables = {"release_types": scenario.release_types, "thresholds": scenario.thresholds.declared}
    given |= {name: deepcopy(table) for name, table in tables.items() if table}
    if scenario.missing != "wildcard":
        missing = scenario.missing
        given["missing"] = missing if isinstance(missing, str) else dict(missing)
    if scenario.alpha != 1:
        given["alpha"] = scenario.alpha
    if scenario.aligned:
        given["aligned"] = True
    if scenario.ledger is not None:
        given["ledger"] = dict(scenario.ledger.declared)
    if declared := scenario.matching.declared:
        lists = {name: list(one) if isinstance(one, tuple) else one for name, one in declared.items()}
        given["matching"] = lists
    return given


def release_calls(
    scenario: Scenario,
    measures: Sequence[str] = (),
    *,
    by: Sequence[str] = (),
    id: str | None,
    m: int,
    models: Sequence[tuple[str, str]] = (),
    attacks: str = "",
    n_attacks: int = ATTACKS,
    seed: str = "",
    recoding: str = "",
) -> dict[str, str]:
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
    options = [f"--released {one.replace('released', 'FILE')}" for one in files]
    named, told = (f", id={id!r}", f" --id {shlex.quote(id)}") if id else ("", "")
    if models:
        named += f", models={dict(models)!r}"
    for formula, family in models:
        told += f" --model {shlex.quote(formula if family == 'linear' else f'{family}: {formula}')}"
    named += {"control": ", control=control", "attacks": ", attacks=True"}.get(attacks, "")
    told += {"control": " --control CONTROL", "attacks": " --attacks"}.get(attacks, "")
    named += f", {recoding}={recoding}" if recoding else ""
    told += {"recipe": " --recipe RECIPE.toml", "log": " --log LOG.json"}.get(recoding, "")
    if attacks and n_attacks != ATTACKS:
        named, told = f"{named}, n_attacks={n_attacks}", f"{told} --n-attacks {n_attacks}"
    if seed:
        named, told = f"{named}, seed={seed}", f"{told} --seed {seed}"
    released = files[0] if m == 1 else f"[{', '.join(files)}]"
    call = python_call(scenario, measures, by).replace("(data, ", f"(original, {released}, ")
    command = command_line(scenario, measures, by).replace(" FILE", f" ORIGINAL {' '.join(options)}", 1)
    return {"python": f"{call[:-1]}{named})", "command": command + told}


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
    if not _arguments(scenario).keys() <= options:
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

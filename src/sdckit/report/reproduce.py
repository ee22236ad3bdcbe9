"""The calls that reproduce a report, in Python and on the command line."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from sdckit.data.scenarios.scenario import Scenario

__all__ = ["command_line", "python_call", "release_call", "release_command"]

ATTACKS = 500  # attempts of each attack unless others are asked for


def python_call(scenario: Scenario, measures: Sequence[str] = ()) -> str:
    """Write the call that reproduces the report, without a path or a seed.

    Examples
    --------
    >>> print(python_call(Scenario(keys=["sex", "age"], weight="w")))
    scenario = sdc.Scenario(keys=['sex', 'age'], weight='w')
    assessment = sdc.assess(data, scenario=scenario)
    """
    arguments = ", ".join(f"{name}={value!r}" for name, value in _arguments(scenario).items())
    further = f", measures={list(measures)!r}" if measures else ""
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
    for name in ("sensitive", "numeric", "identifiers", "missing_codes"):
        if value := getattr(scenario, name):
            given[name] = list(value)
    if scenario.thresholds.declared:
        given["thresholds"] = dict(scenario.thresholds.declared)
    if scenario.missing != "wildcard":
        missing = scenario.missing
        given["missing"] = missing if isinstance(missing, str) else dict(missing)
    if scenario.alpha != 1:
        given["alpha"] = scenario.alpha
    if scenario.aligned:
        given["aligned"] = True
    return given


def release_call(
    scenario: Scenario,
    measures: Sequence[str] = (),
    *,
    id: str | None,
    m: int,
    models: Sequence[tuple[str, str]] = (),
    attacks: str = "",
    n_attacks: int = ATTACKS,
    seed: str = "",
) -> str:
    """Write the call that reproduces the report of a release; `attacks` is "control", "attacks" or "".

    `seed` is the seed itself, or a name that stands for it.

    Examples
    --------
    >>> print(release_call(Scenario(keys=["sex", "age"]), id="pid", m=1))
    scenario = sdc.Scenario(keys=['sex', 'age'])
    assessment = sdc.assess(original, released, scenario=scenario, id='pid')
    """
    files = "released" if m == 1 else "[" + ", ".join(f"released_{j}" for j in range(1, m + 1)) + "]"
    named = f", id={id!r}" if id else ""
    if models:
        named += f", models={dict(models)!r}"
    named += {"control": ", control=control", "attacks": ", attacks=True"}.get(attacks, "")
    named += f", n_attacks={n_attacks}" if attacks and n_attacks != ATTACKS else ""
    named += f", seed={seed}" if seed else ""
    call = python_call(scenario, measures).replace("(data, ", f"(original, {files}, ")
    return f"{call[:-1]}{named})"


def release_command(
    scenario: Scenario,
    measures: Sequence[str] = (),
    *,
    id: str | None,
    m: int,
    models: Sequence[tuple[str, str]] = (),
    attacks: str = "",
    n_attacks: int = ATTACKS,
    seed: str = "",
) -> str:
    """Write the command for a release, the files' names and perhaps the seed left open.

    Examples
    --------
    >>> release_command(Scenario(keys=["sex", "age"]), id="pid", m=2)
    'sdckit assess ORIGINAL --released FILE_1 --released FILE_2 --keys sex,age --id pid'
    """
    files = [f"FILE_{j}" for j in range(1, m + 1)] if m > 1 else ["FILE"]
    released = " ".join(f"--released {file}" for file in files)
    named = f" --id {shlex.quote(id)}" if id else ""
    for formula, family in models:
        named += f" --model {shlex.quote(formula if family == 'linear' else f'{family}: {formula}')}"
    named += {"control": " --control CONTROL", "attacks": " --attacks"}.get(attacks, "")
    named += f" --n-attacks {n_attacks}" if attacks and n_attacks != ATTACKS else ""
    named += f" --seed {seed}" if seed else ""
    return command_line(scenario, measures).replace(" FILE", f" ORIGINAL {released}", 1) + named


def command_line(scenario: Scenario, measures: Sequence[str] = ()) -> str:
    """Write the command for the same scenario, the file's name left open.

    Examples
    --------
    >>> command_line(Scenario(keys=["sex", "age"], weight="w", missing_codes=["NA"]))
    'sdckit assess FILE --keys sex,age --weight w --missing NA'
    """
    simple = len(scenario.intruders) == 1 and "default" in scenario.intruders
    beyond_options = (
        scenario.missing != "wildcard"
        or scenario.alpha != 1
        or scenario.thresholds.declared
        or scenario.person
        or scenario.identifiers
        or scenario.sampling_fraction
        or scenario.aligned
    )
    further = ["--measures", ",".join(measures)] if measures else []
    if not simple or beyond_options:
        return shlex.join(["sdckit", "assess", "FILE", "--scenario", "SCENARIO.toml", *further])
    words = ["sdckit", "assess", "FILE", "--keys", ",".join(scenario.keys)]
    for name in ("weight", "household"):
        if value := getattr(scenario, name):
            words += [f"--{name}", value]
    for name in ("sensitive", "numeric"):
        if several := getattr(scenario, name):
            words += [f"--{name}", ",".join(several)]
    for code in scenario.missing_codes:
        words += [f"--missing={code}"] if code.startswith("-") else ["--missing", code]
    return shlex.join([*words, *further])

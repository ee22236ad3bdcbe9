"""``sdckit attack``: let simulated intruders loose on a release, beside guessing and beside people never in it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sdckit.catalogue import rows
from sdckit.cli.attack_files import Attacked, Wanted, planned, read_attacked, read_wanted, without_left_out
from sdckit.cli.options import Texts, option, split
from sdckit.cli.outputs import TO_STDOUT as STDOUT, check_enough_records, check_targets
from sdckit.cli.progress import Steps
from sdckit.cli.source import BEHIND, GivenLog, GivenRecipe, Source, read_given, takes
from sdckit.errors import ScenarioError, SdcWarning

if TYPE_CHECKING:
    from sdckit.cells.pair import Recoded
    from sdckit.workflow.plan import Outcome
    from sdckit.workflow.recoded_original.open_recoded import Opened
    from sdckit.workflow.recoded_original.published_recodings import Recodings


@takes(Source, leave_out=("keys", "intruder"), behind=BEHIND)
def attack(
    source: Source,
    *,
    released: Annotated[list[Path], option("attack", "--released")],
    control: Annotated[Path | None, option("attack", "--control")] = None,
    kind: Annotated[Texts, option("attack", "--kind", all=", ".join(row.kind for row in rows("attack")))] = None,
    known: Annotated[Texts, option("attack", "--known")] = None,
    target: Annotated[Texts, option("attack", "--target")] = None,
    variables: Annotated[Texts, option("attack", "--variables")] = None,
    identifiers: Annotated[Texts, option("attack", "--identifiers")] = None,
    by: Annotated[Texts, option("attack", "--by")] = None,
    id: Annotated[str | None, option("attack", "--id")] = None,
    aligned: Annotated[bool, option("attack", "--aligned")] = False,
    blocking: Annotated[Texts, option("attack", "--blocking")] = None,
    n_attacks: Annotated[int, option("attack", "--n-attacks")] = 500,
    seed: Annotated[int | None, option("attack", "--seed")] = None,
    recipe: GivenRecipe = None,
    log: GivenLog = None,
    json: Annotated[str | None, option("attack", "--json")] = None,
    internal: Annotated[bool, option("attack", "--internal")] = False,
) -> None:
    """Attack a release of FILE: single out, link, infer, tell members, measure distances.

    The tables are exact, for your own session; those of --by show values of its columns. Exit code 0 when it
    ran, whatever the verdict; 2 for bad input.
    """
    _check_numbers(n_attacks, seed)
    check_targets(json, inputs=(*source.inputs, source.scenario, control, recipe, log, *released))
    stored = None
    if source.scenario is not None:
        from sdckit.data.scenarios.scenario import Scenario

        stored = Scenario.from_toml(source.scenario)
    never = split(identifiers)
    named = () if stored is None else stored.identifiers
    recodings = read_given(source.file, recipe, log, identifiers=(*never, *named), **source.how)
    if stored is not None and recodings is not None:
        stored = without_left_out(source, released, stored, recodings)
    wanted = read_wanted(
        kinds=split(kind), known=[split([side]) for side in known or ()], targets=split(target), by=split(by),
        id=id, aligned=aligned, blocking=[split([rule]) for rule in blocking or ()], scenario=stored,
    )  # fmt: skip
    planned(wanted, n_attacks=n_attacks, has_control=control is not None)
    with source.steps() as steps:
        files = read_attacked(
            source, released, control, wanted=wanted, variables=split(variables), identifiers=never,
            scenario=stored, recodings=recodings, steps=steps,
        )  # fmt: skip
        if json is not None:
            for file in (files.original, *files.released):
                check_enough_records(file.height, internal=internal)
        opened = _opened(files, wanted, recodings)
        pair = opened.pair
        made = _attacked(files, opened, wanted, n_attacks=n_attacks, seed=seed, steps=steps)
        if json is not None:
            plain = _plain(made, files, wanted, n_attacks=n_attacks, seed=seed, internal=internal)
            _write(plain | {"recoded": [asdict(recoding) for recoding in pair.recoded]}, json, internal)
    if json == STDOUT:
        return
    from sdckit.cli.terminal import print_blocks
    from sdckit.report.chapters.attacks_chapter import attack_blocks

    told = _plain(made, files, wanted, n_attacks=n_attacks, seed=seed, internal=True)
    print_blocks(attack_blocks(told, several=False), head=_head(files, source.file.name, pair.recoded))


def _opened(files: Attacked, wanted: Wanted, recodings: Recodings | None) -> Opened:
    """Open the files, the original and the control file recoded as the releases are; what was done is told."""
    from sdckit.cells.pair import open_files
    from sdckit.workflow.opened_release import warn_of_rows
    from sdckit.workflow.recoded_original.open_recoded import open_recoded

    columns = list(dict.fromkeys([*files.variables, *wanted.columns]))
    # A release of another length cannot be aligned: told of the linkage alone, where a scenario declares it.
    fits = all(release.height == files.original.height for release in files.released)
    aligned = wanted.rows or (wanted.declared and fits)
    if recodings is not None:
        opened_sizes = [release.height for release in files.released]
        recodings.check_sizes(opened_sizes, [f"release {j}" for j in range(1, len(opened_sizes) + 1)])
        recodings = recodings.check_file(files.original.columns, files.original.height)
        aligned = aligned or (recodings.log is not None and recodings.keeps_rows)
    opened = open_recoded(
        open_files(files.original, files.released, id=wanted.id), {"variables": columns}, control=files.control,
        recodings=recodings, aligned=aligned,
    )  # fmt: skip
    if aligned and (recodings is None or recodings.log is None):
        warn_of_rows(opened.pair)
    for note in opened.notes:
        warnings.warn(note, SdcWarning, stacklevel=2)
    return opened


def _attacked(
    files: Attacked, opened: Opened, wanted: Wanted, *, n_attacks: int, seed: int | None, steps: Steps
) -> Outcome:
    from sdckit.data.scenarios.scenario import Scenario
    from sdckit.workflow.plan import attack_every_column, carry_out

    pair = opened.pair
    how: dict[str, Any] = {
        "n_attacks": n_attacks, "seed": seed, "pair": pair, "n": pair.n, "sizes": pair.sizes,
        "has_control": files.control is not None, "tell": steps.step,
    }  # fmt: skip
    plan = planned(wanted, files.variables, numeric=files.declared, **how)
    # Linking records is tried without being asked for where a scenario says that rows belong together.
    forgiven = () if wanted.rows or wanted.kinds else [planned for planned in plan if "variables" in planned.row.needs]
    made = carry_out(plan, strict={planned.row.name for planned in plan if planned not in forgiven})
    every = files.columns.every
    if not every:
        return made
    scenario = Scenario(keys=files.variables, numeric=files.declared or ())
    return made.with_others(attack_every_column(scenario, every, opened.again, kinds=wanted.kinds, **how))


def _plain(
    made: Outcome, files: Attacked, wanted: Wanted, *, n_attacks: int, seed: int | None, internal: bool
) -> dict[str, Any]:
    """What is printed of the attacks."""
    from sdckit.report.chapters.attacks_chapter import plain_attacks
    from sdckit.workflow.plan import attack_parameters

    knowledge = {"default": wanted.knowledge(files.variables, files.declared, n_attacks)}
    asked = attack_parameters(knowledge, made.places, n_columns=None, seed=seed, columns=files.columns)
    return plain_attacks(
        made.results, skipped=made.skipped, control=files.control is not None, n=files.original.height,
        sizes=[release.height for release in files.released], asked=asked, internal=internal,
    )  # fmt: skip


def _head(files: Attacked, name: str, recoded: Sequence[Recoded] = ()) -> list[str]:
    n = len(files.released)
    sizes = f"{n} releases" if n > 1 else f"a release of {files.released[0].height:,}"
    control = files.control
    people = "without a control file" if control is None else f"{control.height:,} never in the file"
    lines = [f"{name}: {sizes} against {files.original.height:,} records, {people}"]
    if files.left_out:
        lines.append(f"Not in every file, left out: {', '.join(files.left_out)}")
    if recoded:
        lines.append(f"In the original recoded as in the release: {', '.join(recoding.column for recoding in recoded)}")
    return lines


def _write(plain: dict[str, Any], target: str, internal: bool) -> None:
    from sdckit.data.files.whole_files import write_whole
    from sdckit.report.formats.write import render_json

    text = render_json(plain)
    if target == STDOUT:
        typer.echo(text, nl=False)
    else:
        write_whole(text, target, private=internal, what="JSON")


def _check_numbers(n_attacks: int, seed: int | None) -> None:
    if n_attacks < 1:
        raise ScenarioError("--n-attacks counts attempts; give a whole number of 1 or more")
    if seed is not None and seed < 0:
        raise ScenarioError("--seed takes a whole number of 0 or more")

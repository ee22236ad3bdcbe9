"""``sdckit joint-audit``: what a release and published tables give back together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from sdckit.cli.attack_files import check_original
from sdckit.cli.options import Texts
from sdckit.cli.source import Source, reads_keys
from sdckit.cli.terminal import print_measure
from sdckit.errors import ScenarioError


@reads_keys
def joint_audit(
    source: Source,
    *,
    tables: Annotated[
        list[Path] | None,
        Option("--tables", metavar="FILE", help="A CSV or Excel file of counts, a row per cell; again for more."),
    ] = None,
    by: Annotated[
        Texts, Option("--counted", metavar="A,B", help="A table counted in --original; again for more.")
    ] = None,
    sums: Annotated[
        Texts,
        Option(
            "--sums",
            metavar="C:FILE",
            help="A file of sums of the column C, in its column C; again for more.",
        ),
    ] = None,
    summed: Annotated[
        Texts,
        Option("--summed", metavar="C:A,B", help="Sums of C by A and B, added up in --original; again for more."),
    ] = None,
    original: Annotated[
        Path | None,
        Option(metavar="FILE", help="What FILE was made from, row by row: says what is reconstructed rightly."),
    ] = None,
    id: Annotated[str | None, Option("--id", metavar="COLUMN", help="Says which rows belong together.")] = None,
    log: Annotated[Path | None, Option(metavar="LOG.json", help="Of the recipe: says the order of the rows.")] = None,
    count: Annotated[str, Option(metavar="COLUMN", help="Holds the counts in the files of --tables.")] = "n",
    rounded: Annotated[int | None, Option(metavar="N", help="The base to which all counts are rounded.")] = None,
    sums_rounded: Annotated[int | None, Option(metavar="N", help="The base to which all sums are rounded.")] = None,
    suppressed_below: Annotated[
        int | None, Option(metavar="N", help="Cells without a count have fewer records than this.")
    ] = None,
    total: Annotated[str | None, Option(metavar="TEXT", help="How the files name a margin.")] = None,
    remedies: Annotated[
        bool, Option("--remedies", help="Say which table tells most, and what to publish instead.")
    ] = False,
) -> None:
    """Find what a released FILE gives back together with tables published of the same people.

    Without --tables, --counted, --sums and --summed the tables are those of the scenario. Exact figures for your own
    session.
    """
    from sdckit.attacks.published.counted_tables import PublishedTable, declared_tables
    from sdckit.data.scenarios.scenario import Scenario
    from sdckit.workflow.recipes.recipe_log import RecipeLog

    chosen = source.declared()
    exact = {"rounded": rounded, "suppressed_below": suppressed_below}
    given = [PublishedTable(counts=path, count=count, total=total, **exact) for path in tables or ()]  # type: ignore[arg-type]
    given += [PublishedTable(variables=one.split(","), **exact) for one in by or ()]  # type: ignore[arg-type]
    exact["rounded"] = sums_rounded
    for column, file in _pairs(sums, "--sums", "income:sums.csv"):
        given.append(PublishedTable(counts=Path(file), sum=column, total=total, **exact))  # type: ignore[arg-type]
    for column, names in _pairs(summed, "--summed", "income:region,sex"):
        given.append(PublishedTable(variables=names.split(","), sum=column, **exact))  # type: ignore[arg-type]
    if not given and source.scenario is not None:
        declared = Scenario.from_toml(source.scenario)
        given = [*declared_tables(declared.tables, declared.folder)]
    if not given:
        raise ScenarioError(
            "say what is published beside the file: --tables, --counted, --sums, --summed, or [[tables]] in the "
            "scenario"
        )
    kept = None if log is None else RecipeLog.read(log)
    if original is not None:
        check_original(original, source.file)
    with source.steps() as steps:
        frame = source.read(chosen, steps, whole=True)
        before = None if original is None else source.read(chosen, steps, file=original, whole=True)
        from sdckit.attacks.published.joint_audit import joint_audit as measure

        result = measure(
            frame, before, tables=given, scenario=chosen, log=kept, id=id if before is not None else None,
            remedies=remedies, step=steps.step,
        )  # fmt: skip
    print_measure(source.file.name, result)


def _pairs(given: Texts, option: str, example: str) -> list[tuple[str, str]]:
    """A column that is summed, and what follows the colon."""
    found = []
    for one in given or ():
        column, colon, rest = one.partition(":")
        if not (column and colon and rest):
            raise ScenarioError(f"{option} names the column that is summed, then a colon: {option} {example}")
        found.append((column, rest))
    return found

"""``sdckit outliers``: values so extreme that they are recognised as such."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from sdckit.cli.options import Texts, codes, split
from sdckit.cli.source import Source, reads_a_file
from sdckit.cli.terminal import print_measure
from sdckit.errors import ScenarioError


@reads_a_file
def outliers(
    source: Source,
    *,
    numeric: Annotated[Texts, Option(metavar="A,B", help="Numeric variables; default the scenario's.")] = None,
    by: Annotated[Texts, Option(metavar="A,B", help="Within the groups of these.")] = None,
    method: Annotated[str, Option(metavar="NAME", help="percentile, mad or robust_mahalanobis.")] = "percentile",
    upper_quantile: Annotated[
        float | None, Option(metavar="X", help="Extreme from this quantile on; default 0.95.")
    ] = None,
    lower_quantile: Annotated[
        float | None, Option(metavar="X", help="Extreme up to this quantile; default none.")
    ] = None,
) -> None:
    """Count the records with extreme values; neither values nor limits are shown.

    Exact counts for your own session.
    """
    names, groups, missing = split(numeric), split(by), codes(source.missing)
    if source.scenario is not None:
        from sdckit.data.scenarios.scenario import Scenario

        stored = Scenario.from_toml(source.scenario)
        names = names or list(stored.numeric)
        missing = missing or list(stored.missing_codes)
    if not names:
        raise ScenarioError("say which variables are numeric: --numeric A,B, or a scenario that names them")
    with source.steps() as steps:
        steps.step(f"reading {source.file.name}")
        from sdckit.data.files.readers import read_file

        columns = tuple(dict.fromkeys([*names, *groups]))
        frame = read_file(source.file, columns=columns, missing=missing, **source.how)
        from sdckit.identity.outliers import outliers as measure

        steps.step("looking for outliers")
        result = measure(
            frame,
            numeric=names,
            by=groups,
            method=method,  # type: ignore[arg-type]
            upper_quantile=0.95 if upper_quantile is None and lower_quantile is None else upper_quantile,
            lower_quantile=lower_quantile,
        )
    print_measure(source.file.name, result)

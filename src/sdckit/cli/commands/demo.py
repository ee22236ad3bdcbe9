"""``sdckit demo``: the main job on a real survey that comes with a dependency."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from sdckit.cli.options import Quiet, option
from sdckit.cli.outputs import check_report_name, check_targets
from sdckit.cli.progress import Steps


def demo(
    *,
    report: Annotated[Path, option("demo", "--report")] = Path("demo-report.html"),
    language: Annotated[str, option("demo", "--language")] = "en",
    quiet: Quiet = False,
) -> None:
    """Assess the affairs survey of 1974 (6,366 records) and write its report."""
    from sdckit.report.language import check_language

    check_report_name(report)
    check_targets(report)
    check_language(language)
    with Steps(quiet=quiet) as steps:
        steps.step("reading the survey")
        from sdckit.demo import demo_scenario, load_demo

        frame, scenario = load_demo(), demo_scenario()
        from sdckit.workflow.assess import assess

        result = assess(frame, scenario=scenario, step=steps.step)
        steps.step("writing the report")
        result.report(report, language=language)
    if not quiet:
        from sdckit.cli.commands.assess import deliver
        from sdckit.demo import ABOUT

        deliver(result, name="affairs survey", report=report, note=ABOUT)

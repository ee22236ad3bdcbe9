"""``sdckit explain``: why one record is at risk; only where its values may be seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from sdckit.cli.options import MissingRule, option
from sdckit.cli.source import BEHIND, Source, read_declared, takes
from sdckit.errors import ColumnError, SdcError

if TYPE_CHECKING:
    from sdckit.identity.special_uniques.explain import Explanation


@takes(Source, behind=BEHIND)
def explain(
    source: Source,
    *,
    row: Annotated[int | None, option("explain", "--row")] = None,
    id: Annotated[str | None, option("explain", "--id")] = None,
    value: Annotated[str | None, option("explain", "--value")] = None,
    internal: Annotated[bool, option("explain", "--internal")] = False,
    missing_rule: MissingRule = None,
) -> None:
    """Show what singles one record out, and the cheapest change that ends it. Confidential.

    Prints the values of the record, so it needs --internal.
    """
    if not internal:
        raise SdcError("explain shows the values of one record; --internal says that you may see them")
    if (id is None) != (value is None) or (row is None) == (id is None):
        raise SdcError("say which record: --row N, or --id COLUMN with --value VALUE")
    chosen = source.declared(missing_rule=missing_rule)
    if id in chosen.identifiers:
        raise ColumnError(f"'{id}' is a direct identifier, which is never read; name the record by --row")
    with source.steps() as steps:
        also = () if id is None else (id,)
        frame = read_declared(source.file, chosen, steps=steps, also=also, **source.how)
        from sdckit.identity.special_uniques.explain import explain as measure

        steps.step("looking for what singles the record out")
        result = measure(frame, scenario=chosen, row=row if id is None else value, id=id)
    _print(result, f"{source.file.name}, record {f'{row:,}' if id is None else f'with {id} {value}'}")


def _print(result: Explanation, name: str) -> None:
    """The record's values are shown: for this session, in no document."""
    from sdckit.cli.terminal import print_blocks
    from sdckit.report.blocks import Paragraph
    from sdckit.report.explanation import explanation_blocks
    from sdckit.report.gate.protect import CONFIDENTIAL

    print_blocks([Paragraph(str(result)), *explanation_blocks(result)], head=[f"{name}: {CONFIDENTIAL}"])

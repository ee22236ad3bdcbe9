"""``sdckit domain init``: a domain to be filled in, made of a file's header."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sdckit.cli.errors import tell
from sdckit.cli.options import Delimiter, Encoding, File, as_typed, option, path_typed
from sdckit.cli.outputs import check_targets, refuse_existing, written
from sdckit.cli.source import Reading
from sdckit.display import some_of

app = typer.Typer(help="Declare what the columns of a file may hold, without looking at its records.")


@app.callback()
def _group() -> None:
    """Keep `init` a command of its own while it is the only one."""


@app.command("init")
def init(
    file: File,
    *,
    out: Annotated[str, option("domain", "--out", "-o")] = "domain.toml",
    from_codebook: Annotated[bool, option("domain", "--from-codebook")] = False,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    force: Annotated[bool, option("domain", "--force")] = False,
) -> None:
    """Write the names and types of a file's columns as TOML, without any value of a record.

    Levels, or the edges of bands, come from a codebook or from what is known of the population, never from the records:
    fill them in, or take the column out. A CSV stores no types, so all of its columns are text there. Exit code 0 when
    it ran; 2 for bad input.
    """
    check_targets(out, inputs=(file,))
    refuse_existing(out, force=force)
    from sdckit.data.files.domain_files import draft_domain
    from sdckit.data.files.read_labelled import read_labels

    text = draft_domain(file, from_codebook=from_codebook, delimiter=delimiter, encoding=encoding)
    labels = {} if from_codebook else read_labels(file, encoding=encoding).columns
    if not written(out, text):
        return
    if coded := [name for name, own in labels.items() if own.codes]:
        tell(f"The value labels of {some_of(coded)} are no levels in it: --from-codebook takes them.")
    tell(f"Wrote {Path(out).name}. Give levels or edges to each column in it, or take the column out. Then:")
    how = as_typed(Reading(file=file, delimiter=delimiter, encoding=encoding))
    given = f"{path_typed(file)} --domain {path_typed(out)}{how}"
    tell(f"  sdckit synthesize-margins {given} --epsilon 1 --delta 1e-6 --out made.csv")

"""``sdckit canaries``: plant records of nobody before synthesis, and measure afterwards what became of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sdckit.cli import errors, outputs
from sdckit.cli.options import Decimal, Delimiter, Encoding, Missing, Texts, argument, codes, option, path_typed, split
from sdckit.cli.progress import Steps
from sdckit.cli.source import NoProgress, Reading, takes
from sdckit.errors import DataError, ScenarioError

if TYPE_CHECKING:
    import polars as pl

    from sdckit.attacks.planted.canaries import CanaryExposure
    from sdckit.cli.attack_files import Key


app = typer.Typer(help="Plant records of nobody before synthesis; measure how far a release gives them away.")
KeyFile = Annotated[Path, option("canaries", "--key")]


@app.command("make")
@takes(Reading)
def make(
    reading: Reading,
    *,
    out: Annotated[Path, option("canaries", "--out", "-o")],
    key: KeyFile,
    n: Annotated[int, option("canaries", "--n")] = 50,
    copies: Annotated[int, option("canaries", "--copies")] = 1,
    coins: Annotated[bool, option("canaries", "--coins")] = False,
    variables: Annotated[Texts, option("canaries", "--variables")] = None,
    numeric: Annotated[Texts, option("canaries", "--numeric")] = None,
    id: Annotated[str | None, option("canaries", "--id")] = None,
    identifiers: Annotated[Texts, option("canaries", "--identifiers")] = None,
    seed: Annotated[int | None, option("canaries", "--seed")] = None,
    no_progress: NoProgress = False,
) -> None:
    """Plant records of nobody behind those of FILE, and write the file to train on and the key.

    FILE is never overwritten, nor any file that exists. Exit code 0 when it ran; 2 for bad input.
    """
    from sdckit.data.files.write_file import check_output, write_file

    file = reading.file
    if seed is not None and seed < 0:
        raise ScenarioError("--seed takes a whole number of 0 or more")
    outputs.check_targets(out, key, inputs=reading.inputs)
    if out.exists():
        raise DataError(f"{out.name} exists, and an older key may be about it; give another --out")
    if key.exists():
        raise DataError(f"{key.name} exists, and without it nobody finds its records; give another --key")
    check_output(out, sources=reading.inputs)
    with Steps(quiet=no_progress) as steps:
        frame = _read(
            file, None, steps=steps, named=split(variables), identifiers=split(identifiers),
            missing=codes(reading.missing), **reading.how,
        )  # fmt: skip
        steps.step(f"planting {n:,} records")
        from sdckit.attacks.planted.canaries import canaries
        from sdckit.cli.attack_files import write_key
        from sdckit.data.seeds import Mixed, read_secret, warn_of_short

        warn_of_short(seed, keeper="key")
        made = canaries(
            frame, n=n, copies=copies, coins=coins, variables=split(variables) or None,
            numeric=split(numeric) or None, id=id, seed=Mixed(read_secret(None), seed or 0).of_step(1),
        )  # fmt: skip
        write_key(made, key)  # first: no training file without its key
        write_file(made.data, out, sources=reading.inputs, private=True)  # it tells the planted records
    times = "once" if copies == 1 else f"{copies:,} times each"
    errors.tell(f"Planted {made.n_planted:,} records of nobody, {times}, behind the {frame.height:,} of {file.name}.")
    held_back = f"{made.n_held_out:,} fell to the other side and" if coins else "As many"
    errors.tell(f"{held_back} are held back; the nearest of all is {made.nearest:.2g} from a real record.")
    errors.tell(f"\nWritten: {out.name}, {key.name}. What is made of {out.name} must not go out. Then:")
    reference = f" --reference {path_typed(file)}" if coins else ""
    errors.tell(f"  sdckit canaries measure {path_typed(key)} --released FILE{reference}")


@app.command("measure")
def measure(
    key: Annotated[Path, argument("canaries-measure", "key")],
    *,
    released: Annotated[list[Path], option("canaries", "--released")],
    reference: Annotated[Path | None, option("canaries", "--reference")] = None,
    guesses: Annotated[Texts, option("canaries", "--guesses")] = None,
    missing: Missing = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    no_progress: NoProgress = False,
) -> None:
    """Measure how much nearer a release comes to the planted records than to those held back.

    Exit code 0 when it ran, whatever the verdict; 2 for bad input.
    """
    from sdckit.cli.attack_files import read_key

    planted = read_key(key)
    numbers = _whole(split(guesses))
    with Steps(quiet=no_progress) as steps:
        frames = [
            _read(
                path, planted.variables, steps=steps, missing=codes(missing), delimiter=delimiter, encoding=encoding,
                decimal=decimal,
            )
            for path in (*released, *filter(None, [reference]))
        ]  # fmt: skip
        steps.step("looking for the planted records")
        exposure = _exposure(planted, frames[: len(released)], numbers, frames[len(released) :])
    from sdckit.cli.terminal import print_blocks
    from sdckit.report.notebook import screen_blocks

    times = "" if planted.copies == 1 else f", {planted.copies} times each"
    head = f"{exposure.n_planted} records of nobody planted{times}, {exposure.n_held_out} held back"
    print_blocks(screen_blocks(exposure), head=[head])


def _read(
    file: Path, columns: Sequence[str] | None, *, steps: Steps, named: Sequence[str] = (),
    identifiers: Sequence[str] = (), missing: Sequence[str] = (), **how: Any,
) -> pl.DataFrame:  # fmt: skip
    """Read columns of a file, or all but the identifiers where none is given."""
    from sdckit.data.files.readers import read_file, scan_header

    steps.step(f"reading {file.name}")
    header = scan_header(file, columns=columns or named or None, **how)
    if columns is None and not named and not header.certain:
        raise DataError(
            f"the first line of {file.name} may be a record instead of a header; name columns: --variables A,B"
        )
    return read_file(file, columns=columns, identifiers=tuple(identifiers), missing=tuple(missing), **how)


def _whole(given: Sequence[str]) -> list[int] | None:
    if not all(text.isdecimal() for text in given):
        raise ScenarioError("--guesses takes whole numbers: --guesses 50,100")
    return [int(text) for text in given] or None


def _exposure(
    key: Key, released: Sequence[pl.DataFrame], guesses: Sequence[int] | None, reference: Sequence[pl.DataFrame]
) -> CanaryExposure:
    import numpy as np

    from sdckit.attacks.planted.canaries import canary_exposure

    return canary_exposure(
        key.both, released, n_planted=key.n_planted, numbers=key.numeric,
        categories=[name for name in key.variables if name not in key.numeric], ranges=np.array(key.ranges),
        level=0.95, coins=None if key.coins is None else np.array(key.coins), guesses=guesses,
        reference=reference[0] if reference else None,
    )  # fmt: skip

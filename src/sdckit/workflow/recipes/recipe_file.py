"""The file of a recipe: its steps, and the digests of the hierarchies they read."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sdckit.data.scenarios.scenario_toml import read_toml
from sdckit.errors import FileFormatError, ScenarioError
from sdckit.workflow.recipes.recipe_checks import StepLike, checked_step
from sdckit.workflow.recipes.recipe_toml import read_entries


@contextmanager
def naming(file: Path) -> Generator[None]:
    """Tell what is wrong with a recipe file with its name."""
    try:
        yield
    except FileFormatError as error:
        raise FileFormatError(str(error).replace("scenario file", "recipe")) from None
    except ScenarioError as error:
        told = str(error).replace("to be a scenario", "to be a recipe")
        told = told if told.startswith(file.name) else f"{file.name}: {told}"
        raise ScenarioError(told, argument=error.argument) from None


def read_steps(path: str | Path) -> tuple[StepLike, ...]:
    """The steps of a recipe file, checked without data.

    Raises `FileFormatError`: the file is absent or cannot be read; `ScenarioError`: it is no recipe.
    """
    file = Path(path)
    with naming(file):
        return checked_steps(read_entries(read_toml(file)).get("steps", ()))


def checked_steps(tables: Sequence[object]) -> tuple[StepLike, ...]:
    """Steps as a file has them, each checked.

    Examples
    --------
    >>> checked_steps([{"method": "round_to", "column": "income", "base": 10}])
    (StepLike(method='round_to', arguments={'column': 'income', 'base': 10}),)
    """
    if not tables:
        raise ScenarioError("a recipe has at least one step; start each with [[steps]] in TOML")
    return tuple(checked_step(number, one) for number, one in enumerate(tables, 1))  # type: ignore[arg-type]


def hierarchies(steps: Sequence[StepLike]) -> tuple[str, ...]:
    """Files of hierarchies that steps name."""
    named = [one.arguments.get("hierarchy") for one in steps if one.method == "recode"]
    return tuple(dict.fromkeys(one for one in named if isinstance(one, str)))


def digests(steps: Sequence[StepLike], folder: Path | None) -> dict[str, str]:
    """What the hierarchies are that steps read, to know them again; absent ones are left out."""
    found = {}
    for named in hierarchies(steps):
        path = (folder or Path()) / named
        if path.is_file():
            found[named] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found

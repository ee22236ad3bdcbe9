"""The log of a recipe: what each step changed, and, internally, what is needed to replay it bit for bit."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit import __version__
from sdckit.data.files.file_limits import json_in
from sdckit.data.seeds import Mixed
from sdckit.errors import FileFormatError
from sdckit.protect.change import Change
from sdckit.protect.margins import promise, synthesize_margins
from sdckit.result import SCHEMA_VERSION, json_ready
from sdckit.workflow.recipes.recipe_steps import write_recipe

FORMAT = "sdckit/recipe-log"
FORMAT_VERSION = "2"  # 1 had no secret
MARGINS_FORMAT = "sdckit/margins-log"  # of one step, as `sdckit synthesize-margins` writes it
CONFIDENTIAL = "contains what would help to undo the protection: secret, seeds, keys, matrices"


@dataclass(frozen=True)
class RecipeLog:
    """Record of what a recipe did to a file.

    Attributes
    ----------
    recipe : str
        The recipe, as TOML.
    steps : tuple of Change
        What each step changed.
    n : int
        Records of the file.
    columns : tuple of str
        Its columns before.
    versions : dict of str to str
        sdckit, NumPy, Polars and Python.
    date : str
    secret : str
        What makes the draws: random bytes, hexadecimal. Internal, as all that follows.
    seed : int
        What was given besides, 0 where nothing was. Every step has a seed of its own, made of both.
    keys : dict of int to str
        Keys of new identifiers, hexadecimal, by number of the step.
    scenario : str
        The scenario it ran under, as TOML; empty where there was none.
    files : dict of str to str
        Digests of the hierarchies it read.
    released : tuple of str
        Names of the files that the command line wrote with it.
    """

    recipe: str
    steps: tuple[Change, ...]
    n: int
    columns: tuple[str, ...]
    versions: dict[str, str]
    date: str
    secret: str = field(default="", repr=False)
    seed: int = field(default=0, repr=False)
    keys: dict[int, str] = field(default_factory=dict, repr=False)
    scenario: str = field(default="", repr=False)
    files: dict[str, str] = field(default_factory=dict, repr=False)
    released: tuple[str, ...] = ()

    @property
    def margins(self) -> synthesize_margins.MarginsChange | None:
        """What the first step did, where it drew the records from protected margins."""
        first = self.steps[0] if self.steps else None
        return first if isinstance(first, synthesize_margins.MarginsChange) else None

    @property
    def is_public(self) -> bool:
        """Whether it tells nothing that the release does not: what follows noise with a promise is of made records."""
        return self.margins is not None and bool(self.margins.spent)

    @property
    def mixed(self) -> Mixed:
        """Source of the seeds of the steps."""
        return Mixed(bytes.fromhex(self.secret), self.seed)

    def without_secrets(self) -> RecipeLog:
        """What a document is made of: of seeds, keys and matrices it is known that there are some, not which."""
        steps = tuple(replace(change, secret=dict.fromkeys(change.secret)) for change in self.steps)
        return replace(self, steps=steps, secret="", seed=0, keys={})

    def rows(self, original: Any = None, *, folder: str | Path | None = None) -> NDArray[np.int64] | None:
        """The row of the original that each released row was made from; None where the order was not changed.

        Parameters
        ----------
        original : data frame, optional
            The file before the first step; needed where households were kept together.
        folder : str or Path, optional
            Where the paths of hierarchies start, where steps must be carried out again to know the households.

        Raises
        ------
        DataError
            The original is needed and not given, or another file.
        """
        from sdckit.workflow.recipes.run_step import released_rows

        return released_rows(self, original, None if folder is None else Path(folder))

    def to_dict(self, *, internal: bool = False) -> dict[str, Any]:
        """The log ready for JSON; with secret, seeds, keys and matrices only where it is internal.

        The recipe itself is internal too: its arguments may be what `Change.parameters` keeps back.
        """
        from sdckit.report.notebook import protected_change

        document: dict[str, Any] = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "date": self.date,
            "n": self.n if internal else protected_change(self.n, {}, {})["n"],
            "versions": dict(self.versions),
            "steps": [
                {"step": number, **_step(change, internal=internal)} for number, change in enumerate(self.steps, 1)
            ],
        }
        if not internal:
            return document
        secrecy = {} if self.is_public else {"confidential": CONFIDENTIAL}
        return {
            **document, **secrecy, "recipe": self.recipe, "scenario": "" if self.is_public else self.scenario,
            "columns": list(self.columns), "secret": self.secret, "seed": str(self.seed),
            "keys": {str(number): key for number, key in self.keys.items()}, "files": dict(self.files),
            "released": list(self.released),
        }  # fmt: skip

    def write(self, path: str | Path) -> Path:
        """Write the internal log as JSON, readable by its owner alone unless it `is_public`, whole or not at all.

        Raises
        ------
        FileFormatError
            The file cannot be written; nothing is left behind.
        """
        from sdckit.data.files.whole_files import write_whole

        text = json.dumps(self.to_dict(internal=True), indent=1, ensure_ascii=False, allow_nan=False)
        write_whole(text + "\n", path, what="log", private=not self.is_public)
        return Path(path)

    @classmethod
    def read(cls, path: str | Path) -> RecipeLog:
        """Read a log that `write` wrote.

        Raises
        ------
        FileFormatError
            The file is absent, damaged, or no such log.
        """
        file = Path(path)
        try:
            document = json_in(file)
        except FileNotFoundError:
            raise FileFormatError(f"there is no log {file.name}; check the path") from None
        except (OSError, ValueError) as error:
            why = f": {error}" if type(error) is ValueError else ""  # our own words, not those of a parser
            raise FileFormatError(f"{file.name} cannot be read as a log{why}") from None
        if isinstance(document, dict) and document.get("format") == MARGINS_FORMAT:
            document = _one_step(document)
        if not isinstance(document, dict) or document.get("format") != FORMAT or "seed" not in document:
            raise FileFormatError(f"{file.name} is not the internal log of a recipe")
        if document.get("format_version") != FORMAT_VERSION:
            reason = f"is a log of another version than {FORMAT_VERSION}; read it by the sdckit that wrote it"
            raise FileFormatError(f"{file.name} {reason}")
        try:
            return _from_dict(document)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise FileFormatError(f"{file.name} is damaged; a part of the log is missing or in another place") from None


def _step(change: Change, *, internal: bool) -> dict[str, Any]:
    document = change.to_dict(internal=internal)
    document["parameters"] = plain(change.parameters if internal else change.given)
    return {**document, "secret": plain(change.secret)} if internal else document


def _from_dict(document: Mapping[str, Any]) -> RecipeLog:
    for number, step in enumerate(document["steps"], 1):
        if (step["step"], step["schema_version"], type(step["method"])) != (number, SCHEMA_VERSION, str):
            raise ValueError
    return RecipeLog(
        recipe=document["recipe"],
        steps=tuple(map(promise.change_of, document["steps"])),
        n=document["n"], columns=tuple(document["columns"]), versions=document["versions"], date=document["date"],
        secret=bytes.fromhex(document["secret"]).hex(), seed=int(document["seed"]),
        keys={int(number): key for number, key in document["keys"].items()},
        scenario=document["scenario"], files=document["files"], released=tuple(document.get("released", ())),
    )  # fmt: skip


def _one_step(document: Mapping[str, Any]) -> dict[str, Any]:
    """The log of `sdckit synthesize-margins` as that of a recipe with this step; its own n is that of the release."""
    change = document.get("change")
    own = {"step": 1, "n": 0, "changed": {}, "notes": {}, "secret": {}}
    change = {**change, **own} if isinstance(change, Mapping) else {}
    given = {"domain": "domain.toml", "protect": change.get("parameters", {}).get("protect", "dp")}
    return {
        "format": FORMAT, "format_version": FORMAT_VERSION, "date": "", "n": 0, "columns": [],
        "versions": {"sdckit": document.get("sdckit", "")}, "steps": [change], "secret": "", "seed": 0, "keys": {},
        "recipe": write_recipe("", None, [(str(change.get("method", "")), given)]), "scenario": "", "files": {},
        "released": document.get("released", ()),
    }  # fmt: skip


def plain(value: Any) -> Any:
    """Convert the content of a `Change` to values that JSON can hold.

    Examples
    --------
    >>> plain({"m": np.array([[0.5, np.nan]]), 1: np.int64(3), "key": b"ab", "kind": complex})
    {'m': [[0.5, None]], '1': 3, 'key': '6162', 'kind': 'type'}
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, bytes):
        return value.hex()
    if value is None or isinstance(value, str | bool | int | float):
        return json_ready(value)
    if isinstance(value, Sequence | set | frozenset):
        return [plain(entry) for entry in value]
    return type(value).__name__


def versions_here() -> dict[str, str]:
    """Versions that determine the result of a recipe."""
    import polars as pl

    return {
        "sdckit": __version__, "numpy": np.__version__, "polars": pl.__version__, "python": platform.python_version()
    }  # fmt: skip

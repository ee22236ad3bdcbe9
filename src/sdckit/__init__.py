"""Statistical disclosure control: who can be recognised in a file, how surely, and what would be learnt."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sdckit.attribute.l_diversity import LDiversity, l_diversity
    from sdckit.cells.as_cells import as_cells
    from sdckit.cells.table import Cells
    from sdckit.data.readers import read_file
    from sdckit.data.scenario import Scenario
    from sdckit.demo import demo_scenario, load_demo
    from sdckit.errors import ColumnError, DataError, FileFormatError, ScenarioError, SdcError, SdcWarning
    from sdckit.identity.delta_presence import DeltaPresence, delta_presence
    from sdckit.identity.explain import Explanation, explain
    from sdckit.identity.household_structure import HouseholdStructure, household_structure
    from sdckit.identity.individual_risk import IndividualRisk, individual_risk
    from sdckit.identity.k_anonymity import KAnonymity, k_anonymity
    from sdckit.identity.k_map import KMap, k_map
    from sdckit.identity.key_contributions import KeyContributions, key_contributions
    from sdckit.identity.key_frequencies import KeyFrequencies, key_frequencies
    from sdckit.identity.outliers import Outliers, outliers
    from sdckit.identity.population_risk import PopulationRisk, population_risk
    from sdckit.identity.population_uniques import PopulationUniques, population_uniques
    from sdckit.identity.risky_cells import RiskyCells, risky_cells
    from sdckit.identity.suda import Suda, suda
    from sdckit.workflow.assess import assess
    from sdckit.workflow.assessment import Assessment
    from sdckit.workflow.check import CheckResult, check

__version__ = "0.1.0"

__all__ = [
    "Assessment",
    "Cells",
    "CheckResult",
    "ColumnError",
    "DataError",
    "DeltaPresence",
    "Explanation",
    "FileFormatError",
    "HouseholdStructure",
    "IndividualRisk",
    "KAnonymity",
    "KMap",
    "KeyContributions",
    "KeyFrequencies",
    "LDiversity",
    "Outliers",
    "PopulationRisk",
    "PopulationUniques",
    "RiskyCells",
    "Scenario",
    "ScenarioError",
    "SdcError",
    "SdcWarning",
    "Suda",
    "__version__",
    "as_cells",
    "assess",
    "check",
    "delta_presence",
    "demo_scenario",
    "explain",
    "household_structure",
    "individual_risk",
    "k_anonymity",
    "k_map",
    "key_contributions",
    "key_frequencies",
    "l_diversity",
    "load_demo",
    "outliers",
    "population_risk",
    "population_uniques",
    "read_file",
    "risky_cells",
    "suda",
]

# Where each public name lives: read on first use, so that `import sdckit` costs next to nothing.
_HOMES = {
    "Assessment": "workflow.assessment",
    "Cells": "cells.table",
    "CheckResult": "workflow.check",
    "ColumnError": "errors",
    "DataError": "errors",
    "DeltaPresence": "identity.delta_presence",
    "Explanation": "identity.explain",
    "FileFormatError": "errors",
    "HouseholdStructure": "identity.household_structure",
    "IndividualRisk": "identity.individual_risk",
    "KAnonymity": "identity.k_anonymity",
    "KMap": "identity.k_map",
    "KeyContributions": "identity.key_contributions",
    "KeyFrequencies": "identity.key_frequencies",
    "LDiversity": "attribute.l_diversity",
    "Outliers": "identity.outliers",
    "PopulationRisk": "identity.population_risk",
    "PopulationUniques": "identity.population_uniques",
    "RiskyCells": "identity.risky_cells",
    "Scenario": "data.scenario",
    "ScenarioError": "errors",
    "SdcError": "errors",
    "SdcWarning": "errors",
    "Suda": "identity.suda",
    "as_cells": "cells.as_cells",
    "assess": "workflow.assess",
    "check": "workflow.check",
    "delta_presence": "identity.delta_presence",
    "demo_scenario": "demo",
    "explain": "identity.explain",
    "household_structure": "identity.household_structure",
    "individual_risk": "identity.individual_risk",
    "k_anonymity": "identity.k_anonymity",
    "k_map": "identity.k_map",
    "key_contributions": "identity.key_contributions",
    "key_frequencies": "identity.key_frequencies",
    "l_diversity": "attribute.l_diversity",
    "load_demo": "demo",
    "outliers": "identity.outliers",
    "population_risk": "identity.population_risk",
    "population_uniques": "identity.population_uniques",
    "read_file": "data.readers",
    "risky_cells": "identity.risky_cells",
    "suda": "identity.suda",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'sdckit' has no attribute {name!r}")
    value = getattr(import_module(f"sdckit.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__

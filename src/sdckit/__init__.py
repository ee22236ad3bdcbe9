"""Statistical disclosure control: who can be recognised in a file, how surely, and what would be learnt."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sdckit.attacks.canaries import Canaries, canaries
    from sdckit.attacks.canary_exposure import CanaryExposure
    from sdckit.attacks.distance_to_closest_record import (
        DistanceToClosestRecord,
        distance_to_closest_record,
    )
    from sdckit.attacks.probabilistic_linkage import ProbabilisticLinkage, probabilistic_linkage
    from sdckit.attribute.alpha_k import AlphaK, alpha_k
    from sdckit.attribute.attribute_disclosure import AttributeDisclosure, attribute_disclosure
    from sdckit.attribute.attribute_disclosure_table import (
        AttributeDisclosureTable,
        attribute_disclosure_table,
    )
    from sdckit.attribute.bayesian_attribute_risk import BayesianAttributeRisk, bayesian_attribute_risk
    from sdckit.attribute.beta_likeness import BetaLikeness, beta_likeness
    from sdckit.attribute.correct_attribution_probability import (
        CorrectAttributionProbability,
        cap,
        correct_attribution_probability,
    )
    from sdckit.attribute.delta_disclosure import DeltaDisclosure, delta_disclosure
    from sdckit.attribute.l_diversity import LDiversity, l_diversity
    from sdckit.attribute.prediction_risk import PredictionRisk, prediction_risk
    from sdckit.attribute.t_closeness import TCloseness, t_closeness
    from sdckit.cells.as_cells import as_cells
    from sdckit.cells.table import Cells
    from sdckit.data.hierarchy import read_hierarchy
    from sdckit.data.readers import read_file
    from sdckit.data.scenario import Scenario
    from sdckit.demo import demo_scenario, load_demo
    from sdckit.errors import ColumnError, DataError, FileFormatError, ScenarioError, SdcError, SdcWarning
    from sdckit.identity.delta_presence import DeltaPresence, delta_presence
    from sdckit.identity.explain import Explanation, explain
    from sdckit.identity.household_structure import HouseholdStructure, household_structure
    from sdckit.identity.identity_disclosure import IdentityDisclosure, identity_disclosure
    from sdckit.identity.individual_risk import IndividualRisk, individual_risk
    from sdckit.identity.interval_risk import IntervalRisk, interval_risk
    from sdckit.identity.k_anonymity import KAnonymity, k_anonymity
    from sdckit.identity.k_map import KMap, k_map
    from sdckit.identity.key_contributions import KeyContributions, key_contributions
    from sdckit.identity.key_frequencies import KeyFrequencies, key_frequencies
    from sdckit.identity.matching_risk import MatchingRisk, matching_risk
    from sdckit.identity.outliers import Outliers, outliers
    from sdckit.identity.population_risk import PopulationRisk, population_risk
    from sdckit.identity.population_uniques import PopulationUniques, population_uniques
    from sdckit.identity.record_linkage import RecordLinkage, record_linkage
    from sdckit.identity.replicated_uniques import ReplicatedUniques, replicated_uniques
    from sdckit.identity.risky_cells import RiskyCells, risky_cells
    from sdckit.identity.robust_interval_risk import RobustIntervalRisk, robust_interval_risk
    from sdckit.identity.suda import Suda, suda
    from sdckit.protect.add_noise import add_noise
    from sdckit.protect.change import Change, Protected
    from sdckit.protect.drop_identifiers import drop_identifiers
    from sdckit.protect.local_suppression import local_suppression
    from sdckit.protect.mask_categorical import mask_categorical
    from sdckit.protect.mask_continuous import mask_continuous
    from sdckit.protect.microaggregate import microaggregate
    from sdckit.protect.new_ids import new_ids
    from sdckit.protect.pram import pram
    from sdckit.protect.rank_swap import rank_swap
    from sdckit.protect.recode import recode
    from sdckit.protect.replace_high_risk import replace_high_risk
    from sdckit.protect.round_to import round_to
    from sdckit.protect.shuffle import shuffle
    from sdckit.protect.suppress_above import suppress_above
    from sdckit.protect.swap_records import swap_records
    from sdckit.protect.synthesize import synthesize
    from sdckit.protect.top_bottom_code import top_bottom_code
    from sdckit.utility.cluster_utility import ClusterUtility, cluster_utility
    from sdckit.utility.combine import Combined, combine
    from sdckit.utility.compare_associations import AssociationComparison, compare_associations
    from sdckit.utility.compare_distributions import DistributionComparison, compare_distributions
    from sdckit.utility.compare_estimates import EstimateComparison, compare_estimates
    from sdckit.utility.compare_models import ModelComparison, compare_models
    from sdckit.utility.ecdf_utility import ECDFUtility, ecdf_utility
    from sdckit.utility.information_loss import InformationLoss, information_loss
    from sdckit.utility.interval_overlap import interval_overlap
    from sdckit.utility.propensity import Propensity, propensity
    from sdckit.utility.tabular_utility import TabularUtility, tabular_utility
    from sdckit.utility.utility_overview import UtilityOverview, utility_overview
    from sdckit.workflow.assess import assess
    from sdckit.workflow.assessment import Assessment
    from sdckit.workflow.check import CheckResult, check
    from sdckit.workflow.exploration import Exploration
    from sdckit.workflow.explore import explore
    from sdckit.workflow.recipe import Recipe
    from sdckit.workflow.recipe_applied import Applied
    from sdckit.workflow.release_assessment import ReleaseAssessment

__version__ = "0.1.0"

__all__ = [
    "AlphaK",
    "Applied",
    "Assessment",
    "AssociationComparison",
    "AttributeDisclosure",
    "AttributeDisclosureTable",
    "BayesianAttributeRisk",
    "BetaLikeness",
    "Canaries",
    "CanaryExposure",
    "Cells",
    "Change",
    "CheckResult",
    "ClusterUtility",
    "ColumnError",
    "Combined",
    "CorrectAttributionProbability",
    "DataError",
    "DeltaDisclosure",
    "DeltaPresence",
    "DistanceToClosestRecord",
    "DistributionComparison",
    "ECDFUtility",
    "EstimateComparison",
    "Explanation",
    "Exploration",
    "FileFormatError",
    "HouseholdStructure",
    "IdentityDisclosure",
    "IndividualRisk",
    "Inference",
    "InformationLoss",
    "IntervalRisk",
    "KAnonymity",
    "KMap",
    "KeyContributions",
    "KeyFrequencies",
    "LDiversity",
    "Linkability",
    "MatchingRisk",
    "Membership",
    "ModelComparison",
    "Outliers",
    "PopulationRisk",
    "PopulationUniques",
    "PredictionRisk",
    "ProbabilisticLinkage",
    "Propensity",
    "Protected",
    "Recipe",
    "RecordLinkage",
    "ReleaseAssessment",
    "ReplicatedUniques",
    "RiskyCells",
    "RobustIntervalRisk",
    "Scenario",
    "ScenarioError",
    "SdcError",
    "SdcWarning",
    "SinglingOut",
    "Suda",
    "TCloseness",
    "TabularUtility",
    "UtilityOverview",
    "__version__",
    "add_noise",
    "alpha_k",
    "as_cells",
    "assess",
    "attribute_disclosure",
    "attribute_disclosure_table",
    "bayesian_attribute_risk",
    "beta_likeness",
    "canaries",
    "cap",
    "check",
    "cluster_utility",
    "combine",
    "compare_associations",
    "compare_distributions",
    "compare_estimates",
    "compare_models",
    "correct_attribution_probability",
    "delta_disclosure",
    "delta_presence",
    "demo_scenario",
    "distance_to_closest_record",
    "drop_identifiers",
    "ecdf_utility",
    "explain",
    "explore",
    "household_structure",
    "identity_disclosure",
    "individual_risk",
    "inference",
    "information_loss",
    "interval_overlap",
    "interval_risk",
    "k_anonymity",
    "k_map",
    "key_contributions",
    "key_frequencies",
    "l_diversity",
    "linkability",
    "load_demo",
    "local_suppression",
    "mask_categorical",
    "mask_continuous",
    "matching_risk",
    "membership",
    "microaggregate",
    "new_ids",
    "outliers",
    "population_risk",
    "population_uniques",
    "pram",
    "prediction_risk",
    "probabilistic_linkage",
    "propensity",
    "rank_swap",
    "read_file",
    "read_hierarchy",
    "recode",
    "record_linkage",
    "replace_high_risk",
    "replicated_uniques",
    "risky_cells",
    "robust_interval_risk",
    "round_to",
    "shuffle",
    "singling_out",
    "suda",
    "suppress_above",
    "swap_records",
    "synthesize",
    "t_closeness",
    "tabular_utility",
    "top_bottom_code",
    "utility_overview",
]

# Where each public name lives: read on first use, so that `import sdckit` costs next to nothing.
_HOMES = {
    "AlphaK": "attribute.alpha_k",
    "Applied": "workflow.recipe_applied",
    "Assessment": "workflow.assessment",
    "AssociationComparison": "utility.compare_associations",
    "AttributeDisclosure": "attribute.attribute_disclosure",
    "AttributeDisclosureTable": "attribute.attribute_disclosure_table",
    "BayesianAttributeRisk": "attribute.bayesian_attribute_risk",
    "BetaLikeness": "attribute.beta_likeness",
    "Canaries": "attacks.canaries",
    "CanaryExposure": "attacks.canary_exposure",
    "Cells": "cells.table",
    "Change": "protect.change",
    "CheckResult": "workflow.check",
    "ClusterUtility": "utility.cluster_utility",
    "ColumnError": "errors",
    "Combined": "utility.combine",
    "CorrectAttributionProbability": "attribute.correct_attribution_probability",
    "DataError": "errors",
    "DeltaDisclosure": "attribute.delta_disclosure",
    "DeltaPresence": "identity.delta_presence",
    "DistanceToClosestRecord": "attacks.distance_to_closest_record",
    "DistributionComparison": "utility.compare_distributions",
    "ECDFUtility": "utility.ecdf_utility",
    "EstimateComparison": "utility.compare_estimates",
    "Explanation": "identity.explain",
    "Exploration": "workflow.exploration",
    "FileFormatError": "errors",
    "HouseholdStructure": "identity.household_structure",
    "IdentityDisclosure": "identity.identity_disclosure",
    "IndividualRisk": "identity.individual_risk",
    "Inference": "attacks.inference",
    "InformationLoss": "utility.information_loss",
    "IntervalRisk": "identity.interval_risk",
    "KAnonymity": "identity.k_anonymity",
    "KMap": "identity.k_map",
    "KeyContributions": "identity.key_contributions",
    "KeyFrequencies": "identity.key_frequencies",
    "LDiversity": "attribute.l_diversity",
    "Linkability": "attacks.linkability",
    "MatchingRisk": "identity.matching_risk",
    "Membership": "attacks.membership",
    "ModelComparison": "utility.compare_models",
    "Outliers": "identity.outliers",
    "PopulationRisk": "identity.population_risk",
    "PopulationUniques": "identity.population_uniques",
    "PredictionRisk": "attribute.prediction_risk",
    "ProbabilisticLinkage": "attacks.probabilistic_linkage",
    "Propensity": "utility.propensity",
    "Protected": "protect.change",
    "Recipe": "workflow.recipe",
    "RecordLinkage": "identity.record_linkage",
    "ReleaseAssessment": "workflow.release_assessment",
    "ReplicatedUniques": "identity.replicated_uniques",
    "RiskyCells": "identity.risky_cells",
    "RobustIntervalRisk": "identity.robust_interval_risk",
    "Scenario": "data.scenario",
    "ScenarioError": "errors",
    "SdcError": "errors",
    "SdcWarning": "errors",
    "SinglingOut": "attacks.singling_out",
    "Suda": "identity.suda",
    "TCloseness": "attribute.t_closeness",
    "TabularUtility": "utility.tabular_utility",
    "UtilityOverview": "utility.utility_overview",
    "add_noise": "protect.add_noise",
    "alpha_k": "attribute.alpha_k",
    "as_cells": "cells.as_cells",
    "assess": "workflow.assess",
    "attribute_disclosure": "attribute.attribute_disclosure",
    "attribute_disclosure_table": "attribute.attribute_disclosure_table",
    "bayesian_attribute_risk": "attribute.bayesian_attribute_risk",
    "beta_likeness": "attribute.beta_likeness",
    "canaries": "attacks.canaries",
    "cap": "attribute.correct_attribution_probability",
    "check": "workflow.check",
    "cluster_utility": "utility.cluster_utility",
    "combine": "utility.combine",
    "compare_associations": "utility.compare_associations",
    "compare_distributions": "utility.compare_distributions",
    "compare_estimates": "utility.compare_estimates",
    "compare_models": "utility.compare_models",
    "correct_attribution_probability": "attribute.correct_attribution_probability",
    "delta_disclosure": "attribute.delta_disclosure",
    "delta_presence": "identity.delta_presence",
    "demo_scenario": "demo",
    "distance_to_closest_record": "attacks.distance_to_closest_record",
    "drop_identifiers": "protect.drop_identifiers",
    "ecdf_utility": "utility.ecdf_utility",
    "explain": "identity.explain",
    "explore": "workflow.explore",
    "household_structure": "identity.household_structure",
    "identity_disclosure": "identity.identity_disclosure",
    "individual_risk": "identity.individual_risk",
    "inference": "attacks.inference",
    "information_loss": "utility.information_loss",
    "interval_overlap": "utility.interval_overlap",
    "interval_risk": "identity.interval_risk",
    "k_anonymity": "identity.k_anonymity",
    "k_map": "identity.k_map",
    "key_contributions": "identity.key_contributions",
    "key_frequencies": "identity.key_frequencies",
    "l_diversity": "attribute.l_diversity",
    "linkability": "attacks.linkability",
    "load_demo": "demo",
    "local_suppression": "protect.local_suppression",
    "mask_categorical": "protect.mask_categorical",
    "mask_continuous": "protect.mask_continuous",
    "matching_risk": "identity.matching_risk",
    "membership": "attacks.membership",
    "microaggregate": "protect.microaggregate",
    "new_ids": "protect.new_ids",
    "outliers": "identity.outliers",
    "population_risk": "identity.population_risk",
    "population_uniques": "identity.population_uniques",
    "pram": "protect.pram",
    "prediction_risk": "attribute.prediction_risk",
    "probabilistic_linkage": "attacks.probabilistic_linkage",
    "propensity": "utility.propensity",
    "rank_swap": "protect.rank_swap",
    "read_file": "data.readers",
    "read_hierarchy": "data.hierarchy",
    "recode": "protect.recode",
    "record_linkage": "identity.record_linkage",
    "replace_high_risk": "protect.replace_high_risk",
    "replicated_uniques": "identity.replicated_uniques",
    "risky_cells": "identity.risky_cells",
    "robust_interval_risk": "identity.robust_interval_risk",
    "round_to": "protect.round_to",
    "shuffle": "protect.shuffle",
    "singling_out": "attacks.singling_out",
    "suda": "identity.suda",
    "suppress_above": "protect.suppress_above",
    "swap_records": "protect.swap_records",
    "synthesize": "protect.synthesize",
    "t_closeness": "attribute.t_closeness",
    "tabular_utility": "utility.tabular_utility",
    "top_bottom_code": "protect.top_bottom_code",
    "utility_overview": "utility.utility_overview",
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

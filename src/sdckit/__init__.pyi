"""The public names, listed here and nowhere else: read by the package on first use, and by type checkers."""

from .attacks.copied_records import CopiedRecords as CopiedRecords, copied_records as copied_records
from .attacks.differencing.differencing import Differencing as Differencing, differencing as differencing
from .attacks.differencing.release_ledger import ReleaseLedger as ReleaseLedger
from .attacks.distances.distance_to_closest_record import (
    DistanceToClosestRecord as DistanceToClosestRecord,
    distance_to_closest_record as distance_to_closest_record,
)
from .attacks.inference import Inference as Inference, inference as inference
from .attacks.linkability import Linkability as Linkability, linkability as linkability
from .attacks.linkage.probabilistic_linkage import (
    ProbabilisticLinkage as ProbabilisticLinkage,
    probabilistic_linkage as probabilistic_linkage,
)
from .attacks.membership import Membership as Membership, membership as membership
from .attacks.planted.canaries import Canaries as Canaries, CanaryExposure as CanaryExposure, canaries as canaries
from .attacks.published.counted_tables import PublishedTable as PublishedTable
from .attacks.published.joint_audit import JointAudit as JointAudit, joint_audit as joint_audit
from .attacks.recovery.recoverable_values import (
    RecoverableValues as RecoverableValues,
    recoverable_values as recoverable_values,
)
from .attacks.singling.singling_out import SinglingOut as SinglingOut, singling_out as singling_out
from .attribute.closeness.alpha_k import AlphaK as AlphaK, alpha_k as alpha_k
from .attribute.closeness.beta_likeness import BetaLikeness as BetaLikeness, beta_likeness as beta_likeness
from .attribute.closeness.delta_disclosure import (
    DeltaDisclosure as DeltaDisclosure,
    delta_disclosure as delta_disclosure,
)
from .attribute.closeness.t_closeness import TCloseness as TCloseness, t_closeness as t_closeness
from .attribute.disclosure.attribute_disclosure import (
    AttributeDisclosure as AttributeDisclosure,
    attribute_disclosure as attribute_disclosure,
)
from .attribute.disclosure.attribute_disclosure_table import (
    AttributeDisclosureTable as AttributeDisclosureTable,
    attribute_disclosure_table as attribute_disclosure_table,
)
from .attribute.disclosure.correct_attribution_probability import (
    CorrectAttributionProbability as CorrectAttributionProbability,
    cap as cap,
    correct_attribution_probability as correct_attribution_probability,
)
from .attribute.disclosure.exact_numbers import ExactNumbers as ExactNumbers, exact_numbers as exact_numbers
from .attribute.l_diversity import LDiversity as LDiversity, l_diversity as l_diversity
from .attribute.prediction.bayesian_attribute_risk import (
    BayesianAttributeRisk as BayesianAttributeRisk,
    bayesian_attribute_risk as bayesian_attribute_risk,
)
from .attribute.prediction.prediction_risk import PredictionRisk as PredictionRisk, prediction_risk as prediction_risk
from .cells.as_cells import as_cells as as_cells
from .cells.table import Cells as Cells
from .data.domain import Domain as Domain, DomainColumn as DomainColumn
from .data.files.file_labels import ColumnLabels as ColumnLabels, FileLabels as FileLabels
from .data.files.read_labelled import read_labels as read_labels
from .data.files.readers import read_file as read_file
from .data.files.scan_file import scan_file as scan_file
from .data.files.write_file import write_file as write_file
from .data.hierarchy import read_hierarchy as read_hierarchy
from .data.households import household_variables as household_variables
from .data.scenarios.guess import guess_roles as guess_roles
from .data.scenarios.guessing.judge import Guess as Guess, RoleGuesses as RoleGuesses
from .data.scenarios.scenario import Scenario as Scenario
from .data.seeds import options as options
from .demo import demo_scenario as demo_scenario, load_demo as load_demo
from .errors import (
    ColumnError as ColumnError,
    DataError as DataError,
    FileFormatError as FileFormatError,
    ScenarioError as ScenarioError,
    SdcError as SdcError,
    SdcWarning as SdcWarning,
)
from .identity.contributions.key_contributions import (
    KeyContributions as KeyContributions,
    key_contributions as key_contributions,
)
from .identity.contributions.key_separation import KeySeparation as KeySeparation, key_separation as key_separation
from .identity.household_structure import (
    HouseholdStructure as HouseholdStructure,
    household_structure as household_structure,
)
from .identity.individual_risk import IndividualRisk as IndividualRisk, individual_risk as individual_risk
from .identity.k_anonymity import KAnonymity as KAnonymity, k_anonymity as k_anonymity
from .identity.key_frequencies import KeyFrequencies as KeyFrequencies, key_frequencies as key_frequencies
from .identity.matching.few_matches import FewMatches as FewMatches, few_matches as few_matches
from .identity.matching.identity_disclosure import (
    IdentityDisclosure as IdentityDisclosure,
    identity_disclosure as identity_disclosure,
)
from .identity.matching.interval_risk import IntervalRisk as IntervalRisk, interval_risk as interval_risk
from .identity.matching.matching_risk import MatchingRisk as MatchingRisk, matching_risk as matching_risk
from .identity.matching.record_linkage import RecordLinkage as RecordLinkage, record_linkage as record_linkage
from .identity.matching.replicated_uniques import (
    ReplicatedUniques as ReplicatedUniques,
    replicated_uniques as replicated_uniques,
)
from .identity.matching.robust_interval_risk import (
    RobustIntervalRisk as RobustIntervalRisk,
    robust_interval_risk as robust_interval_risk,
)
from .identity.outliers import Outliers as Outliers, outliers as outliers
from .identity.panels.known_points import KnownPoints as KnownPoints, known_points as known_points
from .identity.population.delta_presence import DeltaPresence as DeltaPresence, delta_presence as delta_presence
from .identity.population.k_map import KMap as KMap, k_map as k_map
from .identity.population.population_risk import PopulationRisk as PopulationRisk, population_risk as population_risk
from .identity.population.population_uniques import (
    PopulationUniques as PopulationUniques,
    population_uniques as population_uniques,
)
from .identity.special_uniques.explain import Explanation as Explanation, explain as explain
from .identity.special_uniques.risky_cells import RiskyCells as RiskyCells, risky_cells as risky_cells
from .identity.special_uniques.suda import Suda as Suda, suda as suda
from .protect.change import Change as Change, Protected as Protected
from .protect.drop_identifiers import drop_identifiers as drop_identifiers
from .protect.limit_households import limit_households as limit_households
from .protect.margins.budget_ledger import BudgetLedger as BudgetLedger
from .protect.margins.synthesize_margins import MarginsChange as MarginsChange, synthesize_margins as synthesize_margins
from .protect.new_ids import new_ids as new_ids
from .protect.perturbation.add_noise import add_noise as add_noise
from .protect.perturbation.mask_categorical import mask_categorical as mask_categorical
from .protect.perturbation.mask_continuous import mask_continuous as mask_continuous
from .protect.perturbation.pram import pram as pram
from .protect.perturbation.rank_swap import rank_swap as rank_swap
from .protect.perturbation.shuffle import shuffle as shuffle
from .protect.perturbation.swap_records import swap_records as swap_records
from .protect.random_order import random_order as random_order
from .protect.recoding.coarsen_weights import coarsen_weights as coarsen_weights
from .protect.recoding.microaggregate import microaggregate as microaggregate
from .protect.recoding.recode import recode as recode
from .protect.recoding.round_to import round_to as round_to
from .protect.recoding.top_bottom_code import top_bottom_code as top_bottom_code
from .protect.recompute import recompute as recompute
from .protect.suppression.local_suppression import local_suppression as local_suppression
from .protect.suppression.suppress_above import suppress_above as suppress_above
from .protect.synthesis.impute_masked import impute_masked as impute_masked
from .protect.synthesis.replace_high_risk import replace_high_risk as replace_high_risk
from .protect.synthesis.synthesize import synthesize as synthesize
from .utility.ecdf_utility import ECDFUtility as ECDFUtility, ecdf_utility as ecdf_utility
from .utility.losses.generalization_loss import (
    GeneralizationLoss as GeneralizationLoss,
    generalization_loss as generalization_loss,
)
from .utility.losses.information_loss import InformationLoss as InformationLoss, information_loss as information_loss
from .utility.models.combine import Combined as Combined, combine as combine
from .utility.models.compare_estimates import (
    EstimateComparison as EstimateComparison,
    compare_estimates as compare_estimates,
)
from .utility.models.compare_intervals import (
    IntervalComparison as IntervalComparison,
    compare_intervals as compare_intervals,
)
from .utility.models.compare_models import ModelComparison as ModelComparison, compare_models as compare_models
from .utility.models.interval_overlap import interval_overlap as interval_overlap
from .utility.propensities.cluster_utility import ClusterUtility as ClusterUtility, cluster_utility as cluster_utility
from .utility.propensities.propensity import Propensity as Propensity, propensity as propensity
from .utility.tables.compare_associations import (
    AssociationComparison as AssociationComparison,
    compare_associations as compare_associations,
)
from .utility.tables.compare_distributions import (
    DistributionComparison as DistributionComparison,
    compare_distributions as compare_distributions,
)
from .utility.tables.edit_rules import EditRules as EditRules, edit_rules as edit_rules
from .utility.tables.tabular_utility import TabularUtility as TabularUtility, tabular_utility as tabular_utility
from .utility.utility_overview import UtilityOverview as UtilityOverview, utility_overview as utility_overview
from .workflow.assess import assess as assess
from .workflow.assessment import Assessment as Assessment, ReleaseAssessment as ReleaseAssessment
from .workflow.check import CheckResult as CheckResult, assert_within_limits as assert_within_limits, check as check
from .workflow.proposing.proposal import Proposal as Proposal
from .workflow.proposing.propose import propose as propose
from .workflow.recipes.explore import Exploration as Exploration, explore as explore
from .workflow.recipes.recipe import Applied as Applied, Recipe as Recipe
from .workflow.recipes.recipe_log import RecipeLog as RecipeLog
from .workflow.recipes.starter_recipe import StarterRecipe as StarterRecipe, starter_recipe as starter_recipe

__version__: str

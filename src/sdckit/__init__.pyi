"""The public names, listed here and nowhere else: read by the package on first use, and by type checkers."""

from .attacks.canaries import Canaries as Canaries, canaries as canaries
from .attacks.canary_exposure import CanaryExposure as CanaryExposure
from .attacks.distance_to_closest_record import (
    DistanceToClosestRecord as DistanceToClosestRecord,
    distance_to_closest_record as distance_to_closest_record,
)
from .attacks.inference import Inference as Inference, inference as inference
from .attacks.linkability import Linkability as Linkability, linkability as linkability
from .attacks.membership import Membership as Membership, membership as membership
from .attacks.probabilistic_linkage import (
    ProbabilisticLinkage as ProbabilisticLinkage,
    probabilistic_linkage as probabilistic_linkage,
)
from .attacks.singling_out import SinglingOut as SinglingOut, singling_out as singling_out
from .attribute.alpha_k import AlphaK as AlphaK, alpha_k as alpha_k
from .attribute.attribute_disclosure import (
    AttributeDisclosure as AttributeDisclosure,
    attribute_disclosure as attribute_disclosure,
)
from .attribute.attribute_disclosure_table import (
    AttributeDisclosureTable as AttributeDisclosureTable,
    attribute_disclosure_table as attribute_disclosure_table,
)
from .attribute.bayesian_attribute_risk import (
    BayesianAttributeRisk as BayesianAttributeRisk,
    bayesian_attribute_risk as bayesian_attribute_risk,
)
from .attribute.beta_likeness import BetaLikeness as BetaLikeness, beta_likeness as beta_likeness
from .attribute.correct_attribution_probability import (
    CorrectAttributionProbability as CorrectAttributionProbability,
    cap as cap,
    correct_attribution_probability as correct_attribution_probability,
)
from .attribute.delta_disclosure import (
    DeltaDisclosure as DeltaDisclosure,
    delta_disclosure as delta_disclosure,
)
from .attribute.l_diversity import LDiversity as LDiversity, l_diversity as l_diversity
from .attribute.prediction_risk import PredictionRisk as PredictionRisk, prediction_risk as prediction_risk
from .attribute.t_closeness import TCloseness as TCloseness, t_closeness as t_closeness
from .cells.as_cells import as_cells as as_cells
from .cells.table import Cells as Cells
from .data.hierarchy import read_hierarchy as read_hierarchy
from .data.readers import read_file as read_file
from .data.scenario import Scenario as Scenario
from .demo import demo_scenario as demo_scenario, load_demo as load_demo
from .errors import (
    ColumnError as ColumnError,
    DataError as DataError,
    FileFormatError as FileFormatError,
    ScenarioError as ScenarioError,
    SdcError as SdcError,
    SdcWarning as SdcWarning,
)
from .identity.delta_presence import DeltaPresence as DeltaPresence, delta_presence as delta_presence
from .identity.explain import Explanation as Explanation, explain as explain
from .identity.household_structure import (
    HouseholdStructure as HouseholdStructure,
    household_structure as household_structure,
)
from .identity.identity_disclosure import (
    IdentityDisclosure as IdentityDisclosure,
    identity_disclosure as identity_disclosure,
)
from .identity.individual_risk import IndividualRisk as IndividualRisk, individual_risk as individual_risk
from .identity.interval_risk import IntervalRisk as IntervalRisk, interval_risk as interval_risk
from .identity.k_anonymity import KAnonymity as KAnonymity, k_anonymity as k_anonymity
from .identity.k_map import KMap as KMap, k_map as k_map
from .identity.key_contributions import (
    KeyContributions as KeyContributions,
    key_contributions as key_contributions,
)
from .identity.key_frequencies import KeyFrequencies as KeyFrequencies, key_frequencies as key_frequencies
from .identity.matching_risk import MatchingRisk as MatchingRisk, matching_risk as matching_risk
from .identity.outliers import Outliers as Outliers, outliers as outliers
from .identity.population_risk import PopulationRisk as PopulationRisk, population_risk as population_risk
from .identity.population_uniques import (
    PopulationUniques as PopulationUniques,
    population_uniques as population_uniques,
)
from .identity.record_linkage import RecordLinkage as RecordLinkage, record_linkage as record_linkage
from .identity.replicated_uniques import (
    ReplicatedUniques as ReplicatedUniques,
    replicated_uniques as replicated_uniques,
)
from .identity.risky_cells import RiskyCells as RiskyCells, risky_cells as risky_cells
from .identity.robust_interval_risk import (
    RobustIntervalRisk as RobustIntervalRisk,
    robust_interval_risk as robust_interval_risk,
)
from .identity.suda import Suda as Suda, suda as suda
from .protect.add_noise import add_noise as add_noise
from .protect.change import Change as Change, Protected as Protected
from .protect.drop_identifiers import drop_identifiers as drop_identifiers
from .protect.local_suppression import local_suppression as local_suppression
from .protect.mask_categorical import mask_categorical as mask_categorical
from .protect.mask_continuous import mask_continuous as mask_continuous
from .protect.microaggregate import microaggregate as microaggregate
from .protect.new_ids import new_ids as new_ids
from .protect.pram import pram as pram
from .protect.rank_swap import rank_swap as rank_swap
from .protect.recode import recode as recode
from .protect.replace_high_risk import replace_high_risk as replace_high_risk
from .protect.round_to import round_to as round_to
from .protect.shuffle import shuffle as shuffle
from .protect.suppress_above import suppress_above as suppress_above
from .protect.swap_records import swap_records as swap_records
from .protect.synthesize import synthesize as synthesize
from .protect.top_bottom_code import top_bottom_code as top_bottom_code
from .utility.cluster_utility import ClusterUtility as ClusterUtility, cluster_utility as cluster_utility
from .utility.combine import Combined as Combined, combine as combine
from .utility.compare_associations import (
    AssociationComparison as AssociationComparison,
    compare_associations as compare_associations,
)
from .utility.compare_distributions import (
    DistributionComparison as DistributionComparison,
    compare_distributions as compare_distributions,
)
from .utility.compare_estimates import (
    EstimateComparison as EstimateComparison,
    compare_estimates as compare_estimates,
)
from .utility.compare_models import ModelComparison as ModelComparison, compare_models as compare_models
from .utility.ecdf_utility import ECDFUtility as ECDFUtility, ecdf_utility as ecdf_utility
from .utility.information_loss import InformationLoss as InformationLoss, information_loss as information_loss
from .utility.interval_overlap import interval_overlap as interval_overlap
from .utility.propensity import Propensity as Propensity, propensity as propensity
from .utility.tabular_utility import TabularUtility as TabularUtility, tabular_utility as tabular_utility
from .utility.utility_overview import UtilityOverview as UtilityOverview, utility_overview as utility_overview
from .workflow.assess import assess as assess
from .workflow.assessment import Assessment as Assessment
from .workflow.check import CheckResult as CheckResult, check as check
from .workflow.exploration import Exploration as Exploration
from .workflow.explore import explore as explore
from .workflow.recipe import Recipe as Recipe
from .workflow.recipe_applied import Applied as Applied
from .workflow.release_assessment import ReleaseAssessment as ReleaseAssessment

__version__: str

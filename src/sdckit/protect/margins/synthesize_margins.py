"""Records drawn from protected margins: noisy under differential privacy, rounded, or published already."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from sdckit.data import arguments
from sdckit.data.columns import float_values
from sdckit.data.domain import Domain
from sdckit.data.files.readers import read_file
from sdckit.data.frames import column_names, open_frame
from sdckit.data.scenarios.scenario import Scenario
from sdckit.display import listed
from sdckit.errors import ColumnError, DataError
from sdckit.numerics.array_types import Floats, Ints
from sdckit.protect.change import Change, Protected
from sdckit.protect.margins.clique_tree import Measuring, attachable, count_cells, in_a_circle, shared_margin, tree_order
from sdckit.protect.margins.consistent_margins import Clique, consistent, expected_error
from sdckit.protect.margins.drawn_records import draw_records
from sdckit.protect.margins.privacy_budget import SPLIT, Spent, epsilon_of, opendp, rho_of
from sdckit.result import SCHEMA_VERSION, json_ready

How = Literal["dp", "coarsen"]
COUNT = "n"  # the column of counts of a published table

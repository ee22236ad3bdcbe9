"""A domain with a column of each type: what its tests and those of its codes share."""

from __future__ import annotations

from datetime import date

from sdckit.data.domain import Domain, DomainColumn

COLUMNS = (
    DomainColumn("sex", levels=("f", "m")),
    DomainColumn("age", "integer", edges=(0, 18, 65, 120)),
    DomainColumn("income", "decimal", edges=(0, 1000.5, 1e6)),
    DomainColumn("employed", "boolean"),
    DomainColumn("born", "date", edges=(date(1900, 1, 1), date(1950, 1, 1), date(2020, 12, 31))),
    DomainColumn("rooms", "integer", levels=(3, 1, 2)),
    DomainColumn("wave", "date", levels=(date(2020, 1, 1),)),
    DomainColumn("rate", "decimal", levels=(0.5, 1.0)),
)
DOMAIN = Domain(COLUMNS, dataset="survey")

"""Azure's categories for reports about a GPU machine: rows, reading, and the choice of a category."""

from __future__ import annotations

import datetime
from collections.abc import Collection
from functools import lru_cache
from typing import Literal

from physical_ai.catalog.gpu_load import GPU
from physical_ai.catalog.load import read_rows, row
from physical_ai.catalog.rows import Row, Text
from physical_ai.catalog.telemetry_rows import xids_of


class ImpactCategory(Row):
    """Category of an impact report to Azure (Microsoft.Impact), and the problems of a machine for which it is
    chosen.
    """

    name: Text
    meaning: Text
    xids: tuple[int | Literal["node"], ...] = ()
    alerts: tuple[Text, ...] = ()
    checks: tuple[Text, ...] = ()
    missing: bool = False

    def fits(self, xids: Collection[int], alerts: Collection[str], checks: Collection[str], *, missing: bool) -> bool:
        own = {each for each in self.xids if each != "node"}
        if "node" in self.xids:
            own |= set(xids_of("node"))
        return bool(
            own & set(xids)
            or set(self.alerts) & set(alerts)
            or set(self.checks) & set(checks)
            or (self.missing and missing)
        )


class Impact(Row):
    """All categories of impact reports, in the order in which they are tried. The last one fits every machine."""

    source: Text
    date: datetime.date
    api_version: Text
    unverified: tuple[Text, ...] = ()
    general: Text
    """Category of an impact report from a subscription that Guest Health Reporting has not admitted."""
    categories: tuple[ImpactCategory, ...]


@lru_cache(maxsize=1)
def impact() -> Impact:
    """The content of impact_categories.yaml."""
    (given,) = read_rows(GPU / "impact_categories.yaml")
    categories = tuple(
        row(ImpactCategory, each, f"impact_categories.yaml: {each.get('name')}") for each in given["categories"]
    )
    return row(Impact, {**given, "categories": categories}, "impact_categories.yaml")


def category(
    xids: Collection[int], alerts: Collection[str], checks: Collection[str], *, missing: bool
) -> ImpactCategory:
    """First category whose conditions fit the problems that were found on a machine; the general last category if none
    fits.

    Args:
        xids: Xids that were seen.
        alerts: Alerts that fire.
        checks: Acceptance checks that failed.
        missing: True if the machine has fewer GPUs than its size.

    >>> category({79, 31}, (), (), missing=False).name
    'Resource.Hpc.Unhealthy.XID79FallenOffBus'
    """
    found = impact().categories
    return next((each for each in found if each.fits(xids, alerts, checks, missing=missing)), found[-1])

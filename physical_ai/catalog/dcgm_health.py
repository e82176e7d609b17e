"""Rows and lookups that decide which errors of DCGM's health check, and which node conditions, count as faults of a
node.
"""

from __future__ import annotations

import datetime
from collections.abc import Container
from functools import lru_cache
from typing import Annotated, Literal

from pydantic import StringConstraints

from physical_ai.catalog.gpu_load import GPU
from physical_ai.catalog.load import read_rows, row
from physical_ai.catalog.rows import Row, Text

Kind = Literal["echo", "harmless", "switched", "elsewhere"]


class HealthCode(Row):
    """An error code of DCGM's health check; the data file explains `kind`."""

    code: Annotated[str, StringConstraints(pattern=r"^DCGM_FR_[A-Z0-9_]+$")]
    kind: Kind
    why: Text = "-"


class DcgmHealth(Row):
    """The file dcgm_health.yaml: error codes, health watches that are switched off, and node conditions."""

    codes: tuple[HealthCode, ...]
    switched: tuple[Text, ...]
    conditions: tuple[Text, ...]
    source: Text
    date: datetime.date


@lru_cache(maxsize=1)
def dcgm_health() -> DcgmHealth:
    """The content of dcgm_health.yaml."""
    (found,) = read_rows(GPU / "dcgm_health.yaml")
    return row(DcgmHealth, found, "dcgm_health.yaml")


def health_codes(*kinds: Kind) -> tuple[str, ...]:
    """Error codes whose kind is one of `kinds`.

    >>> health_codes("switched")
    ('DCGM_FR_NVLINK_DOWN',)
    """
    return tuple(each.code for each in dcgm_health().codes if each.kind in kinds)


def warned_elsewhere(alerts: Container[str]) -> tuple[str, ...]:
    """Error codes whose warnings by DCGM are ignored because one of `alerts` measures the same.

    >>> warned_elsewhere({"GPUPcieReplays"})
    ('DCGM_FR_PCI_REPLAY_RATE',)
    """
    return tuple(each.code for each in dcgm_health().codes if each.kind == "elsewhere" and each.why in alerts)

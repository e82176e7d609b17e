"""Case of an alert, and the labels of the nodes on which alerts fire."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.support.alert_series import H100, ND, RTX, dcgm, then

AT_H100 = {"node": H100}
AT_RTX = {"node": RTX}
AT_ND = {"node": ND}


@dataclass(frozen=True)
class Case:
    """Changes of the healthy cluster, and the alert that fires from them after some minutes, if one does."""

    alert: str
    minutes: int
    changes: Mapping[str, str] = field(default_factory=dict[str, str])
    without: tuple[str, ...] = ()
    """Beginnings of the names of series that are left out."""
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    """Labels of the one alert that fires; empty if none does."""


def gauge(name: str, value: float, **labels: str) -> dict[str, str]:
    """Series of DCGM on the H100 that has the value `value` from the tenth minute on."""
    return {dcgm(name, **labels): then(0, 10, value)}

"""Definitions of alerts and recording rules, read from `data/rules/` and from the file `alerts.yaml` of each part."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from physical_ai.catalog.load import CatalogError, read_mapping, row
from physical_ai.catalog.node_causes import ADVISED_COMMANDS, alert_action
from physical_ai.catalog.rows import Row, Text
from physical_ai.repository import part_files

FILES = Path(__file__).parent / "data" / "rules"
OF_PART = "alerts.yaml"
"""Name of the file with a part's own rules, in the part's folder."""

Severity = Literal["critical", "warning", "info"]
Owner = Literal["platform", "job", "azure"]
Condition = Literal[
    "gpu-pools", "grid-pools", "amd-pools", "infiniband-pools", "mig-pools", "aks", "quarantine", "osmo"
]
Each = Literal["gpu-pool", "autoscaled-pool", "claim-pool"]


class Threshold(Row):
    """Threshold in an alert's expression. Settings can change the threshold within limits."""

    default: float
    unit: Text
    least: float
    most: float

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if not self.least <= self.default <= self.most:
            raise ValueError(f"the default {self.default} is not within {self.least} and {self.most}")
        return self


class AlertRow(Row):
    """Definition of an alert, from which the alert of each stack is made."""

    alert: Annotated[str, StringConstraints(pattern=r"^[A-Z][A-Za-z0-9]+$")]
    expression: Text
    hold_minutes: Annotated[int, Field(ge=0, le=1440)]
    """Minutes for which the expression has to be true."""
    severity: Severity
    owner: Owner
    """Person who has to act: the platform's team, the owner of the job, or Azure."""
    summary: Text
    """Summary of the alert, a Prometheus template."""
    meaning: Text
    action: Text
    """Action for the reader.

    For an alert about a node, it comes from the table of node causes (catalog/data/gpu/node_causes.yaml).
    """
    commands: tuple[Text, ...]
    """Commands, in which the reader replaces words in capital letters."""
    meaning_elsewhere: Text = "-"
    """Meaning of the alert on an existing cluster outside Azure; "-" if the meaning is the same as on Azure."""
    when: Condition | None = None
    """Condition that a stack must meet to have the alert; None if there is no condition."""
    each: Each | None = None
    """Kind of pools for which the alert exists once per pool; None for an alert that exists once."""
    threshold: Threshold | None = None
    source: Text

    @property
    def anchor(self) -> str:
        """Anchor of the alert's section on the page about alerts."""
        return self.alert.lower()


class RecordRow(Row):
    """Definition of a recording rule, from which the recording rule of each stack is made."""

    record: Annotated[str, StringConstraints(pattern=r"^[a-z_]+:[a-z_]+$")]
    expression: Text
    meaning: Text
    when: Condition | None = None
    """Condition that a stack must meet to have the recording rule; None if there is no condition."""


class Theme(Row):
    """Definitions of all alerts and recording rules of one theme."""

    theme: Annotated[str, StringConstraints(pattern=r"^[a-z-]+$")]
    alerts: tuple[AlertRow, ...] = ()
    records: tuple[RecordRow, ...] = ()


@lru_cache(maxsize=1)
def themes() -> tuple[Theme, ...]:
    """All themes. In each theme, the definitions from `data/rules/` come first, then the definitions from parts."""
    found: dict[str, Theme] = {}
    for file in (*sorted(FILES.glob("*.yaml")), *part_files(OF_PART)):
        label = file.name if file.parent == FILES else f"parts/{file.parent.name}/{OF_PART}"
        data = read_mapping(file)
        for key in ("theme", "rules"):
            if key not in data:
                near = get_close_matches(key, data, n=1)
                fix = (
                    f"'{near[0]}' is no key here: write {key}." if near else "A file has a theme, and a list of rules."
                )
                raise CatalogError(f"{label}: {key}\n  The key is missing.\n  {fix}")
        rows = data.pop("rules")
        given = [
            row(AlertRow, _with_action(each, label), f"{label}: {each['alert']}")
            if "alert" in each
            else row(RecordRow, each, f"{label}: {each}")
            for each in rows
        ]
        before = found.get(data["theme"])
        alerts = (*(before.alerts if before else ()), *(each for each in given if isinstance(each, AlertRow)))
        records = (*(before.records if before else ()), *(each for each in given if isinstance(each, RecordRow)))
        found[data["theme"]] = row(Theme, {**data, "alerts": alerts, "records": records}, label)
    names = [alert.alert for theme in found.values() for alert in theme.alerts]
    if len(set(names)) < len(names):
        raise CatalogError("data/rules: an alert is a duplicate")
    return tuple(found[name] for name in sorted(found))


def _with_action(given: Mapping[str, Any], file: str) -> Mapping[str, Any]:
    """Definition of an alert, with its action added if the table of node causes has one for it."""
    action = alert_action(given["alert"])
    if action is None:
        return given
    if "action" in given:
        raise CatalogError(f"{file}: {given['alert']} has its action in node_causes.yaml")
    return {"commands": ADVISED_COMMANDS, "action": action, **given}


def alert_rows() -> dict[str, AlertRow]:
    """All alerts by name."""
    return {alert.alert: alert for theme in themes() for alert in theme.alerts}

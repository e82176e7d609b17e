"""Conversion of merged data to settings, which finds all faults in one run.

A value of a wrong type is replaced by a valid sample, so that the other settings can still be checked. Findings about
replaced values are dropped.
"""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from physical_ai.settings.faults import Fault
from physical_ai.settings.guards import is_list, is_map
from physical_ai.settings.layers.merge import Merged
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.messages import message
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.new_pools import incomplete_pools
from physical_ai.settings.rules.check import check
from physical_ai.settings.rules.finding import SettingFinding, Trust
from physical_ai.settings.target import missing_settings

_POOL = {"sku": "Standard_D4ds_v5", "scale": {"count": 1}}
_WINDOW = {"day": "Sunday", "startHour": 0}
_SAMPLE: dict[str, Any] = {
    "target": {"context": "sample"},
    "network": {
        "addressSpace": "10.0.0.0/8",
        "systemSubnet": "10.0.0.0/24",
        "podCidr": "10.0.0.0/8",
        "serviceCidr": "10.0.0.0/16",
        "dnsServiceIp": "10.0.0.10",
    },
    "cluster": {
        "kubernetesVersion": "1.36",
        "tier": "Standard",
        "upgrades": {"kubernetesWindow": _WINDOW, "nodeOsWindow": _WINDOW},
    },
    "gridDriver": {"version": "595.91.07"},
    "gpuOperator": {"version": "v26.7.1", "driver": {"version": "580.173.02"}},
    "systemPool": _POOL,
    "cpuPool": _POOL,
    "pools": {},
}
_SAMPLE_POOL: dict[str, Any] = {
    **_POOL,
    "driver": {"source": "aks"},
    "subnet": "10.0.0.0/24",
    "nodeSelector": {"sample": "true"},
}
_ROUNDS = 4


@dataclass(frozen=True)
class Outcome:
    """Result of validation: all faults, and the settings. `settings` is None if a fault is an error."""

    settings: Settings | None
    faults: list[Fault]


def validate(merged: Merged, environment: str, region: str) -> Outcome:
    """Validates merged data for one stack. The outcome has settings if no fault is an error; warnings are allowed."""
    data = {key: value for key, value in merged.data.items() if key not in ("environment", "region")}
    stray = [key for key in ("environment", "region") if key in merged.data]
    faults = [*merged.faults, *(merged.fault((key,), *message(_extra(key), (key,))) for key in stray)]
    data = copy.deepcopy(data) | {"environment": environment, "region": region}
    broken: set[Path] = set()
    missing = list(missing_settings(data))
    faults += incomplete_pools(merged, missing)
    for path in missing:
        detail = _missing(path)
        faults.append(merged.missing(path, *message(detail, path)))
        broken.add(path)
        _repair(data, path, detail)
    settings: Settings | None = None
    for attempt in range(_ROUNDS):
        try:
            settings = _parse(data)
            break
        except ValidationError as error:
            details = error.errors(include_url=False)
        data = copy.deepcopy(data)
        for detail in details:
            path = _path(detail)
            if attempt == 0:
                make_fault = merged.missing if detail["type"] == "missing" else merged.fault
                faults.append(make_fault(path, *message(detail, path)))
            broken.add(path)
            _repair(data, path, detail)
    if settings is not None:
        findings = check(settings, Trust(frozenset(broken)))
        faults += [_located(merged, finding) for finding in findings]
    usable = not any(fault.is_error for fault in faults)
    return Outcome(settings if usable else None, faults)


def _parse(data: dict[str, Any]) -> Settings:
    """Settings from plain data, validated as JSON in Pydantic's strict mode: a text is accepted for an IP address or an
    enumeration, but not for a number.
    """
    return Settings.model_validate_json(json.dumps(data), strict=True, by_alias=True, by_name=False)


def _located(merged: Merged, finding: SettingFinding) -> Fault:
    """Converts a finding to a fault at the setting that the finding is about. If the finding is about several settings,
    the fault is at the setting from the uppermost layer.
    """
    place = merged.latest(finding.path, finding.others)
    fault = merged.fault(place, finding.problem, finding.fix, severity=finding.severity)
    return replace(fault, stand_in=finding.stand_in, rule=finding.rule, source=finding.source)


def _path(detail: ErrorDetails) -> Path:
    return tuple(step for step in detail["loc"] if step != "[key]")


def _extra(key: str) -> ErrorDetails:
    return {"type": "extra_forbidden", "loc": (key,), "msg": "", "input": None}


def _missing(path: Path) -> ErrorDetails:
    return {"type": "missing", "loc": path, "msg": "", "input": None}


def _repair(data: dict[str, Any], path: Path, detail: ErrorDetails) -> None:
    """Removes the wrong value at `path`, and inserts a sample if a value is required."""
    parents: list[Any] = [data]
    for step in path[:-1]:
        inner = parents[-1]
        if is_map(inner) and step in inner:
            parents.append(inner[step])
        elif is_list(inner):
            # The whole list is replaced, since removing one item would move the others.
            return _repair(data, path[: len(parents)], detail)
        else:
            return None
    holder, key = parents[-1], path[-1]
    if is_list(holder):
        return _repair(data, path[:-1], detail)
    if not is_map(holder):
        return None
    sample = None if detail["type"] == "extra_forbidden" or "[key]" in detail["loc"] else _sample(path)
    holder.pop(str(key), None)
    if sample is not None:
        holder[str(key)] = copy.deepcopy(sample)
    return None


def _sample(path: Path) -> Any:
    """Valid value that replaces a wrong one at `path` during validation; None if the setting can be omitted instead."""
    here: Any = _SAMPLE
    for depth, step in enumerate(path):
        if not is_map(here):
            return None
        here = _SAMPLE_POOL if path[:depth] == ("pools",) else here.get(str(step))
    return here

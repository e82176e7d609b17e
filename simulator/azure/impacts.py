"""Microsoft.Impact: reports of a subscription about outages that hit its workloads (API 2025-01-01-preview)."""

from __future__ import annotations

import json
import os
import re
from datetime import datetime
from pathlib import Path
from typing import Any

from simulator.azure.bodies import Json, get
from simulator.azure.errors import ArmError, Refusal
from simulator.azure.registry import models

REQUIRED = ("startDateTime", "impactCategory", "impactDescription", "impactedResourceId")
HPC = "Resource.Hpc."
KNOWN = {"PhysicalHostName", "LogUrl", "Manufacturer", "SerialNumber", "ModelNumber", "Location", "CollectTelemetry"}


class Impacts:
    """The impact reports of a subscription, stored in a file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def all(self) -> dict[str, Json]:
        """All impact reports, by name."""
        return json.loads(self._path.read_text(encoding="utf-8")) if self._path.exists() else {}

    def read(self, name: str) -> Json:
        found = self.all().get(name)
        if found is None:
            raise ArmError(Refusal("impact-missing", 404, "NotFound", f"The workload impact {name} was not found."))
        return found

    @models("impact-missing", "impact-name-reused", "impact-fields", "impact-host")
    def put(self, name: str, body: Any, scope: str) -> Json:
        """Stores a new impact report and returns its resource. Raises ArmError, also for a name that is in use."""
        reports = self.all()
        if name in reports:
            raise _invalid("impact-name-reused", f"A workload impact with the name {name} exists already.")
        for key in REQUIRED:
            if not isinstance(get(body, f"properties.{key}"), str):
                raise _invalid("impact-fields", f"The field {key} is required.", f"properties.{key}")
        try:
            datetime.fromisoformat(str(get(body, "properties.startDateTime")))
        except ValueError:
            raise _invalid("impact-fields", "startDateTime is not a time.", "properties.startDateTime") from None
        if str(get(body, "properties.impactCategory")).startswith(HPC):
            self._check_hpc(get(body, "properties.additionalProperties", {}))
        report = {
            "id": f"{scope}/providers/Microsoft.Impact/workloadImpacts/{name}",
            "name": name,
            "type": "microsoft.impact/workloadimpacts",
            "properties": {**body["properties"], "provisioningState": "Succeeded"},
        }
        self._save({**reports, name: report})
        return report

    @staticmethod
    def _check_hpc(extra: Json) -> None:
        host = extra.get("PhysicalHostName")
        where = "properties.additionalProperties"
        if not isinstance(host, str) or not re.fullmatch(r"[A-Za-z0-9]+", host):
            raise _invalid("impact-host", "PhysicalHostName is required and alphanumeric.", where)
        for key in sorted(set(extra) - KNOWN):
            if key.lower() in {each.lower() for each in KNOWN}:
                raise _invalid(
                    "impact-fields", f"The field {key} is spelled otherwise: names are case-sensitive.", where
                )

    def _save(self, reports: Json) -> None:
        beside = self._path.with_name(f"{self._path.name}.new")
        beside.write_text(json.dumps(reports, indent=1), encoding="utf-8")
        os.replace(beside, self._path)


def _invalid(rule: str, message: str, target: str = "") -> ArmError:
    return ArmError(Refusal(rule, 400, "BadRequest", message, target))

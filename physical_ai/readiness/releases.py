"""Helm releases of a deployment that are not in the status `deployed`, according to Helm's own records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from physical_ai.catalog.osmo import NO_ROLLBACK
from physical_ai.readiness.reader import Get

DEPLOYED, NOT_INSTALLED = "deployed", "not installed"


@dataclass(frozen=True)
class StuckRelease:
    """A release whose last revision failed, or was never finished."""

    name: str
    namespace: str
    status: str
    revision: int
    can_roll_back: bool
    """True where an earlier revision was deployed, and the chart allows Helm to return to it."""


def stuck_releases(get: Get, releases: Mapping[str, str]) -> list[StuckRelease]:
    """Releases (name → namespace) that are not deployed. A release without any record has the status `not installed`.

    Raises the exceptions of `get`.
    """
    stuck: list[StuckRelease] = []
    for name, namespace in releases.items():
        found = get(f"/api/v1/namespaces/{namespace}/secrets", {"labelSelector": f"owner=helm,name={name}"})
        labels: list[dict[str, str]] = [each["metadata"].get("labels", {}) for each in found.get("items", [])]
        last = max(labels, key=_revision, default=dict[str, str]())
        status = last.get("status", NOT_INSTALLED)
        if status != DEPLOYED:
            worked = any(each.get("status") in (DEPLOYED, "superseded") for each in labels)
            can_roll_back = worked and name not in NO_ROLLBACK
            stuck.append(StuckRelease(name, namespace, status, _revision(last), can_roll_back))
    return stuck


def not_deployed(get: Get, releases: Mapping[str, str]) -> list[str]:
    """Line for each release (name → namespace) that is not installed, or whose last revision failed or is unfinished.

    After a refresh by Pulumi's Kubernetes provider, the state no longer shows that an upgrade failed: the next plan
    has no change, while `helm list` says `failed`. Helm labels its record of each revision, a Secret, with the status.

    Raises the exceptions of `get`.
    """
    return [
        f"Helm release {each.namespace}/{each.name}: {each.status} (revision {each.revision})"
        for each in stuck_releases(get, releases)
    ]


def _revision(labels: Mapping[str, str]) -> int:
    text = labels.get("version", "")
    return int(text) if text.isascii() and text.isdigit() else 0

"""Helm releases of a deployment that are not deployed, by Helm's own records."""

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
    """True where an earlier revision was deployed, and the chart lets Helm return to it."""


def stuck_releases(get: Get, releases: Mapping[str, str]) -> list[StuckRelease]:
    """The releases (name → namespace) that are not deployed. One without any record is `not installed`.

    Raises as `get` does.
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
    """A line for each release (name → namespace) whose last revision failed or is unfinished.

    A refresh by the Kubernetes provider forgets that an upgrade failed: the next plan shows no change, while
    `helm list` says `failed`. Helm labels its record of each revision, a Secret, with the status.

    Raises as `get` does.
    """
    return [
        f"Helm release {each.namespace}/{each.name}: {each.status} (revision {each.revision})"
        for each in stuck_releases(get, releases)
    ]


def _revision(labels: Mapping[str, str]) -> int:
    text = labels.get("version", "")
    return int(text) if text.isascii() and text.isdigit() else 0

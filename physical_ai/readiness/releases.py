"""Whether the Helm releases of a deployment are deployed, by Helm's own records."""

from __future__ import annotations

from collections.abc import Mapping

from physical_ai.readiness.reader import Get

DEPLOYED = "deployed"


def not_deployed(get: Get, releases: Mapping[str, str]) -> list[str]:
    """A line for each release (name → namespace) whose last revision failed or is unfinished.

    A refresh by the Kubernetes provider forgets that an upgrade failed: the next plan shows no change, while
    `helm list` says `failed`. Helm labels its record of each revision, a Secret, with the status.

    Raises as `get` does.
    """
    lines: list[str] = []
    for name, namespace in releases.items():
        found = get(f"/api/v1/namespaces/{namespace}/secrets", {"labelSelector": f"owner=helm,name={name}"})
        labels: list[dict[str, str]] = [each["metadata"].get("labels", {}) for each in found.get("items", [])]
        last = max(labels, key=_revision, default=dict[str, str]())
        status = last.get("status", "not installed")
        if status != DEPLOYED:
            lines.append(f"Helm release {namespace}/{name}: {status} (revision {_revision(last)})")
    return lines


def _revision(labels: Mapping[str, str]) -> int:
    return int(labels.get("version", 0))

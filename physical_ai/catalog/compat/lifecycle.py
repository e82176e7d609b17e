"""The life cycle of GPU Operator lines and driver branches at a date."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from physical_ai.catalog.charts import chart
from physical_ai.catalog.gpu_load import driver_branches, operator_releases
from physical_ai.catalog.gpu_lookup import newest_release
from physical_ai.catalog.gpu_rows import DriverBranch, OperatorRelease
from physical_ai.catalog.load import kubernetes_minors
from physical_ai.catalog.lookup import UnknownName, kubernetes_minor, kubernetes_phase
from physical_ai.findings import Finding, Severity

POLICY = "NVIDIA GPU Operator docs, life cycle policy"
AKS_VERSIONS = "AKS docs, supported-kubernetes-versions"
SEE_AKS = "az aks get-versions --location REGION lists them."


@dataclass(frozen=True)
class Phase:
    """Support phase of a release."""

    state: Literal["supported", "deprecated", "end-of-support"]
    since: datetime.date | None
    """First day of the phase; None if the day is not known."""


def lifecycle(release: OperatorRelease, today: datetime.date) -> Phase:
    """Support phase of a release at a date: the newest line is supported, the one before it deprecated, and every
    older line out of support.
    """
    lines = {other.line: other.line_released for other in operator_releases().values()}
    later = list(lines)[list(lines).index(release.line) + 1 :]
    out = [day for line in later if (day := lines[line]) is not None and day <= today]
    if not out:
        return Phase("supported", release.line_released)
    return Phase("deprecated", out[0]) if len(out) == 1 else Phase("end-of-support", out[1])


def judge_release(release: OperatorRelease, today: datetime.date, *, production: bool = False) -> Iterator[Finding]:
    """Findings about the life cycle of the operator's line, about advisories on the release, and about facts of the
    release that are unknown.
    """
    phase = lifecycle(release, today)
    newest = newest_release().version
    if phase.state == "end-of-support":
        message = f"GPU Operator {release.line} is out of support since {phase.since}: no more fixes."
        yield Finding(Severity.ERROR, "operator-end-of-support", "operator", message, f"Use {newest}.", POLICY)
    elif phase.state == "deprecated":
        message = f"GPU Operator {release.line} is deprecated since {phase.since}: critical fixes only."
        yield Finding(Severity.WARNING, "operator-deprecated", "operator", message, f"Plan for {newest}.", POLICY)
    for advisory in release.advisories:
        message = f"GPU Operator {release.version} has a security advisory, {advisory.id}; {advisory.fixed} fixes it."
        severity = Severity.ERROR if production else Severity.WARNING
        yield Finding(
            severity, "operator-advisory", "operator", message, f"Use {advisory.fixed}.", f"OSV {advisory.id}"
        )
    if release.is_unread:
        message = f"Only that {release.version} exists is known; {release.values_of} is used for the rest."
        if release.version == newest:
            # This release is the one to use: a warning without a remedy would hide warnings that have one.
            severity, fix = Severity.INFO, "Read its release notes, and compare the chart's values, before production."
        else:
            severity, fix = Severity.WARNING, f"Or use {newest}."
        yield Finding(severity, "operator-unverified", "operator", message, fix, release.source)
    if chart("gpu-operator", release.version).sha256 is None:
        message = (
            f"The catalogue has no checksum of the {release.version} chart; the first `physai charts pull` records the "
            "one it finds."
        )
        fix = "Compare it with one from another source before a production deployment."
        yield Finding(Severity.INFO, "chart-checksum-unknown", "chart", message, fix, release.source)


def judge_branch(branch: DriverBranch, today: datetime.date) -> Iterator[Finding]:
    """Finding about the life cycle of a driver branch, if its support has ended."""
    if branch.end_of_life is not None and today > branch.end_of_life:
        message = f"Driver branch {branch.branch} ({branch.designation}) is out of support since {branch.end_of_life}."
        fix = f"Use a build of the branch {_long_lived(today)}."
        yield Finding(Severity.WARNING, "driver-end-of-life", "driver", message, fix, branch.source)


def _long_lived(today: datetime.date) -> int:
    rows = [b for b in driver_branches().values() if b.kind == "datacenter" and b.end_of_life and b.end_of_life > today]
    return max(rows, key=lambda b: b.end_of_life or today).branch if rows else max(n for _, n in driver_branches())


def judge_kubernetes(kubernetes: str, today: datetime.date, *, long_term: bool = False) -> Iterator[Finding]:
    """Findings about the life cycle of a Kubernetes minor on AKS."""
    offered = [m.minor for m in kubernetes_minors().values() if kubernetes_phase(m, today) == "supported"]
    fix = f"AKS supports {', '.join(offered)}." if offered else SEE_AKS
    try:
        minor = kubernetes_minor(kubernetes)
    except UnknownName:
        message = f"AKS does not offer Kubernetes {kubernetes}."
        yield Finding(Severity.ERROR, "kubernetes-not-offered", "kubernetes", message, fix, AKS_VERSIONS)
        return
    phase = kubernetes_phase(minor, today, long_term=long_term)
    ended = f"AKS support for Kubernetes {minor.minor} ended on {minor.end_of_life}"
    if phase == "due":
        message = f"Kubernetes {minor.minor} is due on AKS on {minor.ga}."
        yield Finding(Severity.WARNING, "kubernetes-not-yet", "kubernetes", message, fix, minor.source)
    elif phase == "platform":
        message = f"{ended}; existing clusters continue to run, new ones cannot be created."
        yield Finding(Severity.WARNING, "kubernetes-end-of-support", "kubernetes", message, fix, minor.source)
    elif phase == "gone":
        message = f"{ended}, and AKS offers it only with long-term support on the Premium tier."
        yield Finding(Severity.ERROR, "kubernetes-end-of-support", "kubernetes", message, fix, minor.source)

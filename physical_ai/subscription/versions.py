"""Findings about a Kubernetes version from the versions in which AKS creates clusters. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from physical_ai.findings import Finding, Severity
from physical_ai.subscription.answers import Version

AZURE = "Azure"


def kubernetes_findings(offered: Sequence[Version], version: str, region: str, plan: str) -> Iterator[Finding]:
    """Findings about the Kubernetes version of a cluster that AKS is to create. `plan`: AKS support plan of the
    cluster.
    """
    if not offered:
        yield Finding(
            Severity.ERROR, "kubernetes", version, f"AKS has no versions in {region}.", "Another region.", AZURE
        )
        return
    minor = next((each for each in offered if each.minor == ".".join(version.split(".")[:2])), None)
    known = ", ".join(each.minor for each in offered if not each.preview and (not each.plans or plan in each.plans))
    if minor is None or (version.count(".") == 2 and version not in minor.patches):
        near = ", ".join(minor.patches) if minor else known
        problem = f"AKS creates no clusters with Kubernetes {version} in {region}."
        yield Finding(Severity.ERROR, "kubernetes", version, problem, f"Offered: {near}.", AZURE)
    elif minor.plans and plan not in minor.plans:
        problem = f"AKS has Kubernetes {version} in {region} with the support plan {', '.join(minor.plans)} only."
        fix = f"Offered with {plan}: {known}."
        if "AKSLongTermSupport" in minor.plans:
            fix += " Or cluster: {supportPlan: AKSLongTermSupport, tier: Premium}."
        yield Finding(Severity.ERROR, "kubernetes", version, problem, fix, AZURE)
    elif minor.preview:
        problem = f"Kubernetes {version} is a preview in {region}."
        yield Finding(Severity.WARNING, "kubernetes", version, problem, f"Offered: {known}.", AZURE)
    else:
        yield Finding(Severity.OK, "kubernetes", version, f"offered in {region}", None, AZURE)

"""Rules about cert-manager: what its issuer needs of the cluster."""

from __future__ import annotations

from collections.abc import Iterator

from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.rules.finding import Rule, SettingFinding, Trust, error

ACME: Path = ("osmo", "access", "tls", "certManager", "acme")
IDENTITY = Rule("cert-manager-identity", "cert-manager docs, configuration/acme/dns01/azuredns: workload identity")


def check_identity(settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    """Error where the issuer writes records of an Azure DNS zone, and the cluster is not an AKS cluster with workload
    identities.
    """
    tls = settings.osmo.access.tls
    if tls is not None and tls.cert_manager is not None and tls.cert_manager.acme is not None and trust(ACME):
        problem = "The issuer writes records of Azure DNS as an identity that only a cluster of the stack has."
        yield error(ACME, problem, "certManager: {clusterIssuer: NAME}, an issuer of the cluster.", rule=IDENTITY)

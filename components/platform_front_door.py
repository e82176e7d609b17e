"""The part of a platform that the front door of OSMO's control plane needs besides the control plane."""

from __future__ import annotations

import pulumi

from components.account import azure_tenant
from components.cluster import Cluster
from components.gateway_certificate import GatewayCertificate, GatewayCertificateArgs
from components.platform_common import Common, Foundation, Interior
from physical_ai.catalog.osmo import CONTROL_NAMESPACE
from physical_ai.settings.plans.gateway_certificate import gateway_certificate


def declare_certificate(
    common: Common, foundation: Foundation, cluster: Cluster, interior: Interior
) -> list[pulumi.Resource]:
    """Nothing where the gateway's certificate is in no key vault."""
    plan, settings = gateway_certificate(common.settings), common.settings
    if plan is None:
        return []
    args = GatewayCertificateArgs(
        target=interior.target,
        plan=plan,
        names=common.names,
        resource_group_name=foundation.group.name,
        location=settings.region,
        tags=settings.tags,
        issuer_url=cluster.oidc_issuer_url,
        tenant_id=azure_tenant(),
        subscription_id=common.subscription,
        namespace=interior.namespaces[CONTROL_NAMESPACE],
    )
    return GatewayCertificate(f"{common.name}-gateway-certificate", args, common.protected).before

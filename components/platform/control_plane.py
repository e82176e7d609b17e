"""The part of a platform that is OSMO's control plane, with the resources for its gateway and for tasks' data."""

from __future__ import annotations

from collections.abc import Sequence

import pulumi

from components.azure.account import azure_tenant
from components.data.endpoints import DataEndpoints
from components.data.services import DataServices
from components.osmo.control_plane import ControlPlane, ControlPlaneArgs, share_data
from components.osmo.gateway_certificate import GatewayCertificate, GatewayCertificateArgs
from components.osmo.osmo import Osmo
from components.platform.azure_resources import AzureResources
from components.platform.common import Common, InstallTarget
from physical_ai.catalog.osmo import CONTROL_NAMESPACE
from physical_ai.planning.gateway_certificate import gateway_certificate


def _declare_certificate(common: Common, azure: AzureResources | None, install: InstallTarget) -> list[pulumi.Resource]:
    """Declares the gateway's certificate; an empty list where it is in no key vault."""
    plan, settings = gateway_certificate(common.settings), common.settings
    if plan is None or azure is None:
        return []
    args = GatewayCertificateArgs(
        target=install.target,
        plan=plan,
        names=common.names,
        resource_group_name=azure.foundation.group.name,
        location=settings.region,
        tags=settings.tags,
        issuer_url=azure.cluster.oidc_issuer_url,
        tenant_id=azure_tenant(),
        subscription_id=common.subscription,
        namespace=install.namespaces[CONTROL_NAMESPACE],
    )
    return GatewayCertificate(f"{common.name}-gateway-certificate", args, common.protected).before


def declare_control_plane(
    common: Common,
    azure: AzureResources | None,
    install: InstallTarget,
    data: DataEndpoints | None,
    *,
    certificates: Sequence[pulumi.Resource],
) -> ControlPlane | None:
    """Declares the control plane; None in a stack without `osmo.mode: platform`. The rules require data services for
    every other one.
    """
    release = common.plan.control_plane
    if release is None or data is None:
        return None
    certificate = _declare_certificate(common, azure, install)
    link = azure.link if azure is not None else None
    args = ControlPlaneArgs(
        target=install.target,
        settings=common.settings,
        release=release,
        secrets=common.secrets,
        data=data,
        names=common.names,
        subscription_id=common.subscription,
        identities=azure.identities if azure is not None else None,
        namespace=install.namespaces[CONTROL_NAMESPACE],
        after=[*certificate, *certificates, *(link.ready if link is not None else ())],
    )
    return ControlPlane(f"{common.name}-control-plane", args, common.protected)


def share_workflow_data(common: Common, osmo: Osmo, data: DataServices | None) -> None:
    """Gives workflows their roles on the data, except in a stack whose control plane is elsewhere."""
    if common.plan.control_plane is not None and data is not None and osmo.workflows is not None:
        principal = osmo.workflows.identity.principal_id
        share_data(f"{common.name}-workflow-data", data, principal, common.subscription, common.unprotected)

"""cert-manager, and the gateway's certificate that it has issued."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from components.azure.roles import assign_role
from components.azure.workload_identity import WorkloadIdentity, WorkloadIdentityArgs
from components.kubernetes.charts import InstalledRelease, release_options
from components.kubernetes.cluster_target import ClusterTarget
from physical_ai.catalog import cert_manager as names
from physical_ai.catalog.aks import Role
from physical_ai.planning.cert_manager import CertManagerPlan
from physical_ai.settings.models.osmo_access import Acme
from physical_ai.settings.models.tree import ChartSourceName

TIMEOUT_SECONDS = 600


@dataclass(frozen=True)
class CertManagerArgs:
    target: ClusterTarget
    plan: CertManagerPlan
    charts: ChartSourceName
    identity: WorkloadIdentityArgs
    subscription_id: str
    namespace: kubernetes.core.v1.Namespace
    control_plane: kubernetes.core.v1.Namespace
    """Of the certificate."""


class CertManager(pulumi.ComponentResource):
    """The release, for an authority an identity with a role on the host's zone and the issuer, and the certificate.

    Attributes:
        release: of the chart.
        installed: the release by its name.
        certificate: is declared when it has been issued.
    """

    release: kubernetes.helm.v3.Release
    installed: Mapping[str, InstalledRelease]
    certificate: pulumi.Resource

    def __init__(self, name: str, args: CertManagerArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:kubernetes:CertManager", name, {}, opts)
        self._name, self._args = name, args
        plan, values, before = args.plan, dict(args.plan.values), list[pulumi.Resource]()
        client_id: pulumi.Output[str] | None = None
        if plan.acme is not None:
            client_id, before = self._identity(plan.acme)
            values = plan.with_identity(client_id)
        self.release = kubernetes.helm.v3.Release(
            f"{name}-release",
            name=names.RELEASE,
            namespace=names.NAMESPACE,
            **release_options(plan.chart, args.charts),
            values=values,
            timeout=TIMEOUT_SECONDS,
            opts=args.target.options(self, [args.namespace, *before]),
        )
        issuers: list[pulumi.Resource] = []
        if plan.acme is not None:
            issuers = [self._object("issuer", plan.cluster_issuer(plan.acme, client_id), [self.release, *before])]
        after = [self.release, *issuers, args.control_plane]
        self.certificate = self._object("certificate", plan.certificate(), after)
        self.installed = {names.RELEASE: InstalledRelease(self.release, plan.chart.version, names.NAMESPACE)}
        self.register_outputs({"version": plan.chart.version})

    def _identity(self, acme: Acme) -> tuple[pulumi.Output[str], list[pulumi.Resource]]:
        """The identity of its Pods, which may write records of the one zone."""
        child = pulumi.ResourceOptions(parent=self)
        own = WorkloadIdentity(f"{self._name}-identity", self._args.identity, child)
        role = assign_role(
            f"{self._name}-zone-role",
            role=Role.DNS_ZONE_CONTRIBUTOR,
            scope=acme.zone_id,
            principal_id=own.identity.principal_id,
            principal_type="ServicePrincipal",
            subscription_id=self._args.subscription_id,
            opts=child,
        )
        return own.identity.client_id, [own, role]

    def _object(self, key: str, item: Mapping[str, Any], after: list[pulumi.Resource]) -> pulumi.Resource:
        return kubernetes.apiextensions.CustomResource(
            f"{self._name}-{key}",
            api_version=item["apiVersion"],
            kind=item["kind"],
            metadata=item["metadata"],
            spec=item["spec"],
            opts=self._args.target.options(self, after),
        )

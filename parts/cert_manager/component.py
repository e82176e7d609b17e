"""The component of cert-manager, with its identity, its issuer and the gateway's certificate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from components.azure.roles import assign_role
from components.azure.workload_identity import WorkloadIdentity, WorkloadIdentityArgs
from components.kubernetes.chart_part import ChartPart
from parts.cert_manager import names
from parts.cert_manager.plan import RELEASE, CertManagerPlan
from parts.part import ReleasePlan
from physical_ai.catalog.aks import Role
from physical_ai.catalog.osmo import CONTROL_NAMESPACE
from physical_ai.settings.facts.naming import Names
from physical_ai.settings.models.osmo_access import Acme


class CertManager(ChartPart):
    """cert-manager's release, its issuer with an identity for DNS records, and the gateway's certificate.

    Attributes:
        certificate: resource of the gateway's certificate. Its creation ends when the certificate is issued.
    """

    certificate: pulumi.Resource

    def before(self) -> list[pulumi.Resource]:
        plan = self._plan()
        self._client_id: pulumi.Output[str] | None = None
        self._granted = list[pulumi.Resource]()
        if plan.acme is not None:
            self._client_id, self._granted = self._identity(plan.acme)
        return [*super().before(), *self._granted]

    def declare_release(self, plan: ReleasePlan, after: Sequence[pulumi.Resource]) -> kubernetes.helm.v3.Release:
        own = plan if self._client_id is None else replace(plan, values=self._plan().with_identity(self._client_id))
        return super().declare_release(own, after)

    def after(self) -> None:
        plan, release = self._plan(), self.releases[RELEASE]
        issuers: list[pulumi.Resource] = []
        if plan.acme is not None:
            issuer = plan.cluster_issuer(plan.acme, self._client_id)
            issuers = [self._object("issuer", issuer, [release, *self._granted])]
        first = [release, *issuers, *self.namespaces(CONTROL_NAMESPACE)]
        self.certificate = self._object("certificate", plan.certificate(), first)

    def ready(self) -> list[pulumi.Resource]:
        return [self.certificate]

    def _plan(self) -> CertManagerPlan:
        plan = self.args.plan
        assert isinstance(plan, CertManagerPlan)
        return plan

    def _identity(self, acme: Acme) -> tuple[pulumi.Output[str], list[pulumi.Resource]]:
        """Declares the identity of cert-manager's Pods, which may write records of the one DNS zone; returns its
        client id, and the resources to wait for.
        """
        settings, azure = self.args.settings, self.args.azure
        assert azure is not None  # a zone is Azure's, and the rules want a cluster that the stack creates
        child = pulumi.ResourceOptions(parent=self)
        identity = WorkloadIdentityArgs(
            identity_name=Names(settings.stack).identity("cert-manager"),
            resource_group_name=azure.identities.resource_group_name,
            location=settings.region,
            tags=settings.tags,
            issuer_url=azure.identities.issuer_url,
            accounts=((names.NAMESPACE, names.ACCOUNT),),
        )
        own = WorkloadIdentity(f"{self.name}-identity", identity, child)
        role = assign_role(
            f"{self.name}-zone-role",
            role=Role.DNS_ZONE_CONTRIBUTOR,
            scope=acme.zone_id,
            principal_id=own.identity.principal_id,
            principal_type="ServicePrincipal",
            subscription_id=azure.subscription_id,
            opts=child,
        )
        return own.identity.client_id, [own, role]

    def _object(self, key: str, item: Mapping[str, Any], after: list[pulumi.Resource]) -> pulumi.Resource:
        return kubernetes.apiextensions.CustomResource(
            f"{self.name}-{key}",
            api_version=item["apiVersion"],
            kind=item["kind"],
            metadata=item["metadata"],
            spec=item["spec"],
            opts=self.options(after),
        )


COMPONENT = CertManager

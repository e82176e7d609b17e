"""The component of GitHub runners, with the identity that jobs may have."""

from __future__ import annotations

from collections.abc import Sequence

import pulumi
import pulumi_kubernetes as kubernetes

from components.azure.roles import assign_role
from components.azure.workload_identity import WorkloadIdentity, WorkloadIdentityArgs
from components.kubernetes.chart_part import AzurePlace, ChartPart
from parts.part import ReleasePlan
from parts.runners import names
from parts.runners.model import Runners as RunnerSettings
from parts.runners.plan import SCALE_SET
from physical_ai.catalog.aks import Role
from physical_ai.catalog.azure_identity import IDENTITY_CLIENT_ANNOTATION
from physical_ai.settings.facts.naming import Names


class Runners(ChartPart):
    """GitHub runners: the service account and the Secret with the GitHub App's key, then the runner controller, then
    the scale set.
    """

    def before(self) -> list[pulumi.Resource]:
        given, azure = self.args.settings.runners, self.args.azure
        assert given is not None
        assert azure is not None  # the rules refuse runners on an existing cluster
        first = [*super().before(), azure.pools[names.POOL]]
        both = [*self.namespaces(names.CONTROLLER_NAMESPACE, names.NAMESPACE), *first]
        secret = kubernetes.core.v1.Secret(
            f"{self.name}-github-app",
            metadata={"name": names.APP_SECRET, "namespace": names.NAMESPACE},
            string_data={
                "github_app_id": given.app.client_id,
                "github_app_installation_id": given.app.installation_id,
                "github_app_private_key": self.args.secrets[names.PRIVATE_KEY],
            },
            opts=self.options(both),
        )
        account = kubernetes.core.v1.ServiceAccount(
            f"{self.name}-account",
            metadata=kubernetes.meta.v1.ObjectMetaArgs(
                name=names.RUNNER_ACCOUNT, namespace=names.NAMESPACE, annotations=self._identity(given, azure)
            ),
            automount_service_account_token=False,
            opts=self.options(both),
        )
        self._of_scale_set = [secret, account]
        return first

    def declare_release(self, plan: ReleasePlan, after: Sequence[pulumi.Resource]) -> kubernetes.helm.v3.Release:
        return super().declare_release(plan, [*after, *(self._of_scale_set if plan.key == SCALE_SET else ())])

    def _identity(self, given: RunnerSettings, azure: AzurePlace) -> dict[str, pulumi.Input[str]] | None:
        """Annotations that link the runners' service account to an Azure identity; None with `clusterRole: none`, where
        jobs use only the identity of their GitHub environment.
        """
        if given.cluster_role == "none":
            return None
        settings = self.args.settings
        identity = WorkloadIdentityArgs(
            identity_name=Names(settings.stack).identity("runners"),
            resource_group_name=azure.identities.resource_group_name,
            location=settings.region,
            tags=settings.tags,
            issuer_url=azure.identities.issuer_url,
            accounts=((names.NAMESPACE, names.RUNNER_ACCOUNT),),
        )
        own = WorkloadIdentity(f"{self.name}-jobs", identity, pulumi.ResourceOptions(parent=self))
        for key, role in (("admin", Role.RBAC_CLUSTER_ADMIN), ("user", Role.CLUSTER_USER)):
            assign_role(
                f"{self.name}-jobs-{key}",
                role=role,
                scope=azure.cluster_id,
                principal_id=own.identity.principal_id,
                principal_type="ServicePrincipal",
                subscription_id=azure.subscription_id,
                # Not protected: a role is withdrawn in production too.
                opts=pulumi.ResourceOptions(parent=self, protect=False),
            )
        return {IDENTITY_CLIENT_ANNOTATION: own.identity.client_id}


COMPONENT = Runners

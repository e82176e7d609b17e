"""Self-hosted GitHub runners: their node pool, the controller, the scale set, and the identity that jobs may have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes
from pulumi_azure_native import containerservice

from components.aks.agent_pool import UserPoolArgs, declare_user_pool
from components.azure.roles import assign_role
from components.azure.workload_identity import WorkloadIdentity, WorkloadIdentityArgs
from components.kubernetes.charts import InstalledRelease, release_options
from components.kubernetes.cluster_target import ClusterTarget
from physical_ai.catalog import runners as names
from physical_ai.catalog.aks import Role
from physical_ai.catalog.azure_identity import IDENTITY_CLIENT_ANNOTATION
from physical_ai.planning.runners import RunnersPlan
from physical_ai.settings.models.runners import GitHubApp
from physical_ai.settings.models.tree import ChartSourceName
from physical_ai.settings.secrets import Secrets

TIMEOUT_SECONDS = 600


class RunnerPool(pulumi.ComponentResource):
    """Nodes for nothing but jobs of GitHub: tainted, and none while no job runs."""

    node_pool: containerservice.AgentPool

    def __init__(self, name: str, args: UserPoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:azure:RunnerPool", name, {}, opts)
        self.node_pool = declare_user_pool(f"{name}-nodes", args, self)
        self.register_outputs({"nodePoolName": args.pool_name})


@dataclass(frozen=True)
class RunnerIdentity:
    """An identity for jobs, with the role of a deployer on the cluster."""

    identity: WorkloadIdentityArgs
    cluster_id: pulumi.Input[str]
    subscription_id: str


@dataclass(frozen=True)
class RunnersArgs:
    target: ClusterTarget
    namespaces: Mapping[str, kubernetes.core.v1.Namespace]
    plan: RunnersPlan
    app: GitHubApp
    identity: RunnerIdentity | None
    """None where pipelines log in as their GitHub environment's identity alone."""
    charts: ChartSourceName
    secrets: Secrets
    after: Sequence[pulumi.Resource] = ()
    """Policies that guard the namespaces."""


class Runners(pulumi.ComponentResource):
    """The controller, then the scale set.

    Attributes:
        installed: the releases of both charts, by name.
    """

    installed: Mapping[str, InstalledRelease]

    def __init__(self, name: str, args: RunnersArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:kubernetes:Runners", name, {}, opts)
        plan, both = args.plan, [*args.namespaces.values(), *args.after]
        inside = args.target.options(self, both)
        secret = kubernetes.core.v1.Secret(
            f"{name}-github-app",
            metadata={"name": names.APP_SECRET, "namespace": names.NAMESPACE},
            string_data={
                "github_app_id": args.app.client_id,
                "github_app_installation_id": args.app.installation_id,
                "github_app_private_key": args.secrets[names.PRIVATE_KEY],
            },
            opts=inside,
        )
        account = kubernetes.core.v1.ServiceAccount(
            f"{name}-account",
            metadata=kubernetes.meta.v1.ObjectMetaArgs(
                name=names.RUNNER_ACCOUNT, namespace=names.NAMESPACE, annotations=self._identity(name, args)
            ),
            automount_service_account_token=False,
            opts=inside,
        )
        controller = kubernetes.helm.v3.Release(
            f"{name}-controller",
            name=names.CONTROLLER_RELEASE,
            namespace=names.CONTROLLER_NAMESPACE,
            **release_options(plan.controller, args.charts),
            values=plan.controller_values,
            timeout=TIMEOUT_SECONDS,
            opts=args.target.options(self, both),
        )
        # Deleted before the controller, which removes what GitHub knows of it.
        scale_set = kubernetes.helm.v3.Release(
            f"{name}-scale-set",
            name=names.SCALE_SET_RELEASE,
            namespace=names.NAMESPACE,
            **release_options(plan.scale_set, args.charts),
            values=plan.scale_set_values,
            timeout=TIMEOUT_SECONDS,
            opts=args.target.options(self, [*both, controller, secret, account]),
        )
        self.installed = {
            names.CONTROLLER_RELEASE: InstalledRelease(controller, plan.controller.version, names.CONTROLLER_NAMESPACE),
            names.SCALE_SET_RELEASE: InstalledRelease(scale_set, plan.scale_set.version, names.NAMESPACE),
        }
        self.register_outputs({"version": plan.controller.version})

    def _identity(self, name: str, args: RunnersArgs) -> dict[str, pulumi.Input[str]] | None:
        """Annotations of the service account."""
        if args.identity is None:
            return None
        own = WorkloadIdentity(f"{name}-jobs", args.identity.identity, pulumi.ResourceOptions(parent=self))
        for key, role in (("admin", Role.RBAC_CLUSTER_ADMIN), ("user", Role.CLUSTER_USER)):
            assign_role(
                f"{name}-jobs-{key}",
                role=role,
                scope=args.identity.cluster_id,
                principal_id=own.identity.principal_id,
                principal_type="ServicePrincipal",
                subscription_id=args.identity.subscription_id,
                # Withdrawn in production too.
                opts=pulumi.ResourceOptions(parent=self, protect=False),
            )
        return {IDENTITY_CLIENT_ANNOTATION: own.identity.client_id}

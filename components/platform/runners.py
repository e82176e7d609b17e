"""Self-hosted GitHub runners as part of a platform."""

from __future__ import annotations

from components.azure.workload_identity import WorkloadIdentityArgs
from components.platform.azure_resources import AzureResources
from components.platform.common import Common, InstallTarget
from components.workloads.runners import RunnerIdentity, Runners, RunnersArgs
from physical_ai.catalog import runners as names
from physical_ai.settings.models.runners import Runners as RunnerSettings


def declare_runners(common: Common, azure: AzureResources | None, install: InstallTarget) -> Runners | None:
    """None in a stack without runners of GitHub."""
    settings, plan = common.settings, common.plan.runners
    pool = azure.runner_pool if azure is not None else None
    if azure is None or settings.runners is None or plan is None or pool is None:
        return None
    args = RunnersArgs(
        target=install.target,
        namespaces={name: install.namespaces[name] for name in (names.CONTROLLER_NAMESPACE, names.NAMESPACE)},
        plan=plan,
        app=settings.runners.app,
        identity=_identity(common, azure, settings.runners),
        charts=settings.charts.source,
        secrets=common.secrets,
        after=[pool.node_pool],
    )
    return Runners(f"{common.name}-github", args, common.protected)


def _identity(common: Common, azure: AzureResources, given: RunnerSettings) -> RunnerIdentity | None:
    if given.cluster_role == "none":
        return None
    identity = WorkloadIdentityArgs(
        identity_name=common.names.identity("runners"),
        resource_group_name=azure.foundation.group.name,
        location=common.settings.region,
        tags=common.settings.tags,
        issuer_url=azure.cluster.oidc_issuer_url,
        accounts=((names.NAMESPACE, names.RUNNER_ACCOUNT),),
    )
    return RunnerIdentity(identity, azure.cluster.id, common.subscription)

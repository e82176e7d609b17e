"""NVIDIA OSMO: what its namespaces hold, the scheduler, and the agents of a control plane elsewhere."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from components import agents, manifests
from components.charts import release_chart
from components.cluster_target import ClusterTarget
from components.gpu_configs import config_map
from components.naming import Names
from components.objects import declare
from components.osmo_gate import OsmoGate, OsmoGateArgs
from components.workload_identity import CLIENT_ANNOTATION, USE_LABEL, WorkloadIdentity, WorkloadIdentityArgs
from physical_ai.catalog import osmo
from physical_ai.settings import Settings
from physical_ai.settings.facts.osmo import AGENT_TOKEN, MANAGED_LABEL, gpu_quota
from physical_ai.settings.plans.osmo import (
    AGENT_FILES,
    CREDENTIAL,
    KUBECONFIG,
    OsmoRelease,
    agent_kubeconfig,
)
from physical_ai.settings.secrets import Secrets

AGENT_ACCOUNTS = (
    (osmo.OPERATOR_NAMESPACE, osmo.LISTENER_ACCOUNT),
    (osmo.OPERATOR_NAMESPACE, osmo.WORKER_ACCOUNT),
)
AGENT = "osmo_login"
"""Folder of `manifests/` with what the agents need for the development login."""
SERVICE_VALUES = "osmo-service-values"
"""ConfigMap with the platforms as OSMO's service wants them: for whoever installs it, and so that a preview shows what
changes about them."""
TIMEOUT_SECONDS = 900
METADATA_ADDRESSES = ("169.254.169.254/32", "168.63.129.16/32")
"""What answers every process of an Azure machine with tokens of the machine's identity, and with its configuration."""
EVERYWHERE = "0.0.0.0/0"


@dataclass(frozen=True)
class OsmoArgs:
    target: ClusterTarget
    settings: Settings
    plan: Sequence[OsmoRelease]
    """The scheduler and the agents; empty with mode `namespaces`."""
    secrets: Secrets
    names: Names
    resource_group_name: pulumi.Input[str]
    issuer_url: pulumi.Input[str]
    """Of the cluster's service account tokens."""
    kubeconfig: pulumi.Input[str]
    namespaces: Mapping[str, kubernetes.core.v1.Namespace]
    service_values: Mapping[str, str]
    """Values for the control plane's chart, by file name."""
    admission: Sequence[pulumi.Resource] = ()
    """What is to guard Pods before the first workflow's can come."""


class Osmo(pulumi.ComponentResource):
    """OSMO's place in the cluster; with mode `backend` its scheduler and agents too.

    A whole control plane would be a third mode: it installs into `osmo-control-plane`, which is there.

    Attributes:
        releases: Helm releases by name.
        versions: their chart versions and namespaces, by name.
        workflows: identity of workflows' Pods; it has no role until somebody gives it one.
        operator: identity of the agents; likewise.
    """

    releases: dict[str, kubernetes.helm.v3.Release]
    versions: dict[str, dict[str, str]]
    workflows: WorkloadIdentity
    operator: WorkloadIdentity

    def __init__(self, name: str, args: OsmoArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:osmo:Osmo", name, {}, opts)
        account = (osmo.WORKFLOWS_NAMESPACE, osmo.SERVICE_ACCOUNT)
        self.workflows = self._identity(name, "osmo-workflows", args, [account])
        self.operator = self._identity(name, "osmo-operator", args, AGENT_ACCOUNTS)
        client_id = self.workflows.identity.client_id
        places = [args.namespaces[place] for place in args.namespaces]
        objects = declare(
            name,
            self,
            args.target,
            completed(manifests.load("osmo.yaml"), args.settings, {osmo.SERVICE_ACCOUNT: client_id}),
            after=[*places, *args.admission],
        )
        config_map(
            f"{name}-service-values",
            SERVICE_VALUES,
            osmo.CONTROL_NAMESPACE,
            args.service_values,
            args.target.options(self, [args.namespaces[osmo.CONTROL_NAMESPACE]]),
        )
        self.releases, self.versions = {}, {}
        if args.plan:
            self._install(name, args, objects)
        OsmoGate(
            f"{name}-gate",
            OsmoGateArgs(
                kubeconfig=args.kubeconfig,
                backend=osmo.BACKEND_RELEASE in self.releases,
                after=[*objects, *self.releases.values()],
            ),
            pulumi.ResourceOptions(parent=self),
        )
        self.register_outputs({"mode": args.settings.osmo.mode, "releases": sorted(self.releases)})

    def _identity(self, name: str, use: str, args: OsmoArgs, accounts: Sequence[tuple[str, str]]) -> WorkloadIdentity:
        return WorkloadIdentity(
            f"{name}-{use.removeprefix('osmo-')}",
            WorkloadIdentityArgs(
                identity_name=args.names.identity(use),
                resource_group_name=args.resource_group_name,
                location=args.settings.region,
                tags=args.settings.tags,
                issuer_url=args.issuer_url,
                accounts=tuple(accounts),
            ),
            pulumi.ResourceOptions(parent=self),
        )

    def _install(self, name: str, args: OsmoArgs, objects: Sequence[pulumi.Resource]) -> None:
        """The scheduler, and after it the agents, once they have something to log in with."""
        scheduler, agents = args.plan
        self._release(f"{name}-scheduler", args, scheduler, scheduler.values, [args.namespaces[scheduler.namespace]])
        token = args.secrets.get(AGENT_TOKEN)
        if missing := missing_for_agents(args.settings, has_token=token is not None):
            pulumi.log.warn(missing, self)
            return
        secret = kubernetes.core.v1.Secret(
            f"{name}-agent-token",
            metadata={
                "name": osmo.TOKEN_SECRET,
                "namespace": osmo.OPERATOR_NAMESPACE,
                "labels": {MANAGED_LABEL: "true"},
            },
            # The chart mounts it whatever the login; with `dev` nobody reads it.
            string_data={osmo.TOKEN_KEY: token if token is not None else ""},
            opts=args.target.options(self, [args.namespaces[osmo.OPERATOR_NAMESPACE]]),
        )
        values = with_identity(agents.values, self.operator.identity.client_id)
        # Workflows need the scheduler's kinds: it comes before the agents, and goes after them.
        before = [secret, *objects, self.releases[scheduler.name], *self._dev_login(name, args)]
        self._release(f"{name}-agents", args, agents, values, before)

    def _dev_login(self, name: str, args: OsmoArgs) -> list[pulumi.Resource]:
        if args.settings.osmo.login != "dev":
            return []
        (program,) = agents.files(AGENT).values()
        data = {KUBECONFIG: agent_kubeconfig(), CREDENTIAL: program}
        where = args.target.options(self, [args.namespaces[osmo.OPERATOR_NAMESPACE]])
        return [config_map(f"{name}-agent-login", AGENT_FILES, osmo.OPERATOR_NAMESPACE, data, where)]

    def _release(
        self,
        resource: str,
        args: OsmoArgs,
        what: OsmoRelease,
        values: Mapping[str, Any],
        after: Sequence[pulumi.Resource],
    ) -> None:
        self.versions[what.name] = {"version": what.chart.version, "namespace": what.namespace}
        self.releases[what.name] = kubernetes.helm.v3.Release(
            resource,
            name=what.name,
            namespace=what.namespace,
            **release_chart(what.chart, args.settings.charts.source),
            values=values,
            timeout=TIMEOUT_SECONDS,
            # What a failed installation leaves behind tells why, and the next `up` goes on from there.
            atomic=False,
            cleanup_on_fail=False,
            # Helm 4 would wait for KAI's SchedulingShard, which stays Reconciling for ever; the gate knows better.
            skip_await=True,
            create_namespace=False,
            opts=args.target.options(self, after),
        )


def completed(
    found: Sequence[Mapping[str, Any]], settings: Settings, clients: Mapping[str, pulumi.Input[str]]
) -> list[dict[str, Any]]:
    """The manifest's objects for a stack: quotas counted, accounts with the identity that they trade their token for.

    Args:
        found: Objects of manifests/osmo.yaml.
        clients: Client ids of identities by service account.
    """
    objects = copy.deepcopy([dict(item) for item in found])
    for item in objects:
        metadata, kind = item["metadata"], item["kind"]
        if kind == "ServiceAccount" and metadata["name"] in clients:
            metadata["annotations"] = {CLIENT_ANNOTATION: clients[metadata["name"]]}
        if kind == "ResourceQuota":
            is_theirs = metadata["namespace"] == osmo.WORKFLOWS_NAMESPACE
            most = {resource: count if is_theirs else 0 for resource, count in gpu_quota(settings).items()}
            # Of extended resources a quota takes requests only, which equal limits.
            item["spec"]["hard"] = {f"requests.{resource}": str(count) for resource, count in most.items()}
        if kind == "NetworkPolicy":
            for rule in item["spec"].get("egress", []):
                for peer in rule["to"]:
                    if peer.get("ipBlock", {}).get("cidr") == EVERYWHERE:
                        peer["ipBlock"]["except"] = list(METADATA_ADDRESSES)
    return objects


def with_identity(values: Mapping[str, Any], client_id: pulumi.Input[str]) -> dict[str, Any]:
    """The agents' values, with what makes AKS hand their Pods a token for Azure.

    The chart makes the service accounts and offers no annotations for them, so the identity's id goes to the Pods.
    """
    result = copy.deepcopy(dict(values))
    for agent in ("backendListener", "backendWorker"):
        own = result.setdefault("services", {}).setdefault(agent, {})
        own["extraPodLabels"] = {**own.get("extraPodLabels", {}), USE_LABEL: "true"}
        own["extraEnvs"] = [*own.get("extraEnvs", []), {"name": "AZURE_CLIENT_ID", "value": client_id}]
    return result


def missing_for_agents(settings: Settings, *, has_token: bool) -> str:
    """What a deployment says whose agents have nobody to work for yet, or no way to log in; empty where they do."""
    steps: list[str] = []
    if settings.osmo.service_url is None:
        steps.append("  pulumi config set --path 'physical-ai:osmo.serviceUrl' https://YOUR-CONTROL-PLANE")
    if settings.osmo.login == "token" and not has_token:
        steps += [
            "  osmo user create backend-operator --roles osmo-backend",
            f"  osmo token set {settings.osmo.backend_name} --user backend-operator --roles osmo-backend"
            " --expires-at YYYY-MM-DD",
            f"  pulumi config set --secret --path 'physical-ai:secrets.{AGENT_TOKEN}'",
        ]
    if not steps:
        return ""
    return "\n".join(
        [
            "OSMO's agents are left out: the stack does not say where their control plane is, or what they log in with."
            " The service makes their token once it is up, so this takes a second deployment:",
            *steps,
            "  pulumi up",
        ]
    )

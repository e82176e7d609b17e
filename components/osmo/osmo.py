"""NVIDIA OSMO: the contents of its namespaces, the scheduler, and the agents, which connect the cluster to OSMO's
control plane in this or another cluster.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from components.azure.workload_identity import IdentityPlace, WorkloadIdentity, WorkloadIdentityArgs
from components.gates.osmo_gate import OsmoGate, OsmoGateArgs
from components.gpu.configs import config_map
from components.kubernetes.charts import InstalledRelease, release_options
from components.kubernetes.cluster_target import ClusterTarget
from components.kubernetes.objects import declare
from components.osmo.osmo_token import OsmoToken, OsmoTokenArgs, VaultLogin
from physical_ai.catalog import osmo
from physical_ai.planning.isolation import default_deny
from physical_ai.planning.nccl_topology import CONFIG_MAP, GANG_TOPOLOGY, gang_topology, topology_files
from physical_ai.planning.osmo import AGENT_FILES, OsmoRelease
from physical_ai.planning.osmo_backend import OsmoBackend
from physical_ai.planning.osmo_objects import namespace_objects, with_identity
from physical_ai.planning.osmo_token import OsmoTokenObjects
from physical_ai.settings import Settings
from physical_ai.settings.facts.naming import Names
from physical_ai.settings.facts.osmo import AGENT_TOKEN, MANAGED_LABEL
from physical_ai.settings.facts.osmo_token import FROM_JOB, SOURCE_ANNOTATION
from physical_ai.settings.secrets import Secrets

AGENT_ACCOUNTS = (
    (osmo.OPERATOR_NAMESPACE, osmo.LISTENER_ACCOUNT),
    (osmo.OPERATOR_NAMESPACE, osmo.WORKER_ACCOUNT),
)
PATCH_FORCE = "pulumi.com/patchForce"
"""Annotation with which Pulumi takes over fields that somebody else has written, instead of refusing the update
(pulumi-kubernetes, server-side apply)."""
SERVICE_VALUES = "osmo-service-values"
"""Name of the ConfigMap with Helm values for OSMO's control plane, in a stack that does not install the control plane.
The person who installs it takes the values from the ConfigMap, and a preview shows changes of the values.
"""
TIMEOUT_SECONDS = 900


@dataclass(frozen=True)
class OsmoArgs:
    target: ClusterTarget
    settings: Settings
    backend: OsmoBackend | None
    """OSMO's scheduler and agents; None with `osmo.mode: namespaces`."""
    secrets: Secrets
    names: Names
    identities: IdentityPlace | None
    """Resource group and token issuer of the Pods' identities; None where the Pods have no identity."""
    kubeconfig: pulumi.Input[str]
    namespaces: Mapping[str, kubernetes.core.v1.Namespace]
    service_values: Mapping[str, str]
    """Values for the control plane's chart, by file name."""
    admission: Sequence[pulumi.Resource] = ()
    """Admission policies that must exist before the first Pod of a workflow is created."""
    token: OsmoTokenObjects | None = None
    """Objects that create the agents' token; None where the token is a secret of the stack, or no token is needed."""
    token_login: VaultLogin | None = None
    """Login to the vault that holds the token of this stack's agents, or the tokens of other stacks' agents."""
    service: Sequence[pulumi.Resource] = ()
    """Resources that must exist before the stack's own control plane of OSMO can answer; empty in a stack without a
    control plane.
    """


class Osmo(pulumi.ComponentResource):
    """OSMO's namespaces with their contents; in the modes `backend` and `platform` also the scheduler and the agents.

    With mode `platform`, `components.osmo.control_plane` installs into `osmo-control-plane` besides.

    Attributes:
        installed: Helm releases by name.
        workflows: identity of workflows' Pods in Azure; the stack assigns it no role. None outside of Azure.
        operator: identity of the agents' Pods in Azure; None outside of Azure.
    """

    installed: dict[str, InstalledRelease]
    workflows: WorkloadIdentity | None
    operator: WorkloadIdentity | None

    def __init__(self, name: str, args: OsmoArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:osmo:Osmo", name, {}, opts)
        account = (osmo.WORKFLOWS_NAMESPACE, osmo.SERVICE_ACCOUNT)
        self.workflows = self._identity(name, "osmo-workflows", args, [account])
        self.operator = self._identity(name, "osmo-operator", args, AGENT_ACCOUNTS)
        clients = {osmo.SERVICE_ACCOUNT: self.workflows.identity.client_id} if self.workflows is not None else {}
        objects = declare(
            name,
            self,
            args.target,
            namespace_objects(args.settings, clients),
            after=[*args.namespaces.values(), *args.admission],
        )
        if not args.settings.osmo.installs_service:
            config_map(
                f"{name}-service-values",
                SERVICE_VALUES,
                osmo.CONTROL_NAMESPACE,
                args.service_values,
                args.target.options(self, [args.namespaces[osmo.CONTROL_NAMESPACE]]),
            )
        if files := topology_files(args.settings):
            opts = args.target.options(self, [args.namespaces[osmo.WORKFLOWS_NAMESPACE]])
            config_map(f"{name}-nccl-topology", CONFIG_MAP, osmo.WORKFLOWS_NAMESPACE, files, opts)
        self.installed = {}
        if args.backend is not None:
            self._install(name, args, args.backend, objects)
        OsmoGate(
            f"{name}-gate",
            OsmoGateArgs(
                kubeconfig=args.kubeconfig,
                backend=osmo.BACKEND_RELEASE in self.installed,
                service=bool(args.service),
                after=[*objects, *(each.resource for each in self.installed.values()), *args.service],
            ),
            pulumi.ResourceOptions(parent=self),
        )
        self.register_outputs({"mode": args.settings.osmo.mode, "releases": sorted(self.installed)})

    def _identity(
        self, name: str, use: str, args: OsmoArgs, accounts: Sequence[tuple[str, str]]
    ) -> WorkloadIdentity | None:
        place = args.identities
        if place is None:
            return None
        return WorkloadIdentity(
            f"{name}-{use.removeprefix('osmo-')}",
            WorkloadIdentityArgs(
                identity_name=args.names.identity(use),
                resource_group_name=place.resource_group_name,
                location=args.settings.region,
                tags=args.settings.tags,
                issuer_url=place.issuer_url,
                accounts=tuple(accounts),
            ),
            pulumi.ResourceOptions(parent=self),
        )

    def _install(self, name: str, args: OsmoArgs, backend: OsmoBackend, objects: Sequence[pulumi.Resource]) -> None:
        """Declares the scheduler's release, and then the agents' release. If the agents lack a control plane or a
        login, the function warns instead of declaring their release.
        """
        scheduler, agents = backend.scheduler, backend.agents
        self._release(f"{name}-scheduler", args, scheduler, scheduler.values, [args.namespaces[scheduler.namespace]])
        # The chart makes this namespace. Nothing runs in it while no GPU is shared by fractions.
        closed = [default_deny(osmo.KAI_RESERVATION_NAMESPACE)]
        declare(name, self, args.target, closed, after=[self.installed[scheduler.name].resource])
        if (levels := gang_topology(args.settings)) is not None:
            kubernetes.apiextensions.CustomResource(
                f"{name}-topology",
                api_version=osmo.KAI_TOPOLOGY,
                kind="Topology",
                metadata={"name": GANG_TOPOLOGY},
                spec=levels,
                # KAI refuses to change the levels of a Topology.
                opts=pulumi.ResourceOptions.merge(
                    args.target.options(self, [self.installed[scheduler.name].resource]),
                    pulumi.ResourceOptions(replace_on_changes=["spec.levels"], delete_before_replace=True),
                ),
            )
        if backend.missing:
            pulumi.log.warn(backend.missing, self)
            return
        values = agents.values
        if self.operator is not None:
            values = with_identity(values, self.operator.identity.client_id)
        # Workflows need the scheduler's kinds: it is installed before the agents, and deleted after them.
        after = [*self._agent_token(name, args), *objects, self.installed[scheduler.name].resource]
        if backend.login_files:
            after.append(self._login_files(name, args, backend.login_files))
        self._release(f"{name}-agents", args, agents, values, after)

    def _agent_token(self, name: str, args: OsmoArgs) -> list[pulumi.Resource]:
        """Declares the Secret that the agents log in with and, where a Job creates the token, that Job; returns
        both.
        """
        options = args.target.options(self, [args.namespaces[osmo.OPERATOR_NAMESPACE]])
        # The chart mounts the Secret with every login; with `dev` nothing reads it.
        data: dict[str, pulumi.Input[str]] | None = {osmo.TOKEN_KEY: args.secrets.get(AGENT_TOKEN, "")}
        # The stack's own token replaces one that the Job has written, whose field the Job owns until then.
        annotations = {PATCH_FORCE: "true"}
        if args.token is not None:
            # A stack that sets the token itself again removes this annotation, and that difference makes it write the
            # token again.
            annotations = {SOURCE_ANNOTATION: FROM_JOB}
            # The token that the Job writes is no difference to correct. A token of an earlier mode remains until the
            # Job has run.
            options.ignore_changes = ["data", "stringData"]
            options.additional_secret_outputs = ["data", "stringData"]
            data = None
        secret = kubernetes.core.v1.Secret(
            f"{name}-agent-token",
            metadata=kubernetes.meta.v1.ObjectMetaArgs(
                name=osmo.TOKEN_SECRET,
                namespace=osmo.OPERATOR_NAMESPACE,
                labels={MANAGED_LABEL: "true"},
                annotations=annotations,
            ),
            string_data=data,
            opts=options,
        )
        if args.token is None:
            return [secret]
        given = OsmoTokenArgs(
            target=args.target,
            namespaces=args.namespaces,
            objects=args.token,
            secret=secret,
            after=args.service,
            protected=args.settings.protect,
            login=args.token_login,
        )
        return [secret, OsmoToken(f"{name}-token", given, pulumi.ResourceOptions(parent=self)).job]

    def _login_files(self, name: str, args: OsmoArgs, files: Mapping[str, str]) -> pulumi.Resource:
        options = args.target.options(self, [args.namespaces[osmo.OPERATOR_NAMESPACE]])
        return config_map(f"{name}-agent-login", AGENT_FILES, osmo.OPERATOR_NAMESPACE, files, options)

    def _release(
        self,
        resource: str,
        args: OsmoArgs,
        release: OsmoRelease,
        values: Mapping[str, Any],
        after: Sequence[pulumi.Resource],
    ) -> None:
        installed = kubernetes.helm.v3.Release(
            resource,
            name=release.name,
            namespace=release.namespace,
            # Helm 4 would wait for KAI's SchedulingShard, which stays Reconciling indefinitely; the gate waits instead.
            **release_options(release.chart, args.settings.charts.source, skip_await=True),
            values=values,
            timeout=TIMEOUT_SECONDS,
            opts=args.target.options(self, after),
        )
        self.installed[release.name] = InstalledRelease(installed, release.chart.version, release.namespace)

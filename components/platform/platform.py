"""The platform: every component of one stack, in the order in which they are created."""

from __future__ import annotations

from typing import Any

import pulumi

from components.gates.release_gate import ReleaseGate, ReleaseGateArgs
from components.kubernetes.charts import InstalledRelease, Installs
from components.outputs import Deployed, stack_outputs
from components.platform.cluster_stage import ClusterStage
from components.platform.first_questions import ask_azure
from components.platform.gpu_stage import GpuStage
from components.platform.install_target import InstallTarget
from components.platform.osmo_stage import OsmoStage
from components.platform.parent import Parent
from components.platform.parts import InstalledParts
from components.platform.private_network import network_commands
from components.platform.taken_over import refuse_foreign_state
from components.platform.target_cluster import subscription_of, target_cluster
from physical_ai.settings import Loaded
from physical_ai.settings.secrets import Secrets


class Platform(pulumi.ComponentResource):
    """A cluster with GPU pools, created on Azure or existing, with the GPU stack and OSMO installed in it.

    Attributes:
        outputs: the stack's outputs by name. None of them is secret.
    """

    outputs: dict[str, Any]

    def __init__(self, name: str, loaded: Loaded, secrets: Secrets, opts: pulumi.ResourceOptions | None = None) -> None:
        settings, subscription = loaded.settings, subscription_of(loaded)
        refuse_foreign_state()
        ask_azure(loaded, subscription)
        super().__init__("physical-ai:index:Platform", name, {}, opts)
        parent = Parent(
            name,
            protected=pulumi.ResourceOptions(parent=self, protect=settings.protect),
            unprotected=pulumi.ResourceOptions(parent=self),
        )
        cluster = target_cluster(parent, loaded, secrets, subscription)
        azure = cluster.azure
        install = InstallTarget(parent, loaded, subscription, cluster)
        parts = InstalledParts(parent, loaded, secrets, subscription, install, azure)
        in_cluster = ClusterStage(parent, settings, install, parts)
        gpus = GpuStage(parent, loaded, install, parts, settled=cluster.settled)
        osmo = OsmoStage(
            parent,
            loaded,
            secrets,
            subscription,
            azure=azure,
            install=install,
            parts=parts,
            admission=in_cluster.admission,
        )
        installs: list[Installs | None] = [*parts.by_name.values(), osmo.control_plane, osmo.osmo]
        releases: dict[str, InstalledRelease] = {}
        for each in installs:
            releases |= each.installed if each is not None else {}
        gate = ReleaseGateArgs(
            install.kubeconfig,
            {release: each.namespace for release, each in releases.items()},
            [each.resource for each in releases.values()],
        )
        ReleaseGate(f"{name}-release-gate", gate, parent.unprotected)

        workflows = osmo.osmo.workflows
        found = Deployed(
            cluster=cluster.outputs,
            network_commands=network_commands(settings, subscription, azure.network) if azure is not None else {},
            gpus=gpus.gate.gpus,
            releases=releases,
            workflows_principal_id=workflows.identity.principal_id if workflows is not None else None,
            data=azure.services.data if azure is not None else None,
            tokens=osmo.tokens.served if osmo.tokens is not None else {},
        )
        self.outputs = stack_outputs(settings, found)
        self.register_outputs(self.outputs)

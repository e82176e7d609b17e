"""The platform: every component of one stack, in the order in which they are created."""

from __future__ import annotations

from typing import Any

import pulumi

from components.azure.role_propagation import wait_for_roles
from components.azure.subscriptions import Subscriptions
from components.kubernetes.charts import Installs
from components.outputs import Deployed, stack_outputs
from components.platform.admission import declare_admission
from components.platform.cluster import (
    declare_acceptance,
    declare_container_logs,
    declare_drift_reader,
    declare_install_target,
    declare_isolation,
    declare_osmo,
    declare_scraping,
)
from components.platform.common import Common
from components.platform.control_plane import declare_control_plane, share_workflow_data
from components.platform.gpu import declare_gpu_stack
from components.platform.parts import InstalledParts
from components.platform.private import network_commands
from components.platform.release_gate import declare_release_gate
from components.platform.target_cluster import declare_target_cluster, subscription_of
from components.platform.tokens import declare_backend_tokens, token_login
from parts.in_cluster_data.component import InClusterData
from physical_ai.planning.osmo_backend import osmo_backend
from physical_ai.settings import Loaded
from physical_ai.settings.facts.naming import Names
from physical_ai.settings.facts.osmo import AGENT_TOKEN
from physical_ai.settings.secrets import Secrets


class Platform(pulumi.ComponentResource):
    """A cluster with GPU pools, created on Azure or there already and, installed in it, the GPU stack and OSMO.

    Attributes:
        outputs: what the stack exports, by name. Nothing in it is secret.
    """

    outputs: dict[str, Any]

    def __init__(self, name: str, loaded: Loaded, secrets: Secrets, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:index:Platform", name, {}, opts)
        settings = loaded.settings
        subscription, unprotected = subscription_of(loaded), pulumi.ResourceOptions(parent=self)
        common = Common(
            name=name,
            settings=settings,
            plan=loaded.plan,
            secrets=secrets,
            backend=osmo_backend(settings, loaded.plan.osmo, has_token=AGENT_TOKEN in secrets),
            names=Names(settings.stack),
            subscription=subscription,
            subscriptions=Subscriptions(name, subscription, unprotected),
            retry=wait_for_roles(f"{name}-role-propagation"),
            # Components pass `protect` on to their children. All components get it: a destroy that is refused for one
            # resource continues with the others, and would forget, without deleting them, those deleted with the
            # cluster.
            protected=pulumi.ResourceOptions(parent=self, protect=settings.protect),
            unprotected=unprotected,
        )

        target_cluster = declare_target_cluster(common)
        azure = target_cluster.azure
        data = azure.data if azure is not None else None
        install = declare_install_target(common, target_cluster)
        declare_isolation(common, install)
        declare_drift_reader(common, install)
        chosen = InstalledParts(common, install, azure)
        chosen.declare("cluster")
        declare_scraping(common, install, chosen.releases_of(("kube_prometheus",)))
        declare_container_logs(common, install)
        admission = declare_admission(common, install)
        declare_acceptance(common, install)
        gate = declare_gpu_stack(
            common,
            install,
            settled=target_cluster.settled,
            parts=chosen,
        )
        inside = chosen.declare("services").get("in_cluster_data")
        endpoints = data.endpoints() if data is not None else None
        if isinstance(inside, InClusterData):
            endpoints = inside.endpoints
        service = declare_control_plane(common, azure, install, endpoints, certificates=chosen.ready("cert_manager"))
        tokens = declare_backend_tokens(common, azure, loaded.served)
        osmo = declare_osmo(
            common,
            azure.identities if azure is not None else None,
            install,
            admission,
            control_plane=service,
            token_login=token_login(common, azure, tokens),
            # Without a vault in Azure there is no place for the tokens of others.
            served=loaded.served if tokens is not None else (),
        )
        share_workflow_data(common, osmo, data)

        others: list[Installs | None] = [service, osmo]
        installs = [*chosen.by_name.values(), *(each for each in others if each is not None)]
        releases = {name: each for installed in installs for name, each in installed.installed.items()}
        declare_release_gate(common, install, releases)

        found = Deployed(
            cluster=target_cluster.outputs,
            network_commands=network_commands(common, azure.foundation) if azure is not None else {},
            gpus=gate.gpus,
            releases=releases,
            workflows_principal_id=osmo.workflows.identity.principal_id if osmo.workflows is not None else None,
            data=data,
            served=loaded.served,
            tokens=tokens.served if tokens is not None else {},
        )
        self.outputs = stack_outputs(settings, found)
        self.register_outputs(self.outputs)

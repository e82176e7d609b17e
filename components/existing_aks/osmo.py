"""OSMO's agents and the scheduler for an AKS cluster that another program has created."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pulumi

from components.existing_aks.gpu_stack import VALUES, report
from components.existing_aks.target import AksTarget
from components.kubernetes.charts import InstalledRelease
from components.osmo.osmo import Osmo, OsmoArgs
from physical_ai.catalog import osmo
from physical_ai.planning.osmo import osmo_releases
from physical_ai.planning.osmo_backend import osmo_backend
from physical_ai.planning.osmo_service import values_files
from physical_ai.settings import Pool
from physical_ai.settings.facts.naming import Names
from physical_ai.settings.facts.osmo import AGENT_TOKEN

NAMESPACES = (osmo.KAI_NAMESPACE, osmo.CONTROL_NAMESPACE, osmo.OPERATOR_NAMESPACE, osmo.WORKFLOWS_NAMESPACE)


@dataclass(frozen=True)
class OsmoBackendArgs:
    """Inputs of `OsmoBackend`."""

    cluster: AksTarget
    """The cluster, and access to it."""
    pools: Mapping[str, Pool]
    """GPU pools by their name in AKS: each becomes a platform that workflows can name."""
    service_url: str
    """Address of OSMO's control plane, such as `https://osmo.example.com`."""
    token: pulumi.Input[str]
    """Token of the agents: what `osmo token set` prints. Pass it as a secret."""
    backend_name: str | None = None
    """Name of this cluster at the control plane; None for `default`."""
    values: Path = VALUES
    """Folder with values files in the layout of the platform's folder `values/`."""


class OsmoBackend(pulumi.ComponentResource):
    """The KAI scheduler and OSMO's agents, which connect the cluster to a control plane elsewhere.

    A deployment waits until scheduler and agents are available. The namespaces have the quotas and network policies of
    the platform; Pods of workflows have no identity in Azure.

    Attributes:
        releases: Helm releases by name.
    """

    releases: Mapping[str, InstalledRelease]

    def __init__(self, name: str, args: OsmoBackendArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:existingAks:OsmoBackend", name, {}, opts)
        target = args.cluster.cluster(name)
        named = {"backendName": args.backend_name} if args.backend_name else {}
        section = {"mode": "backend", "serviceUrl": args.service_url, "login": "token", **named}
        settings = args.cluster.settings(args.pools, {"osmo": section})
        planned, faults = osmo_releases(settings, args.values)
        report(self, faults)
        releases = [replace(each, values=args.cluster.placed(each.values, settings)) for each in planned]
        given = OsmoArgs(
            target=target,
            settings=settings,
            backend=osmo_backend(settings, releases, has_token=True),
            secrets={AGENT_TOKEN: pulumi.Output.secret(args.token)},
            names=Names(str(settings.stack)),
            identities=None,
            kubeconfig=args.cluster.kubeconfig,
            namespaces=args.cluster.namespaces(name, target, NAMESPACES, self),
            service_values=values_files(settings, ()),
        )
        self.releases = Osmo(f"{name}-osmo", given, pulumi.ResourceOptions(parent=self)).installed
        self.register_outputs({"serviceUrl": args.service_url})

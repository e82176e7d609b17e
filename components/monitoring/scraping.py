"""Selection of the Pods that the metrics collector scrapes, and network policies by which only the collector reaches
their ports.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes

from components.kubernetes.cluster_target import ClusterTarget
from components.kubernetes.objects import declare
from physical_ai.planning.scraping import network_policies, pod_monitors
from physical_ai.settings import Settings


@dataclass(frozen=True)
class ScrapingArgs:
    """Inputs of `Scraping`. `after`: the exporters' namespaces, and the release that installs the CRD of PodMonitor."""

    target: ClusterTarget
    settings: Settings
    after: Sequence[pulumi.Resource]


class Scraping(pulumi.ComponentResource):
    """A PodMonitor and a network policy for each metrics exporter."""

    def __init__(self, name: str, args: ScrapingArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:kubernetes:Scraping", name, {}, opts)
        monitors = pod_monitors(args.settings)
        for monitor in monitors:
            kubernetes.apiextensions.CustomResource(
                f"{name}-{monitor['metadata']['name']}",
                api_version=monitor["apiVersion"],
                kind=monitor["kind"],
                metadata=monitor["metadata"],
                spec=monitor["spec"],
                opts=args.target.options(self, args.after),
            )
        declare(name, self, args.target, network_policies(args.settings), after=args.after)
        self.register_outputs({"monitors": [each["metadata"]["name"] for each in monitors]})

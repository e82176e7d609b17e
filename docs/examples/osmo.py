"""OSMO's agents and the KAI scheduler: the cluster runs workflows of a control plane elsewhere."""

from __future__ import annotations

import pulumi
from gpu_pool import h100
from gpu_stack import stack
from own_cluster import target

from components.existing_aks import OsmoBackend, OsmoBackendArgs

backend = OsmoBackend(
    "osmo",
    OsmoBackendArgs(
        cluster=target,
        pools={"h100": h100},
        service_url="https://osmo.example.com",
        token=pulumi.Config().get_secret("osmoToken") or pulumi.Output.secret("replace-this-token"),
        backend_name="robots",
    ),
    pulumi.ResourceOptions(depends_on=[stack]),
)
pulumi.export("osmoReleases", sorted(backend.releases))

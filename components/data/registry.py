"""The registry that nodes pull through: it caches images of other registries, and holds the stack's own images."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
from pulumi_azure_native import containerregistry

from components.azure.roles import assign_role
from components.data.common import ENABLED, Place
from physical_ai.catalog.aks import Role
from physical_ai.settings.models.data_services import Registry as RegistrySettings


@dataclass(frozen=True)
class RegistryArgs:
    place: Place
    settings: RegistrySettings
    subscription_id: str
    puller: pulumi.Input[str]
    """Entra object id of the kubelets' identity."""


class Registry(pulumi.ComponentResource):
    """A container registry without an administrator's password and without anonymous pulls.

    An image `nvcr.io/nvidia/cuda:13` is pulled as `<login_server>/nvcr.io/nvidia/cuda:13`.

    Attributes:
        ready: resources that must exist before nodes can pull from the registry.
    """

    registry: containerregistry.Registry
    id: pulumi.Output[str]
    login_server: pulumi.Output[str]
    ready: list[pulumi.Resource]

    def __init__(self, name: str, args: RegistryArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:azure:Registry", name, {}, opts)
        place, plan = args.place, args.place.plan
        self.registry = containerregistry.Registry(
            f"{name}-registry",
            registry_name=place.names.registry,
            resource_group_name=place.resource_group_name,
            location=place.location,
            tags=place.tags,
            sku=containerregistry.SkuArgs(name=plan.registry_sku),
            admin_user_enabled=False,
            anonymous_pull_enabled=False,
            public_network_access=place.public_access,
            network_rule_bypass_options="None" if plan.registry_sku == "Premium" else None,
            zone_redundancy=ENABLED[True] if plan.zone_redundant_registry else None,
            opts=place.kept(self),
        )
        self.ready = [
            containerregistry.CacheRule(
                f"{name}-{host.replace('.', '-')}",
                cache_rule_name=host.replace(".", "-"),
                registry_name=self.registry.name,
                resource_group_name=place.resource_group_name,
                source_repository=f"{host}/*",
                target_repository=f"{host}/*",
                opts=pulumi.ResourceOptions(parent=self),
            )
            for host in args.settings.upstreams
        ]
        self.ready.append(
            assign_role(
                f"{name}-pull",
                role=Role.ACR_PULL,
                scope=self.registry.id,
                principal_id=args.puller,
                principal_type="ServicePrincipal",
                subscription_id=args.subscription_id,
                opts=pulumi.ResourceOptions(parent=self),
            )
        )
        self.id, self.login_server = self.registry.id, self.registry.login_server
        self.register_outputs({"loginServer": self.login_server})

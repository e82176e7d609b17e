"""Storage for the data and the output of workflows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
from pulumi_azure_native import storage

from components.data.common import Place
from physical_ai.settings.facts.data_services import CONTAINERS
from physical_ai.settings.models.data_services import Storage as StorageSettings

ONLY_NAME = "default"
"""The only name that ARM accepts for the blob service and the lifecycle rules of an account."""


@dataclass(frozen=True)
class StorageArgs:
    place: Place
    settings: StorageSettings


class Storage(pulumi.ComponentResource):
    """A storage account without shared keys: every request has a token of Entra.

    Attributes:
        containers: name of each container, by use: data, logs, apps.
    """

    storage_account: storage.StorageAccount
    account: pulumi.Output[str]
    blob_endpoint: pulumi.Output[str]
    containers: Mapping[str, pulumi.Output[str]]

    def __init__(self, name: str, args: StorageArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:azure:Storage", name, {}, opts)
        place, settings = args.place, args.settings
        self.storage_account = storage.StorageAccount(
            f"{name}-account",
            account_name=place.names.storage,
            resource_group_name=place.resource_group_name,
            location=place.location,
            tags=place.tags,
            kind="StorageV2",
            sku=storage.SkuArgs(name=f"Standard_{place.plan.redundancy}"),
            access_tier=storage.AccessTier.HOT,
            is_hns_enabled=settings.hierarchical_namespace,
            allow_shared_key_access=False,
            allow_blob_public_access=False,
            allow_cross_tenant_replication=False,
            default_to_o_auth_authentication=True,
            enable_https_traffic_only=True,
            minimum_tls_version="TLS1_2",
            public_network_access=place.public_access,
            network_rule_set=storage.NetworkRuleSetArgs(
                # A list of addresses would not work: requests from the same region do not come from the nodes' public
                # addresses.
                default_action=storage.DefaultAction.ALLOW if place.plan.public else storage.DefaultAction.DENY,
                bypass="None",
            ),
            opts=place.kept(self),
        )
        self.account = self.storage_account.name
        self._blob_service(name, args)
        self.containers = {use: self._container(f"{name}-{use}", use, place) for use in CONTAINERS}
        self._lifecycle(name, args)
        self.blob_endpoint = self.storage_account.primary_endpoints.apply(lambda endpoints: endpoints.blob)
        self.register_outputs({"account": self.account})

    def _blob_service(self, name: str, args: StorageArgs) -> None:
        kept = storage.DeleteRetentionPolicyArgs(enabled=True, days=args.settings.soft_delete_days)
        storage.BlobServiceProperties(
            f"{name}-blobs",
            blob_services_name=ONLY_NAME,
            account_name=self.account,
            resource_group_name=args.place.resource_group_name,
            delete_retention_policy=kept,
            container_delete_retention_policy=kept,
            opts=pulumi.ResourceOptions(parent=self),
        )

    def _container(self, name: str, use: str, place: Place) -> pulumi.Output[str]:
        return storage.BlobContainer(
            name,
            container_name=use,
            account_name=self.account,
            resource_group_name=place.resource_group_name,
            public_access=storage.PublicAccess.NONE,
            opts=place.kept(self),
        ).name

    def _lifecycle(self, name: str, args: StorageArgs) -> None:
        storage.ManagementPolicy(
            f"{name}-lifecycle",
            management_policy_name=ONLY_NAME,
            account_name=self.account,
            resource_group_name=args.place.resource_group_name,
            policy=storage.ManagementPolicySchemaArgs(rules=_rules(args.settings)),
            opts=pulumi.ResourceOptions(parent=self),
        )


def _rules(settings: StorageSettings) -> list[storage.ManagementPolicyRuleArgs]:
    actions = {"logs": storage.ManagementPolicyBaseBlobArgs(delete=_after(settings.delete_logs_after_days))}
    if (days := settings.cool_data_after_days) is not None:
        actions["data"] = storage.ManagementPolicyBaseBlobArgs(tier_to_cool=_after(days))
    return [
        storage.ManagementPolicyRuleArgs(
            name=use,
            type="Lifecycle",
            enabled=True,
            definition=storage.ManagementPolicyDefinitionArgs(
                actions=storage.ManagementPolicyActionArgs(base_blob=action),
                filters=storage.ManagementPolicyFilterArgs(blob_types=["blockBlob"], prefix_match=[f"{use}/"]),
            ),
        )
        for use, action in actions.items()
    ]


def _after(days: int) -> storage.DateAfterModificationArgs:
    return storage.DateAfterModificationArgs(days_after_modification_greater_than=days)

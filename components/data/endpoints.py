"""Addresses of the data services that a control plane uses, in Azure or in the cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi

from components.data.vault import Vault


@dataclass(frozen=True)
class DataEndpoints:
    """Addresses and names by which a control plane reaches its data services, in Azure or in the cluster.

    Attributes:
        storage: addresses of the storage containers, by use, for Pods that log in with an identity; empty if Pods read
            addresses and keys from Secrets instead.
        storage_account: id of the storage account in Azure; None if the storage is in the cluster.
        vault: key vault of the secrets; None if the stack has no vault.
        after: resources that must exist, and work, before the control plane starts.
    """

    postgres_host: pulumi.Input[str]
    postgres_port: int
    postgres_database: pulumi.Input[str]
    postgres_user: str
    postgres_password: pulumi.Output[str]
    redis_host: pulumi.Input[str]
    redis_port: int
    redis_key: pulumi.Output[str]
    storage: Mapping[str, pulumi.Input[str]]
    storage_account: pulumi.Input[str] | None
    vault: Vault | None
    after: Sequence[pulumi.Resource] = ()

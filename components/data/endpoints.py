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
        storage: address of each container that Pods reach with an identity; empty where Secrets have the addresses and
            keys of the storage.
        storage_account: id in Azure of the account that roles are assigned on; None without one.
        vault: key vault of the secrets; None where there is none.
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

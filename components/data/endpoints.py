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
        storage: address of each container with an identity; empty where Secrets have addresses and keys.
        storage_account: id in Azure of the account that roles are assigned on; None without one.
        vault: where secrets are kept; None where there is none.
        after: what must exist, and work, before the control plane starts.
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

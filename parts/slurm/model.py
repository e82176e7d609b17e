"""Settings of a Slurm cluster on pools of the cluster."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from physical_ai.settings.models.base import Model, written
from physical_ai.settings.models.node_pools import PoolName

MaxTime = Annotated[
    str,
    written(
        r"^(UNLIMITED|(\d{1,3}-)?\d{1,2}:\d{2}:\d{2})$",
        'a time of Slurm\'s in quotes, like "7-00:00:00", "12:00:00", or UNLIMITED',
    ),
]
SshKey = Annotated[str, written(r"^(ssh|ecdsa|sk)-\S+ \S+( .*)?$", "a public key of SSH, as in a file id_ed25519.pub")]


class SlurmLogin(Model):
    """A login Pod of Slurm, which users reach through the Kubernetes API: kubectl port-forward."""

    ssh_keys: Annotated[tuple[SshKey, ...], Field(min_length=1)] = Field(description="Public keys that may log in.")


class Slurm(Model):
    """A Slurm cluster, installed by SchedMD's operator. Only Slurm uses the nodes of its pools."""

    pools: Annotated[tuple[PoolName, ...], Field(min_length=1)] = Field(
        description="GPU pools whose nodes are Slurm's: each becomes a partition. OSMO has no platform for them."
    )
    max_time: MaxTime = Field(default="7-00:00:00", description="The longest that a job may run, in Slurm's form.")
    login: SlurmLogin | None = Field(default=None, description="A login Pod; absent: none, jobs come by kubectl exec.")

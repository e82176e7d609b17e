"""The shape of settings about GPUs that Pods get by resource claims (dynamic resource allocation)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from physical_ai.settings.models.base import Model, NamespaceName, written

ClaimName = Annotated[
    str,
    written(
        r"^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$",
        "a claim's name: 1 to 40 lowercase letters, digits and hyphens, with a letter or digit at both ends",
    ),
]
Architecture = Literal["Ampere", "Ada Lovelace", "Hopper", "Blackwell"]
TimeSlice = Literal["Default", "Short", "Medium", "Long"]


class GpuClaim(Model):
    """Request for GPUs by a claim. Each of the GPUs has to meet every condition."""

    gpus: Annotated[int, Field(ge=1, le=16)] = Field(default=1, description="GPUs of one node.")
    gpu: str | None = Field(
        default=None, description="GPU as OSMO's platforms name it, like h100; absent: any that fits."
    )
    memory_gb: Annotated[int, Field(ge=1, le=1000)] | None = Field(
        default=None,
        description="Least memory of each GPU, in GB of 10^9 bytes: a GPU of nominally 80 GB counts 79.6 GiB.",
    )
    architecture: Architecture | None = Field(default=None, description="Architecture, as the driver names it.")
    time_slice: TimeSlice | None = Field(
        default=None,
        description="Time slice of the containers that share the GPU in turn; absent: the driver's default. Memory is"
        " not divided.",
    )
    shared: bool = Field(
        default=False,
        description="One claim for all Pods of a namespace that name it, in place of a template of which each Pod gets"
        " its own.",
    )


class ClaimNamespace(Model):
    """Namespace that the program creates, with the stack's claims in it."""

    quota: dict[str, Annotated[int, Field(ge=0, le=10000)]] | None = Field(
        default=None,
        description="GPUs that its claims may hold together, by GPU (like h100), or `any` for claims that name none;"
        " what is not named may hold none. Absent: no limit.",
    )


class Dra(Model):
    """Resource claims for the GPUs of pools with `allocation: dra`."""

    claims: dict[ClaimName, GpuClaim] = Field(
        default_factory=dict,
        description="Claims by name, in each namespace, beside one for a whole GPU of each kind under the GPU's name.",
    )
    namespaces: dict[NamespaceName, ClaimNamespace] = Field(
        default_factory=dict, description="Namespaces with these claims, which the program creates."
    )

"""The shape of settings about AMD's GPUs: their operator, and the driver that it builds."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from physical_ai.settings.models.base import Model, SecretName, written

AmdDriverVersion = Annotated[
    str, written(r"^\d+\.\d+(\.\d+){0,2}$", 'a version of AMD\'s driver packages in quotes, like "6.4.3"')
]
Repository = Annotated[
    str,
    written(
        r"^[a-z0-9]+([._-][a-z0-9]+)*(:[0-9]+)?(/[a-z0-9]+([._-][a-z0-9]+)*)+$",
        "a repository of a registry without a tag, like contoso.azurecr.io/amd/driver",
    ),
]
"""Repository of the built drivers, without a tag.

The operator makes the tag: <system>-<release>-<kernel>-<driver> (ROCm/gpu-operator api/v1alpha1).
"""


class AmdDriver(Model):
    """The driver that Kernel Module Management builds in the cluster, once for each kernel."""

    version: AmdDriverVersion = Field(description="Release below repo.radeon.com/amdgpu-install.")
    image: Repository = Field(
        description="Repository, without a tag, for the built drivers: one image for each kernel and driver version."
    )
    registry_user: Annotated[str, Field(min_length=1)] = Field(
        description="User that pushes and pulls there, such as the name of a token of the registry for this repository."
    )
    registry_secret: SecretName = Field(description="The stack's secret with the password of registryUser.")


class AmdGpuOperator(Model):
    """AMD GPU Operator, for pools of AMD's GPUs."""

    driver: AmdDriver = Field(description="Driver of all pools of AMD's GPUs.")
    device_plugin_image: str | None = Field(
        default=None, description="Absent: the operator's own, whose tag is latest. Prefer one with a digest."
    )
    node_labeller_image: str | None = Field(
        default=None, description="Absent: the operator's own, whose tag is labeller-latest. Prefer one with a digest."
    )

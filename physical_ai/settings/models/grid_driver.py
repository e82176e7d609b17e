"""Settings of the GRID driver agent: the driver that it installs on nodes with vGPUs, and the download addresses."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from physical_ai.settings.models.base import Model, written

GridBuild = Annotated[str, written(r"^\d{3}\.\d{2,3}(\.\d{2})?$", 'a GRID build in quotes, like "595.91.07"')]
"""GRID driver build. A branch alone is no build, because GRID drivers are never precompiled."""
Sha256 = Annotated[str, written(r"^[0-9a-f]{64}$", "a sha256: 64 hexadecimal digits in lowercase")]
HttpsUrl = Annotated[
    str, written(r"^https://[^\s/?#@]+/[^\s?#]*[^\s?#/]$", "the https address of a file, without credentials or query")
]
"""HTTPS address of a file, without credentials or query."""
HttpsFolder = Annotated[
    str, written(r"^https://[^\s/?#@]+(/[^\s?#]*)?$", "the https address of a folder, without credentials or query")
]
"""HTTPS address of a folder, to which a file name is appended."""
Registry = Annotated[
    str, written(r"^[a-z0-9.-]+\.[a-z0-9-]+(:\d{1,5})?(/[a-z0-9._-]+)*$", "a registry, like example.azurecr.io/mirror")
]
SecretName = Annotated[
    str, written(r"^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$", "the name of a Secret, like registry-login")
]
Kernel = Annotated[str, written(r"^\d+\.\d+[A-Za-z0-9._-]*$", "a kernel release, like 6.8.0-1052-azure")]
GridModules = Literal["auto", "open", "proprietary"]
UpgradePolicy = Literal["wait", "drain", "force"]
UpdateStrategy = Literal["RollingUpdate", "OnDelete"]


class GridInstaller(Model):
    """A GRID driver installer that the catalogue does not have, or that is downloaded from another address."""

    sha256: Sha256 | None = Field(
        default=None, description="Checksum of the installer. Absent: the catalogue's, which must exist then."
    )
    url: HttpsUrl | None = Field(default=None, description="Address of the installer; absent: Microsoft's download.")


class GridPackage(Model):
    """A Debian package, such as kernel headers or a compiler, for nodes that cannot reach a package archive."""

    url: HttpsUrl = Field(description="Address of the .deb.")
    sha256: Sha256 = Field(description="Checksum of the .deb.")
    kernel: Kernel | None = Field(
        default=None,
        description="Kernel release it is for, such as 6.8.0-1052-azure (`uname -r`); absent: every kernel.",
    )


class GridDriver(Model):
    """Settings of the driver that the GRID driver agent installs on pools with driver source `grid`. A pool's own
    driver settings override them.
    """

    version: GridBuild = Field(description="GRID build, like 595.91.07.")
    module_type: GridModules = Field(
        default="auto",
        description="Kernel modules; auto uses those that the GPU needs: open on Blackwell, proprietary on the A10.",
    )
    module_parameters: dict[str, dict[str, str]] = Field(
        default_factory=dict,
        description="Kernel module parameters by module, for all GRID pools; a pool's own override them.",
    )
    installers: dict[GridBuild, GridInstaller] = Field(
        default_factory=dict, description="Checksums and addresses of installers by build, beside the catalogue's."
    )
    mirror: HttpsFolder | None = Field(
        default=None,
        description="Folder that has the installers under Microsoft's file names; used before Microsoft's.",
    )
    offline: bool = Field(
        default=False,
        description="Nodes reach neither Microsoft's downloads nor a package archive: installers come from the mirror,"
        " headers and compilers from packages or the node image.",
    )
    packages: tuple[GridPackage, ...] = Field(default=(), description="Packages for nodes that are offline.")
    dkms: bool = Field(
        default=True, description="Register the modules with DKMS, so that another kernel gets them without a download."
    )
    licence: Literal["required", "optional"] = Field(
        default="required", description="Licence of vGPUs. required: a node without one counts as broken."
    )
    upgrade_policy: UpgradePolicy = Field(
        default="wait",
        description="GPU Pods that block a driver change: wait for their end, drain them (disruption budgets are"
        " kept), or force (delete them).",
    )
    update_strategy: UpdateStrategy = Field(
        default="RollingUpdate",
        description="RollingUpdate: the agents change the nodes' drivers one after the other, when they have waited as"
        " upgradePolicy says. OnDelete: a node keeps its driver until physai roll gives it its turn.",
    )
    present: bool = Field(
        default=True,
        description="false removes the driver from the nodes; the agent remains until the pool or it is deleted.",
    )
    legacy_validation_markers: bool = Field(
        default=False,
        description="Create the marker file and the bind mount of the toolchain of February 2026. They hide the device"
        " nodes and outlive the driver: for comparing, never for work.",
    )
    image_registry: Registry = Field(
        default="docker.io",
        description="Registry, with a path where it needs one, that has library/ubuntu: a mirror, or one of your own.",
    )
    image_pull_secret: SecretName | None = Field(
        default=None,
        description="Secret with the registry's login, in the namespace of the GPU Operator; absent: the image is"
        " pulled anonymously, or with the identity of the nodes.",
    )

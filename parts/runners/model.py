"""Settings of self-hosted GitHub runners in the cluster."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from physical_ai.settings.models.base import Model, written
from physical_ai.settings.models.node_pools import NodePool

ConfigUrl = Annotated[
    str,
    written(
        r"^https://[A-Za-z0-9][A-Za-z0-9.-]*(/enterprises)?/[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9._-]+)?$",
        "the https address of a repository, an organization or an enterprise, like https://github.com/contoso/robots",
    ),
]
AppId = Annotated[str, written(r"^[A-Za-z0-9.]{1,40}$", "the client id of a GitHub App, or its app id in quotes")]
InstallationId = Annotated[str, written(r"^[0-9]{1,20}$", 'the number of an installation in quotes, like "51234567"')]
Label = Annotated[
    str,
    written(
        r"^[a-z0-9]([a-z0-9-]{0,43}[a-z0-9])?$",
        "a scale set's name: 1 to 45 lowercase letters, digits and hyphens, a letter or digit first and last",
    ),
]
RunnerImage = Annotated[str, written(r"^\S+@sha256:[0-9a-f]{64}$", "an image with its digest, NAME@sha256:…")]


class GitHubApp(Model):
    """A GitHub App that registers the runners. Its private key is the stack's secret githubAppPrivateKey."""

    client_id: AppId = Field(description="Client id of the App, or its app id in quotes.")
    installation_id: InstallationId = Field(
        description="Installation of the App in the organization or account, in quotes."
    )


class Runners(Model):
    """Self-hosted runners for the stack's own pipelines. The runners are in the cluster's network, so they can reach a
    private API server.
    """

    config_url: ConfigUrl = Field(
        description="Repository, organization or enterprise whose jobs run here. The narrower, the fewer workflows can"
        " use the runners."
    )
    app: GitHubApp = Field(description="Login that registers runners: a GitHub App, not the token of a person.")
    label: Label | None = Field(
        default=None, description="Name of the scale set, which jobs name in runs-on; absent: physical-ai-<stack>."
    )
    group: str | None = Field(
        default=None,
        description="Runner group of the organization, which decides whose workflows may use the runners; absent:"
        " GitHub's default group, which every repository of the organization uses.",
    )
    min: Annotated[int, Field(ge=0, le=100)] = Field(default=0, description="Runners that wait for jobs.")
    max: Annotated[int, Field(ge=1, le=100)] = Field(default=2, description="Jobs at a time.")
    pool: NodePool = Field(description="Node pool of the runners, in the subnet of the system and cpu pools.")
    cluster_role: Literal["none", "admin"] = Field(
        default="none",
        description="Role on the cluster of an Azure identity that every job on these runners can use. none: there is"
        " no such identity; pipelines log in as their GitHub environment's. admin: RBAC Cluster Admin, as a deployer.",
    )
    image: RunnerImage | None = Field(
        default=None,
        description="Image of the runners, with its digest; absent: GitHub's own, as the catalogue pins it. GitHub"
        " gives no jobs to a runner that is older than it supports.",
    )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.min > self.max:
            raise ValueError(f"min ({self.min}) must not be greater than max ({self.max})")
        return self

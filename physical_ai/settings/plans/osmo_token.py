"""The objects that create the agents' token: the manifests, completed for a stack."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from physical_ai.catalog import osmo
from physical_ai.catalog.aks import POOL_LABEL
from physical_ai.catalog.images import MICROSOFT, image
from physical_ai.settings.facts.images import PYTHON_IMAGE
from physical_ai.settings.facts.osmo_access import control_plane_url
from physical_ai.settings.facts.osmo_token import WARN_DAYS, token_epoch, token_name, token_user
from physical_ai.settings.facts.pools import CPU_POOL
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.plans import agents, manifests
from physical_ai.settings.plans.grid_driver import digest
from physical_ai.settings.plans.grid_objects import FIELD_MANAGER

AGENT = "osmo_token"
"""Folder of the program in `agents/`, and its Python package."""
OBJECTS = "osmo-token"
"""Name of the objects, or its first part."""
FILES_MAP = "osmo-token-agent"
"""Name of the ConfigMap with the program's files, without the digest of its content."""
PASSWORD_FILE = "/opt/osmo-admin/password"  # noqa: S105 - a path


@dataclass(frozen=True)
class OsmoTokenObjects:
    """Everything that creates the token, in the form that `declare_agent` reads."""

    limits: Sequence[Mapping[str, Any]]
    """Admission policies, which must exist before the rights do."""
    rights: Sequence[Mapping[str, Any]]
    config_map: Mapping[str, Any]
    """The program. It never changes: other files are another ConfigMap."""
    job: Mapping[str, Any]
    """Its name changes with the settings and the program: a Job runs once."""
    cron_job: Mapping[str, Any]


def osmo_token_objects(settings: Settings) -> OsmoTokenObjects | None:
    """The objects of a stack; None where the deployment creates no token."""
    url = control_plane_url(settings)
    if not settings.osmo.creates_token or url is None:
        return None
    files = agents.files(AGENT)
    job, cron_job = copy.deepcopy(manifests.load("osmo-token.yaml"))
    name = f"{FILES_MAP}-{digest(files, '')[:10]}"
    arguments = _arguments(settings, url)
    _complete(job["spec"]["template"]["spec"], name, files, ["ensure", *arguments])
    job["metadata"]["name"] = f"{OBJECTS}-{digest(files, f'{arguments!r}{_database(settings)}')[:10]}"
    check = ["check", *arguments, f"--warn-days={min(WARN_DAYS, settings.osmo.token_days - 1)}"]
    template = copy.deepcopy(job["spec"]["template"])
    _complete(template["spec"], name, files, check)
    cron_job["spec"]["jobTemplate"]["spec"]["template"] = template
    return OsmoTokenObjects(
        limits=manifests.load("osmo-token-limits.yaml"),
        rights=manifests.load("osmo-token-rights.yaml"),
        config_map={
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "name": name,
                "namespace": osmo.CONTROL_NAMESPACE,
                "labels": dict(job["metadata"]["labels"]),
                # A fixed manager, so that an earlier version of the files can be deployed again.
                "annotations": {FIELD_MANAGER: "physical-ai-osmo-token"},
            },
            "immutable": True,
            "data": dict(files),
        },
        job=job,
        cron_job=cron_job,
    )


def _arguments(settings: Settings, service_url: str) -> list[str]:
    return [
        f"--service={service_url}",
        f"--password-file={PASSWORD_FILE}",
        f"--user={token_user(settings)}",
        f"--name={token_name(settings)}",
        f"--days={settings.osmo.token_days}",
        f"--secret={osmo.OPERATOR_NAMESPACE}/{osmo.TOKEN_SECRET}",
    ]


def _database(settings: Settings) -> str:
    """The time to which the database was restored: what it then lacks, another Job creates again."""
    return token_epoch(settings).removeprefix(settings.osmo.token_rotation)


def _complete(pod: dict[str, Any], name: str, files: Mapping[str, str], arguments: Sequence[str]) -> None:
    """Adds image, files, arguments and node pool to a Pod of a manifest."""
    pod["nodeSelector"] = {POOL_LABEL: CPU_POOL}
    (container,) = pod["containers"]
    container["image"] = image(PYTHON_IMAGE).at(MICROSOFT)
    container["args"] = list(arguments)
    (code,) = (volume for volume in pod["volumes"] if "configMap" in volume)
    code["configMap"] = {"name": name, "items": [{"key": path, "path": path} for path in files]}

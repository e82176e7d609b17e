"""Kubernetes objects that create the agents' token, or fetch it from a vault: the manifests, completed for a stack."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath as FilePath
from typing import Any

from physical_ai.catalog import osmo
from physical_ai.catalog.azure_identity import TOKEN_AUDIENCE
from physical_ai.catalog.images import MICROSOFT, PYTHON_IMAGE, image
from physical_ai.planning import agents, manifests
from physical_ai.settings.facts.osmo_access import control_plane_url
from physical_ai.settings.facts.osmo_token import (
    WARN_DAYS,
    served_backends,
    served_secret,
    served_token,
    served_user,
    token_epoch,
    token_name,
    token_user,
)
from physical_ai.settings.facts.pools import services_placement
from physical_ai.settings.models.tree import Settings

AGENT = "osmo_token"
"""Folder in `agents/`, and Python package, of the program that creates the token."""
OBJECTS = "osmo-token"
"""Name of the objects that create or fetch the agents' token, or the first part of their names."""
FILES_MAP = "osmo-token-agent"
"""Name of the ConfigMap with the program's files, without the digest of its content."""
IDENTITY_FILE = "/var/run/osmo-identity/token"
"""Path, in a Pod that uses a key vault, of the token with which the Pod's identity logs in."""
RIGHTS = {osmo.CONTROL_NAMESPACE: "osmo-token-rights.yaml", osmo.OPERATOR_NAMESPACE: "osmo-token-fetch-rights.yaml"}
PASSWORD_FILE = "/opt/osmo-admin/password"  # noqa: S105 - a path


@dataclass(frozen=True)
class OsmoTokenObjects:
    """All objects that create or fetch the token, in the form that `declare_agent` expects."""

    limits: Sequence[Mapping[str, Any]]
    """Admission policies that restrict the RBAC rights of the token's Pods; they must exist before the rights are
    granted.
    """
    rights: Sequence[Mapping[str, Any]]
    config_map: Mapping[str, Any]
    """ConfigMap with the program. It never changes: changed files get a new ConfigMap."""
    job: Mapping[str, Any]
    """Job that creates or fetches the token. The Job's name changes with the settings and the program, because a Job
    runs only once.
    """
    cron_job: Mapping[str, Any]


def osmo_token_objects(settings: Settings, served: Sequence[Settings] = ()) -> OsmoTokenObjects | None:
    """Objects of a stack that create or fetch the agents' token; None where the deployment neither creates a token nor
    fetches one from a vault.

    `served` are the settings of stacks whose clusters the stack's control plane serves.
    """
    url = control_plane_url(settings)
    if url is None:
        return None
    if settings.osmo.creates_token:
        days = min(WARN_DAYS, settings.osmo.token_days - 1)
        create = [*_arguments(settings, url), *_creating(settings, served)]
        uses_vault = bool(served_backends(served))
        return _objects(settings, osmo.CONTROL_NAMESPACE, ("ensure", "check"), create, days, uses_vault=uses_vault)
    if settings.osmo.fetches_token:
        take = [*_arguments(settings, url), f"--vault-secret={served_secret(settings.osmo.backend_name)}"]
        return _objects(settings, osmo.OPERATOR_NAMESPACE, ("fetch", "fetch"), take, WARN_DAYS, uses_vault=True)
    return None


def _objects(
    settings: Settings,
    namespace: str,
    modes: tuple[str, str],
    arguments: Sequence[str],
    warn_days: int,
    *,
    uses_vault: bool,
) -> OsmoTokenObjects:
    """Objects for a Job and a daily check. `modes` are the program's modes in the Job and in the check."""
    program = agents.Program(FILES_MAP, f"physical-ai-{OBJECTS}", agents.package(AGENT))
    job, cron_job = copy.deepcopy(manifests.load("osmo-token.yaml"))
    pod: dict[str, Any] = job["spec"]["template"]["spec"]
    if uses_vault:
        _add_identity(pod)
    if namespace != osmo.CONTROL_NAMESPACE:
        _remove_password(pod)
    for each in (job, cron_job):
        each["metadata"]["namespace"] = namespace
    first, daily = modes
    _complete(pod, program, [first, *arguments, *(["--warn-days=0"] if first == "fetch" else [])], settings)
    job["metadata"]["name"] = f"{OBJECTS}-{program.digest(f'{arguments!r}{_database(settings)}')[:10]}"
    check = [daily, *arguments, f"--warn-days={warn_days}"]
    template = copy.deepcopy(job["spec"]["template"])
    _complete(template["spec"], program, check, settings)
    cron_job["spec"]["jobTemplate"]["spec"]["template"] = template
    return OsmoTokenObjects(
        limits=manifests.load("osmo-token-limits.yaml"),
        rights=manifests.load(RIGHTS[namespace]),
        config_map=program.config_map(namespace, job["metadata"]["labels"]),
        job=job,
        cron_job=cron_job,
    )


def _arguments(settings: Settings, service_url: str) -> list[str]:
    return [
        f"--service={service_url}",
        f"--user={token_user(settings)}",
        f"--name={token_name(settings)}",
        f"--secret={osmo.OPERATOR_NAMESPACE}/{osmo.TOKEN_SECRET}",
    ]


def _creating(settings: Settings, served: Sequence[Settings]) -> list[str]:
    others = [
        f"--served={served_user(name)}={served_token(settings, name)}={served_secret(name)}"
        for name in served_backends(served).values()
    ]
    return [f"--password-file={PASSWORD_FILE}", f"--days={settings.osmo.token_days}", *others]


def _add_identity(pod: dict[str, Any]) -> None:
    """Mounts a service account token that Entra accepts for the federated identity."""
    source = {"serviceAccountToken": {"path": "token", "audience": TOKEN_AUDIENCE, "expirationSeconds": 3600}}
    pod["volumes"].append({"name": "identity", "projected": {"defaultMode": 0o444, "sources": [source]}})
    (container,) = pod["containers"]
    mount = {"name": "identity", "mountPath": str(FilePath(IDENTITY_FILE).parent), "readOnly": True}
    container["volumeMounts"].append(mount)


def _remove_password(pod: dict[str, Any]) -> None:
    """Removes the volume with the administrator's password, which exists only in the namespace of a control plane."""
    pod["volumes"] = [each for each in pod["volumes"] if each["name"] != "admin"]
    (container,) = pod["containers"]
    container["volumeMounts"] = [each for each in container["volumeMounts"] if each["name"] != "admin"]


def _database(settings: Settings) -> str:
    """Text about the last restore of the database, which changes with each restore; empty if there was none.

    Tokens that the restored database lacks are created again by a new Job.
    """
    return token_epoch(settings).removeprefix(settings.osmo.token_rotation)


def _complete(pod: dict[str, Any], program: agents.Program, arguments: Sequence[str], settings: Settings) -> None:
    """Adds image, files, arguments and placement to the Pod spec of a manifest."""
    pod |= services_placement(settings)
    (container,) = pod["containers"]
    container["image"] = image(PYTHON_IMAGE).at(MICROSOFT)
    container["args"] = list(arguments)
    program.mount(pod)

"""The Pod that OSMO would create for a task: its containers, merged with its platform's pod template."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import yaml

from physical_ai.catalog.osmo import FINALIZER, TASK_LABEL
from workbench.osmo import names, units
from workbench.osmo.choices import NORMAL
from workbench.osmo.merge import merge
from workbench.osmo.pods import containers
from workbench.osmo.pods.files import FileMount, task_file, text_file
from workbench.osmo.refusal import UNEXPECTED_SHAPE, Refusal, crash
from workbench.osmo.service.configuration import Configuration
from workbench.osmo.service.pools import Platform, Pool
from workbench.osmo.service.sections import DatasetConfig, DefaultDataCredential, StaticDataCredential
from workbench.osmo.tokens import default_variables, label_tokens, resource_tokens, substitute
from workbench.osmo.workflow.schema import TaskSpec
from workbench.osmo.workflow.spec_data import OUTPUT_FOLDER, DatasetInputOutput, URLInputOutput

OWN_VOLUMES = ("osmo", "osmo-data", "osmo-login", "osmo-usr-bin", "osmo-run")


@dataclass(frozen=True)
class Run:
    """One run of a workflow: UUIDs that OSMO generates, the user's tokens and credentials, and the priority."""

    workflow_id: str
    workflow_uuid: str
    uuids: Mapping[str, str]
    """UUIDs that OSMO generates for the groups and tasks, by the name of the group or task."""
    user: str = "user"
    token: str = "JWT"  # noqa: S105 - a placeholder
    refresh_token: str = "REFRESH-TOKEN"  # noqa: S105 - as above
    credentials: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    """Keys and values of the user's generic credentials, by the credential's name."""
    registries: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    """The user's registry credentials, each with the keys `username` and `auth`, by the registry's host."""
    priority: str = NORMAL


@dataclass(frozen=True)
class Group:
    """Properties of a task's group that the task's Pod depends on."""

    name: str
    uuid: str
    size: int
    has_barrier: bool
    feeds_others: bool
    """True if another group has an input from this group."""


@dataclass(frozen=True)
class Made:
    """A Pod, and the files for which Secrets must exist before the Pod is created."""

    pod: dict[str, Any]
    files: list[FileMount]


def make(task: TaskSpec, group: Group, run: Run, config: Configuration, pool: Pool) -> Made:
    """The task's Pod, without the scheduler's labels and annotations. Raises Refusal if OSMO would not create it."""
    try:
        return _make(task, group, run, config, pool)
    except UNEXPECTED_SHAPE as error:
        raise crash(f"{task.name}: {error}") from None


def _make(task: TaskSpec, group: Group, run: Run, config: Configuration, pool: Pool) -> Made:
    workflow = config.workflow
    storage = workflow.workflow_data.credential
    if storage is None:
        raise Refusal("OSMOServerError", "workflow.workflow_data.credential is not set")
    platform = pool.platforms[task.resources.platform or ""]
    labels = _labels(task, group, run, pool)
    files = [task_file(group.uuid, file) for file in task.files]
    own = _own_files(task, group, run, config)
    host = [containers.host_mount(index, mount) for index, mount in _host_mounts(task, platform)]
    tokens = _tokens(task, pool, platform, labels)
    control_mounts = [
        *(file.mount for file in files if file.path.startswith(f"{OUTPUT_FOLDER}/")),
        *(own[name].mount for name in ("user_config", "service_config", "metadata", "refresh")),
    ]
    spec: dict[str, Any] = {
        "restartPolicy": "Never",
        "imagePullSecrets": [{"name": f"{group.uuid}-{owner}"} for owner in pull_secrets(config)],
        "hostNetwork": task.hostNetwork,
        "containers": [
            containers.user_container(task, group.uuid, files, [mount for _, mount in host], workflow),
            containers.control_container(
                task,
                group.uuid,
                workflow,
                args=_control_args(task, group, run, config, storage.endpoint),
                file_mounts=control_mounts,
                cache_mib=math.floor(units.convert(str(tokens["USER_CACHE"]), "MiB")),
                download=task.downloadType or pool.download_type or workflow.workflow_data.download_type,
            ),
        ],
        "initContainers": [containers.init_container(workflow, own["login"], own["user_config"])],
        "volumes": [
            *({"name": name} for name in OWN_VOLUMES),
            *(file.volume for file in files),
            *(volume for volume, _ in host),
            *(own[name].volume for name in ("login", "user_config", "service_config", "metadata", "refresh")),
        ],
    }
    if group.size > 1:
        spec |= {"hostname": run.uuids[task.name], "subdomain": f"osmo-{group.uuid}"}
    pod = {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {
            "name": f"{run.workflow_uuid[:16]}-{run.uuids[task.name][:16]}",
            "labels": {**labels, **platform.labels},
            "finalizers": [FINALIZER],
        },
        "spec": spec,
    }
    merged = merge(pod, substitute(platform.parsed_pod_template, tokens))
    in_order = ("service_config", "metadata", "refresh", "login", "user_config")
    return Made(merged, [*files, *(own[name] for name in in_order)])


def _tokens(task: TaskSpec, pool: Pool, platform: Platform, labels: Mapping[str, str]) -> dict[str, Any]:
    """Values of the tokens in the platform's pod template."""
    variables = default_variables(pool.common_default_variables, platform.default_variables)
    tokens = resource_tokens(task.resources.model_dump(), variables, task.cacheSize)
    return {**tokens, "USER_CONTAINER_NAME": names.container_name(task.name), **label_tokens(labels)}


def _control_args(task: TaskSpec, group: Group, run: Run, config: Configuration, storage: str) -> list[str]:
    return [
        *("-workflow", run.workflow_id, "-groupName", group.name, "-retryId", "0", "-logSource", task.name),
        *containers.service_args(config.service.service_base_url),
        *(("-barrier", containers.BARRIER) if group.has_barrier else ()),
        *containers.data_args(task, run.workflow_id, storage, feeds_others=group.feeds_others),
        *("-userConfig", containers.USER_CONFIG, "-serviceConfig", containers.SERVICE_CONFIG),
    ]


def _labels(task: TaskSpec, group: Group, run: Run, pool: Pool) -> dict[str, str]:
    return {
        **names.group_labels(run.workflow_id, run.workflow_uuid, group.name, group.uuid, run.user),
        TASK_LABEL: names.label_value(task.name),
        "osmo.task_uuid": run.uuids[task.name],
        "osmo.retry_id": "0",
        **({"osmo.lead_container": "true"} if task.lead else {}),
        "osmo.pool": pool.name,
        "osmo.platform": task.resources.platform or "",
        "osmo.priority": run.priority.lower(),
    }


def _host_mounts(task: TaskSpec, platform: Platform) -> list[tuple[int, str]]:
    """Folders of the node that the task mounts and that the platform's pod template does not mount already, each with
    its position in the task's list of mounts.

    Raises Refusal for a folder that is not in the platform's `allowed_mounts`, even if the pod template mounts the
    folder.
    """
    for mount in task.volumeMounts:
        if mount.split(":")[0] not in platform.allowed_mounts:
            source = mount.split(":")[0]
            raise crash(f"{task.name}: platform '{task.resources.platform}' does not allow the mount {source}")
    mounts = enumerate(task.volumeMounts)
    return [(index, mount) for index, mount in mounts if mount.split(":")[0] not in platform.default_mounts]


def pull_secrets(config: Configuration) -> list[str]:
    """Owners of the image pull secrets that a Pod gets: always `user`, and also `osmo` if the configuration has a
    registry login for OSMO's own images.
    """
    login = config.workflow.backend_images.credential
    return ["user", "osmo"] if login.registry and login.username and login.auth else ["user"]


def _own_files(task: TaskSpec, group: Group, run: Run, config: Configuration) -> dict[str, FileMount]:
    """Files that OSMO itself adds to the Pod, by name."""
    storage, uuid = config.workflow.workflow_data.credential, run.uuids[task.name]
    assert storage is not None
    access = _access(storage)
    profile = names.storage_profile(storage.endpoint)
    metadata = {
        "input_data": [item.url for item in task.inputs if isinstance(item, URLInputOutput)],
        "input_datasets": [
            names.dataset(item.dataset.name, in_file=False).full_name
            for item in task.inputs
            if isinstance(item, DatasetInputOutput)
        ],
        "wfid": run.workflow_id,
        "created_by": run.user,
    }

    def file(path: str, content: Any, key: str = "") -> FileMount:
        return text_file(group.uuid, path, yaml.dump(content), key)

    return {
        "login": file("/osmo/login.yaml", _login(task, group, run, config), f"{uuid}-login"),
        "user_config": file(containers.USER_CONFIG, {"auth": {"data": _buckets(config.dataset)}}),
        "service_config": file(containers.SERVICE_CONFIG, {"auth": {"data": {profile: access}}}),
        "metadata": file(containers.METADATA, {"default": metadata}),
        "refresh": text_file(group.uuid, containers.REFRESH_TOKEN, run.refresh_token, f"{uuid}-refresh-token"),
    }


def _access(storage: DefaultDataCredential) -> dict[str, str]:
    access: dict[str, str] = {"endpoint": storage.endpoint}
    if isinstance(storage, StaticDataCredential):
        access |= {"access_key_id": storage.access_key_id, "access_key": storage.access_key}
    optional = {"region": storage.region, "override_url": storage.override_url}
    return access | {key: value for key, value in optional.items() if value}


def _buckets(config: DatasetConfig) -> dict[str, Any]:
    """Keys of all storage buckets that have a default credential.

    OSMO writes them into a Secret for every task, whether the task uses datasets or not (NVIDIA/OSMO 6.3.1
    src/utils/connectors/postgres.py, get_all_data_creds).
    """
    found: dict[str, Any] = {}
    for bucket in config.buckets.values():
        profile = names.storage_profile(bucket.dataset_path)
        if bucket.default_credential is not None and profile not in found:
            own = bucket.default_credential.model_copy(update={"endpoint": profile, "region": bucket.region})
            found[profile] = _access(own)
    return found


def _login(task: TaskSpec, group: Group, run: Run, config: Configuration) -> dict[str, Any]:
    url = config.service.service_base_url
    query = {"workflow_id": run.workflow_id, "group_name": group.name, "task_name": task.name, "retry_id": 0}
    return {
        "token_login": {
            "id_token": run.token,
            "refresh_url": f"{url}/api/auth/jwt/refresh_token?{urlencode(query)}",
            "refresh_token": run.refresh_token,
        },
        "url": url,
        "osmo_token": True,
        "username": run.user,
    }

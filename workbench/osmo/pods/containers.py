"""The three containers of a Pod that OSMO creates: the user's container, the data container, and the init container."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from physical_ai.catalog.osmo import CONTROL_CONTAINER
from workbench.osmo import names
from workbench.osmo.choices import DownloadType
from workbench.osmo.pods.files import FileMount
from workbench.osmo.service.sections import WorkflowConfig
from workbench.osmo.workflow.schema import TaskSpec
from workbench.osmo.workflow.spec_data import DatasetInputOutput, TaskInputOutput, URLInputOutput

DATA = "/osmo/data"
LOGIN = "/osmo/login"
USER_BIN = "/osmo/usr/bin"
RUN = "/osmo/run"
SOCKET = f"{DATA}/socket/data.sock"
CONFIG_FOLDER = f"{LOGIN}/config"
REFRESH_TOKEN = "/osmo/.refresh_token"  # noqa: S105 - a path
USER_CONFIG = "/osmo/user_config.yaml"
SERVICE_CONFIG = "/osmo/service_config.yaml"
METADATA = f"{DATA}/default_metadata.yaml"
BARRIER = "osmo-group-ready"


def _mount(name: str, path: str, sub_path: str | None = None, **more: Any) -> dict[str, Any]:
    inside = {} if sub_path is None else {"subPath": sub_path}
    return {"name": name, "mountPath": path, **inside, **more}


def _config_variable(group_uuid: str) -> dict[str, Any]:
    source = {"secretKeyRef": {"name": f"{group_uuid}-file-dir", "key": "fileDir"}}
    return {"name": "OSMO_CONFIG_FILE_DIR", "valueFrom": source}


def host_mount(index: int, mount: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Volume and volume mount for a folder of the node, given as `/source` or `/source:/target`."""
    source, _, target = mount.partition(":")
    name = f"host-mount-{index}"
    return {"name": name, "hostPath": {"path": source}}, {"mountPath": target or source, "name": name}


def user_args(task: TaskSpec, config: WorkflowConfig) -> list[str]:
    """Arguments of OSMO's program that runs the user's command in the container."""
    args: list[str] = []
    for item in task.checkpoint:
        path = item.path if item.path.startswith("/") else f"/{item.path}"
        args += ["-checkpoint", f"{path};{item.url};{int(item.frequency.total_seconds())};{item.regex}"]
    args += ["-socketPath", SOCKET, "-userBinPath", USER_BIN]
    rsync = config.plugins_config.rsync
    if rsync.enabled:
        args += ["-enableRsync", "-rsyncReadLimit", str(rsync.read_bandwidth_limit)]
        args += ["-rsyncWriteLimit", str(rsync.write_bandwidth_limit)]
        paths = [f"{name}:{item.path}:{str(item.writable).lower()}" for name, item in rsync.allowed_paths.items()]
        args += ["-rsyncPathAllowList", ",".join(paths)] if paths else []
    for word in task.command:
        args += ["-commands", word]
    for word in task.args:
        args += ["-args", word]
    return args


def user_container(
    task: TaskSpec,
    group_uuid: str,
    files: Sequence[FileMount],
    host_mounts: Sequence[dict[str, Any]],
    config: WorkflowConfig,
) -> dict[str, Any]:
    """The user's container, before pod templates are merged into it.

    If the workflow itself requests no GPU, NVIDIA_VISIBLE_DEVICES is empty, even if a template requests one.
    """
    env: list[dict[str, Any]] = [{"name": name, "value": value} for name, value in task.environment.items()]
    for credential, target in task.credentials.items():
        if isinstance(target, dict):
            for variable, key in target.items():
                source = {"secretKeyRef": {"name": f"{group_uuid}-user-secrets", "key": f"{credential}.{key}"}}
                env.append({"name": variable, "valueFrom": source})
    env.append(_config_variable(group_uuid))
    if not (task.resources.gpu and task.resources.gpu > 0):
        env.append({"name": "NVIDIA_VISIBLE_DEVICES", "value": ""})
    return {
        "imagePullPolicy": "Always",
        "name": names.container_name(task.name),
        "image": task.image,
        "volumeMounts": [
            _mount("osmo", "/osmo/bin/osmo_exec", "osmo/osmo_exec", readOnly=True),
            _mount("osmo-data", f"{DATA}/socket", "socket"),
            _mount("osmo-data", f"{DATA}/input", "input", mountPropagation="HostToContainer"),
            _mount("osmo-data", f"{DATA}/output", "output"),
            _mount("osmo-data", f"{DATA}/benchmarks", "benchmarks"),
            _mount("osmo-login", CONFIG_FOLDER, "user/config"),
            _mount("osmo-usr-bin", USER_BIN, readOnly=True),
            _mount("osmo-run", RUN),
            *(file.mount for file in files),
            *host_mounts,
        ],
        "command": ["/osmo/bin/osmo_exec"],
        "args": user_args(task, config),
        "securityContext": {"privileged": task.privileged},
        "env": env,
    }


def data_args(task: TaskSpec, workflow_id: str, storage: str, *, feeds_others: bool) -> list[str]:
    """Arguments that tell the data container what to download before the task starts, and what to upload after the task
    ends.
    """
    args: list[str] = []
    for index, item in enumerate(task.inputs):
        if isinstance(item, TaskInputOutput):
            first, _, second = item.task.partition(":")
            source = f"{first}/{second}" if second else f"{workflow_id}/{first}"
            args += ["-inputs", f"task:{index},{storage}/{source},{item.regex}"]
        elif isinstance(item, DatasetInputOutput):
            name = names.dataset(item.dataset.name, in_file=False).full_name
            args += ["-inputs", f"dataset:{index},{name},{item.dataset.regex}"]
        else:
            args += ["-inputs", f"url:{index},{item.url},{item.regex}"]
    own = f"{storage}/{workflow_id}/{task.name}"
    if feeds_others or not task.outputs:
        args += ["-outputs", f"task:{own}"]
    for kpi in task.kpis:
        folder = f"/{kpi.path.rpartition('/')[0]}" if "/" in kpi.path else ""
        args += ["-outputs", f"kpi:{own}{folder},{kpi.path}"]
    for item in task.outputs:
        if isinstance(item, URLInputOutput):
            args += ["-outputs", f"url:{item.url},{item.regex}"]
        elif isinstance(item, DatasetInputOutput):
            data = item.dataset
            name, lists = names.dataset(data.name).full_name, f"{','.join(data.metadata)};{','.join(data.labels)}"
            args += ["-outputs", f"dataset:{name},{data.path},{lists};{data.regex}"]
        else:
            data = item.update_dataset
            lists = ";".join(",".join(part) for part in (data.paths, data.metadata, data.labels))
            args += ["-outputs", f"update_dataset:{names.dataset(data.name).full_name};{lists}"]
    return args


def service_args(base_url: str) -> list[str]:
    """Arguments of the data container about its connection to OSMO's service."""
    url = urlsplit(base_url)
    secure = url.scheme == "https"
    port = url.port or (443 if secure else 80)
    return [
        *("-host", url.hostname or "", "-port", str(port), "-scheme", "wss" if secure else "ws"),
        *("-refreshToken", REFRESH_TOKEN, "-refreshScheme", url.scheme),
    ]


def control_container(
    task: TaskSpec,
    group_uuid: str,
    config: WorkflowConfig,
    *,
    args: Sequence[str],
    file_mounts: Sequence[dict[str, Any]],
    cache_mib: int,
    download: DownloadType,
) -> dict[str, Any]:
    """Kubernetes container `osmo-ctrl`, which OSMO adds to each Pod: it downloads a task's inputs and uploads its
    outputs.
    """
    node = {"name": "OSMO_NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}
    cpus = [{"name": "CPU_COUNT", "value": str(task.resources.cpu)}] if task.resources.cpu else []
    data = config.workflow_data
    return {
        "imagePullPolicy": "Always",
        "name": CONTROL_CONTAINER,
        "image": config.backend_images.client,
        "securityContext": {"privileged": False},
        "volumeMounts": [
            _mount("osmo", "/osmo/bin/osmo_ctrl", "osmo/osmo_ctrl", readOnly=True),
            _mount("osmo-data", f"{DATA}/socket", "socket"),
            _mount("osmo-data", f"{DATA}/benchmarks", "benchmarks"),
            _mount("osmo-data", f"{DATA}/input", "input"),
            _mount("osmo-data", f"{DATA}/output", "output", readOnly=True),
            _mount("osmo-login", CONFIG_FOLDER, "ctrl/config"),
            *file_mounts,
        ],
        "command": ["/osmo/bin/osmo_ctrl"],
        "args": [
            *("-socketPath", SOCKET, "-inputPath", f"{DATA}/input/", "-outputPath", f"{DATA}/output/"),
            *("-metadataFile", METADATA, "-downloadType", download.value),
            *("-timeout", str(data.websocket_timeout), "-dataTimeout", str(data.data_timeout)),
            *("-cacheSize", str(cache_mib)),
            *args,
        ],
        "env": [_config_variable(group_uuid), node, *cpus],
    }


def init_container(config: WorkflowConfig, login: FileMount, user_config: FileMount) -> dict[str, Any]:
    """The init container, which copies OSMO's programs and login files for the other containers."""
    rsync = ["--enable_rsync"] if config.plugins_config.rsync.enabled else []
    small = {"ephemeral-storage": "1Gi"}
    return {
        "imagePullPolicy": "Always",
        "name": "osmo-init",
        "image": config.backend_images.init,
        "command": ["osmo_init"],
        "args": [
            *("--data_location", DATA, "--login_location", LOGIN),
            *("--user_bin_location", USER_BIN, "--run_location", RUN, *rsync),
        ],
        "volumeMounts": [
            _mount("osmo", "/osmo_binaries"),
            _mount("osmo-data", DATA),
            _mount("osmo-login", LOGIN),
            _mount("osmo-usr-bin", USER_BIN),
            _mount("osmo-run", RUN),
            login.mount,
            user_config.mount,
        ],
        "resources": {"requests": {"cpu": "250m", **small}, "limits": {"cpu": "500m", **small}},
    }

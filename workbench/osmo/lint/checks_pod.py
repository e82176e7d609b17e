"""Checks of the Pods that OSMO would create, after pod templates are merged into them."""

from __future__ import annotations

import base64
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from physical_ai.catalog.osmo import CONTROL_CONTAINER, TASK_LABEL
from workbench.osmo.lint import rules_task
from workbench.osmo.lint.finding import Path, Rule
from workbench.osmo.lint.view import TaskView, View
from workbench.osmo.pods.objects import GroupObjects
from workbench.osmo.shapes import a_list, a_map

LONGEST_STRING = 128 * 1024
"""Largest size in bytes of one argument or environment variable (Linux, MAX_ARG_STRLEN)."""
LARGEST_SECRET = 1024 * 1024
"""Largest size in bytes of a Secret's data (Kubernetes)."""
_VARIABLE = re.compile(r"[ -<>-~]+")
_SECRET_KEY = re.compile(r"[-._a-zA-Z0-9]{1,253}")
_QUANTITY = re.compile(r"\d+(\.\d+)?([KMGTPE]i|[mkMGTPE])?|\d+(\.\d+)?[eE][+-]?\d+")


def check(view: View, groups: Sequence[GroupObjects]) -> None:
    """Adds the findings of all checks in this module to the findings about the workflow."""
    tasks = {task.name: task for task in view.tasks}
    for group in groups:
        for pod in group.pods:
            name = pod["metadata"]["labels"].get(TASK_LABEL, "")
            if name in tasks:
                for rule, step, problem in pod_problems(pod, tasks[name]):
                    view.add(rule, (*tasks[name].path, *step), problem)


def pod_problems(pod: Mapping[str, Any], task: TaskView) -> Iterator[tuple[Rule, Path, str]]:
    """Problems with a Pod's fields: fields that Kubernetes would reject, or would interpret differently than OSMO. Each
    problem has the rule, the path below the task, and the message.
    """
    spec = a_map(pod.get("spec"))
    yield from _files(task)
    for container in map(a_map, a_list(spec.get("containers"))):
        yield from _environment(container, task)
        yield from _quantities(container, task)
        yield from _sizes(container, task)
        yield from _duplicates(container.get("volumeMounts"), "mount", ("mountPath",))
        yield from _duplicates(container.get("ports"), "port", ("containerPort", "protocol"))
    yield from _duplicates(spec.get("tolerations"), "toleration", ("key", "operator", "value", "effect"))
    for volume in map(a_map, a_list(spec.get("volumes"))):
        sources = [str(key) for key in volume if key != "name"]
        if len(sources) > 1:
            yield rules_task.POD_INVALID, (), f"volume '{volume.get('name')}' has two sources: {', '.join(sources)}"
    for key in ("nodeSelector",):
        for label, value in a_map(spec.get(key)).items():
            if not isinstance(value, str):
                yield rules_task.POD_INVALID, (), f"{key}: {label} is {value!r}, but must be text"


def _environment(container: Mapping[str, Any], task: TaskView) -> Iterator[tuple[Rule, Path, str]]:
    seen: set[str] = set()
    for item in map(a_map, a_list(container.get("env"))):
        name = str(item.get("name"))
        step = _place(task, name)
        if "value" in item and item["value"] is not None and "valueFrom" in item:
            yield (
                rules_task.ENV_TWO_SOURCES,
                step,
                f"'{name}' has a value and a credential: Kubernetes rejects the Pod",
            )
        if not _VARIABLE.fullmatch(name):
            yield rules_task.POD_INVALID, step, f"'{name}' is not a name of a variable: ASCII characters without ="
        if name in seen and name != "NVIDIA_VISIBLE_DEVICES":
            yield rules_task.ENV_TWICE, step, f"'{name}' is duplicated in the container; the last one is used"
        seen.add(name)


def _place(task: TaskView, name: str) -> Path:
    for credential, target in task.spec.credentials.items():
        if isinstance(target, dict) and name in target:
            return ("credentials", credential, name)
    return ("environment", name) if name in task.spec.environment else ()


def _quantities(container: Mapping[str, Any], task: TaskView) -> Iterator[tuple[Rule, Path, str]]:
    # Another rule checks the workflow's own amounts.
    own = {task.resource.memory, task.resource.storage} if task.resource else set[str | None]()
    for kind, amounts in a_map(container.get("resources")).items():
        for name, amount in a_map(amounts).items():
            if str(amount) not in own and not _QUANTITY.fullmatch(str(amount)):
                yield (
                    rules_task.POD_INVALID,
                    (),
                    f"{container.get('name')}: {kind} {name} is '{amount}', not an amount",
                )


def _sizes(container: Mapping[str, Any], task: TaskView) -> Iterator[tuple[Rule, Path, str]]:
    if container.get("name") == CONTROL_CONTAINER:
        return
    for index, text in enumerate(task.spec.args):
        if len(text.encode()) >= LONGEST_STRING:
            yield rules_task.POD_INVALID, ("args", index), f"an argument of {len(text) >> 10} KiB; Linux allows 128"
    for name, text in task.spec.environment.items():
        if len(name) + len(text.encode()) >= LONGEST_STRING:
            yield (
                rules_task.POD_INVALID,
                ("environment", name),
                f"a variable of {len(text) >> 10} KiB; Linux allows 128",
            )
    for index, file in enumerate(task.spec.files):
        if len(file.contents.encode()) > LARGEST_SECRET:
            size = f"{len(file.contents) >> 20} MiB"
            yield rules_task.POD_INVALID, ("files", index), f"a file of {size} becomes a Secret, which can hold 1 MiB"


def _files(task: TaskView) -> Iterator[tuple[Rule, Path, str]]:
    """Problems with the files of a task. OSMO makes a Secret of each file, with the file's name as key, and
    mounts it.
    """
    mounted: dict[str, str] = {}
    for index, file in enumerate(task.spec.files):
        step, path = ("files", index, "path"), posixpath.normpath(f"/{file.path.lstrip('/')}")
        if not _SECRET_KEY.fullmatch(posixpath.basename(file.path)):
            name = posixpath.basename(file.path)
            yield rules_task.POD_INVALID, step, f"'{name}' can't be a key of a Secret: letters, digits, -, _ and ."
        if ".." in file.path.split("/"):
            yield rules_task.POD_INVALID, step, f"'{file.path}' contains '..'"
        same = next((other for other in mounted if f"{path}/".startswith(f"{other}/")), None)
        same = same or next((other for other in mounted if other.startswith(f"{path}/")), None)
        if same is not None:
            yield rules_task.POD_INVALID, step, f"'{file.path}' collides with '{mounted[same]}'"
        mounted[path] = file.path
        if file.base64 and not _is_base64(file.contents):
            yield rules_task.POD_INVALID, ("files", index, "contents"), "the contents are not base64"


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text.replace("\n", ""), validate=True)
    except ValueError:
        return False
    return True


def _duplicates(items: Any, what: str, keys: Sequence[str]) -> Iterator[tuple[Rule, Path, str]]:
    seen: list[tuple[Any, ...]] = []
    for item in map(a_map, a_list(items)):
        identity = tuple(item.get(key) for key in keys)
        if identity in seen:
            yield (
                rules_task.POD_INVALID,
                (),
                f"duplicate {what}: {', '.join(str(part) for part in identity if part)}",
            )
        seen.append(identity)

"""All Kubernetes objects that OSMO creates for a workflow, group by group, in OSMO's order."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from physical_ai.catalog.osmo import KAI_GROUP_ANNOTATION, KAI_POD_GROUP_API, KAI_QUEUE_LABEL
from workbench.osmo import names
from workbench.osmo.pods import pod
from workbench.osmo.pods.containers import CONFIG_FOLDER, DATA
from workbench.osmo.pods.files import FileMount, encoded, secret
from workbench.osmo.pods.pod import Group, Run
from workbench.osmo.pods.topology import constraints
from workbench.osmo.refusal import UNEXPECTED_SHAPE, Refusal, as_refusal, crash
from workbench.osmo.service.configuration import Configuration
from workbench.osmo.tokens import group_objects, label_tokens
from workbench.osmo.workflow.schema import TaskGroupSpec, TaskSpec, upstream
from workbench.osmo.workflow.spec_data import File, TaskInputOutput, URLInputOutput
from workbench.osmo.workflow.submission import Submission

QUEUE_LABELS = (KAI_QUEUE_LABEL, "runai/queue")
SUBGROUP_LABEL = "kai.scheduler/subgroup-name"


@dataclass(frozen=True)
class GroupObjects:
    """Kubernetes objects of one group, in the order of their creation."""

    group: str
    objects: list[dict[str, Any]]

    @property
    def pods(self) -> list[dict[str, Any]]:
        return self.of(("Pod",))

    def of(self, kinds: Sequence[str] | None) -> list[dict[str, Any]]:
        """Objects of the given kinds; all objects if `kinds` is None."""
        return [item for item in self.objects if kinds is None or item.get("kind") in kinds]


def generated_run(submission: Submission, user: str = "user", number: int = 1) -> Run:
    """A run whose ids are derived from names, so that the same file always gives the same objects.

    `number` distinguishes the runs of one workflow, as OSMO counts them.
    """
    spec = submission.spec
    first = spec.name if number == 1 else f"{spec.name}-{number}"

    def uuid(text: str) -> str:
        return hashlib.sha256(f"{first}/{text}".encode()).hexdigest()[:32]

    every = [name for group in submission.groups for name in (group.name, *(task.name for task in group.tasks))]
    uuids = {name: uuid(name) for name in every}
    return Run(f"{spec.name}-{number}", uuid(""), uuids, user, priority=submission.priority)


def make_all(submission: Submission, config: Configuration, run: Run) -> list[GroupObjects]:
    """Objects of all groups of a workflow. Raises Refusal if OSMO would not create them."""
    try:
        return [GroupObjects(group.name, _group(group, submission, config, run)) for group in submission.groups]
    except UNEXPECTED_SHAPE as error:
        raise crash(f"a template has an unexpected form: {error}") from None


def _group(spec: TaskGroupSpec, submission: Submission, config: Configuration, run: Run) -> list[dict[str, Any]]:
    uuid = run.uuids[spec.name]
    labels = names.group_labels(run.workflow_id, run.workflow_uuid, spec.name, uuid, run.user)
    task_names = {task.name for task in spec.tasks}
    feeds = any(upstream(item) in task_names for group in submission.groups for item in group.inputs)
    group = Group(spec.name, uuid, len(spec.tasks), len(spec.tasks) > 1 and spec.barrier, feeds)
    tasks = [_with_tokens(task, spec, run, config.namespace) for task in spec.tasks]
    secrets = _add_credentials(tasks, run)
    made = [pod.make(task, group, run, config, submission.pool) for task in tasks]
    files: dict[str, FileMount] = {file.digest: file for item in made for file in item.files}
    variables = {**label_tokens(labels), "WF_POOL": submission.pool.name}
    objects = group_objects(submission.pool.parsed_group_templates, variables, labels)
    objects += [file.secret(labels) for file in files.values()]
    objects.append(secret(f"{uuid}-file-dir", labels, texts={"fileDir": CONFIG_FOLDER}))
    if secrets:
        objects.append(secret(f"{uuid}-user-secrets", labels, texts=secrets))
    objects += _registry_secrets(uuid, labels, tasks, config, run)
    objects += _scheduled(
        [item.pod for item in made], tasks, labels, uuid, submission=submission, config=config, run=run
    )
    if len(tasks) > 1:
        objects.append(_service(uuid, labels))
    return objects


def _with_tokens(task: TaskSpec, group: TaskGroupSpec, run: Run, namespace: str) -> TaskSpec:
    """The task with special tokens replaced: {{workflow_id}}, {{output}}, {{input:…}}, {{host:…}}.

    {{uuid}} and unknown names remain as they are.
    """
    domain = f"osmo-{run.uuids[group.name]}.{namespace}.svc.cluster.local"
    tokens = {"workflow_id": run.workflow_id, "output": f"{DATA}/output"}
    tokens |= {f"host:{other.name}": f"{run.uuids[other.name]}.{domain}" for other in group.tasks}
    for index, item in enumerate(task.inputs):
        if isinstance(item, TaskInputOutput):
            first, _, second = item.task.partition(":")
            tokens[f"input:{second or first}"] = f"{DATA}/input/{index}"
        tokens[f"input:{index}"] = f"{DATA}/input/{index}"
    text = task.model_dump_json()
    for token, value in tokens.items():
        text = re.sub(rf"\{{\{{ *{re.escape(token)} *\}}\}}", value, text)
    try:
        made = TaskSpec.model_validate(json.loads(text, object_pairs_hook=_stored))
    except ValidationError as error:
        raise as_refusal(error) from None
    for item in made.outputs:
        if isinstance(item, URLInputOutput) and not names.is_storage(item.url):
            # The worker reads addresses of outputs once more. `{{output}}` begins with `/`.
            raise Refusal(
                "OSMOError", f"{task.name}: the output's address becomes '{item.url}', which is not a valid one"
            )
    return made


def _stored(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A map with its keys in the order of PostgreSQL's type jsonb, in which OSMO stores it: by the length of the keys,
    then by their bytes.

    This changes the order of a Pod's environment variables, which matters for references such as `$(OTHER)`.
    """
    return dict(sorted(pairs, key=lambda pair: (len(pair[0].encode()), pair[0].encode())))


def _add_credentials(tasks: Sequence[TaskSpec], run: Run) -> dict[str, str]:
    """Adds a file to a task for each value of a credential that the task maps to a folder. Returns the values of the
    credentials that tasks map to environment variables; OSMO writes these values into one Secret.
    """
    secrets: dict[str, str] = {}
    for task in tasks:
        for name, target in task.credentials.items():
            # If the user's credentials are not known, their names are used in place of their values.
            known = run.credentials.get(name)
            if isinstance(target, str):
                task.files += [
                    File(path=f"{target}/{key}", contents=value) for key, value in (known or {name: "…"}).items()
                ]
                continue
            for key in target.values():
                if known is not None and key not in known:
                    raise crash(f"{task.name}: credential '{name}' does not have the key '{key}'")
                secrets[f"{name}.{key}"] = known[key] if known is not None else "…"
    return secrets


def _registry_secrets(
    uuid: str, labels: dict[str, str], tasks: Sequence[TaskSpec], config: Configuration, run: Run
) -> list[dict[str, Any]]:
    users: dict[str, Any] = {}
    for task in tasks:
        host = names.image(task.image).host
        if host in run.registries:
            login = run.registries[host]
            users[host] = {"auth": encoded(f"{login['username']}:{login['auth']}")}
    found = [_registry_secret(f"{uuid}-user", labels, users)]
    if "osmo" in pod.pull_secrets(config):
        login = config.workflow.backend_images.credential
        auths = {login.registry: {"auth": encoded(f"{login.username}:{login.auth}")}}
        found.append(_registry_secret(f"{uuid}-osmo", labels, auths))
    return found


def _registry_secret(name: str, labels: Mapping[str, str], auths: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "labels": dict(labels)},
        "type": "kubernetes.io/dockerconfigjson",
        "data": {".dockerconfigjson": encoded(json.dumps({"auths": auths}))},
    }


def queue_name(namespace: str, pool: str) -> str:
    """Name of the queue of the scheduler KAI for a pool."""
    return f"osmo-pool-{namespace}-{pool}"


def _scheduled(
    pods: list[dict[str, Any]],
    tasks: Sequence[TaskSpec],
    labels: Mapping[str, str],
    uuid: str,
    *,
    submission: Submission,
    config: Configuration,
    run: Run,
) -> list[dict[str, Any]]:
    """The Pods of a group and the PodGroup for them. Each Pod gets KAI's labels, annotation and scheduler name, which
    replace values from pod templates.
    """
    queue = queue_name(config.namespace, submission.pool.name)
    scheduler = config.scheduler(submission.pool.backend)
    placed = constraints(tasks, submission.pool.topology_keys, f"{queue}-topology")
    for task, item in zip(tasks, pods, strict=True):
        metadata = item["metadata"]
        metadata["annotations"] = {**(metadata.get("annotations") or {}), KAI_GROUP_ANNOTATION: uuid}
        metadata["labels"] |= dict.fromkeys(QUEUE_LABELS, queue)
        if task.name in placed.members:
            metadata["labels"][SUBGROUP_LABEL] = placed.members[task.name]
        item["spec"]["schedulerName"] = scheduler.scheduler_name
    spec: dict[str, Any] = {"queue": queue, "priorityClassName": f"osmo-{run.priority.lower()}"}
    if not placed.subgroups:
        spec["minMember"] = len(pods)
    if placed.top:
        spec["topologyConstraint"] = placed.top
    if placed.subgroups:
        spec["subGroups"] = list(placed.subgroups)
    group = {
        "apiVersion": KAI_POD_GROUP_API,
        "kind": "PodGroup",
        "metadata": {"name": uuid, "labels": {**dict.fromkeys(QUEUE_LABELS, queue), **labels}},
        "spec": spec,
    }
    return [group, *pods]


def _service(uuid: str, labels: Mapping[str, str]) -> dict[str, Any]:
    """The headless Service through which tasks of a group reach each other by name."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": f"osmo-{uuid}", "labels": dict(labels)},
        "spec": {"selector": dict(labels), "clusterIP": "None"},
    }

"""Names of tasks, objects, images, datasets and storage addresses, and the labels of objects that OSMO creates."""

from __future__ import annotations

import re
from dataclasses import dataclass

from physical_ai.catalog.osmo import WORKFLOW_LABEL
from workbench.osmo.refusal import Refusal

NAME = r"^[a-zA-Z]([a-zA-Z0-9_-]*[a-zA-Z0-9])?$"
"""Form of the names of workflows, groups and tasks."""

TASK_INPUT = re.compile(
    r"(?P<first>[a-zA-Z]([a-zA-Z0-9_-]*[a-zA-Z0-9])?)(:(?P<second>[a-zA-Z]([a-zA-Z0-9_-]*[a-zA-Z0-9])?))?"
)
"""Form of an input that refers to a task: `task` in the same workflow, or `workflow-id:task` in an earlier workflow."""

LONGEST_LABEL = 63
_COMPONENT = r"[^/,;*]+"
STORAGE = (
    rf"(^swift://{_COMPONENT}(/{_COMPONENT}){{2,}}/*$|^s3://{_COMPONENT}(/{_COMPONENT})*/*$"
    rf"|^gs://{_COMPONENT}(/{_COMPONENT})*/*$|^tos://{_COMPONENT}(/{_COMPONENT})+/*$"
    rf"|^azure://{_COMPONENT}(/{_COMPONENT})+/*$)"
)
"""Form of the storage URLs that OSMO can read and write."""
_PROFILE_DEPTH = {"swift": 2, "s3": 1, "gs": 1, "tos": 2, "azure": 1}
"""Number of parts after the scheme of a storage URL that belong to its credential's name, by scheme."""

_DATASET = re.compile(r"((?P<bucket>[a-zA-Z0-9_-]+)/)?(?P<name>[a-zA-Z0-9_-]+)(:(?P<tag>[a-zA-Z0-9_-]*))?")
_DATASET_IN_FILE = re.compile(
    r"((?P<bucket>[a-zA-Z0-9_{}-]+)/)?(?P<name>[a-zA-Z0-9_{}-]+)(:(?P<tag>[a-zA-Z0-9_{}-]*))?"
)

_DOCKER_HUB = "registry-1.docker.io"
_BYTE = r"([0-9]|[1-9][0-9]|1[0-9]{2}|2[0-4][0-9]|25[0-5])"
_LABEL = r"[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?"
_HOST = rf"(?P<host>({_BYTE}\.){{3}}{_BYTE}|localhost|({_LABEL}\.)+{_LABEL}|{_LABEL}(?=:\d+/))"
_PART = r"[0-9a-z]([0-9a-z_.-]*[0-9a-z])?"
_IMAGE = re.compile(
    rf"({_HOST}(:(?P<port>[0-9]{{1,5}}))?/)?(?P<name>{_PART}(/{_PART})*)"
    r"(:(?P<tag>[a-zA-Z0-9_][a-zA-Z0-9._-]*))?(@(?P<digest>[A-Za-z0-9_+.-]+:[A-Fa-f0-9]+))?"
)
_USER = re.compile(r"[a-zA-Z0-9][A-Za-z0-9_.-]{0,61}[a-zA-Z0-9]\n?")


def object_name(name: str) -> str:
    """A name in the form that Kubernetes accepts: lower case, with `-` for `_`."""
    return name.lower().replace("_", "-")


def label_value(name: str) -> str:
    """A name cut to the maximum length of a label's value, without `-` or `_` at the end of a cut name."""
    return name if len(name) <= LONGEST_LABEL else name[:LONGEST_LABEL].rstrip("-_")


def container_name(task: str) -> str:
    """Name of a task's container; pod templates contain it as the token USER_CONTAINER_NAME."""
    return object_name(label_value(task))


def user_label(user: str) -> str | None:
    """Label value for a user's name: the whole name, else the part before the @; None if Kubernetes allows neither."""
    for candidate in (user, user.partition("@")[0]) if "@" in user else (user,):
        if _USER.fullmatch(candidate):
            return label_value(candidate)
    return None


def group_labels(workflow_id: str, workflow_uuid: str, group: str, group_uuid: str, user: str) -> dict[str, str]:
    """Labels that OSMO gives to every object of a group."""
    labels = {
        WORKFLOW_LABEL: label_value(workflow_id),
        "osmo.workflow_uuid": label_value(workflow_uuid),
        "osmo.group_name": label_value(group),
        "osmo.group_uuid": label_value(group_uuid),
    }
    submitted_by = user_label(user)
    return {**labels, "osmo.submitted_by": submitted_by} if submitted_by else labels


@dataclass(frozen=True)
class Image:
    """Parts of an image reference, completed by Docker's defaults."""

    name: str
    tag: str | None
    digest: str | None
    host: str
    port: int


def image(reference: str) -> Image:
    """The parts of an image reference. Raises Refusal for an invalid reference, such as one with upper-case letters."""
    match = _IMAGE.fullmatch(reference)
    if match is None:
        raise Refusal("OSMOUsageError", f"'{reference}' is not an image reference")
    host, name, digest = match["host"], match["name"], match["digest"]
    if host is None and "/" not in name:
        name = f"library/{name}"
    tag = match["tag"] or (None if digest else "latest")
    registry = _DOCKER_HUB if host in (None, "docker.io") else host
    return Image(name, tag, digest, registry, int(match["port"] or 443))


@dataclass(frozen=True)
class Dataset:
    """The parts of a dataset's name, `bucket/name:tag`; bucket and tag may be empty."""

    bucket: str
    name: str
    tag: str

    @property
    def full_name(self) -> str:
        name = f"{self.bucket}/{self.name}" if self.bucket else self.name
        return f"{name}:{self.tag}" if self.tag else name


def dataset(text: str, *, in_file: bool = True) -> Dataset:
    """The parts of a dataset's name. `in_file`: True to allow braces, as in a workflow file. Raises Refusal for an
    invalid name.
    """
    match = (_DATASET_IN_FILE if in_file else _DATASET).fullmatch(text)
    if match is None:
        raise Refusal("OSMOUserError", f"'{text}' is not a dataset [bucket/]name[:tag] of letters, digits, - and _")
    return Dataset(match["bucket"] or "", match["name"], match["tag"] or "")


def is_storage(url: str) -> bool:
    """True for a storage URL with a scheme that OSMO knows: s3, gs, azure, swift, tos."""
    return re.search(STORAGE, url) is not None


def storage_profile(url: str) -> str:
    """The part of a storage URL that identifies its credential: `azure://account` or `s3://bucket`."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{'/'.join(rest.split('/')[: _PROFILE_DEPTH.get(scheme, 1)])}"

"""Files that OSMO adds to containers. Each file is mounted from its own Secret, whose name comes from the content."""

from __future__ import annotations

import base64
import hashlib
import posixpath
from dataclasses import dataclass
from typing import Any

from workbench.osmo.workflow.spec_data import File


@dataclass(frozen=True)
class FileMount:
    """A file at `path` in a container, with its content in base64."""

    group_uuid: str
    path: str
    content: str
    key: str = ""
    """Text from which the Secret's name is derived, in place of the content; empty to derive the name from the content.
    It is set for a file whose content changes between attempts.
    """

    @property
    def digest(self) -> str:
        source = f"custom-{self.key}" if self.key else f"content-{self.content}{self.base}"
        return hashlib.sha256(source.encode()).hexdigest()

    @property
    def base(self) -> str:
        return posixpath.basename(self.path)

    @property
    def name(self) -> str:
        return f"osmo-{self.group_uuid[:16]}-{self.digest[:32]}"

    @property
    def volume(self) -> dict[str, Any]:
        return {"name": self.name, "secret": {"secretName": self.name}}

    @property
    def mount(self) -> dict[str, Any]:
        return {"mountPath": self.path, "subPath": self.base, "name": self.name}

    def secret(self, labels: dict[str, str]) -> dict[str, Any]:
        return secret(self.name, labels, data={self.base: self.content})


def text_file(group_uuid: str, path: str, text: str, key: str = "") -> FileMount:
    """A FileMount whose content is `text`."""
    return FileMount(group_uuid, path, encoded(text), key)


def task_file(group_uuid: str, file: File) -> FileMount:
    """A FileMount for a file that the workflow declares; the declared content may already be in base64."""
    return FileMount(group_uuid, file.path, file.contents if file.base64 else encoded(file.contents))


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def secret(
    name: str,
    labels: dict[str, str],
    data: dict[str, str] | None = None,
    texts: dict[str, str] | None = None,
) -> dict[str, Any]:
    """A Secret in the form in which OSMO creates it: `data` and `stringData` are always present, and may be empty."""
    return {
        "apiVersion": "v1",
        "data": data or {},
        "stringData": texts or {},
        "kind": "Secret",
        "metadata": {"name": name, "labels": dict(labels)},
        "type": "Opaque",
    }

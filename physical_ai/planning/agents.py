"""The programs in `agents/`, as ConfigMaps and the volumes that mount them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from physical_ai.repository import AGENTS

CODE = (".py", ".sh")
CLIENT = "json_http.py"
"""The module in `agents/` that packages make their requests with."""
FIELD_MANAGER = "pulumi.com/patchFieldManager"


def files(agent: str) -> dict[str, str]:
    """The texts of an agent's programs, by path below its folder, in the order of paths; without documentation."""
    root = AGENTS / agent
    found = sorted(path for path in root.rglob("*") if path.suffix in CODE and path.is_file())
    return {path.relative_to(root).as_posix(): path.read_text() for path in found}


def package(agent: str) -> dict[str, str]:
    """The texts of an agent that is a Python package, by path below a folder that also has the client."""
    own = {f"{agent}/{path}": text for path, text in files(agent).items()}
    return {**own, CLIENT: (AGENTS / CLIENT).read_text()}


@dataclass(frozen=True)
class Program:
    """An agent's files by path, and the ConfigMap that its Pods mount them from.

    The ConfigMap never changes: other files are another one, which only new Pods mount. Kubelet updates a changed
    ConfigMap in all Pods at once, so a program that runs could read files of another version.
    """

    name: str
    """Name of the ConfigMap, without the digest of its content."""
    manager: str
    """A fixed field manager, so that earlier files can be deployed again: their ConfigMap may still exist."""
    files: Mapping[str, str]

    def digest(self, document: str = "") -> str:
        """A short text that changes exactly when the files or the document change."""
        text = json.dumps([dict(self.files), document], sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def config_map(self, namespace: str, labels: Mapping[str, str]) -> dict[str, Any]:
        return {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "name": self._full_name,
                "namespace": namespace,
                "labels": dict(labels),
                "annotations": {FIELD_MANAGER: self.manager},
            },
            "immutable": True,
            "data": data(self.files),
        }

    def mount(self, pod: Mapping[str, Any]) -> None:
        """Mounts this ConfigMap in a Pod, in place of its only volume that is a ConfigMap."""
        (volume,) = (each for each in pod["volumes"] if "configMap" in each)
        volume["configMap"] = {"name": self._full_name, "items": items(self.files)}

    @property
    def _full_name(self) -> str:
        return f"{self.name}-{self.digest()[:10]}"


def data(by_path: Mapping[str, str]) -> dict[str, str]:
    """Files as the data of a ConfigMap."""
    return {key(path): text for path, text in by_path.items()}


def items(paths: Iterable[str]) -> list[dict[str, str]]:
    """The items of a volume: each file under its path."""
    return [{"key": key(path), "path": path} for path in paths]


def key(path: str) -> str:
    """The ConfigMap's key of a file: it may hold no slash.

    >>> key("grid_agent/decide.py")
    'grid_agent.decide.py'
    """
    return path.replace("/", ".")

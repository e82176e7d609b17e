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
"""Name of the module in `agents/` that makes HTTP requests for those agents that are Python packages."""
FIELD_MANAGER = "pulumi.com/patchFieldManager"


def files(agent: str) -> dict[str, str]:
    """Texts of an agent's programs by path below its folder, in the order of paths; documentation is left out."""
    root = AGENTS / agent
    found = sorted(path for path in root.rglob("*") if path.suffix in CODE and path.is_file())
    return {path.relative_to(root).as_posix(): path.read_text() for path in found}


def package(agent: str) -> dict[str, str]:
    """Files of an agent that is a Python package, as texts by path. The HTTP client `CLIENT` is added beside the
    package.
    """
    own = {f"{agent}/{path}": text for path, text in files(agent).items()}
    return {**own, CLIENT: (AGENTS / CLIENT).read_text()}


@dataclass(frozen=True)
class Program:
    """Files of an agent by path, and the ConfigMap from which its Pods mount them.

    The ConfigMap never changes: changed files get a new ConfigMap, which only new Pods mount. Kubelet would update a
    changed ConfigMap in all Pods at once, and a running program could read files of another version.
    """

    name: str
    """Name of the ConfigMap, without the digest of its content."""
    manager: str
    """Field manager of the ConfigMap, always the same. When a deployment returns to earlier files, the earlier
    ConfigMap may still exist, and only its own field manager may write it without a conflict.
    """
    files: Mapping[str, str]

    def digest(self, document: str = "") -> str:
        """Short hash of the files and `document`. It changes if and only if the files or the document change."""
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
        """Mounts the ConfigMap in a Pod, in place of the Pod's only ConfigMap volume."""
        (volume,) = (each for each in pod["volumes"] if "configMap" in each)
        volume["configMap"] = {"name": self._full_name, "items": items(self.files)}

    @property
    def _full_name(self) -> str:
        return f"{self.name}-{self.digest()[:10]}"


def data(by_path: Mapping[str, str]) -> dict[str, str]:
    """Data of a ConfigMap with these files."""
    return {key(path): text for path, text in by_path.items()}


def items(paths: Iterable[str]) -> list[dict[str, str]]:
    """Items of a ConfigMap volume that mounts each file under its path."""
    return [{"key": key(path), "path": path} for path in paths]


def key(path: str) -> str:
    """Key of a file in the ConfigMap, which may contain no slash.

    >>> key("grid_agent/decide.py")
    'grid_agent.decide.py'
    """
    return path.replace("/", ".")

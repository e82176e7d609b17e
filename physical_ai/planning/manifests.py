"""Loading of Kubernetes objects from the YAML files in `manifests/` and in the folders of parts."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from physical_ai import safe_yaml
from physical_ai.repository import MANIFESTS, PARTS

NAMESPACES = "namespaces.yaml"
ISOLATION = "isolation.yaml"


def load(file: str) -> list[dict[str, Any]]:
    """Objects of a file in `manifests/`, in order. Python code, never a text template, changes what differs by
    stack.
    """
    return json.loads(_read(MANIFESTS / file))


def namespaces() -> list[dict[str, Any]]:
    """All namespaces that the program may create: first the core's, then those of parts."""
    return _everywhere(NAMESPACES)


def isolation() -> list[dict[str, Any]]:
    """All NetworkPolicies of isolated namespaces: first the core's, then those of parts."""
    return _everywhere(ISOLATION)


def namespaces_of(part: str) -> list[dict[str, Any]]:
    """Namespaces that a part brings; empty where its folder declares none."""
    return load_of(part, NAMESPACES) if (PARTS / part / NAMESPACES).exists() else []


def load_of(part: str, file: str) -> list[dict[str, Any]]:
    """Objects of a file in a part's folder, in order."""
    return json.loads(_read(PARTS / part / file))


def _everywhere(file: str) -> list[dict[str, Any]]:
    """Objects of the files with this name: first the core's file, then those in the folders of parts."""
    of_parts = (each for path in sorted(PARTS.glob(f"*/{file}")) for each in json.loads(_read(path)))
    return [*load(file), *of_parts]


@cache
def _read(path: Path) -> str:
    """Objects of a file as JSON text. Each caller parses the text, because callers change the objects."""
    return json.dumps([document for document in safe_yaml.load_all(path.read_text()) if document is not None])

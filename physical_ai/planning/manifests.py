"""Kubernetes objects from the YAML files in `manifests/` and in the folders of parts."""

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
    """The objects of one file, in order. What differs by stack is set on them in Python, never by text templates."""
    return json.loads(_read(MANIFESTS / file))


def namespaces() -> list[dict[str, Any]]:
    """Every namespace that the program may create: the core's, then those of the parts."""
    return _everywhere(NAMESPACES)


def isolation() -> list[dict[str, Any]]:
    """Every NetworkPolicy of an isolated namespace: those of the core's, then those that the parts bring."""
    return _everywhere(ISOLATION)


def namespaces_of(part: str) -> list[dict[str, Any]]:
    """The namespaces that a part brings; none where its folder declares none."""
    return load_of(part, NAMESPACES) if (PARTS / part / NAMESPACES).exists() else []


def load_of(part: str, file: str) -> list[dict[str, Any]]:
    """The objects of one file in a part's folder, in order."""
    return json.loads(_read(PARTS / part / file))


def _everywhere(file: str) -> list[dict[str, Any]]:
    """The objects of a file that the core has, and parts may have, in this order."""
    of_parts = (each for path in sorted(PARTS.glob(f"*/{file}")) for each in json.loads(_read(path)))
    return [*load(file), *of_parts]


@cache
def _read(path: Path) -> str:
    """The objects as JSON, which is read again for each caller: callers change what they get."""
    return json.dumps([document for document in safe_yaml.load_all(path.read_text()) if document is not None])

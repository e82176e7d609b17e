"""Kubernetes objects from the YAML files in `manifests/`."""

from __future__ import annotations

from typing import Any

import yaml

from physical_ai.repository import MANIFESTS


def load(file: str) -> list[dict[str, Any]]:
    """The objects of one file, in order. What differs by stack is set on them in Python, never by text templates."""
    return [document for document in yaml.safe_load_all((MANIFESTS / file).read_text()) if document is not None]

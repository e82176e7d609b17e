"""Kubernetes objects kept as YAML in `manifests/`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).resolve().parent.parent / "manifests"


def load(file: str) -> list[dict[str, Any]]:
    """The objects of one file, in order. What differs by stack is set on them in Python, never by text templates."""
    return [document for document in yaml.safe_load_all((FOLDER / file).read_text()) if document is not None]

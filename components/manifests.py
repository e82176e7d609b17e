"""Kubernetes objects kept as YAML in `manifests/`, and the files that they mount."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

CODE = (".py", ".sh")
FOLDER = Path(__file__).resolve().parent.parent / "manifests"


def load(file: str) -> list[dict[str, Any]]:
    """The objects of one file, in order. What differs by stack is set on them in Python, never by text templates."""
    return [document for document in yaml.safe_load_all((FOLDER / file).read_text()) if document is not None]


def files(folder: str) -> dict[str, str]:
    """Programs below a folder of `manifests/`, by path in it and in its order. Documentation is not among them."""
    root = FOLDER / folder
    found = sorted(path for path in root.rglob("*") if path.suffix in CODE and path.is_file())
    return {path.relative_to(root).as_posix(): path.read_text() for path in found}

"""Loading of Kubernetes objects from the YAML files in `manifests/` and in the folders of parts."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from yaml import YAMLError

from physical_ai import safe_yaml
from physical_ai.catalog.reading import CatalogError, file_label, unreadable
from physical_ai.nested import at, is_mapping
from physical_ai.repository import MANIFESTS, part_files, part_folder
from physical_ai.settings.guards import is_list

NAMESPACES = "namespaces.yaml"
ISOLATION = "isolation.yaml"
_Form = Mapping[str, tuple[Callable[[Any], bool], str]]


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


_FORM: _Form = {
    "kind": (_is_text, "the kind of the object"),
    "metadata.name": (_is_text, "the name of the object"),
}
"""Keys that every object must have, each with a test of its value and a text that says what to write."""
_FORMS: Mapping[str, _Form] = {
    NAMESPACES: {
        "kind": (lambda value: value == "Namespace", "Namespace"),
        "metadata.labels": (lambda value: value is None or is_mapping(value), "a map of labels"),
    },
    ISOLATION: {
        "kind": (lambda value: value == "NetworkPolicy", "NetworkPolicy"),
        "metadata.namespace": (_is_text, "the namespace whose traffic it allows"),
        "spec.podSelector": (is_mapping, "{} for all Pods, or matchLabels"),
        "spec.policyTypes": (is_list, "[Ingress], [Egress] or both"),
        "spec.egress": (lambda value: value is None or is_list(value), "a list of rules"),
    },
}
"""Further keys of objects whose values are checked, by the name of the file with the objects. A key here replaces the
same key in `_FORM`.
"""


def load(file: str) -> list[dict[str, Any]]:
    """Objects of a file in `manifests/`, in order.

    The file is plain YAML, not a template: Python code changes the objects where stacks differ.
    """
    return json.loads(_read(MANIFESTS / file))


def namespaces() -> list[dict[str, Any]]:
    """All namespaces that the program may create: first the core's namespaces, then the namespaces of parts."""
    return _everywhere(NAMESPACES)


def isolation() -> list[dict[str, Any]]:
    """All NetworkPolicies of isolated namespaces: first the core's policies, then the policies of parts."""
    return _everywhere(ISOLATION)


def namespaces_of(part: str) -> list[dict[str, Any]]:
    """Namespaces in the namespaces file of a part's folder; empty if the folder has no such file."""
    return load_of(part, NAMESPACES) if (part_folder(part) / NAMESPACES).exists() else []


def load_of(part: str, file: str) -> list[dict[str, Any]]:
    """Objects of a file in a part's folder, in order."""
    return json.loads(_read(part_folder(part) / file))


def _everywhere(file: str) -> list[dict[str, Any]]:
    """Objects of the files with this name: first of the core's file, then of the files in the folders of parts."""
    of_parts = (each for path in part_files(file) for each in json.loads(_read(path)))
    return [*load(file), *of_parts]


@cache
def _read(path: Path) -> str:
    """Objects of a file as JSON text. Each caller parses the text, because callers change the objects.

    Raises:
        CatalogError: The file is not YAML, or an object has another form.
    """
    try:
        documents = [document for document in safe_yaml.load_all(path.read_text()) if document is not None]
    except YAMLError as error:
        raise unreadable(path, error) from error
    for number, document in enumerate(documents, 1):
        if problem := _form_problem(path.name, document):
            raise CatalogError(f"{file_label(path)}: document {number}: {problem}")
    try:
        return json.dumps(documents)
    except TypeError as error:  # a date, which YAML makes of digits and dashes
        raise CatalogError(f"{file_label(path)}: {error}\n  Write the value between quotes.") from None


def _form_problem(file: str, document: Any) -> str | None:
    """First required key of an object that is absent or has a wrong value, with what to write; None where all keys are
    right.
    """
    for path, (fits, advice) in {**_FORM, **_FORMS.get(file, {})}.items():
        if not fits(at(document, path) if is_mapping(document) else None):
            return f"{path}\n  The key is absent, or its value has another form.\n  Write {path}: {advice}."
    return None

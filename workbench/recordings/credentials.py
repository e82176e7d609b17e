"""Removal of credentials from documents. Pure functions.

In environments, command lines, annotations and ConfigMaps, where people write free text, only known values are kept.
Elsewhere a value is removed if the name of its field or its own form tells that it is a credential.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

import yaml

from physical_ai.catalog.own_names import REPAIR_LABEL
from physical_ai.kubernetes.objects import at, labels, name, namespace
from workbench.recordings.secret_forms import is_name
from workbench.recordings.secret_texts import GONE, REMOVED, cleaned
from workbench.recordings.telling import (
    is_plain,
    is_telling,
    is_telling_field,
    keeps_annotation,
    keeps_flag,
    keeps_variable,
    names_secrets,
)

__all__ = ["REMOVED", "Remover", "SettingsRemover"]

DROPPED_KEYS = frozenset({"managedFields", "caBundle", "binaryData"})
"""Keys that are left out with their values: copies of other objects, certificates that name their owner, and files."""
_APPLIED = re.compile(r"last-applied|^objectset\.rio\.cattle\.io/applied$")
_ENVIRONMENT = re.compile(
    r"^(?:extra|additional|pod|container)?_?env(?:ironment)?_?(?:vars?|variables?)?$", re.IGNORECASE
)
_COMMAND = frozenset({"args", "command", "extraArgs", "additionalArgs", "commandLine"})
_REFERENCE = frozenset(
    {"name", "namespace", "secretName", "secretNamespace", "optional", "items", "defaultMode", "kind", "uid"}
)
_LABEL = REMOVED.strip("()")
"""Text that replaces the value of a label; such a value may contain no brackets."""
_NAMED_BY, _VALUES = ("name", "key"), ("value", "default", "example")
_KEYS_OF = ("keyName", "permissions", "value")
"""Fields of a storage account's key in Azure's answer to listKeys."""
_SECRET, _CONTENT = "Secret", ("data", "stringData")
"""Kind of a Secret, and the fields with its content, for a Secret that somebody has written as YAML or JSON into a
text.
"""
_FLAG = re.compile(r"^--?[A-Za-z][^\s=]{0,80}(?:=[^\n]*)?$")
_PROGRAM = re.compile(r"^(?:[a-z][a-z-]{0,30}|/[\w./-]{1,64})$")
PUBLIC_KEY = re.compile(r"(?:ssh-(?:rsa|dss|ed25519)|ecdsa-sha2-nistp\d{3}) (?:AAAA|\(removed\))")
"""Pattern of a public key of SSH, as in a file of authorized keys, with or without its content."""
_SMALL = re.compile(r"^\d{1,5}$")
_LONGEST_YAML, _LONGEST_JSON = 64 << 10, 4 << 20
_MAPPING = re.compile(r"^[ \t-]{0,64}[\"']?[\w./-]{1,128}[\"']?:(?:[ \t]|$)", re.MULTILINE)
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
RECORDS = ("physical-ai/evidence", "physical-ai/acceptance", REPAIR_LABEL)
"""Labels of the ConfigMaps in the GPU Operator's namespace that hold this project's records about machines."""
RECORDS_NAMESPACE = "gpu-operator"
AUTOSCALER = ("kube-system", "cluster-autoscaler-status")


class Remover:
    """Remover of credentials from documents, which counts the removed values."""

    def __init__(self) -> None:
        self.removed = 0

    def __call__(self, value: Any) -> Any:
        return self._clean(value, "")

    def config_map(self, item: Mapping[str, Any]) -> dict[str, Any]:
        """The ConfigMap `item` with its data if commands of physai read it. In any other ConfigMap, the length of each
        value replaces the value.
        """
        known = (namespace(item), name(item)) == AUTOSCALER or (
            namespace(item) == RECORDS_NAMESPACE and any(each in labels(item) for each in RECORDS)
        )
        found: dict[str, Any] = self({key: value for key, value in item.items() if known or key != "data"})
        if not known and isinstance(item.get("data"), dict):
            found["data"] = {key: self._length(str(value)) for key, value in at(item, "data", {}).items()}
        return found

    def schema(self, value: Any) -> Any:
        """The OpenAPI schema of a CRD. A property with the name of a credential loses its default and example.

        In a schema, the name of a property is followed by the property's schema, not by a value, so all else is kept.
        """
        if isinstance(value, list):
            return [self.schema(each) for each in cast("list[Any]", value)]
        if not isinstance(value, dict):
            return self.text(value) if isinstance(value, str) else value
        given = cast("dict[str, Any]", value)
        return {
            key: self.schema({one: it for one, it in cast("dict[str, Any]", each).items() if one not in _VALUES})
            if isinstance(each, dict) and is_telling(key)
            else self.schema(each)
            for key, each in given.items()
        }

    def text(self, value: str) -> str:
        """A text without the parts that look like credentials. JSON and YAML are cleaned value by value."""
        if GONE.match(value):
            return value
        inside = self._inside(value)
        if inside is not None:
            return inside
        found, count = cleaned(value)
        self.removed += count
        return found

    def _inside(self, value: str) -> str | None:
        start = value[:64].lstrip()[:1]
        if start and start in "{[" and len(value) <= _LONGEST_JSON:
            try:
                given = json.loads(value)
            except (ValueError, RecursionError):
                given = None
            if isinstance(given, (dict, list)):
                found = self._clean(given, "")
                return value if found == given else json.dumps(found)
        if "\n" not in value.strip() or not _MAPPING.search(value) or len(value) > _LONGEST_YAML:
            return None
        if re.search(r"[:\s-][&*][A-Za-z0-9]", value):
            return None  # YAML anchors can repeat a part endlessly
        try:
            given = yaml.load(value, _LOADER)  # noqa: S506 - a safe loader, in C where there is one
        except (yaml.YAMLError, ValueError, RecursionError):
            return None
        if not isinstance(given, (dict, list)):
            return None
        before = self.removed
        found = self._clean(given, "")
        return value if found == given or self.removed == before else yaml.safe_dump(found, sort_keys=False)

    def _clean(self, value: Any, key: str) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return self._list(cast("list[Any]", value), key)
        if not isinstance(value, dict):
            return value
        given = cast("dict[Any, Any]", value)
        found = {each: self._member(str(each), one, key) for each, one in given.items() if not _is_dropped(str(each))}
        told = next((given[each] for each in _NAMED_BY if isinstance(given.get(each), str)), "")
        is_key = "keyName" in given and given.keys() <= set(_KEYS_OF)
        for each in _VALUES:
            if each in given and (is_telling(told) or key == "httpHeaders" or is_key):
                found[each] = self._gone(given[each])
        for each in _CONTENT if given.get("kind") == _SECRET else ():
            if isinstance(given.get(each), dict):
                found[each] = {name: self._gone(str(one)) for name, one in at(given, each).items()}
        return found

    def _list(self, value: list[Any], key: str) -> list[Any]:
        if _ENVIRONMENT.match(key):
            return [self._variable(each) for each in value]
        if key in _COMMAND and all(isinstance(each, str) for each in value):
            return self._command(value, is_command=key == "command")
        return [self._clean(each, key) for each in value]

    def _member(self, key: str, value: Any, parent: str) -> Any:  # noqa: PLR0911 - one for each place
        if parent == "annotations" and isinstance(value, str) and not keeps_annotation(key):
            return self._gone(value)
        if parent in ("labels", "matchLabels", "nodeSelector") and isinstance(value, str):
            return self._gone(value, _LABEL) if is_telling(key) else self.text(value).replace(REMOVED, _LABEL)
        if _ENVIRONMENT.match(parent) and isinstance(value, str):
            return self.text(value) if keeps_variable(key, value) else self._gone(value)
        if key == "openAPIV3Schema":
            return self.schema(value)
        if key == "annotations" and parent != "metadata":
            key = ""  # those of alerts, which their rules give
        if key in _COMMAND and isinstance(value, str):
            return self._length(value)
        if is_telling_field(key) and not _is_reference(key, value):
            return self._gone(value)
        return self._clean(value, key)

    def _gone(self, value: Any, text: str = REMOVED) -> Any:
        """Replacement of the same type for a value that is to be removed: `text` for a text, an empty map for a map, a
        list of replacements for a list of texts, an empty list for any other list. A public key of SSH keeps its kind.
        An empty value, a boolean or null is returned unchanged.
        """
        if isinstance(value, (bool, type(None))) or not value:
            return value
        if isinstance(value, str):
            if GONE.match(value) or value.lower() in ("true", "false"):
                return value
            if PUBLIC_KEY.match(value):
                return self.text(value)
            self.removed += 1
            return text
        texts = _texts(value)
        if texts:
            return [self._gone(each, text) for each in texts]
        self.removed += 1
        return type(value)()

    def _length(self, value: str) -> str:
        if not value or GONE.match(value):
            return value
        self.removed += 1
        return f"(removed: {len(value)} characters)"

    def _variable(self, given: Any) -> Any:
        """An environment variable without its value, unless the value is to be kept. `given` is an object with `name`
        and `value`, or a text `NAME=VALUE`.
        """
        if not isinstance(given, dict):
            return self._assignment(given) if isinstance(given, str) else given
        given = cast("dict[str, Any]", given)
        found: dict[str, Any] = self._clean({key: each for key, each in given.items() if key != "value"}, "")
        if "value" in given:
            value = given["value"]
            if keeps_variable(str(given.get("name", "")), str(value)):
                found["value"] = self._clean(value, "")
            else:
                found["value"] = self._gone(value)
        return found

    def _assignment(self, given: str) -> str:
        """An environment variable `NAME=VALUE`, without its value unless the value is to be kept."""
        name_, mark, value = given.partition("=")
        if not mark:
            return self._length(given)
        return f"{name_}={self.text(value) if keeps_variable(name_, value) else self._gone(value)}"

    def _command(self, given: Sequence[str], *, is_command: bool) -> list[str]:
        found: list[str] = []
        keeps = False
        for number, each in enumerate(given):
            if GONE.match(each):
                found.append(each)
            elif _FLAG.match(each):
                flag, mark, value = each.partition("=")
                joined = not flag.startswith("--") and not mark and len(flag) > 2
                flag = flag[:2] + self._gone(flag[2:]) if joined and not GONE.match(flag[2:]) else flag
                keeps = keeps_flag(flag)
                plain = keeps or (is_plain(value) and not is_telling(flag))
                found.append(f"{flag}{mark}{(self.text(value) if plain else self._gone(value)) if mark else ''}")
            elif keeps or (number == 0 and is_command and _PROGRAM.match(each)):
                found.append(self.text(each))
                keeps = False
            else:
                found.append(self._length(each))
        return found


class SettingsRemover(Remover):
    """Remover of credentials from the settings of a stack, which keeps the names of the stack's secrets."""

    def _member(self, key: str, value: Any, parent: str) -> Any:
        return self._names(value) if names_secrets(key) else super()._member(key, value, parent)

    def _names(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self._names(each) for key, each in cast("dict[str, Any]", value).items()}
        return value if isinstance(value, str) and is_name(value) else self._gone(value)


def _texts(value: Any) -> list[str]:
    """The texts in a list of texts; an empty list for any other value."""
    given = cast("list[Any]", value) if isinstance(value, list) else []
    return given if all(isinstance(each, str) for each in given) else []


def _is_dropped(key: str) -> bool:
    return key in DROPPED_KEYS or bool(_APPLIED.search(key))


def _is_reference(key: str, value: Any) -> bool:
    """True for a field that has only references to Secrets, or a number of Secrets."""
    if isinstance(value, list):
        return all(isinstance(each, dict) and _is_reference(key, each) for each in cast("list[Any]", value))
    if isinstance(value, dict):
        given = cast("dict[Any, Any]", value)
        return bool(given) and {str(each) for each in given} <= _REFERENCE
    return key == "secrets" and bool(_SMALL.match(str(value)))

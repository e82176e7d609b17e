"""Client that answers requests about a cluster from a recording instead of an API server."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from physical_ai.kubernetes.objects import at, labels, name, namespace
from physical_ai.readiness.answers import FORBIDDEN, Get, Missing, Unreachable
from physical_ai.readiness.paths import api_path
from physical_ai.readiness.shapes import checked
from workbench.recordings.reading import Recording

NO_SECRETS = "403 a recording never has Secrets"
_NAMESPACED = re.compile(r"^(?P<head>/api/v1|/apis/[^/]+/[^/]+)/namespaces/(?P<space>[^/]+)/(?P<rest>[^/]+)")
_VERSIONED = re.compile(r"^/apis/(?P<group>[^/]+)/[^/]+/(?P<resource>[^/]+)$")
_SET_BASED = re.compile(r"^(?P<key>\S+)\s+(?P<operator>in|notin)\s+\((?P<values>[^()]*)\)$")
Test = Callable[[Mapping[str, Any]], bool]


def reader(recording: Recording) -> Get:
    """A client with the interface of `physical_ai.readiness.client`. A request that failed while the recording was made
    fails again.

    The answer to a request for a list by namespace, labels or fields is selected from the recorded list of all objects.
    """
    lists = recording.lists
    refused = {each["path"]: each for each in recording.of("refused")}
    discovery = {each["path"]: each["answer"] for each in recording.of("discovery")}
    logs = {(each["namespace"], each["pod"], each["container"], each["previous"]): each["text"]
            for each in recording.of("log")}  # fmt: skip
    versions = {_group(path): path for path in lists if _group(path)}

    def get(path: str, parameters: Mapping[str, str]) -> Any:
        if path in discovery:
            return checked(dict(discovery[path]), path)
        asked = api_path(path)
        if asked.resource == "secrets":
            raise Unreachable(NO_SECRETS, FORBIDDEN)
        if asked.sub == "log":
            return _log(logs, path, parameters)
        whole, space = _collection(path)
        if whole in refused:
            raise Unreachable(refused[whole]["text"], refused[whole]["status"])
        if whole not in lists:
            other = versions.get(_group(whole))
            if other:
                raise Unreachable(f"the recording has {asked.resource} as {other} alone, and not as {whole}")
            if whole.startswith("/api/v1/"):  # every API server has it
                raise Unreachable(f"the recording has no {whole}")
            raise Missing(f"the recording has no {whole}")
        found: Iterable[Mapping[str, Any]] = lists[whole]
        if space and asked.resource != "namespaces":
            found = (each for each in found if namespace(each) == space)
        if asked.is_list:
            tests = [
                *label_tests(parameters.get("labelSelector", "")),
                *field_tests(parameters.get("fieldSelector", "")),
            ]
            return checked(_page([each for each in found if all(test(each) for test in tests)], parameters), path)
        one = next((each for each in found if name(each) == asked.name), None)
        if one is None or asked.sub:
            raise Missing(f"the recording has no {path}")
        return checked(dict(one), path)

    return get


def _group(path: str) -> str:
    found = _VERSIONED.match(path)
    return f"{found['group']}/{found['resource']}" if found else ""


def _collection(path: str) -> tuple[str, str]:
    """API path of the list over all namespaces, and the namespace in the requested path; the namespace is empty for a
    path without one.
    """
    found = _NAMESPACED.match(path)
    if found:
        return f"{found['head']}/{found['rest']}", found["space"]
    parts = path.strip("/").split("/")
    return "/" + "/".join(parts[: {"api": 3, "apis": 4}.get(parts[0], len(parts))]), ""


def _page(items: Sequence[Any], parameters: Mapping[str, str]) -> dict[str, Any]:
    """One page of a list. The `continue` token is the number of objects on the pages before."""
    limit, token = parameters.get("limit", ""), parameters.get("continue", "")
    if not limit.isdigit() or not int(limit):
        return {"metadata": {}, "items": list(items)}
    start = int(token) if token.isdigit() else 0
    end = start + int(limit)
    return {"metadata": {"continue": str(end)} if end < len(items) else {}, "items": list(items[start:end])}


def _log(logs: Mapping[tuple[str, str, str, bool], str], path: str, parameters: Mapping[str, str]) -> str:
    parts = path.strip("/").split("/")
    key = parts[3], parts[5], parameters.get("container", ""), parameters.get("previous") == "true"
    if key not in logs:
        raise Missing(f"the recording has no log of {key[0]}/{key[1]}, container {key[2]}")
    lines = parameters.get("tailLines", "")
    text = logs[key]
    return "\n".join(text.splitlines()[-int(lines) :]) if lines.isdigit() and int(lines) else text


def label_tests(selector: str) -> list[Test]:
    """Tests of an object's labels, one for each requirement of a label selector in the API's format.

    Raises ValueError for an invalid selector.
    """
    return [_label_test(each) for each in re.split(r",(?![^()]*\))", selector) if each]


def _label_test(text: str) -> Test:
    found = _SET_BASED.match(text.strip())
    if found:
        key, values = found["key"], {each.strip() for each in found["values"].split(",")}
        is_in = found["operator"] == "in"
        return lambda item: (labels(item).get(key) in values) is is_in
    if "!=" in text:
        key, _, value = text.partition("!=")
        return lambda item: labels(item).get(key) != value
    if "=" in text:
        key, _, value = text.replace("==", "=").partition("=")
        return lambda item: labels(item).get(key) == value
    bare = text.strip()
    if bare.startswith("!"):
        return lambda item: bare[1:] not in labels(item)
    return lambda item: bare in labels(item)


def field_tests(selector: str) -> list[Test]:
    """Tests of an object's fields, one for each requirement of a field selector with `=` or `!=`."""
    return [_field_test(each) for each in selector.split(",") if each]


def _field_test(text: str) -> Test:
    key, _, value = text.replace("==", "=").partition("=")
    if key.endswith("!"):
        return lambda item: str(at(item, key[:-1], "")) != value
    return lambda item: str(at(item, key, "")) == value

"""Reasons why a process of OSMO's control plane ends as soon as it starts: files that it reads are wrong in content or
format.

Sources of the checks: NVIDIA/OSMO 6.3.1, utils/secret_manager (keys), service (password of the administrator),
utils/connectors/redis.py (address of the cache), utils/configmap_loader (sections), and oauth2-proxy's validation of
its options.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Iterator
from typing import Any, cast
from urllib.parse import urlsplit

import yaml

from simulator import osmo_names as names
from simulator.cluster.objects import Json, at
from simulator.operators.mounts import CRASHED, Find, StartProblem

COOKIE_LENGTHS = (16, 24, 32)
_SECTIONS = ("service", "workflow", "dataset", "pools", "pod_templates", "resource_validations", "backends", "roles")


def crash(pod: Json, find: Find) -> StartProblem | None:
    """The first reason why a container of the Pod ends when it starts; None if no container ends.

    The Secrets and ConfigMaps that the Pod refers to must exist.
    """
    namespace = str(at(pod, "metadata.namespace", ""))
    problem = next(_problems(pod, lambda kind, name: find(kind, namespace, name) or {}), None)
    if problem is None:
        return None
    container = at(pod, "spec.containers", [{}])[0].get("name", "")
    text = f"back-off restarting failed container {container} in pod {pod['metadata']['name']}: {problem}"
    return StartProblem(CRASHED, "BackOff", text)


def _problems(pod: Json, read: Callable[[str, str], Json]) -> Iterator[str]:
    for container in at(pod, "spec.containers", []):
        for variable in at(container, "env", []):
            if variable["name"] == "OSMO_DEFAULT_ADMIN_PASSWORD":
                given = at(variable, "valueFrom.secretKeyRef")
                length = len(_secret(read("Secret", given["name"]), given["key"]))
                if length != names.ADMIN_LENGTH:
                    yield f"the default admin's password has {length} characters, and needs {names.ADMIN_LENGTH}"
        arguments = [str(each) for each in at(container, "args", [])]
        for flag in ("--postgres_host", "--redis_host"):
            if flag in arguments and not arguments[arguments.index(flag) + 1]:
                yield f"{flag} is empty"
        yield from _cache(container, arguments, read)
        yield from (f"{each} is empty" for each in ("--client-id=", "--oidc-issuer-url=") if each in arguments)
        if (keys := _key_file(pod, container, read)) is not None:
            yield from _keys(keys)
    for volume in at(pod, "spec.volumes", []):
        config, secret = at(volume, "configMap.name"), at(volume, "secret.secretName")
        if config == names.CONFIG:
            yield from _configuration(str(at(read("ConfigMap", config), "data", {})["config.yaml"]))
        elif secret == names.OAUTH2_SECRET:
            length = len(_secret(read("Secret", secret), names.OAUTH2_COOKIE_KEY))
            if length not in COOKIE_LENGTHS:
                yield f"cookie_secret must be 16, 24, or 32 bytes, but is {length} bytes"


def _cache(container: Json, arguments: list[str], read: Callable[[str, str], Json]) -> Iterator[str]:
    """Problems with the Redis cache's address, which OSMO assembles, and which redis-py and kombu parse with
    urllib.parse.
    """
    given = next((each for each in at(container, "env", []) if each["name"] == "OSMO_REDIS_PASSWORD"), None)
    if given is None or "--redis_host" not in arguments:
        return
    source = at(given, "valueFrom.secretKeyRef", {})
    password = _secret(read("Secret", source["name"]), source["key"]).decode()
    host, port = (arguments[arguments.index(flag) + 1] for flag in ("--redis_host", "--redis_port"))
    scheme = "rediss" if "--redis_tls_enable" in arguments else "redis"
    try:
        parts = urlsplit(f"{scheme}://:{password}@{host}:{port}/0")
        found = (parts.hostname, parts.port)
    except ValueError as problem:
        # The exception's text would contain a part of the password.
        yield f"ValueError: {str(problem).partition(' as ')[0]}, from the password of the cache"
        return
    if found != (host.lower(), int(port)):
        yield f"redis.exceptions.ConnectionError: no host {host} in the address with the password of the cache"


def _key_file(pod: Json, container: Json, read: Callable[[str, str], Json]) -> str | None:
    """Content of the file with the master encryption keys. Empty if nothing is mounted at the file's path; None if the
    process reads no such file.

    The environment variable takes precedence over the argument (NVIDIA/OSMO src/utils/static_config.py).
    """
    arguments = [str(each) for each in at(container, "args", [])]
    if "--mek_file" not in arguments:
        return None
    variables = {each["name"]: each.get("value") for each in at(container, "env", [])}
    path = str(variables.get(names.MEK_VARIABLE) or arguments[arguments.index("--mek_file") + 1])
    volumes = {each["name"]: each for each in at(pod, "spec.volumes", [])}
    for mount in at(container, "volumeMounts", []):
        place = f"{mount['mountPath']}/{names.MEK_FILE}" if "subPath" not in mount else mount["mountPath"]
        if place == path:
            volume = volumes[mount["name"]]
            if config := at(volume, "configMap.name"):
                return str(at(read("ConfigMap", config), "data", {}).get(names.MEK_FILE, ""))
            return _secret(read("Secret", str(at(volume, "secret.secretName", ""))), names.MEK_FILE).decode()
    return ""


def _secret(item: Json, key: str) -> bytes:
    return base64.b64decode(str(at(item, "data", {}).get(key, "")))


def _keys(text: str) -> Iterator[str]:
    """Problems with the file of master encryption keys."""
    try:
        file: Any = yaml.safe_load(text)
        keys: dict[str, str] = file["meks"]
        current = str(file["currentMek"])
        jwk: Any = json.loads(base64.b64decode(keys[current], validate=True))
        size = len(base64.urlsafe_b64decode(f"{jwk['k']}{'=' * (-len(jwk['k']) % 4)}"))
    except (yaml.YAMLError, KeyError, TypeError, ValueError, binascii.Error) as problem:
        yield f"the master encryption keys cannot be read: {type(problem).__name__}"
        return
    if jwk.get("kty") != "oct" or size != names.MEK_BYTES:
        yield f"the master encryption key {current} is not a symmetric key of {names.MEK_BYTES} bytes"


def _configuration(text: str) -> Iterator[str]:
    """Problems because of which OSMO's service cannot load its configuration file `text`: it is no YAML, or a section
    is not a map. The content of pools and templates is not checked.
    """
    try:
        file: Any = yaml.safe_load(text)
    except yaml.YAMLError as problem:
        yield f"the configuration is no YAML: {str(problem).splitlines()[0]}"
        return
    if not isinstance(file, dict):
        yield "the configuration is not a map"
        return
    for section in _SECTIONS:
        value = cast("dict[str, Any]", file).get(section)
        if value is not None and not isinstance(value, dict):
            yield f"the section {section} of the configuration is not a map"

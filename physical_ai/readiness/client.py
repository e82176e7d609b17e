"""`Get` and `Send` over the official Kubernetes client, for a kubeconfig with any login that it supports."""

from __future__ import annotations

import importlib
import json
import logging
import threading
from collections.abc import Callable, Mapping
from typing import Any, cast
from urllib.parse import urlsplit

import yaml

from physical_ai import safe_yaml
from physical_ai.readiness.reader import Get, Missing, Unreachable, Unusable

SECONDS = (5, 15)
"""To connect, and to wait for an answer."""
LOG_SECONDS = (3, 3)
"""A log comes from the node, which may no longer exist."""
PATCHES = "application/merge-patch+json"
Send = Callable[..., Any]
"""`send(method, path, parameters, body=None)`; the answer's document. Raises as `Get` does."""
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


def connect(kubeconfig: str) -> Get:
    """A reader of the cluster in the kubeconfig's current context. It connects with the first `get`.

    The login of the kubeconfig renews an expired token. Safe to use from several threads.
    """
    request = _Session(kubeconfig).request

    def get(path: str, parameters: Mapping[str, str]) -> Any:
        return request("GET", path, parameters)

    return get


def connect_to_change(kubeconfig: str) -> Send:
    """As `connect`, for requests that change something: `send("DELETE", path, parameters)`, or `PATCH` with a body."""
    return _Session(kubeconfig).request


class _Session:
    """One login, from its first request on."""

    def __init__(self, kubeconfig: str) -> None:
        self._kubeconfig = kubeconfig
        self._lock = threading.Lock()
        self._client: Any = None

    def request(self, method: str, path: str, parameters: Mapping[str, str], body: Any = None) -> Any:
        with self._lock:
            if self._client is None:
                self._client = _client(self._kubeconfig)
            try:
                return _request(self._client, method, path, parameters, body)
            except _LoggedOut:
                self._client = None
                raise


class _LoggedOut(Unreachable):
    """The token is refused; the next request logs in again."""


class _LoginErrors(logging.Handler):
    """Keeps the reason for a failed login, which the client only logs."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


def _client(kubeconfig: str) -> Any:
    """The client, logged in. Importing it takes half a second, so it is imported here.

    Raises:
        Unusable: the text is not a kubeconfig, or its login command is not installed.
        Unreachable: the login failed.
    """
    client: Any = importlib.import_module("kubernetes.client")
    config: Any = importlib.import_module("kubernetes.config")
    settings = client.Configuration()
    settings.retries = 0  # the next request is the retry
    errors = _LoginErrors()
    logging.getLogger().addHandler(errors)
    try:
        document: Any = safe_yaml.load(kubeconfig)
        config.load_kube_config_from_dict(document, client_configuration=settings, persist_config=False)
    except (config.ConfigException, yaml.YAMLError, OSError, TypeError, ValueError) as problem:
        raise Unusable(f"the kubeconfig cannot be used: {_short(problem)}") from problem
    finally:
        logging.getLogger().removeHandler(errors)
    for problem in errors.messages:
        if "No such file or directory" in problem:
            raise Unusable(f"the kubeconfig's login is not installed: {problem}")
        raise Unreachable(f"the login failed: {problem}")
    if urlsplit(str(settings.host)).hostname in _LOOPBACK:
        settings.proxy = None  # from the environment; it does not reach this machine's own servers
    return client.ApiClient(settings)


def _request(client: Any, method: str, path: str, parameters: Mapping[str, str], body: Any = None) -> Any:
    exceptions: Any = importlib.import_module("kubernetes.client.exceptions")
    urllib3: Any = importlib.import_module("urllib3.exceptions")
    log = path.endswith("/log")
    request: Any = client.param_serialize(
        method=method,
        resource_path=path,
        query_params=list(parameters.items()),
        header_params={
            "Accept": "*/*" if log else "application/json",
            **({"Content-Type": PATCHES if method == "PATCH" else "application/json"} if body is not None else {}),
        },
        body=body,
        auth_settings=["BearerToken"],
    )
    try:
        answer = client.call_api(*request, _request_timeout=LOG_SECONDS if log else SECONDS)
        answered: bytes = answer.read()
    except (urllib3.HTTPError, OSError) as problem:
        raise Unreachable(_short(problem)) from problem
    except exceptions.ApiException as problem:
        raise _refused(path, problem.status, str(problem.reason)) from problem
    if answer.status >= 300:
        raise _refused(path, answer.status, _message(answered) or str(answer.reason))
    return answered.decode(errors="replace") if log else json.loads(answered)


def _refused(path: str, status: int, message: str) -> Exception:
    if path.endswith("/log"):
        return Unreachable(message) if status >= 500 else Missing(message)
    if status == 404:
        return Missing(message)
    if status == 401:
        return _LoggedOut(f"401 {message}")
    # 403 too: a role assignment takes minutes to work.
    return Unreachable(f"{status} {message}")


def _message(body: bytes) -> str:
    try:
        found: Any = json.loads(body)
    except ValueError:
        return body.decode(errors="replace").strip()[:200]
    return str(cast("dict[str, Any]", found).get("message", "")) if isinstance(found, dict) else ""


def _short(problem: Exception) -> str:
    reason = getattr(problem, "reason", None) or problem
    return str(reason).partition("\n")[0][:300]

"""Implementation of `Get` and `Send` with the official Kubernetes client, for a kubeconfig with any login that the
client supports.

The client does the login and applies the kubeconfig's TLS and proxy settings; `physical_ai.servers` sends the
requests, with its limits. The form of each answer is checked here, once for all readers.
"""

from __future__ import annotations

import importlib
import json
import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import yaml

from physical_ai import safe_yaml
from physical_ai.nested import is_mapping
from physical_ai.readiness.answers import FORBIDDEN
from physical_ai.readiness.paging import whole_list
from physical_ai.readiness.paths import api_path
from physical_ai.readiness.reader import Get, Missing, Unreachable, Unusable
from physical_ai.readiness.shapes import Malformed, checked
from physical_ai.servers.bounds import Bounds
from physical_ai.servers.deadline import bounded, within
from physical_ai.servers.documents import NotADocument, decoded, shown
from physical_ai.servers.exchange import Answer, NoAnswer, Request, TooLarge, exchange, short

API = Bounds()
LOG = Bounds(seconds=6, connect=3, idle=3, size=4 << 20, tries=1)
"""Limits of a request for a container's log. They are short, because the API server asks the node for the log, and the
node may no longer exist.
"""
LOGIN_SECONDS = 120.0
"""Seconds that the kubeconfig's login may take; the login may ask a person to confirm it in a browser."""
PATCHES = "application/merge-patch+json"
Send = Callable[..., Any]
"""Function `send(method, path, parameters, body=None)`, which returns the answer's decoded JSON.

It raises the exceptions of `Get`.
"""
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


def connect(kubeconfig: str, bounds: Bounds | None = None) -> Get:
    """Returns a reader of the cluster in the kubeconfig's current context. It connects with the first `get`.

    The login of the kubeconfig renews an expired token. The reader can be used from several threads. It reads lists
    page by page, unless the parameters contain a `limit`.
    """
    request = _Session(kubeconfig, bounds or API).request

    def get(path: str, parameters: Mapping[str, str]) -> Any:
        return request("GET", path, parameters)

    return get


def connect_to_change(kubeconfig: str, bounds: Bounds | None = None) -> Send:
    """Returns a sender of requests that change something: `send("DELETE", path, parameters)`, or `PATCH` with a body.
    It connects as the reader of `connect` does.
    """
    return _Session(kubeconfig, bounds or API).request


class _Session:
    """Session with an API server that logs in at its first request."""

    def __init__(self, kubeconfig: str, bounds: Bounds) -> None:
        self._kubeconfig, self._bounds = kubeconfig, bounds
        self._lock = threading.Lock()
        self._client: Any = None

    def request(self, method: str, path: str, parameters: Mapping[str, str], body: Any = None) -> Any:
        try:
            if method == "GET" and api_path(path).is_list and "limit" not in parameters:
                return whole_list(lambda more: self._request("GET", path, {**parameters, **more}, None), path)
            return self._request(method, path, parameters, body)
        except TooLarge as problem:
            raise Unreachable(str(problem)) from None

    def _request(self, method: str, path: str, parameters: Mapping[str, str], body: Any) -> Any:
        with self._lock:
            if self._client is None:
                self._client = _client(self._kubeconfig)
            try:
                return _asked(self._client, (method, path, parameters, body), self._bounds)
            except _LoggedOut:
                self._client = None
                raise


class _LoggedOut(Unreachable):
    """Raised where the token is refused; the next request logs in again."""


class _LoginErrors(logging.Handler):
    """Log handler that keeps the reason for a failed login, which the client only logs."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


def _client(kubeconfig: str) -> Any:
    """Kubernetes client, logged in. Importing the package takes half a second, so it is imported here.

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
        load = config.load_kube_config_from_dict
        _logged_in(lambda: load(document, client_configuration=settings, persist_config=False))
    except Unreachable:
        raise
    except (config.ConfigException, yaml.YAMLError, OSError, TypeError, ValueError, AttributeError) as problem:
        raise Unusable(f"the kubeconfig cannot be used: {short(problem)}") from problem
    finally:
        logging.getLogger().removeHandler(errors)
    for problem in errors.messages:
        if "No such file or directory" in problem:
            raise Unusable(f"the kubeconfig's login is not installed: {problem}")
        raise Unreachable(f"the login failed: {problem}")
    if urlsplit(str(settings.host)).hostname in _LOOPBACK:
        settings.proxy = None  # a proxy set in the environment cannot reach servers on this machine itself
    made = client.ApiClient(settings)
    bounded(made.rest_client.pool_manager)
    return made


def _logged_in(act: Callable[[], Any]) -> Any:
    """Runs `act`, which logs in with the kubeconfig, and returns its result. Raises Unreachable after `LOGIN_SECONDS`,
    because login commands and servers have no time limit of their own.
    """
    try:
        return within(LOGIN_SECONDS, act)
    except TimeoutError:
        raise Unreachable(
            f"the login of the kubeconfig has not ended within {LOGIN_SECONDS:g} s. Run its command yourself, such as "
            "`kubelogin get-token` or `az login`, and then this one again"
        ) from None


def _asked(client: Any, given: tuple[str, str, Mapping[str, str], Any], bounds: Bounds) -> Any:
    method, path, parameters, body = given
    log = api_path(path).sub == "log"
    kind = PATCHES if method == "PATCH" else "application/json"
    # The client's own function adds the token, and renews an expired one.
    _, url, headers, *_ = _logged_in(
        lambda: client.param_serialize(
            method=method,
            resource_path=path,
            query_params=list(parameters.items()),
            header_params={
                "Accept": "*/*" if log else "application/json",
                **({"Content-Type": kind} if body is not None else {}),
            },
            auth_settings=["BearerToken"],
        )
    )
    data = None if body is None else json.dumps(body).encode()
    # A disruption budget answers an eviction with the status 429; the caller itself waits then.
    request = Request(method, url, headers, data, waits=api_path(path).sub != "eviction")
    limits = replace(LOG, seconds=min(LOG.seconds, bounds.seconds), size=min(LOG.size, bounds.size)) if log else bounds
    try:
        answer = exchange(client.rest_client.pool_manager, request, limits)
    except TooLarge:
        raise
    except NoAnswer as problem:
        raise Unreachable(str(problem)) from problem.__cause__
    if answer.status >= 300:
        raise _refused(path, answer)
    if log:
        return answer.body.decode(errors="replace")
    try:
        return checked(decoded(answer.body, bounds.depth), path if method == "GET" else "")
    except (NotADocument, Malformed) as problem:
        raise Unreachable(
            f"{request.server} sent {request.text} {problem}: what answers there is not the API server, or something "
            "between changes its answers, such as a login page. Compare the address in the kubeconfig, and the proxy "
            "variables"
        ) from None


def _refused(path: str, answer: Answer) -> Exception:
    status, message = answer.status, _message(answer.body) or answer.reason
    if path.endswith("/log") and status != FORBIDDEN:
        return Unreachable(message, status) if status >= 500 else Missing(message)
    if status == 404:
        return Missing(message)
    if status == 401:
        return _LoggedOut(f"401 {message}", status)
    # The status 403 can be temporary: a role assignment takes minutes to come into effect.
    return Unreachable(f"{status} {message}", status)


def _message(body: bytes) -> str:
    try:
        found = decoded(body)
    except NotADocument:
        return shown(body)
    message = found.get("message") if is_mapping(found) else None
    return message if isinstance(message, str) else ""

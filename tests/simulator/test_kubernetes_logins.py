"""Logins and rights of the Kubernetes stand-in against a real API server."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from simulator.kubernetes import ApiError, Client
from simulator.kubernetes.provider import Kubernetes
from simulator.wire import Refused
from tests.simulator.conftest import ApiServer
from tests.simulator.provider_requests import config_map, request


def test_a_refused_right_shows_the_message_of_the_api_server(
    client: Client, namespace: str, api_server: ApiServer
) -> None:
    account = f"system:serviceaccount:{namespace}:default"
    token = client.request("POST", f"/api/v1/namespaces/{namespace}/serviceaccounts/default/token", {})["status"][
        "token"
    ]
    weak = Kubernetes()
    weak.configure({"kubeconfig": with_user(api_server.kubeconfig, {"token": token})})
    with pytest.raises(Refused, match=f'User "{account}" cannot .* resource "configmaps"'):
        weak.create(request(), config_map(namespace, a="1"))
    assert weak.create(request(preview=True), config_map(namespace, a="1"))[1]["data"] == {"a": "1"}


def test_an_exec_credential_logs_in_and_is_requested_again_when_it_is_rejected(
    client: Client, namespace: str, api_server: ApiServer, tmp_path: Path
) -> None:
    tokens = f"/api/v1/namespaces/{namespace}/serviceaccounts/default/token"
    good = client.request("POST", tokens, {})["status"]["token"]
    login = tmp_path / "login"
    calls = tmp_path / "calls"
    login.write_text(
        f"#!{sys.executable}\n"
        "import json, os, pathlib, sys\n"
        f"calls = pathlib.Path({str(calls)!r})\n"
        "count = len(calls.read_text().split()) if calls.exists() else 0\n"
        "calls.write_text('x ' * (count + 1))\n"
        "assert json.loads(os.environ['KUBERNETES_EXEC_INFO'])['kind'] == 'ExecCredential'\n"
        f"token = {good!r} if count else 'expired'\n"
        "print(json.dumps({'apiVersion': 'client.authentication.k8s.io/v1beta1', 'kind': 'ExecCredential',\n"
        "    'status': {'token': token}}))\n"
    )
    login.chmod(0o755)
    stanza = {"apiVersion": "client.authentication.k8s.io/v1beta1", "command": "login", "args": ["get-token"]}
    logged_in = Client(with_user(api_server.kubeconfig, {"exec": stanza}), path=f"{tmp_path}:{os.environ['PATH']}")
    assert "gitVersion" in logged_in.get("/version")
    with pytest.raises(ApiError, match=f"system:serviceaccount:{namespace}:default"):
        logged_in.get("/api/v1/nodes")
    assert calls.read_text().split() == ["x", "x"]


def with_user(kubeconfig: str, user: dict[str, Any]) -> str:
    document = yaml.safe_load(kubeconfig)
    document["users"] = [{"name": entry["name"], "user": user} for entry in document["users"]]
    return yaml.safe_dump(document)

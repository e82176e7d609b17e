"""Kubeconfigs and exec credentials: what is read, and the error message if it can't be read."""

from __future__ import annotations

import base64
import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from simulator.kubernetes.credentials import CredentialError, ExecCredentials
from simulator.kubernetes.kubeconfig import KubeconfigError, active_cluster, load

V1 = "client.authentication.k8s.io/v1"


def kubeconfig(user: dict[str, Any] | None = None, **cluster: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "dev",
        "contexts": [
            {"name": "dev", "context": {"cluster": "one", "user": "me"}},
            {"name": "ops", "context": {"cluster": "two", "user": "me", "namespace": "ops"}},
        ],
        "clusters": [
            {"name": "one", "cluster": {"server": "https://one.example:443/", **cluster}},
            {"name": "two", "cluster": {"server": "https://two.example"}},
        ],
        "users": [{"name": "me", "user": user or {"token": "t"}}],
    }


def test_the_current_context_decides_and_can_be_overridden() -> None:
    text = yaml.safe_dump(kubeconfig())
    read = load(text)
    assert (read.server, read.namespace, read.token) == ("https://one.example:443", "default", "t")
    chosen = load(text, context="ops")
    assert (chosen.server, chosen.namespace) == ("https://two.example", "ops")
    assert yaml.safe_load(chosen.text)["current-context"] == "ops"
    assert load(load(text, cluster="two").text).server == "https://two.example"


def test_a_path_is_read_and_its_relative_files_with_it(tmp_path: Path) -> None:
    (tmp_path / "key.pem").write_bytes(b"KEY")
    inline = base64.b64encode(b"CERT").decode()
    user = {"client-key": "key.pem", "client-certificate-data": inline}
    (tmp_path / "config").write_text(yaml.safe_dump(kubeconfig(user)))
    read = load(str(tmp_path / "config"))
    assert (read.certificate, read.key) == (b"CERT", b"KEY")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("nowhere/config", "nowhere/config: No such file"),
        ("a: [\n", "not YAML"),
        ("- 1\n- 2\n", "neither a kubeconfig nor the path of one"),
        (kubeconfig() | {"current-context": "prod"}, "context 'prod' does not exist; it has: dev, ops"),
        (kubeconfig() | {"current-context": ""}, "no current-context"),
        (kubeconfig() | {"users": []}, "user 'me' does not exist; it has: none"),
        (kubeconfig({"client-key-data": "%"}), "client-key-data is not base64"),
    ],
)
def test_a_mistake_is_reported(source: Any, expected: str) -> None:
    with pytest.raises(KubeconfigError, match=expected):
        load(source)


def test_the_active_cluster_is_read_from_any_form_and_never_raises() -> None:
    stanza = {"server": "https://two.example"}
    assert active_cluster(json.dumps(kubeconfig()), "ops") == stanza
    assert active_cluster(kubeconfig(), cluster="two") == stanza
    assert active_cluster("a: [\n") is None
    assert active_cluster("") is None


def login(tmp_path: Path, body: str) -> dict[str, Any]:
    command = tmp_path / "kubelogin"
    command.write_text(f"#!{sys.executable}\nimport json, os, sys, pathlib\n{body}\n")
    command.chmod(0o755)
    return {
        "apiVersion": V1,
        "command": "kubelogin",
        "args": ["get-token"],
        "env": [{"name": "MODE", "value": "azurecli"}],
    }


def credentials(stanza: dict[str, Any], tmp_path: Path) -> ExecCredentials:
    return ExecCredentials(load(kubeconfig({"exec": stanza})), path=str(tmp_path))


def test_a_token_is_kept_until_it_expires(tmp_path: Path) -> None:
    stanza = login(
        tmp_path,
        f"calls = pathlib.Path({str(tmp_path)!r}) / 'calls'\n"
        "calls.write_text((calls.read_text() if calls.exists() else '') + os.environ['MODE'] + sys.argv[1] + ' ')\n"
        "token = str(len(calls.read_text().split()))\n"
        "end = (pathlib.Path(calls.parent) / 'end').read_text()\n"
        f"print(json.dumps({{'apiVersion': {V1!r}, 'kind': 'ExecCredential',\n"
        "    'status': {'token': token, 'expirationTimestamp': end}}))",
    )
    held = credentials(stanza, tmp_path)
    (tmp_path / "end").write_text((datetime.now(UTC) + timedelta(seconds=5)).strftime("%Y-%m-%dT%H:%M:%SZ"))
    assert held.current().token == "1"
    (tmp_path / "end").write_text((datetime.now(UTC) + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ"))
    second = held.current()
    assert second.token == "2"
    assert held.current().token == "2"
    assert held.current(rejected=second).token == "3"
    assert (tmp_path / "calls").read_text().split() == ["azurecliget-token"] * 3


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("sys.exit('AADSTS700016: no such application')", "failed with exit code 1: AADSTS700016"),
        ("print('hello')", "printed no ExecCredential: 'hello'"),
        (f"print(json.dumps({{'apiVersion': {V1!r}, 'status': {{}}}}))", "neither a token nor a certificate"),
        (
            "print(json.dumps({'apiVersion': 'client.authentication.k8s.io/v1beta1', 'status': {'token': 't'}}))",
            "asks for",
        ),
    ],
)
def test_a_failed_login_reports_the_cause(tmp_path: Path, body: str, expected: str) -> None:
    with pytest.raises(CredentialError, match=expected):
        credentials(login(tmp_path, body), tmp_path).current()


def test_a_missing_login_command_is_named_with_its_hint(tmp_path: Path) -> None:
    stanza = {"apiVersion": V1, "command": "kubelogin", "installHint": "See https://aka.ms/aks/kubelogin"}
    with pytest.raises(CredentialError, match=r"kubelogin is not on PATH[^\n]*\nSee https://aka.ms/aks/kubelogin"):
        credentials(stanza, tmp_path).current()


def test_an_exec_version_that_was_removed_is_refused(tmp_path: Path) -> None:
    stanza = {"apiVersion": "client.authentication.k8s.io/v1alpha1", "command": "kubelogin"}
    with pytest.raises(CredentialError, match="v1alpha1 is not supported"):
        credentials(stanza, tmp_path).current()

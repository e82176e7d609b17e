"""A kubeconfig that does not lead to its cluster: each message names file, context, problem, and what to do."""

from __future__ import annotations

import base64
import datetime
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography import x509

from physical_ai.readiness.kubeconfig_context import explained, kubeconfig_file, read_context
from physical_ai.readiness.reader import Unreachable, Unusable
from simulator.control_plane.certificates import Authority

NAMES = ("lab", "other", "broken")


def kubeconfig(folder: Path, user: Mapping[str, Any] | None = None, cluster: Mapping[str, Any] | None = None) -> str:
    file = folder / "config"
    contexts = [
        {"name": name, "context": {"cluster": name, "user": "gone" if name == "broken" else name}} for name in NAMES
    ]
    clusters = [{"name": name, "cluster": cluster or {"server": "https://lab:6443"}} for name in NAMES]
    users = [{"name": name, "user": user or {"token": f"of-{name}"}} for name in ("lab", "other")]
    parts = {"contexts": contexts, "clusters": clusters, "users": users}
    file.write_text(yaml.safe_dump({**parts, "current-context": "other"}))
    return str(file)


def refusal(file: str, context: str = "lab") -> str:
    with pytest.raises(Unusable) as refused:
        read_context(file, context)
    return str(refused.value)


def test_only_the_one_context_is_read(tmp_path: Path) -> None:
    text = read_context(kubeconfig(tmp_path), "lab")
    assert "of-lab" in text
    assert "of-other" not in text
    assert yaml.safe_load(text)["current-context"] == "lab"


@pytest.mark.parametrize(
    ("context", "words"), [("lost", "Contexts: broken, lab, other"), ("broken", "names the user 'gone'")]
)
def test_a_context_that_cannot_be_used(tmp_path: Path, context: str, words: str) -> None:
    file = kubeconfig(tmp_path)
    text = refusal(file, context)
    assert words in text
    assert text.startswith(f"The kubeconfig {file} cannot be used for the context {context}: ")
    assert text.endswith("or the file that has it to target.kubeconfig.")


@pytest.mark.parametrize(("text", "words"), [(None, "No such file"), ("a: [", "not YAML"), ("[]", "not a mapping")])
def test_a_kubeconfig_that_cannot_be_used(tmp_path: Path, text: str | None, words: str) -> None:
    file = tmp_path / "config"
    if text is not None:
        file.write_text(text)
    said = refusal(str(file))
    assert words in said
    assert str(file) in said
    assert "target.kubeconfig" in said


def test_a_folder_several_files_and_a_cluster_without_a_server(tmp_path: Path) -> None:
    assert "Is a directory" in refusal(str(tmp_path))
    assert "Write the one to use to target.kubeconfig" in refusal(os.pathsep.join(["a", "b"]))
    assert "has no server for the cluster of the context lab" in refusal(kubeconfig(tmp_path, cluster={"x": "y"}))


def test_the_file_is_that_of_the_stack_or_of_the_environment() -> None:
    assert kubeconfig_file("own", {"KUBECONFIG": "other"}) == "own"
    assert kubeconfig_file(None, {"KUBECONFIG": "other"}) == "other"
    assert kubeconfig_file(None, {}) == "~/.kube/config"


def certificate(folder: Path) -> tuple[str, datetime.datetime]:
    """One of a cluster's administrator, and when it ends."""
    Authority(folder / "pki").client("admin", "admin", "system:masters")
    pem = (folder / "pki" / "admin.crt").read_text()
    return pem, x509.load_pem_x509_certificate(pem.encode()).not_valid_after_utc


@pytest.mark.parametrize("inline", [True, False])
def test_a_client_certificate_that_has_expired_is_found_before_it_is_used(tmp_path: Path, *, inline: bool) -> None:
    pem, end = certificate(tmp_path)
    (tmp_path / "admin.crt").write_text(pem)
    data = {"client-certificate-data": base64.b64encode(pem.encode()).decode()}
    file = kubeconfig(tmp_path, user=data if inline else {"client-certificate": "admin.crt"})
    assert "certificate" in read_context(file, "lab", end - datetime.timedelta(seconds=1))
    with pytest.raises(Unusable, match=f"expired on {end:%Y-%m-%d %H:%M} UTC. Get a new file"):
        read_context(file, "lab", end + datetime.timedelta(seconds=1))


def test_a_certificate_that_cannot_be_read_is_left_to_the_server(tmp_path: Path) -> None:
    for user in ({"client-certificate": "none.crt"}, {"client-certificate-data": "eA=="}):
        assert read_context(kubeconfig(tmp_path, user=user), "lab")


def test_relative_paths_begin_at_the_folder_of_the_file(tmp_path: Path) -> None:
    user = {"client-certificate": "a.crt", "client-key": "/abs/a.key", "exec": {"command": "./bin/login"}}
    cluster = {"server": "https://lab", "certificate-authority": "ca.crt"}
    found = yaml.safe_load(read_context(kubeconfig(tmp_path, user, cluster), "lab"))
    assert found["clusters"][0]["cluster"]["certificate-authority"] == str(tmp_path / "ca.crt")
    given = found["users"][0]["user"]
    assert given["client-certificate"] == str(tmp_path / "a.crt")
    assert given["client-key"] == "/abs/a.key"
    assert given["exec"]["command"] == str(tmp_path / "bin/login")
    on_path = read_context(kubeconfig(tmp_path, {"exec": {"command": "login"}}), "lab")
    assert yaml.safe_load(on_path)["users"][0]["user"]["exec"]["command"] == "login"


LOGIN = {"exec": {"command": "login"}}


@pytest.mark.parametrize(
    ("user", "problem", "words"),
    [
        (LOGIN, Unreachable("401 Unauthorized"), "The login of login has expired, or is of another cluster"),
        ({"client-certificate-data": "eA=="}, Unreachable("401 Unauthorized"), "The client certificate is of another"),
        ({"token": "x"}, Unreachable("401 Unauthorized"), "The token has expired, or was revoked"),
        ({"x": "y"}, Unreachable("401 Unauthorized"), "has no login: add one"),
        ({"token": "x"}, Unreachable('403 nodes is forbidden: User "x"'), "Give the user the right to read nodes"),
        (LOGIN, Unreachable("the login failed: exec: process returned 1"), "Run login yourself, and log in again"),
        (LOGIN, Unusable("the kubeconfig's login is not installed: No such file"), "Install login, which the user"),
        ({"token": "x"}, Unusable("the kubeconfig cannot be used: no file"), "Get a new file: this one refers to"),
        (
            {"token": "x"},
            Unreachable("[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed"),
            "not that of",
        ),
        ({"token": "x"}, Unreachable("[Errno 111] Connection refused"), "this machine reaches https://lab:6443"),
    ],
)
def test_a_cluster_that_does_not_answer(
    tmp_path: Path, user: Mapping[str, Any], problem: Exception, words: str
) -> None:
    file = kubeconfig(tmp_path, user)
    text = explained(file, "lab", read_context(file, "lab"), problem)
    assert text.startswith(f"The cluster of the context lab in {file} cannot be read: {problem}. ")
    assert words in text

"""The Kubernetes client behind the gate: what its answers and refusals become."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from physical_ai.readiness import Unreachable, Unusable
from physical_ai.readiness.client import connect
from physical_ai.readiness.reader import Missing

EMPTY = '{"items": []}'


@dataclass
class Server:
    """An API server made of answers, by path."""

    url: str = ""
    answers: dict[str, tuple[int, str]] = field(default_factory=dict[str, "tuple[int, str]"])
    asked: list[tuple[str, str]] = field(default_factory=list["tuple[str, str]"])
    """Path and Authorization of each request."""


@pytest.fixture
def server() -> Iterator[Server]:
    given = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            given.asked.append((self.path, self.headers.get("Authorization", "")))
            code, body = given.answers.get(self.path.partition("?")[0], (404, '{"message": "not found"}'))
            self.send_response(code)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, format: str, *args: Any) -> None:
            """Silence."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever, args=(0.01,))
    thread.start()
    given.url = f"http://127.0.0.1:{http.server_port}"
    try:
        yield given
    finally:
        http.shutdown()
        thread.join()
        http.server_close()


def login(folder: Path, script: str) -> dict[str, Any]:
    """An exec login that runs a Python script."""
    file = folder / "login.py"
    file.write_text(script)
    return {
        "exec": {"apiVersion": "client.authentication.k8s.io/v1beta1", "command": sys.executable, "args": [str(file)]}
    }


def kubeconfig(server: str, user: dict[str, Any]) -> str:
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "c", "cluster": {"server": server}}],
            "users": [{"name": "u", "user": user}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "c",
        }
    )


GIVES_TOKENS = """
import json, pathlib
count = pathlib.Path(__file__).with_suffix(".count")
number = int(count.read_text()) + 1 if count.exists() else 1
count.write_text(str(number))
print(json.dumps({"apiVersion": "client.authentication.k8s.io/v1beta1", "kind": "ExecCredential",
                  "status": {"token": f"token-{number}", "expirationTimestamp": "2999-01-01T00:00:00Z"}}))
"""


def test_the_login_command_gives_the_token_once_for_all_requests(server: Server, tmp_path: Path) -> None:
    server.answers["/api/v1/nodes"] = (200, '{"items": [{"metadata": {"name": "a"}}]}')
    get = connect(kubeconfig(server.url, login(tmp_path, GIVES_TOKENS)))
    assert get("/api/v1/nodes", {})["items"][0]["metadata"]["name"] == "a"
    get("/api/v1/nodes", {"limit": "5"})
    assert server.asked == [("/api/v1/nodes?limit=500", "Bearer token-1"), ("/api/v1/nodes?limit=5", "Bearer token-1")]


def test_a_token_that_is_not_taken_leads_to_a_new_login(server: Server, tmp_path: Path) -> None:
    get = connect(kubeconfig(server.url, login(tmp_path, GIVES_TOKENS)))
    server.answers["/api/v1/nodes"] = (401, '{"message": "Unauthorized"}')
    with pytest.raises(Unreachable, match="401 Unauthorized"):
        get("/api/v1/nodes", {})
    server.answers["/api/v1/nodes"] = (200, EMPTY)
    get("/api/v1/nodes", {})
    assert server.asked[-1][1] == "Bearer token-2"


def test_a_failing_login_is_reported_with_its_message_and_retried(
    server: Server, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = "import sys; sys.exit('Please run: az login')"
    get = connect(kubeconfig(server.url, login(tmp_path, script)))
    with pytest.raises(Unreachable, match="Please run: az login"):
        get("/api/v1/nodes", {})
    (tmp_path / "login.py").write_text(GIVES_TOKENS)
    server.answers["/api/v1/nodes"] = (200, EMPTY)
    assert get("/api/v1/nodes", {}) == {"items": []}
    assert "ERROR" not in capfd.readouterr().err


def test_a_login_that_is_not_installed_cannot_work() -> None:
    user = {"exec": {"apiVersion": "client.authentication.k8s.io/v1beta1", "command": "kubelogin-that-is-not"}}
    with pytest.raises(Unusable, match="kubelogin-that-is-not"):
        connect(kubeconfig("http://127.0.0.1:1", user))("/api/v1/nodes", {})


@pytest.mark.parametrize("text", ["", "users: [", "kind: Config\n"])
def test_a_text_that_is_no_kubeconfig_cannot_work(text: str) -> None:
    with pytest.raises(Unusable, match="the kubeconfig cannot be used"):
        connect(text)("/api/v1/nodes", {})


@pytest.mark.parametrize(
    ("code", "kind", "expected"), [(404, Missing, "no such"), (403, Unreachable, "403"), (500, Unreachable, "500")]
)
def test_refusals(server: Server, code: int, kind: type[Exception], expected: str) -> None:
    server.answers["/apis/nvidia.com/v1/clusterpolicies"] = (code, json.dumps({"message": "no such thing"}))
    with pytest.raises(kind, match=expected):
        connect(kubeconfig(server.url, {}))("/apis/nvidia.com/v1/clusterpolicies", {})


def test_logs_are_text_and_a_missing_node_is_unreachable(server: Server) -> None:
    path = "/api/v1/namespaces/gpu-operator/pods/a/log"
    get = connect(kubeconfig(server.url, {}))
    server.answers[path] = (200, "last line\n")
    assert get(path, {"tailLines": "1"}) == "last line\n"
    server.answers[path] = (400, '{"message": "container is waiting to start"}')
    with pytest.raises(Missing):
        get(path, {})
    server.answers[path] = (502, '{"message": "dial tcp 10.40.0.4:10250: connect: no route to host"}')
    with pytest.raises(Unreachable, match="no route"):
        get(path, {})


def test_a_closed_port_is_unreachable() -> None:
    with pytest.raises(Unreachable):
        connect(kubeconfig("http://127.0.0.1:1", {}))("/api/v1/nodes", {})


def test_a_proxy_is_not_used_for_this_machines_own_server(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    monkeypatch.setenv("no_proxy", "")
    monkeypatch.setenv("NO_PROXY", "")
    server.answers["/api/v1/nodes"] = (200, EMPTY)
    assert connect(kubeconfig(server.url, {}))("/api/v1/nodes", {}) == {"items": []}

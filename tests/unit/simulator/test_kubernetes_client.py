"""The API client, against a server made of answers."""

from __future__ import annotations

import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import httpx
import pytest

from simulator.kubernetes import ApiError, Client, UnknownKind, Unreachable
from simulator.kubernetes.kubeconfig import Kubeconfig


def client(answer: Callable[[httpx.Request], httpx.Response], **config: Any) -> Client:
    read = Kubeconfig(server="http://api.example", namespace="default", document={}, **config)
    return Client(read, transport=httpx.MockTransport(answer))


def test_a_refusal_carries_code_reason_and_the_servers_message() -> None:
    status = {"message": 'pods "a" is forbidden: no', "reason": "Forbidden", "code": 403}
    with pytest.raises(ApiError, match='pods "a" is forbidden: no') as refusal:
        client(lambda request: httpx.Response(403, json=status)).get("/api/v1/pods")
    assert (refusal.value.code, refusal.value.reason) == (403, "Forbidden")


def test_a_response_without_a_status_is_still_reported() -> None:
    with pytest.raises(ApiError, match="upstream connect error"):
        client(lambda request: httpx.Response(503, text="upstream connect error")).get("/version")


def test_a_kind_is_looked_for_again_before_it_is_missing() -> None:
    served: list[dict[str, Any]] = []
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.path)
        return httpx.Response(200, json={"resources": served})

    widgets = client(answer)
    with pytest.raises(UnknownKind, match=r'no matches for kind "Widget" in version "example.com/v1"'):
        widgets.path("example.com/v1", "Widget", "default", "one")
    served.append({"name": "widgets", "kind": "Widget", "namespaced": True})
    served.append({"name": "widgets/status", "kind": "Widget", "namespaced": True})
    one = "/apis/example.com/v1/namespaces/default/widgets/one"
    assert widgets.path("example.com/v1", "Widget", None, "one") == one
    assert widgets.path("example.com/v1", "Widget", None, "one") == one
    assert asked == ["/apis/example.com/v1"] * 2


def test_a_young_storage_is_waited_for() -> None:
    answers = [httpx.Response(429, json={"message": "storage is (re)initializing"}), httpx.Response(200, json={"a": 1})]
    assert client(lambda request: answers.pop(0)).get("/apis/example.com/v1/widgets") == {"a": 1}


def test_a_token_is_sent_with_every_request() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json={"got": request.headers.get("authorization")})

    assert client(answer, token="abc").get("/version") == {"got": "Bearer abc"}


def test_no_answer_names_the_server() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("Connection refused")

    with pytest.raises(Unreachable, match=r"http://api\.example: Connection refused"):
        client(answer).get("/version")


def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"direct": true}')

        def log_message(self, format: str, *args: Any) -> None:
            return

    for variable in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9")
    server = HTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.handle_request, daemon=True).start()
    read = Kubeconfig(server=f"http://127.0.0.1:{server.server_port}", namespace="default", document={})
    assert Client(read).get("/version") == {"direct": True}
    server.server_close()

"""The GRID agent's requests to an API server that is slow, refuses, or answers with something else."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from grid_agent.api import Api
from grid_agent.facts import (
    ClusterError,
)


@contextmanager
def server(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server that accepts connections and answers as given, on a port of its own."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            try:
                while True:
                    connection, _ = listener.accept()
                    with connection:
                        answer(connection)
            except OSError:
                return

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)


def api(url: str, account: Path) -> Api:
    (account / "token").write_text("t")
    made = Api(url, account, "rtx-0", "gpu-operator")
    made.seconds = 0.3
    return made


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n"


@pytest.mark.parametrize("first", [HEAD, b"HTTP/1.1 200 OK\r\nX-Slow: "], ids=["body", "headers"])
def test_an_api_server_that_answers_a_byte_at_a_time_is_given_up(tmp_path: Path, first: bytes) -> None:
    done = threading.Event()

    def drip(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(first)
        while not done.wait(0.02):
            connection.sendall(b" ")

    with server(drip) as url:
        with pytest.raises(ClusterError, match=r"no complete answer in 0\.3 s"):
            api(url, tmp_path).observe()
        done.set()


@pytest.mark.parametrize("body", [b"too many requests", b'{"message": "too many requests"}', b"", b"[" * 5000])
def test_a_refusal_keeps_its_code_whatever_text_comes_with_it(tmp_path: Path, body: bytes) -> None:
    def answer(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 429 Too Many Requests\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

    with server(answer) as url, pytest.raises(ClusterError, match=r"\(429\)") as refused:
        api(url, tmp_path).observe()
    assert refused.value.kind == "refused"


@pytest.mark.parametrize(
    "body", [b"{}", b'{"metadata": null, "status": null, "items": 5}', b'{"items": [null, 5, {}]}']
)
def test_objects_of_an_odd_shape_are_read(tmp_path: Path, body: bytes) -> None:
    def answer(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

    with server(answer) as url:
        node = api(url, tmp_path).observe()
    assert node.gpu_pods == ()


@pytest.mark.parametrize(
    ("body", "says"),
    [(b"[1]", "something else than an object"), (b"[" * 50_000, "does not answer"), (b"{", "does not answer")],
    ids=["list", "deep", "cut"],
)
def test_an_answer_that_is_no_object_is_an_error_of_the_api_server(tmp_path: Path, body: bytes, says: str) -> None:
    def answer(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

    with server(answer) as url, pytest.raises(ClusterError, match=says):
        api(url, tmp_path).observe()

"""Downloads of the GRID agent: what has no end, and what fills the disk."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest

from grid_agent import fetch
from tests.support import misbehaving_server

SHA = hashlib.sha256(b"driver").hexdigest()


@pytest.fixture
def endless() -> Iterator[str]:
    """A server whose answers never end; `/long` says how long they are."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None: ...

        def do_GET(self) -> None:
            self.send_response(200)
            if self.path == "/long":
                self.send_header("Content-Length", str(1 << 40))
            self.end_headers()
            try:
                while True:
                    self.wfile.write(bytes(1 << 16))
            except OSError:
                return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("path", ["/long", "/endless"])
def test_a_download_without_end_is_another_file(
    endless: str, path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch, "LARGEST", 1 << 20)
    with pytest.raises(fetch.Failed, match="larger than 1 MiB") as failed:
        fetch.fetch([endless + path], SHA, tmp_path / "driver.run", 5)
    assert failed.value.code == fetch.CHECKSUM
    assert list(tmp_path.iterdir()) == []


def test_a_resumed_download_counts_what_it_has(endless: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "LARGEST", 1 << 20)
    (tmp_path / "driver.part").write_bytes(bytes(1 << 19))
    with pytest.raises(fetch.Failed, match="larger than"):
        fetch.fetch([f"{endless}/endless"], SHA, tmp_path / "driver.run", 5)
    assert list(tmp_path.iterdir()) == []


def test_a_download_leaves_room_on_the_disk(endless: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = SimpleNamespace(f_bavail=1, f_frsize=4096)
    monkeypatch.setattr(os, "statvfs", lambda _: full)
    with pytest.raises(fetch.Failed, match="the disk is full") as failed:
        fetch.fetch([f"{endless}/endless"], SHA, tmp_path / "driver.run", 5)
    assert failed.value.code == fetch.DISK_FULL
    assert list(tmp_path.iterdir()) == []


def test_a_url_that_drips_is_left_for_the_next_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "WINDOW", 0.05)
    monkeypatch.setattr(fetch, "TRIES", 1)
    good = tmp_path / "good"
    good.write_bytes(b"driver")
    drips = misbehaving_server.WRONG["drips its body"]
    with misbehaving_server.served(lambda _: drips) as url:
        fetch.fetch([url, good.as_uri()], SHA, tmp_path / "driver.run", 5)
    assert (tmp_path / "driver.run").read_bytes() == b"driver"

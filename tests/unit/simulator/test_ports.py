"""Ports that processes keep when they are started again."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from simulator.ports import KEPT, LOOPBACK, bound, kept_port, noted


def listening(port: int) -> socket.socket:
    return socket.create_server((LOOPBACK, port))


def test_a_port_is_kept_while_it_is_free() -> None:
    port = kept_port()
    assert kept_port(port) == port
    with listening(port):
        assert kept_port(port) != port


def test_a_server_listens_at_another_port_where_its_own_is_used() -> None:
    with bound(listening) as one, bound(listening, one.getsockname()[1]) as two:
        assert one.getsockname()[1] != two.getsockname()[1]
        assert two.getsockname()[1] in KEPT


def test_a_server_that_cannot_listen_says_why() -> None:
    def refused(port: int) -> None:
        raise PermissionError(f"no permission for {port}")

    with pytest.raises(PermissionError):
        bound(refused)


def test_the_port_is_read_from_its_file(tmp_path: Path) -> None:
    assert noted(tmp_path / "port.json") == 0
    (tmp_path / "port.json").write_text("20001")
    assert noted(tmp_path / "port.json") == 20001

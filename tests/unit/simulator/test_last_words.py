"""Why a control plane did not start: the reason, not the stack that is printed after it."""

from __future__ import annotations

from pathlib import Path

from simulator.control_plane.last_words import last_words

FOLDER = Path("/home/user/simulations/1")
STACK = [f"go.etcd.io/etcd/server/v3/etcdmain.Main frame {number}" for number in range(12)]


def test_a_full_disk_is_the_reason_whatever_is_printed_after_it() -> None:
    log = ["panic: preallocate WAL: write etcd/wal/0.tmp: no space left on device", *STACK]
    text = last_words(log, FOLDER)
    assert "write etcd/wal/0.tmp: no space left on device" in text
    assert "no space left for /home/user/simulations/1" in text
    assert "PHYSAI_HOME" in text
    assert "etcdmain" not in text


def test_of_any_other_end_the_last_lines_are_shown() -> None:
    assert last_words(["first", *STACK, "bind: address already in use"], FOLDER).endswith("address already in use")
    assert "first" not in last_words(["first", *STACK], FOLDER)


def test_a_process_without_a_log_has_no_words() -> None:
    assert last_words([], FOLDER) == ""

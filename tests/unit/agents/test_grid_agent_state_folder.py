"""The GRID agent's state folder: who may write it, and that whatever its files contain stops nothing."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from grid_agent import metrics
from grid_agent.memory import Failure, Memory, from_document, to_document
from grid_agent.metrics import Board
from grid_agent.steps import State, Step
from grid_agent.store import STATE_DIR, Locked, Store, UnsafeFolder
from tests.support.grid_agent_fake import ODD, FakeNode, installed, wanted

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="the state folder is root's")


@needs_root
def test_a_state_folder_that_others_could_write_is_not_used(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    store.prepare()
    folder = tmp_path / STATE_DIR.lstrip("/")
    assert folder.stat().st_mode & 0o077 == 0
    folder.chmod(0o777)
    Store(str(tmp_path)).prepare()
    assert folder.stat().st_mode & 0o077 == 0
    os.chown(folder, 1000, 1000)
    with pytest.raises(UnsafeFolder, match="belongs to user 1000"):
        Store(str(tmp_path)).prepare()


@needs_root
def test_a_state_folder_that_is_a_link_is_not_used(tmp_path: Path) -> None:
    folder = tmp_path / STATE_DIR.lstrip("/")
    folder.parent.mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    folder.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnsafeFolder, match="not a folder"):
        Store(str(tmp_path)).prepare()


@needs_root
def test_one_agent_at_a_time_and_a_broken_memory_is_a_fresh_one(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    store.prepare()
    store.lock()
    with pytest.raises(Locked):
        Store(str(tmp_path)).lock()
    store.save(Memory(state=State.READY))
    assert store.load().state is State.READY
    (store.folder / "memory.json").write_text('{"format": 1, "state"')
    assert store.load() == Memory()


def test_memory_survives_a_round_trip() -> None:
    memory = Memory(
        state=State.INSTALLING,
        upcoming=(Step.WAIT, Step.INSTALL),
        failures={"install": Failure(1, 1, "no", 5.0, tired=True)},
        verified=wanted().target,
        previous=wanted("580.105.08").target,
    )
    assert from_document(json.loads(json.dumps(to_document(memory)))) == memory


BROKEN = {
    "a word for a number": {"gated_at": "soon"},
    "a number for a word": {"sentence": 5},
    "nothing for a number": {"checked_at": None},
    "no number": {"loaded_at": float("nan")},
    "a number without end": {"gated_at": 10**400},
    "a number for times": {"kicks": {"nvidia-dcgm": "now"}},
    "failures that are none": {"failures": {"unload": 3}},
    "a failure of words": {"failures": {"unload": {"count": "two"}}},
    "a failure of an unknown step": {"failures": {"dance": {"count": 2}}},
    "a target without a version": {"verified": {"urls": []}},
    "a target that is a word": {"previous": "580"},
    "a condition of numbers": {"reported": {"status": 1, "reason": 2, "message": 3}},
    "an unknown state": {"state": "asleep"},
    "an unknown step": {"begun": "dance"},
    "starts that are no pairs": {"starts": {"u": [1.0]}},
    "an unknown key": {"mood": "good"},
}


@pytest.mark.parametrize("change", BROKEN)
def test_a_memory_of_wrong_kinds_is_a_fresh_one(tmp_path: Path, change: str) -> None:
    store = Store(str(tmp_path))
    store.folder.mkdir(parents=True)
    document = json.loads(json.dumps(to_document(Memory(state=State.READY)))) | BROKEN[change]
    (store.folder / "memory.json").write_text(json.dumps(document))
    assert store.load() == Memory()


@pytest.mark.parametrize("text", ["[" * 100_000, "5", "null", "[]", '{"format": 1}x', "\0"])
def test_a_memory_that_is_none_is_a_fresh_one(tmp_path: Path, text: str) -> None:
    store = Store(str(tmp_path))
    store.folder.mkdir(parents=True)
    (store.folder / "memory.json").write_text(text)
    assert store.load() == Memory()


@pytest.mark.parametrize("name", sorted(to_document(Memory())))
def test_whatever_a_memory_contains_the_next_step_works(tmp_path: Path, name: str) -> None:
    store = Store(str(tmp_path))
    store.folder.mkdir(parents=True)
    fake = FakeNode(facts=installed("580.105.08"), wanted=wanted())
    fake.run_until("Fetch")
    document = to_document(fake.memory)
    for value in ODD:
        (store.folder / "memory.json").write_text(json.dumps({**document, name: value}))
        fake.memory = store.load()
        memory = fake.tick()
        assert memory.faults == 0
        Board().put(memory, fake.wanted)
        assert "grid_driver_ready" in metrics.render(memory, fake.wanted)

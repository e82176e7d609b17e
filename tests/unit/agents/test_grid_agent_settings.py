"""What the GRID agent is configured with, and what it writes for the driver."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from grid_agent.configure import gridd_text, modprobe_text
from grid_agent.facts import ClusterError
from grid_agent.main import Unusable, read_wanted
from grid_agent.memory import Memory
from grid_agent.metrics import Board
from grid_agent.steps import State
from grid_agent.wanted import Wanted, WantedError, camel, wanted_from
from tests.support.cases import in_one_test
from tests.support.gpu_settings import RTX
from tests.support.grid_agent_fake import NEW, SHA, wanted
from tests.unit.settings.test_grid_settings import A10, plan


def document_of(wanted: Wanted) -> dict[str, Any]:
    """The inverse of `wanted_from`."""
    document = {camel(key): value for key, value in asdict(wanted).items()}
    return {**document, "timings": {camel(key): value for key, value in document["timings"].items()}}


@in_one_test(
    ("document", "says"),
    [
        ({}, "version is missing"),
        ({"version": NEW, "sha": "x"}, "sha is not a setting"),
        ({"version": NEW, "sha256": "abc"}, "64 hexadecimal digits"),
        ({"version": NEW, "upgrade": "now"}, "write one of wait, drain, force"),
        ({"version": NEW, "urls": "https://x"}, "urls must be a list"),
        ({"version": NEW, "dkms": "yes"}, "write true or false"),
        ({"version": NEW, "timings": {"pollSeconds": "5"}}, "write a number"),
        ({"version": NEW, "timings": {"pollSeconds": float("nan")}}, "write a number"),
        ({"version": NEW, "packages": [{"url": "https://x"}]}, "needs url and sha256"),
        ({"version": NEW, "moduleParameters": {"nvidia": "fast"}}, "moduleParameters.nvidia must be an object"),
        ({"version": NEW, "moduleParameters": {"nvidia": {"a": 1}}}, "write a text of one line"),
        ({"version": NEW, "gridd": {"a": "1\ninstall nvidia /bin/sh"}}, "write a text of one line"),
    ],
)
def test_settings_that_make_no_sense_are_refused_by_name(document: dict[str, Any], says: str) -> None:
    with pytest.raises(WantedError, match=says):
        wanted_from(document)


def test_settings_survive_a_round_trip() -> None:
    full = wanted(
        upgrade="drain",
        devices=("10de:2bb5",),
        packages=wanted_from(
            {"version": NEW, "packages": [{"url": "https://x/h.deb", "sha256": SHA[NEW], "kernel": "6.8"}]}
        ).packages,
    )
    assert wanted_from(json.loads(json.dumps(document_of(full)))) == full


def test_timings_are_no_reason_for_new_attempts_but_a_checksum_is() -> None:
    slow = wanted_from({**document_of(wanted()), "timings": {"pollSeconds": 60}})
    assert slow.digest == wanted().digest
    assert wanted(sha256="f" * 64).digest != wanted().digest


def test_gridd_conf_keeps_the_template_but_requests_no_other_licence() -> None:
    template = "# Description\nServerAddress=\nFeatureType=0\nEnableUI=TRUE\n"
    assert gridd_text(template, {"IgnoreSP": "FALSE", "EnableUI": "FALSE"}) == (
        "# Description\nServerAddress=\nIgnoreSP=FALSE\nEnableUI=FALSE\n"
    )


def test_module_options_are_in_modprobe_d_with_nouveau_off() -> None:
    lines = modprobe_text(wanted()).splitlines()[1:]
    assert lines == ["blacklist nouveau", "options nouveau modeset=0", "options nvidia_uvm uvm_disable_hmm=1"]


def unexpected() -> str:
    raise AssertionError("the pool is not needed")


def written(tmp_path: Path, document: Any) -> Path:
    path = tmp_path / "wanted.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return path


def test_pools_that_want_the_same_need_no_api_server(tmp_path: Path) -> None:
    found = plan()
    assert read_wanted(written(tmp_path, found.document), unexpected) == wanted_from(found.wanted["rtxprogpu"])


def test_each_pool_gets_its_own(tmp_path: Path) -> None:
    found = plan(A10, f"{RTX}.driver.version=580.105.08")
    path = written(tmp_path, found.document)
    versions = {pool: read_wanted(path, lambda pool=pool: pool).version for pool in found.wanted}
    assert versions == {"a10": "595.91.07", "rtxprogpu": "580.105.08"}


def test_a_node_of_another_pool_is_reported_which_pools_there_are(tmp_path: Path) -> None:
    path = written(tmp_path, plan(A10).document)
    with pytest.raises(Unusable, match="node pool 'cpu'; known: a10, rtxprogpu"):
        read_wanted(path, lambda: "cpu")


def test_an_api_server_that_does_not_answer_is_named_as_the_reason(tmp_path: Path) -> None:
    def silent() -> str:
        raise ClusterError("unreachable", "no answer within 15 s")

    with pytest.raises(Unusable, match="which node pool this node belongs to is not known: no answer"):
        read_wanted(written(tmp_path, plan(A10).document), silent)


@pytest.mark.parametrize(
    ("state", "ready"),
    [(State.READY, 200), (State.REMOVED, 200), (State.INSTALLING, 503), (State.BLOCKED, 503), (State.WAITING, 503)],
)
def test_the_next_nodes_turn_comes_when_this_one_is_as_wanted(state: State, ready: int) -> None:
    board = Board()
    board.put(Memory(state=state), Wanted("595.91.07"))
    assert board.answer("/readyz")[0] == ready

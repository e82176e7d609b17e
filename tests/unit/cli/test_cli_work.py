"""Running work in previews: pools, sources of work, and the limit of an `up`."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from workbench.cli.preview import markdown
from workbench.cli.preview.work import pool_facts
from workbench.cli.work_limit import wait_until_idle
from workbench.impact import Effect, Fate, Impact, Work
from workbench.impact.telling import Seen, document

NOW = datetime.datetime(2026, 11, 28, tzinfo=datetime.UTC)
RUNNING = Impact(
    (Effect(Work("team", "p", "Job team/p", gpus=1), Fate.ENDED, True, ("h100gpu: goes",), (1, 2), (3, 3)),)
)
IDLE = Impact(())
KNOWN = Seen(known=True, source="cluster x", at=NOW)


def test_pools_of_azure_become_facts() -> None:
    pool: dict[str, Any] = {
        "name": "h100gpu",
        "vmSize": "Standard_NC80adis_H100_v5",
        "count": 1,
        "scaleSetPriority": "Spot",
        "nodeLabels": {"physical-ai/gpu-driver": "operator"},
        "upgradeSettings": {"maxSurge": "34%"},
    }
    found = pool_facts([pool, {"name": "cpu", "vmSize": "Standard_Unheard"}], {"h100gpu": 3})["h100gpu"]
    assert (found.nodes, found.gpus, found.spot, found.driver, found.surge) == (3, 2, True, "operator", 2)
    assert pool_facts([{"name": "cpu", "vmSize": "Standard_Unheard"}], {})["cpu"].gpus == 0


def answers(*found: tuple[Impact, Seen]) -> Iterator[tuple[Impact, Seen]]:
    yield from found


def test_a_wait_ends_when_nothing_would_end(capsys: pytest.CaptureFixture[str]) -> None:
    looks = answers((RUNNING, KNOWN), (RUNNING, KNOWN), (IDLE, KNOWN))
    wait_until_idle(lambda: next(looks), 100, sleep=lambda _: None)
    assert capsys.readouterr().err.count("waiting for Job team/p") == 1


@pytest.mark.parametrize("look", [(RUNNING, KNOWN), (IDLE, Seen(known=False, source="no cluster: gone"))])
def test_a_wait_that_is_over_or_blind_changes_nothing(
    look: tuple[Impact, Seen], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as end:
        wait_until_idle(lambda: look, 0, sleep=lambda _: None)
    assert end.value.exit_code == 3
    assert "nothing was changed" in capsys.readouterr().err


def test_running_work_comes_first_in_markdown() -> None:
    shown = markdown.work({"impact": document(RUNNING, KNOWN)}, markdown.Detail.ALL)
    assert shown.startswith("**Running work**: Ends 1 Job (3 GPU-hours since the last checkpoint or start).\n\n- ")
    assert "Job team/p: will end, 3 GPU-hours lost (h100gpu: goes)" in shown
    assert "\n" not in markdown.work({"impact": document(RUNNING, KNOWN)}, markdown.Detail.COUNTS)
    assert markdown.work({"impact": None}, markdown.Detail.ALL) == markdown.work({}, markdown.Detail.ALL) == ""

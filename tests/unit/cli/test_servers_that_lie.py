"""The commands against API servers and a Prometheus that misbehave: an exit code and a sentence, and no traceback."""

from __future__ import annotations

from itertools import cycle
from pathlib import Path

import pytest

from physical_ai.readiness import client
from physical_ai.servers import exchange
from physical_ai.servers.bounds import Bounds
from tests.support import misbehaving_server as server
from tests.unit.readiness.test_gates_client import kubeconfig
from workbench.cli import azure_access, prometheus
from workbench.cli.main import run

BOUNDS = Bounds(seconds=0.4, connect=0.5, idle=0.3, size=1 << 18, patience=0.05, tries=2)
STACK = "dev-westus2"
COMMANDS = {
    "gates": ["gates", STACK],
    "doctor": ["doctor", STACK, "--json"],
    "why": ["why", "h100gpu", STACK],
    "evidence": ["evidence", "node-1", STACK],
    "accept": ["accept", STACK],
    "node replace": ["node", "replace", "node-1", STACK, "--dry-run"],
    "check": ["check", STACK, "--offline"],
}
EACH = ("is a login page", "has labels in a list", "cuts its chunks")
PAIRS = sorted({*zip(cycle(COMMANDS), server.WRONG, strict=False), *((each, how) for each in COMMANDS for how in EACH)})
MADE = [pytest.param(*each, marks=pytest.mark.deep if place % 3 else ()) for place, each in enumerate(PAIRS)]
"""In `make test`: a third, with each command; and in tests/unit/servers every wrong answer to its readers."""


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "API", BOUNDS)
    monkeypatch.setattr(prometheus, "BOUNDS", BOUNDS)
    monkeypatch.setattr(exchange, "sleep", lambda _: None)
    monkeypatch.setattr(azure_access, "azure_arm", lambda *_, **__: None)


@pytest.mark.parametrize(("command", "how"), MADE)
def test_a_command_ends_with_a_sentence(
    command: str, how: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "kubeconfig"
    with server.served(lambda _: server.WRONG[how]) as url:
        file.write_text(kubeconfig(url, {}))
        code = run([*COMMANDS[command], "--kubeconfig", str(file)])
    printed = capsys.readouterr()
    said = (printed.out + printed.err).replace("\n", "")
    assert code == 1 or (command == "check" and code in (0, 1, 3))
    assert "Traceback" not in said
    assert "secret" not in said
    assert url in said or "50" in said or ": the list does not end" in said


@pytest.mark.parametrize("how", EACH)
def test_usage_says_what_the_prometheus_is(how: str, capsys: pytest.CaptureFixture[str]) -> None:
    with server.served(lambda _: server.WRONG[how]) as url:
        assert run(["usage", STACK, "--prometheus", url]) == 1
    assert "no Prometheus can be read there" in capsys.readouterr().err

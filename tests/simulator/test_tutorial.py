"""What docs/tutorial.md runs on a laptop, command by command as written there, does what the page says."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping

import pytest

from simulator.home import Home
from simulator.simulation import Simulation
from tests.simulator.physai import Answer, physai
from tests.support.documentation import ROOT, parts
from tests.support.shell_blocks import SHELLS, split

PAGE = ROOT / "docs" / "tutorial.md"
STACK = "dev-westus2"
GIVEN = {"git", "cd", "export", "eval"}
"""What gets a reader a checkout and a PATH, which the test has."""
WRONG = "Standard_NC40ads_H100_v6"
"""A size that does not exist, which the page tries on purpose."""
STRANGER = "bystander"
"""A user without a role, as whom the page submits a workflow on purpose."""
PLATFORM = "dev-southeastasia"
"""The stack of the second half."""


def laptop_part() -> Iterator[tuple[str, ...]]:
    """Commands up to the heading of the second half."""
    end = PAGE.read_text(encoding="utf-8").splitlines().index("## On Azure")
    for block in parts(PAGE)[1]:
        if block.line < end and block.info in SHELLS:
            yield from split(block.text)


def simulated_part() -> Iterator[tuple[str, ...]]:
    """Commands of the second half that need a simulation, and no Azure."""
    start = PAGE.read_text(encoding="utf-8").splitlines().index("## On Azure")
    for block in parts(PAGE)[1]:
        if block.line > start and block.info in SHELLS:
            yield from (words for words in split(block.text) if words[:2] in SIMULATED)


SIMULATED = {("physai", command) for command in ("cost", "time", "compat", "policy", "up", "run", "down")}


def recipe(target: str) -> Iterator[tuple[str, ...]]:
    """The `physai` commands that a make target runs."""
    shown = subprocess.run(
        ["make", "--no-print-directory", "-n", target, "READY="], cwd=ROOT, check=True, capture_output=True, text=True
    )
    for words in split(shown.stdout):
        yield ("physai", *words[1:])


def run(words: tuple[str, ...], environment: Mapping[str, str]) -> Answer:
    if words[0] == "physai":
        return physai(*words[1:], expect=2 if any(WRONG in word for word in words) else int(STRANGER in words))
    assert words[0] == "kubectl", words
    done = subprocess.run(list(words), env=environment, check=True, capture_output=True, text=True, cwd=ROOT)
    return Answer(0, done.stdout, done.stderr)


@pytest.mark.deep
def test_the_commands_work_as_written(home: Home, deployed: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    """But for the first deployment from nothing, which `test_stack.py` tests.

    In `make test`: that each command on the page exists with its options, in `test_docs_commands.py`; what `up`,
    `preview`, `status` and `down` do, in `test_stack.py`; samples and users without a role, in `test_osmo.py`.
    """
    monkeypatch.chdir(ROOT)
    environment: Mapping[str, str] = {}
    said: dict[str, Answer] = {}
    for typed in laptop_part():
        if typed[0] in GIVEN:
            continue
        for words in recipe(typed[1]) if typed[0] == "make" else [typed]:
            said[" ".join(typed)] = run(words, environment)
            if words[1] == "env":
                environment = {**deployed.environment(), "KUBECACHEDIR": str(home.folder / "kube")}
    assert re.search(r"h100gpu .* 1/1", said["make up"].out)
    assert "COMPLETED" in said["make up"].err
    assert "submitted by deployer (osmo-user): accepted" in said["make up"].out
    assert "submitted by bystander (no role): refused, 403" in said["make up"].out
    assert "rtxpro" in said[f"physai osmo platforms {STACK}"].out
    assert "rtxprogpu" in said["kubectl get nodes -L agentpool"].out
    (preview, wrong) = (answer for command, answer in said.items() if command.startswith("physai preview"))
    assert "2 to update" in preview.out
    assert "Did you mean 'Standard_NC40ads_H100_v5'" in wrong.err
    workflow, refused = (answer for command, answer in said.items() if command.startswith("physai run"))
    assert workflow.out.count("COMPLETED") == 2
    assert f"403 {STRANGER} has no role" in refused.err
    assert "is not simulated" in physai("status", STACK).out + physai("status", STACK).err
    assert list(home.folder.glob("simulations/*")) == []


@pytest.mark.deep
def test_the_platform_of_the_second_half_comes_up_with_a_control_plane_of_its_own(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    said = {words[1:]: run(words, {}) for words in simulated_part()}
    assert {words[0] for words in said} == {command for _, command in SIMULATED}
    up = next(answer for words, answer in said.items() if words[0] == "up")
    assert "osmo: platform; platforms cpu (cpu), h100 (h100gpu), rtxpro (rtxprogpu)" in up.out
    workflow, refused = (answer for words, answer in said.items() if words[0] == "run")
    assert workflow.out.count("COMPLETED") == 2
    assert f"403 {STRANGER} has no role" in refused.err
    assert not (home.folder / "simulations" / PLATFORM).exists()

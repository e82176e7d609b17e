"""Every fault of the tables, with the real agent: it recovers or says why not; the host is never worse off."""

from __future__ import annotations

import re

import pytest

from tests.host.document import EVERY, FILE, page
from tests.host.faults import Fault
from tests.host.harness import Harness

PARAMETERS = [
    pytest.param(fault, id=fault.name.replace(" ", "-"), marks=pytest.mark.deep if fault.deep else ())
    for fault in EVERY
]


@pytest.mark.parametrize("fault", PARAMETERS)
def test_fault(harness: Harness, fault: Fault) -> None:
    fault.disk(harness)
    harness.boot()
    if fault.served:
        harness.start()
        harness.wait_ready()
    fault.live(harness)
    if not fault.served:
        harness.start()
    if harness.mend_later:
        harness.mend_later(harness)
    if fault.ends != "recovers":
        lasts(harness, fault)
        if fault.mend:
            fault.mend(harness)
            if fault.ends == "stops":
                harness.try_again()
    if fault.serves and (fault.mend or fault.ends == "recovers"):
        harness.wait(
            f"{fault.serves} serves",
            lambda: harness.ready() and harness.operator.settled() and harness.serves(fault.serves),
        )
    fault.then(harness)
    harness.check_host()


def lasts(harness: Harness, fault: Fault) -> None:
    """While the fault lasts: reported, no worse, and no gate closed without a message."""
    said: list[str] = []

    def reported() -> bool:
        said.append(harness.status[2] if fault.where == "condition" else str(harness.memory.get("sentence")))
        stopped = fault.ends != "stops" or harness.stuck()
        return stopped and bool(re.search(fault.says, said[-1]))

    harness.wait(f"it says {fault.says!r} ({fault.ends})", reported)
    if fault.where == "condition":
        assert harness.status[0] == "False", harness.state_report()
    harness.check_host()
    harness.check_driver()
    if fault.runs_nothing:
        assert not harness.node.executed(), harness.state_report()
    if fault.still:
        assert harness.serves(fault.still), harness.state_report()
    if fault.gate == "closed":
        harness.wait("the gate is closed", lambda: len(harness.gated) == 7)
    if fault.gate == "open":
        assert not harness.gated
    if harness.gated and fault.where == "condition":
        assert harness.status[0] == "False"
        assert len(harness.status[2]) > 20, "a gate is closed and the condition says nothing about it"


def test_the_page_of_faults_is_fresh() -> None:
    assert FILE.read_text() == page(), "run python -m tests.host.document"

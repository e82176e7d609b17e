"""Every fault of the tables, with the real agent: it recovers or says why not; the host is never worse off."""

from __future__ import annotations

import re

import pytest

from tests.host.document import EVERY, FILE, page
from tests.host.faults import Fault
from tests.host.lab import Lab

PARAMETERS = [
    pytest.param(fault, id=fault.name.replace(" ", "-"), marks=pytest.mark.deep if fault.deep else ())
    for fault in EVERY
]


@pytest.mark.parametrize("fault", PARAMETERS)
def test_fault(lab: Lab, fault: Fault) -> None:
    fault.disk(lab)
    lab.boot()
    if fault.served:
        lab.start()
        lab.wait_ready()
    fault.live(lab)
    if not fault.served:
        lab.start()
    if lab.mend_later:
        lab.mend_later(lab)
    if fault.ends != "recovers":
        lasts(lab, fault)
        if fault.mend:
            fault.mend(lab)
            if fault.ends == "stops":
                lab.try_again()
    if fault.serves and (fault.mend or fault.ends == "recovers"):
        lab.wait(f"{fault.serves} serves", lambda: lab.ready() and lab.around.settled() and lab.serves(fault.serves))
    fault.then(lab)
    lab.check_host()


def lasts(lab: Lab, fault: Fault) -> None:
    """While the fault lasts: reported, no worse, and no gate closed without a message."""
    said: list[str] = []

    def reported() -> bool:
        said.append(lab.status[2] if fault.where == "condition" else str(lab.memory.get("sentence")))
        stopped = fault.ends != "stops" or lab.stuck()
        return stopped and bool(re.search(fault.says, said[-1]))

    lab.wait(f"it says {fault.says!r} ({fault.ends})", reported)
    if fault.where == "condition":
        assert lab.status[0] == "False", lab.story()
    lab.check_host()
    lab.check_driver()
    if fault.runs_nothing:
        assert not lab.node.executed(), lab.story()
    if fault.still:
        assert lab.serves(fault.still), lab.story()
    if fault.gate == "closed":
        lab.wait("the gate is closed", lambda: len(lab.gated) == 7)
    if fault.gate == "open":
        assert not lab.gated
    if lab.gated and fault.where == "condition":
        assert lab.status[0] == "False"
        assert len(lab.status[2]) > 20, "a gate is closed and the condition says nothing about it"


def test_the_page_of_faults_is_fresh() -> None:
    assert FILE.read_text() == page(), "run python -m tests.host.document"

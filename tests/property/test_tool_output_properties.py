"""Output of tools that is cut, doubled, moved or garbled: never a traceback, never a pass from less evidence.

Each begins with output that says that something is wrong. Whatever is done to one or two of its lines, it is no pass.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_evidence.collect import gpus
from grid_agent.facts import Smi
from grid_agent.shell import Result
from grid_agent.smi import smi_from
from physical_ai.catalog.acceptance import checks
from physical_ai.readiness.nodes.xid_text import codes_in
from physical_ai.settings.facts.acceptance import Promise
from tests.support.smi_reports import MODULES, Lines, Printed, changed, mig_gpu, older_gpu, vgpu, volta_gpu, whole_gpu
from workbench.health.acceptance.judging import JobOutcome, NodeBaseline, judge
from workbench.health.acceptance.outputs.bandwidth import read_nvbandwidth
from workbench.health.acceptance.outputs.transport import read_transport
from workbench.health.acceptance.outputs.unrecognised import Unrecognised
from workbench.health.acceptance.record import CheckResult

FIXTURES = Path("tests/fixtures/acceptance")
Change = Callable[[list[str]], list[str]]


def _at(lines: list[str], place: int) -> int:
    return place % max(1, len(lines))


def _shifted(line: str, by: int) -> str:
    depth = max(0, len(line) - len(line.lstrip()) + by)
    return " " * depth + line.lstrip()


def _without(place: int) -> Change:
    return lambda lines: [line for number, line in enumerate(lines) if number != _at(lines, place)]


def _moved(place: int, to: int) -> Change:
    def change(lines: list[str]) -> list[str]:
        rest = _without(place)(lines)
        if not lines:
            return lines
        return [*rest[: _at(lines, to)], lines[_at(lines, place)], *rest[_at(lines, to) :]]

    return change


def _doubled(place: int) -> Change:
    return lambda lines: [*lines[: _at(lines, place) + 1], *lines[_at(lines, place) :]]


def _indented(place: int, by: int) -> Change:
    return lambda lines: [
        _shifted(line, by) if number == _at(lines, place) else line for number, line in enumerate(lines)
    ]


def _cut(place: int) -> Change:
    return lambda lines: lines[: _at(lines, place)]


PLACE = st.integers(0, 10_000)
CHANGE: st.SearchStrategy[Change] = st.one_of(
    st.builds(_without, PLACE),
    st.builds(_moved, PLACE, PLACE),
    st.builds(_doubled, PLACE),
    st.builds(_indented, PLACE, st.integers(-8, 8)),
    st.builds(_cut, PLACE),
)
ENDS = st.sampled_from(["\n", "\r\n", "\r", "\n\n", "\x00\n", " \t\n"])
TYPED = st.text(alphabet=st.sampled_from('\x00\x1b\x07\r\t :<>&"{}[]/0१\u2028\x85Yx'), max_size=3)


def broken(text: str, changes: list[Change], end: str, typed: str, place: int) -> str:
    lines = text.split("\n")
    for change in changes:
        lines = change(lines)
    joined = end.join(lines)
    return joined[: place % (len(joined) + 1)] + typed + joined[place % (len(joined) + 1) :]


BROKEN = {"changes": st.lists(CHANGE, min_size=1, max_size=2), "end": ENDS, "typed": TYPED, "place": PLACE}


def judged(check: str, text: str, **promised: Any) -> CheckResult:
    own = Promise(None, None, "Disabled", licensed=False, persistence=True, resources={})
    own = Promise(**{**own.__dict__, **promised})
    return judge(checks()[check], JobOutcome(text, 0), NodeBaseline(own, 1, {}, None))


def _both(gpu: Lines, name: str, value: str) -> Lines:
    """The same in both lists of errors: a line that is moved from one to the other says the same there."""
    return changed(changed(gpu, ("ECC Errors", "Volatile", name), value), ("ECC Errors", "Aggregate", name), value)


FAULTY: dict[str, Lines] = {
    "DRAM": _both(whole_gpu(), "DRAM Uncorrectable", "5"),
    "SEC-DED": _both(whole_gpu(), "SRAM Uncorrectable SEC-DED", "5"),
    "threshold": changed(whole_gpu(), ("ECC Errors", "Aggregate", "SRAM Threshold Exceeded"), "Yes"),
    "TPC": changed(whole_gpu(), ("ECC Errors", "TPC Repair Pending"), "Yes"),
    "unrepairable": changed(whole_gpu(), ("ECC Errors", "Unrepairable Memory"), "Yes"),
    "action": changed(whole_gpu(), ("GPU Recovery Action",), "GPU_RESET"),
    "remap": changed(whole_gpu(), ("Remapped Rows", "Remapping Failure Occurred"), "Yes"),
    "persistence": changed(whole_gpu(), ("Persistence Mode",), "Disabled"),
    "MIG": changed(mig_gpu(), ("ECC Errors", "Unrepairable Memory"), "Yes"),
    "older": changed(older_gpu(), ("Remapped Rows", "Pending"), "Yes"),
    "Volta": changed(volta_gpu(), ("Retired Pages", "Pending Page Blacklist"), "Yes"),
}


@pytest.mark.parametrize("fault", FAULTY)
@given(**BROKEN)
def test_a_broken_report_of_a_broken_gpu_is_no_pass(
    fault: str, changes: list[Change], end: str, typed: str, place: int
) -> None:
    text = Printed([whole_gpu(), FAULTY[fault]]).text
    result = judged("stack", broken(text, changes, end, typed, place))
    assert result.verdict != "passed"
    assert result.message.isprintable()


@given(**BROKEN)
def test_a_broken_xml_of_a_broken_gpu_is_no_pass(changes: list[Change], end: str, typed: str, place: int) -> None:
    xml = (FIXTURES / "h100/smi.xml").read_text().split("<supported_clocks>")
    text = xml[0] + xml[1].partition("</supported_clocks>")[2] + MODULES.format(driver="580.159.04")
    text = text.replace("<unrepairable_memory>No<", "<unrepairable_memory>Yes<")
    assert judged("stack", text).verdict == "failed"
    assert judged("stack", broken(text, changes, end, typed, place)).verdict != "passed"


@given(**BROKEN)
def test_a_broken_report_of_an_unlicensed_vgpu_is_no_licence(
    changes: list[Change], end: str, typed: str, place: int
) -> None:
    text = Printed([vgpu("Unlicensed (Restricted)")]).text
    wrong = broken(text, changes, end, typed, place)
    assert judged("stack", wrong, licensed=True).verdict != "passed"
    smi = smi_from(Result(0, wrong), Result(0, "GPU 0: x\n"))
    assert isinstance(smi, Smi)
    assert smi.licence != "licensed"


@given(**BROKEN)
def test_a_gpu_that_needs_a_reboot_never_serves(changes: list[Change], end: str, typed: str, place: int) -> None:
    text = Printed([vgpu(**{"GPU Recovery Action": "Node Reboot"})]).text
    smi = smi_from(Result(0, broken(text, changes[:1], end, typed[:0], place)), Result(0, "GPU 0: x\n"))
    assert smi.recovery or not smi.ran or "Node Reboot" not in broken(text, changes[:1], end, "", 0)


@given(**BROKEN)
def test_a_broken_document_of_a_failed_diagnostic_is_no_pass(
    changes: list[Change], end: str, typed: str, place: int
) -> None:
    results = [{"name": name, "results": [{"entity_id": 0, "status": "Fail"}]} for name in ("memory", "pcie")]
    document = {"DCGM Diagnostic": {"test_categories": [{"tests": results}]}, "metadata": {"version": "4.6.0"}}
    text = json.dumps(document, indent=1)
    assert judged("diag-2", broken(text, changes, end, typed, place)).verdict != "passed"


@given(**BROKEN)
def test_a_broken_table_of_wrong_results_is_no_pass(changes: list[Change], end: str, typed: str, place: int) -> None:
    text = (FIXTURES / "all-reduce-wrong.txt").read_text()
    result = judged("nccl", broken(text, changes, end, typed, place))
    assert result.verdict != "passed"


@given(**BROKEN)
def test_broken_figures_are_all_of_them_or_refused(changes: list[Change], end: str, typed: str, place: int) -> None:
    text = broken((FIXTURES / "nvbandwidth-peers.txt").read_text(), changes, end, typed, place)
    read_transport(text)
    codes_in(text)
    try:
        found = read_nvbandwidth(text, ["host_to_device_memcpy_ce", "device_to_device_memcpy_read_ce"])
    except Unrecognised:
        return
    assert {test: len(values) for test, values in found.items()} == {
        "host_to_device_memcpy_ce": 2,
        "device_to_device_memcpy_read_ce": 2,
    }


@given(st.text(alphabet=st.one_of(st.characters(), st.sampled_from('\n :,"[]Xid0123456789')), max_size=200))
def test_no_text_is_a_traceback(text: str) -> None:
    assert all(0 <= code <= 999 for code in codes_in(f"Xid {text}"))
    assert not smi_from(Result(0, text), Result(0, text)).ran
    for check in ("stack", "diag-3", "nccl", "vector-add"):
        assert judged(check, text).verdict == "no-verdict"
    try:
        gpus(text)
    except ValueError:
        return

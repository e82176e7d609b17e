"""DCGM's diagnostic in the forms of DCGM 3 and 4: what did not run is no pass, and what DCGM says is not lost."""

from __future__ import annotations

import json
from typing import Any

import pytest

from physical_ai.catalog.acceptance import checks
from physical_ai.settings.facts.acceptance import Promise
from tests.support.cases import in_one_test
from workbench.health.acceptance.judging import JobOutcome, NodeBaseline, judge
from workbench.health.acceptance.outputs.diag import read_diag
from workbench.health.acceptance.outputs.unrecognised import Unrecognised
from workbench.health.acceptance.record import CheckResult

LEVELS = {
    1: ["software"],
    2: ["software", "memory", "pcie"],
    3: ["software", "memory", "diagnostic", "pcie", "memory_bandwidth", "targeted_stress", "targeted_power"],
}
OLDER = {"memory": "GPU Memory", "pcie": "PCIe", "software": "Denylist"}
"""Names of DCGM 3; the others are the same words with capitals."""


def result(gpu: int, status: str = "Pass", **more: Any) -> dict[str, Any]:
    return {"entity_group": "GPU", "entity_group_id": 1, "entity_id": gpu, "status": status, **more}


def dcgm_4(level: int, gpus: int = 1, **tests: Any) -> dict[str, Any]:
    """A document of DCGM 4; `tests` are results in place of passes, None for a test that is left out."""
    found: list[dict[str, Any]] = []
    for name in LEVELS[level]:
        own = tests.get(name, [result(gpu) for gpu in range(gpus)])
        found += [] if own is None else [{"name": name, **({"results": own} if own else {})}]
    categories = [{"category": "Deployment", "tests": found[:1]}, {"category": "Hardware", "tests": found[1:]}]
    return {"DCGM Diagnostic": {"test_categories": categories}, "metadata": {"version": "4.6.0"}}


def dcgm_3(level: int, gpus: int = 1, **tests: Any) -> dict[str, Any]:
    """A document of DCGM 3: the version at its top, results by GPU, and gaps where a GPU did not run."""
    found: list[dict[str, Any]] = []
    for name in LEVELS[level]:
        own = tests.get(name, [{"gpu_id": str(gpu), "status": "Pass"} for gpu in range(gpus)])
        found += [] if own is None else [{"name": OLDER.get(name, name.replace("_", " ").title()), "results": own}]
    categories = [{"category": "Deployment", "tests": found[:1]}, {"category": "Hardware", "tests": found[1:]}]
    return {"DCGM Diagnostic": {"test_categories": categories}, "version": "3.3.9"}


def judged(document: Any, level: int, gpus: int = 1, code: int = 0) -> CheckResult:
    promised = Promise(None, None, "Disabled", licensed=False, persistence=False, resources={})
    text = document if isinstance(document, str) else json.dumps(document, indent=1)
    return judge(checks()[f"diag-{level}"], JobOutcome(text, code), NodeBaseline(promised, gpus, {}, None))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("form", "version"), [(dcgm_3, "3.3.9"), (dcgm_4, "4.6.0")])
def test_a_complete_run_passes(form: Any, version: str, level: int) -> None:
    found = judged(form(level, 2), level, 2)
    assert (found.verdict, found.message) == ("passed", f"{len(LEVELS[level])} tests passed, DCGM {version}")


@in_one_test("form", [dcgm_3, dcgm_4])
@in_one_test(("level", "test"), [(level, test) for level in (2, 3) for test in LEVELS[level][1:]])
def test_a_test_of_the_hardware_that_is_left_out_is_no_pass(form: Any, level: int, test: str) -> None:
    for left in (None, []):
        found = judged(form(level, **{test: left}), level)
        assert found.verdict == "no-verdict", found
        assert test.split("_", maxsplit=1)[0] in found.message.lower()


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (dcgm_4(2, 2, memory=[result(0)]), "memory ran on 1 of 2 GPUs"),
        (dcgm_3(2, 2, memory=[None, {"gpu_id": "1", "status": "Pass"}]), "memory ran on 1 of 2 GPUs"),
        (dcgm_4(2, 2, memory=[result(0, "Skip"), result(1)]), "memory on GPU 0 (skipped)"),
        (dcgm_4(2, 2, memory=[result(0, "Not Run"), result(1)]), "memory on GPU 0"),
        (dcgm_4(1, software=[]), "software"),
        (dcgm_4(1), "memory has no result"),
    ],
)
def test_what_did_not_run_on_every_gpu_is_no_pass(document: Any, words: str) -> None:
    found = judged(document, 2, 2)
    assert (found.verdict, words in found.message) == ("no-verdict", True), found


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (dcgm_4(2, memory=[result(0, "Fail", warnings=[{"warning": "A DBE occurred."}])]), "memory on GPU 0: A DBE"),
        (
            dcgm_3(2, software=[{"gpu_id": 0, "status": "Fail", "warnings": [{"warnings": "No persistence."}]}]),
            ": No per",
        ),
        (
            dcgm_3(2, memory=[{"gpu_id": "0", "status": "Fail", "warnings": [None, {"warning": "Link down."}]}]),
            ": Link",
        ),
        (
            dcgm_3(2, memory=[None, {"gpu_id": "1", "status": "Fail", "warnings": "Broken."}]),
            "GPU Memory on GPU 1: Broken.",
        ),
    ],
)
def test_what_a_failed_test_says_is_not_lost(document: Any, words: str) -> None:
    found = judged(document, 2)
    assert (found.verdict, words in found.message) == ("failed", True), found
    assert "None" not in found.message


@pytest.mark.parametrize("version", ["3.3.9", "4.6.0"])
def test_an_error_of_dcgmi_is_no_verdict_and_is_told(version: str) -> None:
    error = "Error: Unable to complete diagnostic for group 2147483647. Return: (-29) ..."
    found = judged({"DCGM Diagnostic": {"version": version, "runtime_error": error}}, 2, code=226)
    assert (found.verdict, error in found.message) == ("no-verdict", True)


@pytest.mark.parametrize(
    "before",
    [
        "Started host engine version 4.6.0 using port number: 5555\n",
        "{not JSON}\n",
        '{"level": "info"}\n',
        "{ {{ \x00\n",
    ],
)
def test_text_before_the_document_is_passed_over(before: str) -> None:
    text = f"{before}{json.dumps(dcgm_4(2))}\ntrailing {{\n"
    assert judged(text, 2).verdict == "passed"


@in_one_test(
    "document",
    [
        json.dumps(dcgm_4(2))[:-40],
        json.dumps(dcgm_4(2)).replace('"status": "Pass"', '"status": "Pass", "status": "Fail"', 1),
        json.dumps(dcgm_4(2)).replace('"Pass"', '"Perhaps"', 1),
        json.dumps(dcgm_4(2)).replace('"Pass"', "null", 1),
        json.dumps(dcgm_4(2)).replace('"tests": [', '"tests": [7, ', 1),
        json.dumps(dcgm_4(2)).replace('"name": "memory"', '"name": null'),
        json.dumps({"DCGM Diagnostic": {"test_categories": {}}}),
        json.dumps({"DCGM Diagnostic": {"test_categories": [None]}}),
        '{"DCGM Diagnostic": ' + '{"a": ' * 5000,
        '{"' * 5000,
    ],
)
def test_another_form_is_refused_without_a_traceback(document: str) -> None:
    with pytest.raises(Unrecognised):
        read_diag(document)

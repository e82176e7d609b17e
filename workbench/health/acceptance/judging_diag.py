"""Judgement of the output of `dcgmi diag`: no test may have failed, and each required test must have run on every GPU.
Pure functions.
"""

from __future__ import annotations

from collections.abc import Sequence

from workbench.health.acceptance.outputs.diag import Diag, DiagTest, read_diag, spelled
from workbench.health.acceptance.record import CheckResult


def judge_diag(name: str, log: str, exit_code: int | None, tests: Sequence[str], gpus: int) -> CheckResult:
    """The result of DCGM's diagnostic at one level.

    Args:
        tests: Hardware tests that the level includes, by their names in DCGM 4.
        gpus: Number of the node's GPUs.

    Raises:
        Unrecognised: the log has no document of dcgmi, or one of an unknown form.
    """
    diag = read_diag(log)
    failed = [test for test in diag.tests if test.status == "fail"]
    if failed:
        return CheckResult(name, "failed", "; ".join(map(_described, failed)))
    undone = [_described(test) for test in diag.tests if test.status == "not run"]
    undone += _missing(diag, tests, gpus)
    passed = {test.name for test in diag.tests if test.status in ("pass", "warn")}
    if undone or not passed:
        text = ", ".join(dict.fromkeys(undone)) or "all were skipped"
        return CheckResult(name, "no-verdict", f"tests did not run: {text}")
    if exit_code:
        return CheckResult(name, "no-verdict", f"no test failed, but dcgmi ended with exit code {exit_code}")
    warned = [test for test in diag.tests if test.status == "warn"]
    note = f"; warnings: {'; '.join(map(_described, warned))}" if warned else ""
    return CheckResult(name, "passed", f"{len(passed)} tests passed, DCGM {diag.version}{note}")


def _missing(diag: Diag, tests: Sequence[str], gpus: int) -> list[str]:
    """Texts about the level's tests that did not run on all GPUs, because they were left out or skipped."""
    found: list[str] = []
    for test in tests:
        own = [each for each in diag.tests if spelled(each.name) == test]
        skipped = [each for each in own if each.status == "skip"]
        ran = len(diag.gpus_of(test))
        if skipped:
            found += [f"{_described(each)} (skipped)" for each in skipped]
        elif any(each.status == "not run" for each in own):
            continue  # the test is named already
        elif ran < gpus:
            found.append(f"{test} ran on {ran} of {gpus} GPUs" if ran else f"{test} has no result")
    return found


def _described(test: DiagTest) -> str:
    place = f" on {test.where}" if test.where else ""
    return f"{test.name}{place}" + (f": {' '.join(test.warnings)}" if test.warnings else "")

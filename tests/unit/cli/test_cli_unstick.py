"""What `physai unstick` would do about what a killed run left behind."""

from __future__ import annotations

import pytest

from physical_ai.cli.unstick_plan import repairs
from physical_ai.readiness.releases import NOT_INSTALLED, StuckRelease

PENDING = {
    "pending_operations": [
        {
            "type": "creating",
            "resource": {"urn": "urn:pulumi:dev::x::k8s:Namespace::physical-ai-namespaces-x"},
        }
    ]
}


def release(status: str, *, worked: bool) -> StuckRelease:
    return StuckRelease("gpu-operator", "gpu-operator", status, 2 if worked else 1, worked)


def test_a_stack_in_order_needs_nothing() -> None:
    assert repairs("dev-westus2", {"pending_operations": None}, []) == []
    assert repairs("dev-westus2", {}, [release(NOT_INSTALLED, worked=False)]) == []


def test_unfinished_operations_are_named_and_forgotten_before_anything_else() -> None:
    first, second = repairs("dev-westus2", PENDING, [release("failed", worked=True)])
    assert "creating physical-ai-namespaces-x" in first.problem
    assert "--clear-pending-creates" in first.command
    assert second.command[:2] == ("helm", "rollback")


def test_a_lock_is_removed_before_anything_else_and_its_holder_is_named() -> None:
    lock = {"pid": 7, "username": "ada", "hostname": "runner-1", "timestamp": "2026-11-22T20:00:00Z"}
    first, second = repairs("dev-westus2", PENDING, [], [lock])
    assert first.problem == "The stack is locked by ada@runner-1, process 7, since 2026-11-22T20:00:00Z."
    assert first.command == ("pulumi", "cancel", "dev-westus2", "--yes")
    assert "--clear-pending-creates" in second.command


@pytest.mark.parametrize(
    ("status", "worked", "verb"),
    [
        ("failed", True, "rollback"),
        ("pending-upgrade", True, "rollback"),
        ("pending-rollback", True, "rollback"),
        ("pending-install", False, "uninstall"),
        ("failed", False, "uninstall"),
        ("uninstalling", True, "uninstall"),
    ],
)
def test_a_stuck_release_returns_to_what_worked_or_is_installed_again(status: str, worked: bool, verb: str) -> None:
    (step,) = repairs("dev-westus2", {}, [release(status, worked=worked)])
    assert step.command == ("helm", verb, "gpu-operator", "--namespace", "gpu-operator")
    assert status in step.problem

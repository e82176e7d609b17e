"""Queues that are not there, as KAI v0.17.0 sees them."""

from __future__ import annotations

from physical_ai.readiness.workloads import explain
from tests.support.workload_objects import queue
from tests.support.workload_scenes import in_queue


def test_the_queue_that_is_missing_is_named_however_far_above_it_is() -> None:
    """KAI drops every queue below one that does not exist, and says that the lowest does not exist."""
    queues = [queue("osmo-default", "team"), queue("team", "company")]
    _, found = explain("train-0", in_queue("QueueDoesNotExist: …", queues=queues).workloads())
    assert [each.cause for each in found] == ["queue-parent-missing"]
    assert "company" in found[0].reason

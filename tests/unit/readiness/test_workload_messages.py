"""Every message of the genuine programs has its cause, its own sentence, and an advice that changes something."""

from __future__ import annotations

import re

from physical_ai.readiness.causes import workload_causes
from physical_ai.readiness.workloads import doctor, explain
from tests.support.cases import in_one_test
from tests.support.workload_messages import Row, named, scene, table

CHANGES = re.compile(
    r"kubectl [^;]*\b(delete|uncordon|patch|edit|create|rollout restart|label|cordon|replace --force)\b"
    r"|physai (node replace|accept)|\b(pulumi up|docker buildx)\b|az (aks|identity)"
    r"|\b(spec|pools|osmo|cluster|dra|schedulingGates|limits|requests)\.\w+"
    r"|\b(Submit it again|accessMode|imagePullPolicy)"
)
"""A command that changes something, or the field of a Pod or setting that has to be changed."""


@in_one_test(("of", "row"), table(), ids=map(named, table()))
def test_a_message_has_its_cause_and_its_own_sentence(of: str, row: Row) -> None:
    given = scene(of, row).workloads()
    found = explain("train-0", given)[1]
    assert [each.cause for each in found] == [row["cause"]]
    own = row["message"].strip()[:100]
    assert own in found[0].reason + found[0].evidence
    assert found[0].where
    assert found[0].known is (workload_causes()[row["cause"]].known)
    assert "?" not in found[0].reason + found[0].fix
    assert CHANGES.search(found[0].fix) or found[0].waits, found[0].fix
    assert [each.first.cause for each in doctor(given)] == [row["cause"]]

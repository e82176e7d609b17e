"""Objects of whole workflows: the recorded ones, and those that this project makes."""

from __future__ import annotations

import json
from typing import Any

from tests.support.osmo_recordings import ROOT, Vector, configured, result_of, submit
from workbench.osmo.pods.objects import make_all
from workbench.osmo.pods.pod import Run
from workbench.osmo.refusal import Refusal
from workbench.osmo.workflow import lifecycle


def pod_vectors() -> list[Vector]:
    return [json.loads(path.read_text()) for path in sorted((ROOT / "pods").glob("[!_]*.json"))]


def run_pod(vector: Vector) -> tuple[Any, Refusal | None]:
    """Timeouts of a workflow and objects of each of its groups, in the form of the recording."""
    given, config = vector["input"], configured(vector["input"].get("config_override"))

    def run(_: Any) -> Any:
        submission = submit(given["file"], config, given)
        ids = vector.get("expected", {}).get("ids")
        uuids = ids["group_and_task_uuids"] if ids else _Any()
        made = Run(
            f"{submission.spec.name}-1",
            ids["workflow_uuid"] if ids else "0" * 32,
            uuids,
            "alice",
            credentials=given.get("generic_credentials", {}),
            registries=given.get("registry_credentials", {}),
        )
        running, waiting = lifecycle.timeouts(submission.spec.timeout, submission.pool, config.workflow)
        timeout = {"exec_timeout": running.total_seconds(), "queue_timeout": waiting.total_seconds()}
        return {"timeout": timeout, "groups": make_all(submission, config, made)}

    return result_of(run, given)


class _Any(dict[str, str]):
    """Map with the same identity, all zeros, for every name; it is for recordings without identities."""

    def __missing__(self, key: str) -> str:
        return "0" * 32

"""Lifecycle of a running workflow: its timeouts, the effect of exit codes, and the workflow's status from the statuses
of its groups.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence

from workbench.osmo.choices import ExitAction
from workbench.osmo.refusal import crash
from workbench.osmo.service.pools import Pool
from workbench.osmo.service.sections import WorkflowConfig
from workbench.osmo.units import duration
from workbench.osmo.workflow.schema import TimeoutSpec

_RESULTS = {
    ExitAction.COMPLETE: "COMPLETED",
    ExitAction.FAIL: "FAILED",
    ExitAction.RESCHEDULE: "RESCHEDULED",
}
_FIRST = ("FAILED_CANCELED", "FAILED_SERVER_ERROR", "FAILED_EXEC_TIMEOUT", "FAILED_QUEUE_TIMEOUT")
"""Statuses that a workflow takes over from one of its groups. If several groups have such a status, the workflow takes
the one that is first in this list.
"""


def timeouts(given: TimeoutSpec, pool: Pool, config: WorkflowConfig) -> tuple[datetime.timedelta, datetime.timedelta]:
    """Longest running time and longest waiting time of a workflow: the workflow's own timeout, else the pool's default,
    else the default of OSMO's configuration. Each time is cut to its maximum in the pool, else in the configuration.

    A timeout of zero counts as not set. Raises ValueError for an invalid duration in the configuration.
    """
    pairs = (
        (
            given.exec_timeout,
            pool.default_exec_timeout or config.default_exec_timeout,
            pool.max_exec_timeout or config.max_exec_timeout,
        ),
        (
            given.queue_timeout,
            pool.default_queue_timeout or config.default_queue_timeout,
            pool.max_queue_timeout or config.max_queue_timeout,
        ),
    )
    running, waiting = (min(wanted or duration(default), duration(most)) for wanted, default, most in pairs)
    return running, waiting


def after_exit(
    exit_code: int | None,
    status: str,
    *,
    task_actions: Mapping[str, str],
    pool_actions: Mapping[str, str],
    retries: int,
    max_retries: int,
) -> str:
    """A task's status after it has exited. The first exit action whose codes include the exit code decides; the task's
    actions are searched before the pool's.

    RESCHEDULE applies only while retries are left; by default OSMO allows none. Raises Refusal for invalid codes or
    actions, which OSMO does not check in a pool beforehand.
    """
    if exit_code is None:
        return status
    for actions in (task_actions, pool_actions):
        for name, codes in actions.items():
            if not _holds(codes, exit_code):
                continue
            if name.upper() not in ExitAction.__members__:
                raise crash(f"'{name}' is not an exit action")
            action = ExitAction[name.upper()]
            if action is ExitAction.RESCHEDULE and retries >= max_retries:
                return status
            return _RESULTS[action]
    return status


def _holds(codes: str, exit_code: int) -> bool:
    for part in codes.split(","):
        try:
            bounds = [int(bound) for bound in part.split("-")]
        except ValueError:
            raise crash(f"'{codes}' is not a list of exit codes") from None
        if bounds[0] <= exit_code <= bounds[-1]:
            return True
    return False


def workflow_status(groups: Sequence[str]) -> str:
    """Status of a workflow that follows from the statuses of its groups."""
    if any(not _is_over(status) for status in groups):
        return "RUNNING" if "RUNNING" in groups else "PENDING"
    for status in _FIRST:
        if status in groups:
            return status
    reasons = {status for status in groups if status.startswith("FAILED") and status != "FAILED_UPSTREAM"}
    if any(status.startswith("FAILED") for status in groups):
        return reasons.pop() if len(reasons) == 1 else "FAILED"
    return "COMPLETED" if all(status == "COMPLETED" for status in groups) else "RUNNING"


def _is_over(status: str) -> bool:
    return status in ("COMPLETED", "RESCHEDULED") or status.startswith("FAILED")

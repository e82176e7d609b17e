"""Checks of checkpoints: tasks on Spot nodes without frequent checkpoints, and tasks that overwrite each other's
checkpoints. Also a check for keys of storage accounts in a workflow.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator

from workbench.osmo.lint import rules_checkpoint
from workbench.osmo.lint.checks_file import texts
from workbench.osmo.lint.finding import Path
from workbench.osmo.lint.view import TaskView, View
from workbench.osmo.units import duration

LONG = datetime.timedelta(hours=4)
"""Running time above which a GPU task should have a checkpoint, since the loss of its work costs more than the effort
of adding a checkpoint.
"""
RARE = datetime.timedelta(hours=1)
_KEY = re.compile(r"AccountKey=|SharedAccessSignature=|[?&]sig=[\w%]", re.IGNORECASE)
"""A key or signature in a connection string or URL (Azure docs, storage-configure-connection-string)."""
ACCOUNT_KEYS = frozenset(
    {
        "AZURE_STORAGE_KEY",
        "AZURE_STORAGE_ACCESS_KEY",
        "AZURE_STORAGE_ACCOUNT_KEY",
        "AZURE_STORAGE_CONNECTION_STRING",
        "AZURE_STORAGE_SAS_TOKEN",
    }
)
"""Environment variables from which Azure's command line, azcopy, fsspec and the SDKs read a key."""


def check(view: View) -> None:
    """Adds the findings of all checks in this module to the findings about the workflow."""
    longest = _longest(view)
    for task in view.tasks:
        if task.facts is not None and task.facts.is_spot and task.on_gpu:
            _spot(view, task, longest)
        for name, path in _variables(task):
            if name in ACCOUNT_KEYS:
                view.add(rules_checkpoint.BLOB_CREDENTIAL, path, f"'{task.name}' has a key of a storage account")
        for path, text in texts(task.spec.model_dump(mode="json"), task.path):
            if _KEY.search(text):
                view.add(
                    rules_checkpoint.BLOB_CREDENTIAL, path, f"'{task.name}' has a key in a text that everybody reads"
                )
    _places(view)


def _longest(view: View) -> datetime.timedelta | None:
    """Longest possible running time of the workflow; None if the service's limit cannot be read."""
    if view.spec.timeout.exec_timeout is not None:
        return view.spec.timeout.exec_timeout
    try:
        return duration(view.pool.default_exec_timeout or view.context.config.workflow.default_exec_timeout)
    except ValueError:
        return None


def _spot(view: View, task: TaskView, longest: datetime.timedelta | None) -> None:
    if not task.spec.checkpoint and longest is not None and longest > LONG:
        problem = f"'{task.name}' may run for {longest} on Spot nodes and copies no checkpoints"
        view.add(rules_checkpoint.SPOT_CHECKPOINT, (*task.path, "name"), problem)
    for index, each in enumerate(task.spec.checkpoint):
        if each.frequency > RARE:
            path = (*task.path, "checkpoint", index, "frequency")
            view.add(rules_checkpoint.SPOT_FREQUENCY, path, f"'{task.name}' copies checkpoints every {each.frequency}")


def _places(view: View) -> None:
    """Reports tasks that copy their checkpoints to one URL, so that each task overwrites the checkpoints of the
    others.
    """
    first: dict[tuple[str, str], str] = {}
    for task in view.tasks:
        for index, each in enumerate(task.spec.checkpoint):
            owner = first.setdefault((each.url.rstrip("/"), each.regex), task.name)
            if owner != task.name:
                path = (*task.path, "checkpoint", index, "url")
                problem = f"'{task.name}' and '{owner}' copy their checkpoints to the same place"
                view.add(rules_checkpoint.CHECKPOINT_PLACE, path, problem)


def _variables(task: TaskView) -> Iterator[tuple[str, Path]]:
    for name in task.spec.environment:
        yield name, (*task.path, "environment", name)
    for credential, target in task.spec.credentials.items():
        if isinstance(target, dict):
            for name in target:
                yield name, (*task.path, "credentials", credential, name)

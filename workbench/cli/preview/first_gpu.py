"""Time to the first GPU in a stack's preview: after the change, and what the change makes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from physical_ai.findings import Severity
from workbench.cli.first_gpu import first_gpu
from workbench.cli.preview.reach import before
from workbench.first_gpu.judging import TITLES, change_document, changes, findings, kind_of
from workbench.first_gpu.report import KINDS

if TYPE_CHECKING:
    from physical_ai.settings import Settings
    from workbench.cli.preview.model import Preview
    from workbench.policies import Stack as Declared


def judged(settings: Settings, declared: Declared, preview: Preview) -> dict[str, Any]:
    """The times after the change, the differences that the change makes, and the findings about the stack's budget.

    The times before are of the resources as they were declared then. A stack that does not exist has none.
    """
    new = first_gpu(settings, declared)
    changed = changes(first_gpu(settings, before(declared, preview.run)), new) if preview.deployed.exists else []
    found = findings(new, settings.time_to_first_gpu, changed)
    return {
        **{kind: [round(each, 1) for each in minutes] if (minutes := new.minutes(kind)) else None for kind in KINDS},
        "titles": dict(TITLES),
        "changes": [change_document(each) for each in changed],
        "findings": [
            {**each.document(), "setting": each.where, "kind": kind_of(each)}
            for each in found
            if each.severity.at_least(Severity.WARNING)
        ],
    }

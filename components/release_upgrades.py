"""From which release of the GPU Operator to which: judged where both are known, just before Helm is asked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pulumi

from physical_ai.catalog.compat import judge_upgrade
from physical_ai.findings import Finding

_ARCHIVE = re.compile(r"-(v\d+\.\d+\.\d+)\.tgz$")


def installed_version(inputs: Mapping[str, Any]) -> str | None:
    """The version of a Release's chart: of the one from a repository, or of an archive by its name."""
    version, archive = inputs.get("version"), _ARCHIVE.search(str(inputs.get("chart", "")))
    return version if isinstance(version, str) and version else archive and archive[1]


def refusal(old: Mapping[str, Any] | None, new_version: str) -> str | None:
    """Why a release must not be changed into `new_version`; None when nothing stands against it.

    `old` are the inputs the release has now, as the engine keeps them.

    >>> refusal({"version": "v26.7.0"}, "v26.3.3").splitlines()[0]
    'upgrade-downgrade: v26.7.0 runs already, and NVIDIA supports no way back to v26.3.3.'
    """
    running = installed_version(old or {})
    if running is None or running == new_version:
        return None
    errors = [finding for finding in judge_upgrade(running, new_version) if finding.is_error]
    return "\n".join(map(_text, errors)) or None


def _text(finding: Finding) -> str:
    return "\n  ".join(filter(None, (f"{finding.rule}: {finding.problem}", finding.fix, finding.source)))


def judged_upgrades(name: str, new_version: str) -> pulumi.ResourceHook:
    """A hook that fails an update, in previews too, when the running release has no way to the new one."""

    def judge(args: pulumi.ResourceHookArgs) -> None:
        old: Any = args.old_inputs
        if (problem := refusal(old, new_version)) is not None:
            raise pulumi.RunError(f"gpuOperator.version\n  {problem}")

    return pulumi.ResourceHook(name, judge, pulumi.ResourceHookOptions(on_dry_run=True))

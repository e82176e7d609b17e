"""Whether the running release of the GPU Operator may be changed into the planned one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from physical_ai.catalog.compat import judge_upgrade
from physical_ai.findings import Finding

_ARCHIVE = re.compile(r"-(v\d+\.\d+\.\d+)\.tgz$")


def installed_version(inputs: Mapping[str, Any]) -> str | None:
    """The version of a Release's chart: of one from a repository, or of an archive by its name."""
    version, archive = inputs.get("version"), _ARCHIVE.search(str(inputs.get("chart", "")))
    return version if isinstance(version, str) and version else archive and archive[1]


def refusal(old: Mapping[str, Any] | None, new_version: str) -> str | None:
    """Why a release must not be changed into `new_version`; None where it may be.

    `old` are the inputs the release has now, as the engine keeps them.

    >>> refusal({"version": "v26.7.0"}, "v26.3.3").splitlines()[0]
    'upgrade-downgrade: v26.7.0 runs already, and NVIDIA does not support a downgrade to v26.3.3.'
    """
    running = installed_version(old or {})
    if running is None or running == new_version:
        return None
    errors = [finding for finding in judge_upgrade(running, new_version) if finding.is_error]
    return "\n".join(map(_text, errors)) or None


def _text(finding: Finding) -> str:
    return "\n  ".join(filter(None, (f"{finding.rule}: {finding.problem}", finding.fix, finding.source)))

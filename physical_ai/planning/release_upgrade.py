"""Reasons to refuse an upgrade or downgrade of the running GPU Operator or OSMO, or a change of OSMO's master
encryption key.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from physical_ai.catalog.compat import judge_upgrade
from physical_ai.citations import cited
from physical_ai.findings import Finding

_ARCHIVE = re.compile(r"-(v\d+\.\d+\.\d+)\.tgz$")


def installed_version(inputs: Mapping[str, Any]) -> str | None:
    """Chart version in the inputs of a Release: the input `version`, or the version in the name of an archive; None if
    the inputs have neither.
    """
    version, archive = inputs.get("version"), _ARCHIVE.search(str(inputs.get("chart", "")))
    return version if isinstance(version, str) and version else archive and archive[1]


def refusal(old: Mapping[str, Any] | None, new_version: str) -> str | None:
    """Reason why the GPU Operator's release must not change to `new_version`; None where the change is allowed.

    `old` are the inputs of the running release, as Pulumi's state keeps them.

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


def osmo_refusal(old: Mapping[str, Any] | None, new_tag: str) -> str | None:
    """Reason why OSMO's control plane must not be changed to the images `new_tag`; None if the change is allowed.

    OSMO's service migrates its database's tables when it starts, and cannot migrate them back (NVIDIA/OSMO 6.3,
    src/service).

    >>> osmo_refusal({"values": {"global": {"osmoImageTag": "6.3.1"}}}, "6.3.0").splitlines()[0]
    'osmo-downgrade: OSMO 6.3.1 runs already, and may have changed its database: 6.3.0 would not know it.'
    """
    running = _at(old, "values", "global", "osmoImageTag")
    if not isinstance(running, str) or _numbers(new_tag) >= _numbers(running):
        return None
    problem = (
        f"osmo-downgrade: OSMO {running} runs already, and may have changed its database: {new_tag} would not know it."
    )
    fix = f"Keep {running}, or restore the database to a time before it: dataServices.postgres.restore."
    return f"{problem}\n  {fix}"


def key_refusal(old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> str | None:
    """Reason why the change of the master encryption key in the vault is refused; None where the key stays the same.

    Args:
        old, new: Inputs of the vault's secret.
    """
    before, after = _at(old, "properties", "value"), _at(new, "properties", "value")
    if not isinstance(before, str) or not isinstance(after, str) or before == after:
        return None
    return cited(
        "osmo-key: the database is encrypted with the key that the vault has, and secrets.osmoMek is another one.\n"
        "  Remove secrets.osmoMek, or set it to that key: docs/osmo.md#the-key-of-the-database."
    )


def _at(value: Any, *path: str) -> Any:
    for key in path:
        value = cast("Mapping[str, Any]", value).get(key) if isinstance(value, Mapping) else None
    return value


def _numbers(tag: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", tag)]

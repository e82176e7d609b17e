"""Versions of kubelets that no kubelet has."""

from __future__ import annotations

import datetime

import pytest

from physical_ai.preflight.existing.software import judge_kubernetes


@pytest.mark.parametrize("version", ["v1", "1", "", "unknown"])
def test_a_version_without_a_minor_is_not_known(version: str) -> None:
    node = {"metadata": {"name": "n"}, "status": {"nodeInfo": {"kubeletVersion": version}}}
    (found,) = judge_kubernetes([node], "v26.7.1", datetime.date(2026, 11, 22))
    assert "No kubelet reports its version" in f"{found}"

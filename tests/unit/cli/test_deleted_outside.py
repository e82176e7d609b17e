"""A failure on an object that somebody deleted outside of Pulumi says how to go on."""

from __future__ import annotations

import pytest

from workbench.cli.changes import Message
from workbench.cli.deleted_outside import advice, deleted_outside

URN = "urn:pulumi:dev::p::kubernetes:core/v1:ResourceQuota::gpus"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('resourcequotas "gpus" not found', "gpus"),
        ('error: update of resource "urn" failed: deployments.apps "web" not found', "web"),
        (
            'customresourcedefinitions.apiextensions.k8s.io "queues.scheduling.run.ai" not found',
            "queues.scheduling.run.ai",
        ),
        ('namespaces "team-a" not found', "team-a"),
        ('"osmo-operator" has no deployed releases', "osmo-operator"),
        ('UPGRADE FAILED: "osmo-operator" has no deployed releases', "osmo-operator"),
        ("uninstall: Release not loaded: osmo-operator: release: not found", "osmo-operator"),
        ('Code="ParentResourceNotFound" Message="parent \'aks-dev\' not found"', "aks-dev"),
    ],
)
def test_what_is_gone_is_named(text: str, name: str) -> None:
    assert deleted_outside([Message("error", URN, text)]) == [name]
    assert "--refresh" in advice([name])


@pytest.mark.parametrize(
    "message",
    [
        Message("warning", URN, 'resourcequotas "gpus" not found'),
        Message("error", "", 'unknown: plugins "kubernetes" not found'),
        Message("error", URN, "'web' timed out waiting to be Ready"),
        Message("error", URN, '[Pod web-1]: MountVolume.SetUp failed for volume "x": secret "login" not found'),
        Message("error", URN, 'resource mapping not found for name: "fabric" namespace: ""'),
    ],
)
def test_other_failures_are_not(message: Message) -> None:
    assert deleted_outside([message]) == []
    assert not advice([])

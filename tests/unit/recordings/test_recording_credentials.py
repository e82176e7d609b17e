"""Removal of credentials: by the name of the key, by their form, in texts; and not what a diagnosis needs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.cases import in_one_test
from workbench.recordings.credentials import REMOVED, Remover

LONG = "q7Wz3kPf9XbLm2VnR8tYc5HdJ1sGaE6uQ4oIiKxT0wBv"


@in_one_test(
    "given",
    [
        {"env": [{"name": "DB_PASSWORD", "value": LONG}]},
        {"data": {"client-secret": LONG}},
        {"properties": {"administratorLoginPassword": LONG}},
        {"primaryConnectionString": f"AccountName=a;AccountKey={LONG}"},
        {"message": f"Bearer {LONG}"},
        {"args": [f"--token={LONG}"]},
        {"args": [f"--token {LONG}"]},
        {"data": {"config.yaml": f"a: 1\n  password: {LONG}\n"}},
        {"data": {"run.sh": f"export API_KEY='{LONG}'"}},
        {"url": f"https://user:{LONG}@host/path"},
        {"blob": f"https://a.blob.core.windows.net/c?sv=1&sig={LONG}"},
        {"data": {"x": LONG}},
        {"data": {"x": f"-----BEGIN PRIVATE KEY-----\n{LONG}\n-----END PRIVATE KEY-----\n"}},
        {"message": f"ghp_{LONG[:30]} was refused"},
    ],
)
def test_a_credential_is_removed(given: Any) -> None:
    remover = Remover()
    text = json.dumps(remover(given))
    assert LONG not in text
    assert LONG[:30] not in text
    assert REMOVED.rstrip(")") in text
    assert remover.removed >= 1


@pytest.mark.parametrize(
    "text",
    [
        'MountVolume.SetUp failed for volume "token": secret "osmo-token" not found',
        "failed to fetch anonymous token: unexpected status: 403 Forbidden",
        "nvcr.io/nvidia/driver@sha256:5f4dcc3b5aa765d61d8327deb882cf995f4dcc3b5aa765d61d8327deb882cf99",
        "0/4 nodes are available: 2 node(s) had untolerated taint {nvidia.com/gpu: present}",
        "automountServiceAccountToken: false",
        "/var/run/secrets/kubernetes.io/serviceaccount/token",
        "credential:\n  name: osmo-workflow-data-cred\n",
    ],
)
def test_what_a_diagnosis_reads_is_kept(text: str) -> None:
    assert Remover()({"message": text}) == {"message": text}


def test_references_to_secrets_are_kept() -> None:
    given = {
        "secretName": "tls",
        "secretKeyRef": {"name": "a", "key": "password"},
        "tokenExpirationSeconds": 3600,
        "passwordGeneration": 3,
        "automountServiceAccountToken": False,
        "taints": [{"key": "nvidia.com/gpu", "value": "present"}],
    }
    assert Remover()(given) == given

"""Encrypted secrets are kept exactly as long as their values and the passphrase are the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from simulator.stack_file import StackFile

CONFIG = {"project:region": "westus2"}
SECRET = {"project:secrets.token": "simulated-token"}
SEALED = {"config": {"project:secrets": {"token": {"secure": "v1:…"}}}, "encryptionsalt": "v1:salt"}


@pytest.fixture
def file(tmp_path: Path) -> StackFile:
    """A stack file whose secrets the CLI has encrypted."""
    (tmp_path / "passphrase").write_text("correct horse")
    made = StackFile(tmp_path / "Pulumi.dev.yaml", tmp_path / "secrets.json", tmp_path / "passphrase")
    assert not made.write(CONFIG, SECRET)
    made.path.write_text(yaml.safe_dump({**SEALED, "config": {**CONFIG, **SEALED["config"]}}))
    made.remember(SECRET)
    return made


def _written(file: StackFile) -> dict[str, Any]:
    return yaml.safe_load(file.path.read_text())


def test_the_same_secrets_are_written_encrypted_beside_a_changed_configuration(file: StackFile) -> None:
    changed = {"project:region": "eastus"}
    assert file.write(changed, SECRET)
    assert _written(file) == {**SEALED, "config": {**changed, **SEALED["config"]}}


def test_another_value_another_passphrase_or_a_torn_file_is_encrypted_again(file: StackFile) -> None:
    assert not file.write(CONFIG, {"project:secrets.token": "another"})
    assert _written(file) == {"config": CONFIG}
    file.kept.write_text(file.kept.read_text()[:-9])
    assert not file.write(CONFIG, SECRET)
    file.passphrase.write_text("battery staple")
    assert not file.write(CONFIG, SECRET)


def test_no_secrets_need_no_encryption(file: StackFile) -> None:
    assert file.write(CONFIG, {})
    assert _written(file) == {"config": CONFIG}

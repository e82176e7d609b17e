"""Stack file that the engine reads. An encrypted secret is reused in later runs until its value changes."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from physical_ai import safe_yaml

SALT = "encryptionsalt"


@dataclass(frozen=True)
class StackFile:
    """Stack file `Pulumi.<stack>.yaml` at `path`. The file `kept` has the encrypted secrets of the last run, for reuse.

    The CLI takes 0.4 s to encrypt a secret, and every new salt makes the engine encrypt the complete state again.
    """

    path: Path
    kept: Path
    passphrase: Path

    def write(self, config: Mapping[str, Any], secret: Mapping[str, str]) -> bool:
        """Writes the configuration to the stack file, and adds the saved encrypted secrets if they are still valid.
        Returns False if secrets are missing, so that the CLI has to encrypt them.

        `secret`: values of the secrets by `project:key.path`.
        """
        sealed = self._remembered(secret) if secret else None
        if sealed is not None and set(sealed["config"]) & set(config):
            sealed = None
        encrypted = sealed or {"config": {}}
        self.path.write_text(safe_yaml.dump({**encrypted, "config": {**config, **encrypted["config"]}}))
        return sealed is not None or not secret

    def remember(self, secret: Mapping[str, str]) -> None:
        """Copies the secrets that the CLI has encrypted from the stack file to the file `kept`, for the next run."""
        written = safe_yaml.load(self.path.read_text())
        roots = {key.partition(".")[0] for key in secret}
        config = {root: written["config"][root] for root in roots}
        unfinished = self.kept.with_suffix(".new")
        unfinished.write_text(
            json.dumps({"digest": self._digest(secret), "sealed": {SALT: written[SALT], "config": config}})
        )
        unfinished.rename(self.kept)

    def _remembered(self, secret: Mapping[str, str]) -> dict[str, Any] | None:
        """The saved encrypted secrets. None if there are none, or if they were made from other values or with another
        passphrase.
        """
        try:
            kept = json.loads(self.kept.read_text())
        except (OSError, ValueError):
            return None
        return kept["sealed"] if hmac.compare_digest(kept["digest"], self._digest(secret)) else None

    def _digest(self, secret: Mapping[str, str]) -> str:
        text = json.dumps(dict(secret), sort_keys=True).encode()
        return hmac.digest(self.passphrase.read_bytes(), text, hashlib.sha256).hex()

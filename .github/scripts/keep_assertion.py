"""Keeps a fresh assertion of GitHub's in a file, for whatever logs in to Azure with it: state, Key Vault, checks.

An assertion is good for minutes and a login for an hour, while a cluster's first deployment takes longer: what reads
$AZURE_FEDERATED_TOKEN_FILE reads it again at each login. Runs until the job ends; `--once` writes it once.
Standard library only: it starts before anything is installed.
"""

from __future__ import annotations

import json
import os
import sys
import time
import urllib.request
from pathlib import Path

AUDIENCE = "api://AzureADTokenExchange"
SECONDS = 240
"""Between two assertions; one is good for five minutes at least."""


def assertion() -> str:
    """A new assertion from the service whose address GitHub passes to a job."""
    address = f"{os.environ['ACTIONS_ID_TOKEN_REQUEST_URL']}&audience={AUDIENCE}"
    headers = {"Authorization": f"Bearer {os.environ['ACTIONS_ID_TOKEN_REQUEST_TOKEN']}"}
    request = urllib.request.Request(address, headers=headers)  # noqa: S310 - an address of GitHub's
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - the same
        return json.load(answer)["value"]


def write(file: Path) -> None:
    """Replaces the file in one step: a reader finds the old assertion or the new one."""
    new = file.with_suffix(".new")
    new.unlink(missing_ok=True)
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as text:
        text.write(assertion())
    new.replace(file)


def main() -> None:
    file = Path(os.environ["AZURE_FEDERATED_TOKEN_FILE"])
    write(file)
    while "--once" not in sys.argv:
        time.sleep(SECONDS)
        try:
            write(file)
        except OSError as problem:  # the next try comes before the last assertion has run out
            print(f"no new assertion: {problem}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()

"""Subscription that answers from files. It is a `Get` as `physical_ai.subscription.rest` defines it."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from physical_ai.subscription.rest import ARM
from workbench.preflight import Unanswered

FIXTURES = Path(__file__).parents[1] / "fixtures" / "azure"
SUBSCRIPTION = "00000000-0000-0000-0000-000000000001"
_BASE = f"/subscriptions/{SUBSCRIPTION}"
_FILES = {
    _BASE: "subscription.json",
    f"{_BASE}/providers/Microsoft.Compute/locations/westus2/usages": "usages.json",
    f"{_BASE}/providers/Microsoft.Compute/skus": "skus-1.json",
    f"{ARM}{_BASE}/providers/Microsoft.Compute/skus?api-version=2021-07-01&$skiptoken=2": "skus-2.json",
    f"{_BASE}/providers": "providers.json",
    f"{_BASE}/providers/Microsoft.Authorization/permissions": "permissions-contributor.json",
    f"{_BASE}/providers/Microsoft.ContainerService/locations/westus2/kubernetesVersions": "kubernetesVersions.json",
}


class Answers:
    """Answers from the files, which a test can change or refuse. It keeps the questions in `asked`."""

    def __init__(self, **files: str) -> None:
        """Reads the files. `files` replaces one by another: `permissions="permissions-owner.json"`."""
        self.asked: list[tuple[str, Mapping[str, str]]] = []
        self._documents: dict[str, Any] = {}
        for path, file in _FILES.items():
            kind = file.removesuffix(".json").partition("-")[0]
            self._documents[path] = json.loads((FIXTURES / files.get(kind, file)).read_text())
        self._refused: set[str] = set()

    def __call__(self, address: str, parameters: Mapping[str, str]) -> Any:
        self.asked.append((address, parameters))
        kind = address.split("?", maxsplit=1)[0].rpartition("/")[2]
        if kind in self._refused or address not in self._documents:
            raise Unanswered(f"{kind}: the login may not read it (403)")
        return copy.deepcopy(self._documents[address])

    def put(self, address: str, file: Path) -> Answers:
        """Adds the answer to one more question."""
        self._documents[address] = json.loads(file.read_text())
        return self

    def refuse(self, kind: str) -> Answers:
        """Makes every question whose path ends in `kind` refused."""
        self._refused.add(kind)
        return self

    def change(self, kind: str, change: Callable[[Any], None]) -> Answers:
        """Changes the documents that answer questions whose path ends in `kind`."""
        for address, document in self._documents.items():
            if address.split("?")[0].endswith(kind):
                change(document)
        return self

"""Notifications of the running Alertmanager, collected in place of the receivers that would have got them."""

from __future__ import annotations

import json
import threading
from collections import deque
from typing import Any
from urllib.parse import unquote

from simulator.metrics.alertmanager import NOTIFICATIONS

KEPT = 1000
LONGEST = 1 << 20
"""Maximum size of a notification in bytes."""
_BELOW = f"/{NOTIFICATIONS}/"


class Notifications:
    """The newest notifications, each with `receiver`, `status` and `alerts` as Alertmanager posts them to a webhook."""

    def __init__(self) -> None:
        self._kept: deque[dict[str, Any]] = deque(maxlen=KEPT)
        self._lock = threading.Lock()

    def take(self, path: str, body: bytes) -> bool:
        """Stores the notification that was posted to a path; returns False if the path is unknown or the content is no
        notification.
        """
        if not path.startswith(_BELOW):
            return False
        try:
            document: Any = json.loads(body)
            found = {key: document[key] for key in ("status", "alerts")}
        except (ValueError, KeyError, TypeError):
            return False
        with self._lock:
            self._kept.append({"receiver": unquote(path.removeprefix(_BELOW)), **found})
        return True

    def document(self) -> str:
        """All kept notifications as JSON, oldest first."""
        with self._lock:
            return json.dumps(list(self._kept))

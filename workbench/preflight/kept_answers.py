"""Cache of Azure's answers in the user's folder, each with its time, so that Azure is not asked twice."""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from physical_ai.subscription.rest import Get
from workbench.preflight.questions import hours

FOLDER = "azure-answers"


def now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


@dataclass
class Kept:
    """A `Get` that asks Azure only if no stored answer is recent enough. An answer that cannot be stored is requested
    again by the next command.
    """

    get: Get
    folder: Path
    """Folder with the stored answers about one subscription."""
    fresh: bool = False
    """True to ignore all answers that earlier commands have stored."""
    clock: Callable[[], datetime.datetime] = now
    oldest: datetime.datetime | None = None
    """Time of the oldest stored answer that this command has used; None if it has used none."""
    _here: dict[str, Any] = field(default_factory=dict[str, Any])

    def __call__(self, address: str, parameters: Mapping[str, str]) -> Any:
        key = json.dumps([address, sorted(parameters.items())])
        if key in self._here:
            return self._here[key]
        keeps = hours(address)
        if not keeps:
            return self.get(address, parameters)
        file = self.folder / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.json"
        found = None if self.fresh else self._read(file, key, keeps)
        if found is None:
            answer = self.get(address, parameters)
            self._write(file, key, answer)
        else:
            asked, answer = found
            self.oldest = min(self.oldest or asked, asked)
        self._here[key] = answer
        return answer

    def _read(self, file: Path, key: str, keeps: int) -> tuple[datetime.datetime, Any] | None:
        """A stored answer and its time. None if the file does not exist or is not readable, or if the answer's time is
        more than `keeps` hours ago, or in the future.
        """
        try:
            document: Any = json.loads(file.read_text(encoding="utf-8"))
            asked = datetime.datetime.fromisoformat(document["asked"])
            age = self.clock() - asked
            if document["question"] == key and datetime.timedelta(0) <= age <= datetime.timedelta(hours=keeps):
                return asked, document["answer"]
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None
        return None

    def _write(self, file: Path, key: str, answer: Any) -> None:
        document = {"asked": self.clock().isoformat(), "question": key, "answer": answer}
        unfinished = file.with_suffix(f".{os.getpid()}.new")
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            unfinished.touch(mode=0o600)
            unfinished.write_text(json.dumps(document), encoding="utf-8")
            unfinished.replace(file)

"""Type of functions that read a cluster, and the exceptions that they raise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

FORBIDDEN = 403
Get = Callable[[str, Mapping[str, str]], Any]
"""Function `get(path, parameters)`, which returns the decoded JSON of an API path, or text where the answer is not
JSON.

Raises:
    Missing, Unreachable, Unusable
"""


class Missing(Exception):
    """Raised where the API server has no such resource."""


class Unreachable(Exception):
    """Raised where no answer came this time; the next request may get one.

    `status` is the HTTP status of a refusal, 0 for no answer.
    """

    def __init__(self, text: str, status: int = 0) -> None:
        super().__init__(text)
        self.status = status


class Unusable(Exception):
    """Raised where the kubeconfig or its login cannot work, so that a retry does not help."""


def is_forbidden(refusal: Unreachable) -> bool:
    """True where the refusal is for lack of rights, so that the next request would be refused too."""
    return refusal.status == FORBIDDEN or str(refusal).startswith(str(FORBIDDEN))

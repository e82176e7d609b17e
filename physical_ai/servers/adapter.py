"""Limits on answers for the library `requests`, which azure-core uses."""

from __future__ import annotations

from typing import Any

import requests
from requests.adapters import HTTPAdapter

from physical_ai.servers.bounds import Bounds
from physical_ai.servers.deadline import Deadline, bounded

CHUNK = 1 << 16


class BoundedAdapter(HTTPAdapter):
    """Adapter that reads every answer completely. Raises ReadTimeout or ContentDecodingError for an answer beyond its
    limits.
    """

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        super().__init__()

    def init_poolmanager(self, *given: Any, **named: Any) -> None:
        super().init_poolmanager(*given, **named)
        bounded(self.poolmanager)

    def proxy_manager_for(self, proxy: Any, **named: Any) -> Any:
        return bounded(super().proxy_manager_for(proxy, **named))

    def send(self, request: requests.PreparedRequest, *given: Any, **named: Any) -> requests.Response:
        request.headers["Accept-Encoding"] = "identity"
        late = f"no complete answer within {self._bounds.seconds:g} s"
        with Deadline(self._bounds.seconds) as deadline:
            try:
                options: Any = {**named, "stream": True}
                answer = super().send(request, *given, **options)
                body = self._body(answer)
            except (OSError, ValueError) as problem:  # requests' RequestException is an OSError
                if deadline.is_over:
                    raise requests.ReadTimeout(late, request=request) from problem
                raise
            if deadline.is_over:
                raise requests.ReadTimeout(late, request=request)
        if not answer.headers.get("Content-Length", "0").isdecimal():
            # azure-core would raise ValueError for a Content-Length that is no number
            del answer.headers["Content-Length"]
        read: Any = answer
        read._content, read._content_consumed = body, True
        return answer

    def _body(self, answer: requests.Response) -> bytes:
        parts: list[bytes] = []
        size = 0
        for part in answer.iter_content(CHUNK):
            size += len(part)
            if size > self._bounds.size:
                answer.close()
                raise requests.exceptions.ContentDecodingError(
                    f"the answer is larger than {self._bounds.size >> 20} MiB", response=answer
                )
            parts.append(part)
        return b"".join(parts)


def bounded_session(bounds: Bounds) -> requests.Session:
    """A session of `requests` in which every answer is within the limits."""
    session = requests.Session()
    for scheme in ("https://", "http://"):
        session.mount(scheme, BoundedAdapter(bounds))
    return session

"""Parsing of paths of the API server, which name a list or one object. Pure functions."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ApiPath:
    """The parts of a path such as `/apis/apps/v1/namespaces/x/deployments/y`."""

    resource: str
    """Plural of the resource; empty for a path that names no resource, such as `/version`."""
    name: str = ""
    """Name of one object; empty for a list."""
    sub: str = ""
    """Subresource, such as `log`."""

    @property
    def is_list(self) -> bool:
        return bool(self.resource) and not self.name


def api_path(path: str) -> ApiPath:
    """Parts of an API path.

    >>> api_path("/api/v1/nodes").is_list, api_path("/apis/apps/v1/namespaces/x/deployments/y").name
    (True, 'y')
    """
    parts = path.partition("?")[0].strip("/").split("/")
    head = {"api": 2, "apis": 3}.get(parts[0], len(parts))
    rest = parts[head:]
    if rest[:1] == ["namespaces"] and len(rest) > 2:
        rest = rest[2:]
    if not rest:
        return ApiPath("")
    return ApiPath(rest[0], rest[1] if len(rest) > 1 else "", rest[2] if len(rest) > 2 else "")

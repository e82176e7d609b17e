"""Pulumi's resource provider protocol, reduced to plain Python values."""

from simulator.wire.provider import Diff, Failure, NotReady, Provider, Refused, Request
from simulator.wire.values import UNKNOWN, Secret, changes, has_unknown, under

__all__ = [
    "UNKNOWN",
    "Diff",
    "Failure",
    "NotReady",
    "Provider",
    "Refused",
    "Request",
    "Secret",
    "changes",
    "has_unknown",
    "under",
]

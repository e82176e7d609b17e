"""Reasons not to release a commit."""

from __future__ import annotations


class NotReleasable(Exception):
    """Raised if no release can be made of a checkout. The text says where, what is wrong, and what to do."""

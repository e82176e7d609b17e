"""State that the stand-ins of `az`, `gh` and `pulumi` begin with, their options, and their refusals."""

from __future__ import annotations

from typing import Any

REPOSITORY = "acme/platform"
GROUP = "rg-physical-ai-delivery"
FRESH: dict[str, Any] = {
    "calls": [],
    "fails": {},
    "interrupts": "",
    "subscription": "",
    "groups": [],
    "locks": [],
    "made": {},
    "assignments": [],
    "definitions": {},
    "denied": [],
    "full_name": "acme/Platform",
    "visibility": "public",
    "enterprise": True,
    "rules": [{"type": "deletion"}, {"type": "pull_request", "parameters": {"required_approving_review_count": 1}}],
    "protection": None,
    "subject": {"use_default": True, "use_immutable_subject": False, "sub_claim_prefix": "repo:acme@1/Platform@2"},
    "environments": {},
    "variables": {},
    "stacks": [],
}


class Refused(Exception):
    """Error with which a command ends; `code` is its exit code."""

    def __init__(self, text: str, code: int = 1, body: Any = None) -> None:
        super().__init__(text)
        self.code, self.body = code, body


def option(words: list[str], name: str, default: str | None = None) -> str:
    if name not in words:
        if default is None:
            raise Refused(f"the following arguments are required: {name}", 2)
        return default
    return words[words.index(name) + 1]

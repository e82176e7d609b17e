"""A new stack: what its layers ask for, what its region has, and the files that come of it."""

from __future__ import annotations

from physical_ai.settings.new_stack.choices import Choice, choose, refusals
from physical_ai.settings.new_stack.files import NewFiles, api_placeholder, is_placeholder, new_files
from physical_ai.settings.new_stack.place import AlreadyThere, verified, write
from physical_ai.settings.new_stack.proposal import Candidate, PoolProposal, Proposal, propose, space_problem

__all__ = [
    "AlreadyThere",
    "Candidate",
    "Choice",
    "NewFiles",
    "PoolProposal",
    "Proposal",
    "api_placeholder",
    "choose",
    "is_placeholder",
    "new_files",
    "propose",
    "refusals",
    "space_problem",
    "verified",
    "write",
]

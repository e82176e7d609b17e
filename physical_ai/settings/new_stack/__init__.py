"""A new stack: the values of its layers, the sizes of its region, and the resulting files."""

from __future__ import annotations

from physical_ai.settings.new_stack.choices import Choice, choose, refusals
from physical_ai.settings.new_stack.files import NewFiles, api_placeholder, is_placeholder, new_files
from physical_ai.settings.new_stack.proposal import Candidate, PoolProposal, Proposal, propose, space_problem
from physical_ai.settings.new_stack.writing import AlreadyExists, verified, write

__all__ = [
    "AlreadyExists",
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

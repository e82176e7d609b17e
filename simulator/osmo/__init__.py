"""A stand-in for OSMO's service and agents: creates a workflow's objects, and follows them.

It has no database, no storage and no users. What it does in the cluster it does with the rights of the agents' service
account, so that what their chart does not grant is refused here too.
"""

from __future__ import annotations

from simulator.osmo.service import AgentsMissing, Service
from simulator.osmo.workflow import Group, Result, Task, TaskResult, Workflow

__all__ = ["AgentsMissing", "Group", "Result", "Service", "Task", "TaskResult", "Workflow"]

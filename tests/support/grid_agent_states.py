"""Writes docs/reference/grid-agent-states.md: `python -m tests.support.grid_agent_states`.

Its diagram shows the changes of state in the scenarios below; its tables come from the agent's code.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from grid_agent import plan, steps
from grid_agent.facts import ClusterError
from grid_agent.steps import State, Step
from tests.support.grid_agent_fake import GPU_POD, OLD, FakeNode, serving, wanted

FILE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "grid-agent-states.md"
FAILS = [(30, "NVIDIA's installer failed")] * 3


def fresh() -> FakeNode:
    fake = FakeNode()
    fake.run(State.READY)
    return fake


def upgrade() -> FakeNode:
    fake = serving()
    fake.run(State.READY)
    return fake


def waiting() -> FakeNode:
    fake = serving()
    fake.gpu_pods = (GPU_POD,)
    fake.run(State.WAITING)
    fake.gpu_pods = ()
    fake.run(State.READY)
    return fake


def draining() -> FakeNode:
    fake = serving(upgrade="drain")
    fake.gpu_pods = (GPU_POD,)
    fake.run(State.READY)
    return fake


def rollback() -> FakeNode:
    fake = serving()
    fake.fail[Step.INSTALL] = list(FAILS)
    fake.run(State.BLOCKED)
    return fake


def refused() -> FakeNode:
    fake = FakeNode()
    fake.facts = replace(fake.facts, secure_boot=True)
    fake.run(State.BLOCKED)
    fake.run_for(60)
    return fake


def failed() -> FakeNode:
    fake = FakeNode()
    fake.fail[Step.INSTALL] = list(FAILS)
    fake.run(State.BLOCKED)
    return fake


def reboot() -> FakeNode:
    fake = fresh()
    fake.path.clear()
    fake.reboot()
    fake.run(State.READY)
    fake.run_for(600)
    return fake


def too_early() -> FakeNode:
    fake = serving()
    fake.wanted = wanted(OLD)
    fake.operands = {app: replace(pod, looking=True, begun=0.0) for app, pod in fake.operands.items()}
    fake.run(State.KICKING)
    fake.run(State.READY)
    return fake


def silent_api() -> FakeNode:
    fake = FakeNode(api=ClusterError("unreachable", "connection refused"))
    fake.run(State.WAITING)
    fake.api = None
    fake.run(State.READY)
    return fake


def removal() -> FakeNode:
    fake = fresh()
    fake.path.clear()
    fake.wanted = replace(fake.wanted, present=False)
    fake.run(State.REMOVED)
    return fake


SCENARIOS: Mapping[str, Callable[[], FakeNode]] = {
    "fresh node": fresh,
    "reboot": reboot,
    "upgrade": upgrade,
    "GPU pods in the way": waiting,
    "drain": draining,
    "rollback": rollback,
    "install fails": failed,
    "refusal": refused,
    "pods came too early": too_early,
    "API server silent": silent_api,
    "removal": removal,
}


def transitions() -> dict[tuple[State, State], list[str]]:
    """Every change of state in the scenarios, with the names of the scenarios that showed it."""
    seen: dict[tuple[State, State], list[str]] = {}
    for name, play in SCENARIOS.items():
        for before, _, after in play().path:
            if before is not after and name not in seen.setdefault((before, after), []):
                seen[before, after].append(name)
    return seen


def page() -> str:
    return "\n".join(_page()) + "\n"


def _page() -> Iterator[str]:
    from tests.support.grid_agent_cases import CASES

    yield "# The GRID driver agent's states"
    yield "\nMade from the code by `python -m tests.support.grid_agent_states`; a test keeps it fresh.\n"
    yield "Each arrow is a change of state that the machine makes; below the picture is in which situations. The agent"
    yield "decides again from what it sees at every step, so it may enter anywhere: what is right already is skipped.\n"
    yield "```mermaid\nstateDiagram-v2\n    accTitle: The states of the GRID driver agent"
    yield "    accDescr: Each arrow is a change of state."
    yield "    [*] --> inspecting"
    changes = sorted(transitions().items(), key=lambda item: _order(item[0]))
    yield from (f"    {before.value} --> {after.value}" for (before, after), _ in changes)
    yield "```\n\n| from | to | in these situations |\n|---|---|---|"
    yield from (f"| `{before.value}` | `{after.value}` | {', '.join(names)} |" for (before, after), names in changes)
    yield "\n## States\n\n| state | what is done in it |\n|---|---|"
    meanings = _docs(steps.State)
    for state in State:
        done = ", ".join(f"`{step.value}`" for step, of in plan.STATE_OF.items() if of is state)
        yield f"| `{state.value}` | {_cell('; '.join(filter(None, (meanings.get(state.name, ''), done))))} |"
    yield "\n## Steps\n\n| step | |\n|---|---|"
    for name, text in _docs(steps.Step).items():
        yield f"| `{Step[name].value}` | {_cell(text)} |"
    yield "\n## Decisions\n\n| situation | state | condition's reason | next step | it says |\n|---|---|---|---|---|"
    for case in CASES:
        made = case.plan()
        yield f"| {case.name} | `{made.state.value}` | {made.reason} | `{made.step.value}` | {_cell(made.sentence)} |"


def _order(edge: tuple[State, State]) -> tuple[int, int]:
    states = list(State)
    return states.index(edge[0]), states.index(edge[1])


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _docs(kind: type) -> dict[str, str]:
    """Docstrings of an enumeration's members, by member; members without one are left out."""
    body = ast.parse(inspect.getsource(kind)).body[0]
    assert isinstance(body, ast.ClassDef)
    found: dict[str, str] = {}
    for member, text in zip(body.body, body.body[1:], strict=False):
        if isinstance(member, ast.Assign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
            name = member.targets[0]
            assert isinstance(name, ast.Name)
            found[name.id] = str(text.value.value)
    return found


if __name__ == "__main__":
    FILE.write_text(page())

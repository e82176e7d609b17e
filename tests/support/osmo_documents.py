"""Random documents as workflows and configurations may contain them, and properties that hold for each of them after
its check.
"""

from __future__ import annotations

from functools import lru_cache

from hypothesis import strategies as st

from physical_ai.settings import load as load_stack
from workbench.osmo.lint import Context, check_text, of_stack


@lru_cache(maxsize=1)
def context() -> Context:
    return of_stack(load_stack("dev-westus2").settings)


def sound(text: str) -> None:
    """Asserts that a file, whatever it contains, is checked to its end, and that every finding has a position in it."""
    lines = text.split("\n")
    for finding in check_text(text, "w.yaml", context()).findings:
        assert 1 <= finding.line <= max(len(lines), 1)
        assert finding.column >= 1
        assert finding.problem.strip()


KEYS = st.sampled_from(
    [
        "name",
        "tasks",
        "groups",
        "resources",
        "default",
        "platform",
        "gpu",
        "cpu",
        "memory",
        "storage",
        "image",
        "command",
        "args",
        "environment",
        "inputs",
        "task",
        "url",
        "outputs",
        "files",
        "path",
        "contents",
        "localpath",
        "credentials",
        "exitActions",
        "FAIL",
        "timeout",
        "exec_timeout",
        "volumeMounts",
        "privileged",
        "checkpoint",
        "frequency",
        "cacheSize",
        "resource",
        "lead",
        "topology",
        "key",
        "nodesExcluded",
        "pool",
        "dataset",
        "kpis",
    ]
)

VALUES = st.sampled_from(
    [
        1,
        0,
        -1,
        2.5,
        True,
        None,
        "a",
        "b",
        "h100",
        "rtxpro",
        "cpu",
        "64Gi",
        "9999Gi",
        "5GB",
        "10%",
        "u:1",
        "/x",
        "/osmo/x",
        "1-3",
    ]
)

DOCUMENTS = st.recursive(
    VALUES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5), max_leaves=25
)

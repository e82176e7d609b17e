"""The report of an upgrade as text and as data."""

from __future__ import annotations

import datetime
from typing import Any

from tests.support.releases import FIRST, release, v
from workbench.upgrade.judging import Journey
from workbench.upgrade.rewriting import Blocked, Rewrite
from workbench.upgrade.telling import Report, StackReport, document, lines

SECOND = release(
    "0.2.0",
    date=datetime.date(2027, 2, 1),
    outputs=[{"from": "pools.*.size", "to": "pools.*.vmSize", "until": "0.4.0"}],
    charts=[{"chart": "kai", "from": "v1", "to": "v2", "dead": [{"key": "a.b", "instead": "Write c."}]}],
    resources=[{"type": "AgentPool", "name": "*-h100gpu-*", "what": "replaced", "why": "Azure needs it."}],
    steps=[
        {"id": "look", "text": "Look.", "when": "after"},
        {"id": "drain", "text": "Let jobs end.", "when": "before", "required": True},
    ],
)
PREVIEW: dict[str, Any] = {
    "impact": {"headline": "Ends 1 workflow."},
    "summary": {"create": 1, "replace": 2},
    "changes": [
        {"op": "create", "type": "azure-native:x:Vault", "name": "v", "impact": []},
        {
            "op": "replace",
            "type": "azure-native:containerservice:AgentPool",
            "name": "x-h100gpu-nodes",
            "impact": ["2 nodes lost."],
        },
        {"op": "replace", "type": "kubernetes:core/v1:Secret", "name": "s", "impact": []},
        {"op": "update", "type": "kubernetes:helm.sh/v3:Release", "name": "kai", "impact": ["KAI restarts."]},
        {"op": "update", "type": "kubernetes:core/v1:ConfigMap", "name": "c"},
    ],
}
REPORT = Report(
    Journey.of(v("0.1.0"), v("0.2.0"), [FIRST, SECOND]),
    [Rewrite("a.yaml", 3, "x", "y", "0.2.0", "1 becomes 60"), Rewrite("a.yaml", None, "z", None, "0.2.0")],
    [Blocked("b.yaml", 2, "x", "It is called y.", "Write y.", stops=False)],
    ["a.yaml", "requirements.txt"],
    [
        StackReport("dev-westus2", ("w.yaml:1: warning: k\n  dead",), PREVIEW),
        StackReport("prod-x", (), None, "no engine"),
    ],
    ["Makefile: compare it"],
)


def test_the_text_has_each_part_and_who_is_disturbed_first() -> None:
    assert "\n".join(lines(REPORT)) == (
        "upgrade from 0.1.0 to 0.2.0\n"
        "  0.2.0 (2027-02-01): A release.\n"
        "\nsettings\n"
        "  a.yaml:3: x becomes y (1 becomes 60)\n"
        "  a.yaml: z is removed\n"
        "\nsettings that stay under their former names\n"
        "  b.yaml:2: x\n    It is called y.\n    Write y.\n"
        "\noutputs\n"
        "  pools.*.size is called pools.*.vmSize; version 0.4.0 no longer has the former name\n"
        "\ncharts\n"
        "  kai v1 → v2\n    key a.b is not read any more: Write c.\n"
        "\nstack dev-westus2\n"
        "  Ends 1 workflow.\n"
        "  1 to create, 2 to replace\n"
        "  replace AgentPool x-h100gpu-nodes: 2 nodes lost. Azure needs it.\n"
        "  replace Secret s: the notes of the releases do not mention it\n"
        "  update Release kai: KAI restarts.\n"
        "  w.yaml:1: warning: k\n    dead\n"
        "\nstack prod-x\n"
        "  not previewed: no engine\n"
        "\nsteps for you\n"
        "  before the deployment, drain: Let jobs end.\n"
        "  after the deployment, look: Look.\n"
        "\nfiles\n"
        "  a.yaml\n  requirements.txt\n  Makefile: compare it\n"
        "\nway back\n"
        "  before the deployment: git restore . (before the commit), or git revert COMMIT, and make up\n"
        "  after the deployment: the same, and pulumi up with version 0.1.0\n"
        "  Nothing more."
    )


def test_the_document_has_the_same() -> None:
    found = document(REPORT)
    assert (found["from"], found["to"], found["files"]) == ("0.1.0", "0.2.0", ["a.yaml", "requirements.txt"])
    assert found["releases"][0]["upgradeFrom"] == "0.1.0"
    assert [each["to"] for each in found["settings"]] == ["y", None]
    dev, prod = found["stacks"]
    assert (dev["headline"], dev["summary"]) == ("Ends 1 workflow.", {"create": 1, "replace": 2})
    assert [each["why"] for each in dev["disruptions"]] == [
        "Azure needs it.",
        "the notes of the releases do not mention it",
        None,
    ]
    assert (prod["failed"], prod["headline"], prod["disruptions"]) == ("no engine", None, [])


def test_a_release_without_a_way_back_says_so() -> None:
    closed = release("0.2.0", back={"open": False, "text": "Restore the database."})
    report = Report(Journey.of(v("0.1.0"), v("0.2.0"), [FIRST, closed]), [], [], [], [])
    text = "\n".join(lines(report))
    assert "after the deployment there is none to versions before 0.2.0: Restore the database." in text
    assert "pulumi up with" not in text

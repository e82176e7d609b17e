"""docs/reference/osmo-lint.md, made of the rules and their examples: `python -m physical_ai.osmo.lint.document`."""

from __future__ import annotations

from physical_ai.osmo.lint import rules_config, rules_file, rules_task
from physical_ai.osmo.lint.finding import Rule
from physical_ai.repository import ROOT

FILE = ROOT / "docs" / "reference" / "osmo-lint.md"
EXAMPLES = "tests/fixtures/osmo/lint"
TOPICS = {
    "The file": rules_file,
    "Tasks": rules_task,
    "The service's configuration": rules_config,
}
_HEAD = f"""\
# Rules of `physai lint`

Made of the rules themselves by `python -m physical_ai.osmo.lint.document`; how the check is used tells
[osmo.md](../osmo.md). An **error** is refused by OSMO or Kubernetes, or runs otherwise than it looks; a **warning** may
cost more than it should. A comment `# physai-lint: allow RULE` on the line, or above it, leaves a finding out.

Each rule has a file that breaks it and one that doesn't, `fail.yaml` and `pass.yaml` in `{EXAMPLES}/RULE/`.
"""


def document() -> str:
    """The whole page."""
    parts = [_HEAD]
    for topic, module in TOPICS.items():
        own = [value for value in vars(module).values() if isinstance(value, Rule)]
        lines = [f"- [`{rule.id}`](#{rule.id}): {rule.title}" for rule in own]
        parts.append(f"## {topic}\n\n" + "\n".join(lines) + "\n")
        parts += [_section(rule) for rule in own]
    return "\n".join(parts)


def _section(rule: Rule) -> str:
    return (
        f"### {rule.id}\n\n"
        f"**{rule.severity}.** {rule.title}\n\n"
        f"{rule.reason}\n\n"
        f"- Write: {_code(rule.fix)}\n"
        f"- Source: {rule.source}\n"
    )


def _code(fix: str) -> str:
    """A fix that is YAML or a shell word stands as code; a sentence does not."""
    return fix if fix.endswith(".") else f"`{fix}`"


if __name__ == "__main__":
    FILE.write_text(document())

"""Generator of docs/reference/osmo-lint.md from the rules: `python -m workbench.osmo.lint.document`."""

from __future__ import annotations

from physical_ai.repository import ROOT
from workbench.osmo.lint import rules_checkpoint, rules_config, rules_file, rules_nccl, rules_task
from workbench.osmo.lint.finding import Rule

FILE = ROOT / "docs" / "reference" / "osmo-lint.md"
EXAMPLES = "tests/fixtures/osmo/lint"
TOPICS = {
    "The file": rules_file,
    "Tasks": rules_task,
    "Checkpoints and storage": rules_checkpoint,
    "NCCL": rules_nccl,
    "The service's configuration": rules_config,
}
_HEAD = f"""\
# Rules of `physai lint`

Generated from the rules by `python -m workbench.osmo.lint.document`; [osmo.md](../osmo.md) describes the check.
OSMO or Kubernetes rejects an **error**, or runs it differently than it reads; a **warning** may cost more than
necessary. A comment `# physai-lint: allow RULE` on the line, or above it, suppresses a finding.

Each rule has a file that violates it and one that does not, `fail.yaml` and `pass.yaml` in `{EXAMPLES}/RULE/`.
"""


def document() -> str:
    """The Markdown of docs/reference/osmo-lint.md."""
    parts = [_HEAD]
    for topic, module in TOPICS.items():
        rules = [value for value in vars(module).values() if isinstance(value, Rule)]
        lines = [f"- [`{rule.id}`](#{rule.id}): {rule.title}" for rule in rules]
        parts.append(f"## {topic}\n\n" + "\n".join(lines) + "\n")
        parts += [_section(rule) for rule in rules]
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
    """A rule's fix as Markdown: as code if it is YAML or shell, and unchanged if it is a sentence."""
    return fix if fix.endswith(".") else f"`{fix}`"


if __name__ == "__main__":
    FILE.write_text(document())

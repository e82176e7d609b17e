"""Generator of docs/reference/policies.md from the rules and their examples: `python -m
workbench.policies.document`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import yaml

from physical_ai.repository import DOCS
from workbench.policies import RULES
from workbench.policies.examples import EXAMPLES, Example
from workbench.policies.model import UNKNOWN, Resource, Rule, Secret, Topic

FILE = DOCS / "reference" / "policies.md"
_HEAD = """\
# Policies

Generated from the rules by `python -m workbench.policies.document`; how they are run is described
in [policies.md](../policies.md). An **error** must not be deployed, a **warning** needs a reason. The tests run
every example here, and those in `workbench/policies/examples/`.
"""
_SHOWN = {
    "parent": "parent",
    "provider": "provider",
    "protect": "protect",
    "depends_on": "dependsOn",
    "ignore_changes": "ignoreChanges",
    "replace_on_changes": "replaceOnChanges",
    "delete_before_replace": "deleteBeforeReplace",
    "deleted_with": "deletedWith",
    "replace_with": "replaceWith",
    "retain_on_delete": "retainOnDelete",
}
_MANY = 4
"""Largest number of a list's entries that an example on the page shows; further entries are left out."""


class _Plain(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True


def document() -> str:
    """The Markdown of docs/reference/policies.md."""
    parts = [_HEAD]
    for topic in Topic:
        rules = [rule for rule in RULES if rule.topic is topic]
        lines = [f"- [`{rule.id}`](#{rule.id}) ({rule.severity.value}): {rule.reason}" for rule in rules]
        parts.append(
            f"## {topic.value.capitalize() if topic is not Topic.GPU else topic.value}\n\n" + "\n".join(lines) + "\n"
        )
        parts += [_section(rule) for rule in rules]
    return "\n".join(parts)


def _section(rule: Rule) -> str:
    example = EXAMPLES[rule.id][0]
    kinds = ", ".join(f"`{kind}`" for kind in rule.types) or "every resource"
    lines = [
        f"### {rule.id}\n",
        f"**{rule.severity.value}.** {rule.reason}\n",
        f"- Applies to: {kinds}{_where(rule, example)}",
        f"- See: <{rule.link}>",
    ]
    if rule.needs:
        named = ", ".join(f"`{_SHOWN[name]}`" for name in rule.needs)
        lines.append(f"- Not in the policy pack: Pulumi's engine does not pass {named} to it.")
    findings = sorted({found.message for found in rule.check(*_judged(example))})
    lines.append(f"- Message: {'; '.join(findings)}")
    lines.append(f"\nViolates it:\n\n```yaml\n{_resource(example, broken=True)}```\n")
    lines.append(f"Complies with it:\n\n```yaml\n{_resource(example, broken=False)}```\n")
    return "\n".join(lines)


def _judged(example: Example) -> tuple[Resource, Any]:
    stack = example.stack(broken=True)
    return stack.resources[0], stack


def _where(rule: Rule, example: Example) -> str:
    if example.environment == "dev" and rule.topic is not Topic.COST:
        return ", together with the rest of the stack" if rule.needs_whole_stack else ""
    return f", in {example.environment}"


def _resource(example: Example, *, broken: bool) -> str:
    shown: dict[str, Any] = {"type": example.type}
    if inputs := example.shown(broken=broken):
        shown["inputs"] = _plain(inputs)
    options = {_SHOWN[key]: _plain(value) for key, value in example.shown_options(broken=broken).items()}
    if options:
        shown["options"] = options
    others = example.bad_others if broken and example.bad_others is not None else example.others
    if example.others or example.bad_others:
        shown["beside"] = [
            {"type": each.type, **({"inputs": _plain(each.inputs)} if each.inputs else {})} for each in others
        ]
    return yaml.dump(shown, Dumper=_Plain, sort_keys=False, width=110)


def _plain(value: Any) -> Any:
    """A value in a form that YAML can represent: unknown values and secrets become texts, and long lists
    are shortened.
    """
    if value is UNKNOWN:
        return "(known after the deployment)"
    if isinstance(value, Secret):
        return "(secret)"
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, (list, tuple)):
        items = [_plain(item) for item in cast("list[Any]", value)]
        return items if len(items) <= _MANY else [*items[:_MANY], "…"]
    return value


if __name__ == "__main__":
    FILE.write_text(document(), encoding="utf-8")

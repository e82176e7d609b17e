"""Rules on a workflow file: sections, template, schema, names, order, timeouts."""

from __future__ import annotations

from workbench.osmo.lint.registry import rule

FILE_LIMITS = rule(
    "file-limits",
    "error",
    "The file is text of a limited size, and its check ends within limited time and memory.",
    reason="A small file can need hours or all memory (aliases, merge keys, nesting), and a link can lead to a secret.",
    fix="Save it as a regular UTF-8 file in its folder, and write values out instead of aliases.",
    source="yaml/pyyaml#235",
    can_be_allowed=False,
)
FILE_SECTIONS = rule(
    "file-sections",
    "error",
    "A file has one section `workflow`, and may have `default-values` and `version`.",
    reason="OSMO splits the file at keys at the start of a line, before anything else, and refuses unknown keys.",
    fix="Move the key below `workflow`, or remove it.",
)
FILE_VERSION = rule(
    "file-version",
    "error",
    "`version` is 2, or left out.",
    reason="The service ignores the key, so a file written for another version runs as version 2.",
    fix="version: 2",
)
TEMPLATE_ERROR = rule(
    "template-error",
    "error",
    "The file renders with its default values and the variables of the command line.",
    reason="OSMO renders the file with Jinja, sandboxed, for half a second at most; an undefined name is an error.",
    fix="--set NAME=VALUE, or the name under `default-values`; {% raw %} … {% endraw %} around text with braces.",
)
TEMPLATE_UNSEEN = rule(
    "template-unseen",
    "warning",
    "A file with Jinja statements also has an expression or default values.",
    reason="The command line searches for {{, {# and default-values; it reads a file with only {% %} as plain YAML.",
    fix="Add a section `default-values`.",
)
SPECIAL_TOKEN = rule(
    "special-token",
    "error",
    "{{input:…}} and {{host:…}} name an input or a task of the group; {{uuid}} is not used.",
    reason="A token with an unknown name remains in the command as it is written, without an error.",
    fix="Name an input by its position or task, a host by a task of the same group; {{workflow_id}} for {{uuid}}.",
)
YAML_SYNTAX = rule(
    "yaml-syntax",
    "error",
    "The rendered workflow is YAML, and a map.",
    reason="OSMO reads it as YAML 1.1 after rendering: on, yes and no are booleans, 010 is 8, 10:30 is 630.",
    fix="Quote values that are text.",
)
YAML_DUPLICATE = rule(
    "yaml-duplicate",
    "error",
    "A key is unique in its map.",
    reason="The last value is used, without a warning.",
    fix="Remove one of them.",
)
SCHEMA = rule(
    "schema",
    "error",
    "The workflow is valid by OSMO's schema.",
    reason="OSMO refuses unknown keys, wrong types, invalid or duplicate names, and tasks together with groups.",
    fix="Change the value as the message describes.",
)
FILE_CONTENT = rule(
    "file-content",
    "error",
    "A file given by `localpath` is a regular file in the workflow's Git repository, or below its folder.",
    reason="The command line sends its contents, so the check reads no other file of the machine: links are resolved.",
    fix="Correct the path, name the folder that may be read by --root DIR, or write the contents.",
)
NAME_LENGTH = rule(
    "name-length",
    "error",
    "Names have at most 64 characters, names of tasks outside groups at most 58.",
    reason="Such a task gets a group called TASK-group, whose name has the same limit.",
    fix="Shorten it.",
)
NAME_CLASH = rule(
    "name-clash",
    "error",
    "No task has the name TASK-group, which the group of another task gets.",
    reason="Tasks and groups share one namespace.",
    fix="Rename one of them.",
)
TASK_INPUT = rule(
    "task-input",
    "error",
    "An input from a task names an earlier task of another group.",
    reason="OSMO runs groups in the order of their inputs, and refuses an input from a later group or from the same.",
    fix="Move the task up, or correct the name.",
)
KEY_IGNORED = rule(
    "key-ignored",
    "warning",
    "`pool` and `backend` are set on the command line, a task's resources under `resources`.",
    reason="OSMO accepts and ignores these keys: it uses the submission's pool, and the resource that a task names.",
    fix="Remove the key; pass --pool to osmo workflow submit.",
)
EXEC_TIMEOUT = rule(
    "exec-timeout",
    "warning",
    "A workflow with GPUs sets `timeout.exec_timeout`.",
    reason="A simulation that hangs keeps its GPU until then; the pool's default applies to all workflows.",
    fix="timeout: {exec_timeout: 6h}",
)
TIMEOUT_LIMIT = rule(
    "timeout-limit",
    "error",
    "Timeouts are above zero and at most the pool's maximum.",
    reason="OSMO reduces a longer one without a warning, treats zero as not set, and accepts a negative one.",
    fix="A duration up to the pool's maximum.",
)
EXIT_ACTIONS = rule(
    "exit-actions",
    "warning",
    "Exit actions can apply: ranges ascend, and RESCHEDULE has retries.",
    reason="A range such as 5-1 never matches; RESCHEDULE does nothing while the service allows no retry.",
    fix="Write 1-5; set osmo.retries in the stack's settings.",
)
NEXT_RELEASE = rule(
    "next-release",
    "warning",
    "A workflow uses nothing that OSMO 6.4 removes.",
    reason="6.4 has no datasets: `dataset` and `update_dataset` are unknown keys there, and the submission is refused."
    " With --osmo-version 6.4 this is an error.",
    fix="Address the data: inputs and outputs with `url`, such as azure://ACCOUNT/CONTAINER/folder.",
    source="NVIDIA/OSMO main (2026-08-20) src/utils/job/task.py, InputType and OutputType",
)
REFUSED = rule(
    "refused",
    "error",
    "OSMO accepts the workflow.",
    reason="All steps of the service are run; a refusal that none of the rules above has found is reported here.",
    fix="Change the value in the message.",
)

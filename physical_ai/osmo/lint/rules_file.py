"""Rules about a workflow file as a whole: sections, template, schema, names, order, timeouts."""

from __future__ import annotations

from physical_ai.osmo.lint.registry import rule

FILE_SECTIONS = rule(
    "file-sections",
    "error",
    "A file has one section `workflow`, and may have `default-values` and `version`.",
    reason="OSMO cuts the file at keys that start a line, before anything else, and refuses a key it does not know.",
    fix="Move the key below `workflow`, or take it out.",
)
FILE_VERSION = rule(
    "file-version",
    "error",
    "`version` is 2, or left out.",
    reason="The service drops the key without looking at it, so a file written for another version runs as version 2.",
    fix="version: 2",
)
TEMPLATE_ERROR = rule(
    "template-error",
    "error",
    "The file renders with its default values and what the command line sets.",
    reason="OSMO renders the file with Jinja, sandboxed, for half a second at most; an undefined name is an error.",
    fix="Define the name under `default-values`; write text with braces inside {% raw %} … {% endraw %}.",
)
TEMPLATE_UNSEEN = rule(
    "template-unseen",
    "warning",
    "A file with Jinja statements has an expression or default values besides.",
    reason="The command line looks for {{, {# and default-values; a file with {% %} alone it reads as plain YAML.",
    fix="Add a section `default-values`.",
)
SPECIAL_TOKEN = rule(
    "special-token",
    "error",
    "{{input:…}} and {{host:…}} name an input or a task of the group; {{uuid}} is not used.",
    reason="What names nothing stays in the command as it is written, without an error.",
    fix="Name an input by its position or task, a host by a task of the same group; {{workflow_id}} for {{uuid}}.",
)
YAML_SYNTAX = rule(
    "yaml-syntax",
    "error",
    "The rendered workflow is YAML, and a map.",
    reason="OSMO reads it as YAML 1.1 after rendering: on, yes and no are booleans, 010 is 8, 10:30 is 630.",
    fix="Quote what is meant as text.",
)
YAML_DUPLICATE = rule(
    "yaml-duplicate",
    "error",
    "A key stands once in its map.",
    reason="The last one wins without a word.",
    fix="Take one of them out.",
)
SCHEMA = rule(
    "schema",
    "error",
    "The workflow fits OSMO's schema.",
    reason="Unknown keys, wrong types, names that are none or the same, tasks and groups at once: OSMO refuses them.",
    fix="Write what the message asks for.",
)
FILE_CONTENT = rule(
    "file-content",
    "error",
    "A file given by `localpath` exists beside the workflow file.",
    reason="The command line sends its contents; the service itself refuses the key.",
    fix="Correct the path, or write the contents.",
)
NAME_LENGTH = rule(
    "name-length",
    "error",
    "Names have 64 characters at most, of tasks outside groups 58.",
    reason="Such a task gets a group called TASK-group, whose name is held to the same limit.",
    fix="Shorten it.",
)
NAME_CLASH = rule(
    "name-clash",
    "error",
    "No task is called like the group that another one gets, TASK-group.",
    reason="Tasks and groups share one space of names.",
    fix="Rename one of them.",
)
TASK_INPUT = rule(
    "task-input",
    "error",
    "An input from a task names one that stands before it, in another group.",
    reason="OSMO runs groups in the order of their inputs, and refuses an input from a later one or from itself.",
    fix="Move the task up, or correct the name.",
)
KEY_IGNORED = rule(
    "key-ignored",
    "warning",
    "`pool` and `backend` stand on the command line, a task's resources under `resources`.",
    reason="OSMO takes these keys and forgets them: the submission's pool counts, and the resource a task names.",
    fix="Take the key out; give --pool to osmo workflow submit.",
)
EXEC_TIMEOUT = rule(
    "exec-timeout",
    "warning",
    "A workflow with GPUs sets `timeout.exec_timeout`.",
    reason="A simulation that hangs holds its GPU until then; the pool's default is made for all workflows.",
    fix="timeout: {exec_timeout: 6h}",
)
TIMEOUT_LIMIT = rule(
    "timeout-limit",
    "error",
    "Timeouts are above zero, and not above the pool's maximum.",
    reason="OSMO cuts a longer one without a word, takes zero for none given, and accepts a negative one.",
    fix="A duration up to the pool's maximum.",
)
EXIT_ACTIONS = rule(
    "exit-actions",
    "warning",
    "Exit actions can come true: ranges go upwards, RESCHEDULE has retries left.",
    reason="A range as 5-1 never matches; RESCHEDULE does nothing while the service allows no retry.",
    fix="Write 1-5; set osmo.retries in the stack's settings.",
)
REFUSED = rule(
    "refused",
    "error",
    "OSMO takes the workflow.",
    reason="All its steps are gone through as the service does; what none of the rules above has told is told here.",
    fix="Change what the message names.",
)

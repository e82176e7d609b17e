"""Stand-ins of `az`, `gh` and `pulumi` for the script of `physai bootstrap`. They keep state, and answer as documented.

Each asks a server which the test runs; a command that the server does not know is an error. Each is a program, and a
function of the shell too: a script makes 80 calls, and starting a process takes most of the time of one.
Sources: azure-cli (command_modules/role/custom.py: an assignment that exists is returned as it is), Azure docs on locks
(a read-only group refuses every write in it), GitHub's REST reference (303 for a branch policy that exists,
environments are updated as a whole), cli/cli (pkg/cmd/api/api.go: the body of an error goes to stdout without the
filter, and every status above 299 ends with 1).
"""

from __future__ import annotations

import copy
import json
import os
import signal
import socketserver
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import jq

COMMANDS = ("az", "gh", "pulumi")
ASKS = """\
  local word body="" code out err
  for word in "$@"; do [ "$word" != --input ] || body="$(cat)"; done
  {{
    {{ printf '%s\\x1f' {name} "{asker}" "$body" "$@"; printf '\\x1e'; }} >&9
    IFS= read -r -d '' code <&9
    IFS= read -r -d '' out <&9
    IFS= read -r -d '' err <&9
  }} 9<>/dev/tcp/127.0.0.1/{port}
  [ -z "$out" ] || printf '%s\\n' "$out"
  [ -z "$err" ] || printf '%s\\n' "$err" >&2
  return "$code"
"""
"""Body of a function in Bash that asks the server. `asker` is the process that an interruption ends."""
REPOSITORY = "acme/platform"
GROUP = "rg-physical-ai-delivery"
FRESH: dict[str, Any] = {
    "calls": [],
    "fails": {},
    "interrupts": "",
    "subscription": "",
    "groups": [],
    "locks": [],
    "made": {},
    "assignments": [],
    "definitions": {},
    "denied": [],
    "full_name": "acme/Platform",
    "visibility": "public",
    "enterprise": True,
    "rules": [{"type": "deletion"}, {"type": "pull_request", "parameters": {"required_approving_review_count": 1}}],
    "protection": None,
    "subject": {"use_default": True, "use_immutable_subject": False, "sub_claim_prefix": "repo:acme@1/Platform@2"},
    "environments": {},
    "variables": {},
    "stacks": [],
}


class Refused(Exception):
    """Error with which a command ends; `code` is its exit code."""

    def __init__(self, text: str, code: int = 1, body: Any = None) -> None:
        super().__init__(text)
        self.code, self.body = code, body


def option(words: list[str], name: str, default: str | None = None) -> str:
    if name not in words:
        if default is None:
            raise Refused(f"the following arguments are required: {name}", 2)
        return default
    return words[words.index(name) + 1]


class Az:
    def __init__(self, state: dict[str, Any], words: list[str], _: str) -> None:
        self.state, self.words = state, words
        self.subscription = option(words, "--subscription", state["subscription"])

    def run(self) -> str:
        verb = [word for word in self.words if not word.startswith("-")]
        for length in (3, 2):
            act: Callable[[], str] | None = getattr(self, "_".join(verb[:length]).replace("-", "_"), None)
            if act is not None:
                return act()
        raise Refused(f"az {' '.join(verb[:3])} is not known here", 2)

    def account_set(self) -> str:
        self.state["subscription"] = option(self.words, "--subscription")
        return ""

    def account_show(self) -> str:
        return "tenant"

    def ad_signed_in_user(self) -> str:
        return "me"

    def provider_register(self) -> str:
        return self.make("provider", option(self.words, "--namespace"))

    def group_exists(self) -> str:
        return str(self.subscription in self.state["groups"]).lower()

    def group_create(self) -> str:
        self.write()
        if self.subscription not in self.state["groups"]:
            self.state["groups"].append(self.subscription)
        return ""

    def lock_list(self) -> str:
        self.in_group()
        return f"/lock/{self.subscription}" if self.subscription in self.state["locks"] else ""

    def lock_create(self) -> str:
        self.in_group()
        assert option(self.words, "--lock-type") == "ReadOnly"
        if self.subscription not in self.state["locks"]:
            self.state["locks"].append(self.subscription)
        return ""

    def lock_delete(self) -> str:
        self.state["locks"].remove(option(self.words, "--ids").rpartition("/")[2])
        return ""

    def role_definition_list(self) -> str:
        name = option(self.words, "--name")
        return name if name in self.state["definitions"] else ""

    def role_definition_create(self) -> str:
        definition = json.loads(option(self.words, "--role-definition"))
        if definition["Name"] in self.state["definitions"]:
            raise Refused("RoleDefinitionWithSameNameExists")
        self.state["definitions"][definition["Name"]] = definition
        return ""

    def role_definition_update(self) -> str:
        definition = json.loads(option(self.words, "--role-definition"))
        if definition["Name"] not in self.state["definitions"]:
            raise Refused(f'No definition was found with the name of "{definition["Name"]}"')
        self.state["definitions"][definition["Name"]] = definition
        return ""

    def assignments(self, principal: str) -> list[dict[str, str]]:
        role, scope = option(self.words, "--role"), option(self.words, "--scope")
        wanted = (principal, role, scope)
        return [each for each in self.state["assignments"] if (each["who"], each["role"], each["scope"]) == wanted]

    def role_assignment_list(self) -> str:
        assert option(self.words, "--query") == "[0].condition"
        return "".join(each["condition"] for each in self.assignments(option(self.words, "--assignee"))[:1])

    def role_assignment_delete(self) -> str:
        for each in self.assignments(option(self.words, "--assignee")):
            self.state["assignments"].remove(each)
        return ""

    def role_assignment_create(self) -> str:
        scope, who = option(self.words, "--scope"), option(self.words, "--assignee-object-id")
        if any(scope.startswith(each) for each in self.state["denied"]):
            raise Refused(f"(AuthorizationFailed) The client does not have authorization over scope '{scope}'")
        if GROUP in scope:
            self.write()
        if not self.assignments(who):
            condition = option(self.words, "--condition", "")
            row = {"who": who, "role": option(self.words, "--role"), "scope": scope, "condition": condition}
            self.state["assignments"].append(row)
        return "{}"

    def storage_account_create(self) -> str:
        return self.make("account", option(self.words, "--name"))

    def storage_account_blob_service_properties(self) -> str:
        self.write()
        return ""

    def storage_account(self) -> str:
        return self.storage_account_blob_service_properties()

    def storage_container_rm(self) -> str:
        return self.make("container", option(self.words, "--name"))

    def keyvault_show(self) -> str:
        return self.made("vault", option(self.words, "--name"))

    def keyvault_create(self) -> str:
        if option(self.words, "--name") in self.state["made"].get("vault", {}):
            raise Refused("VaultAlreadyExists: The vault name is already in use.")
        return self.make("vault", option(self.words, "--name"))

    def keyvault_key_show(self) -> str:
        return self.made("key", option(self.words, "--name"))

    def keyvault_key_create(self) -> str:
        return self.make("key", option(self.words, "--name"))

    def identity_create(self) -> str:
        return self.make("identity", option(self.words, "--name"))

    def identity_show(self) -> str:
        return self.made("identity", option(self.words, "--name"))

    def identity_federated_credential(self) -> str:
        assert self.words[2] == "create"
        self.made("identity", option(self.words, "--identity-name"))
        return self.make("credential", option(self.words, "--identity-name"), option(self.words, "--subject"))

    def in_group(self) -> None:
        if self.subscription not in self.state["groups"]:
            raise Refused(f"(ResourceGroupNotFound) Resource group '{GROUP}' could not be found.", 3)

    def write(self) -> None:
        if self.subscription in self.state["locks"]:
            raise Refused("(ScopeLocked) The scope cannot perform write operation because a lock is on it.")

    def make(self, kind: str, name: str, value: str = "") -> str:
        if kind != "provider":
            self.in_group()
            self.write()
        self.state["made"].setdefault(kind, {})[name] = value or self.subscription
        return name

    def made(self, kind: str, name: str) -> str:
        if name not in self.state["made"].get(kind, {}):
            raise Refused(f"(ResourceNotFound) {kind} {name} was not found.", 3)
        return name


def reviewed(environment: dict[str, Any]) -> list[Any]:
    return [each for each in environment["protection_rules"] if each["type"] == "required_reviewers"]


class Gh:
    def __init__(self, state: dict[str, Any], words: list[str], body: str) -> None:
        self.state, self.words, self.body = state, words, body

    def run(self) -> str:
        if self.words[:2] == ["variable", "set"]:
            name = f"{option(self.words, '--env')}/{self.words[2]}"
            self.state["variables"][name] = option(self.words, "--body")
            return ""
        assert self.words[0] == "api", self.words
        flags = {"--jq", "--method", "-f", "-F", "--input"}
        rest = self.words[1:]
        place = [w for i, w in enumerate(rest) if not w.startswith("-") and (i == 0 or rest[i - 1] not in flags)]
        (path,) = place
        status, body = self.answer(option(self.words, "--method", "GET"), path.partition("?")[0])
        if status > 299:
            raise Refused(f"gh: {body.get('message', '')} (HTTP {status})", body=body)
        if "--jq" not in self.words:
            return json.dumps(body)

        found = jq.compile(option(self.words, "--jq")).input_value(body).all()
        return "\n".join(each if isinstance(each, str) else json.dumps(each, separators=(",", ":")) for each in found)

    def answer(self, method: str, path: str) -> tuple[int, Any]:
        state = self.state
        simple = {
            f"repos/{REPOSITORY}": {"full_name": state["full_name"], "visibility": state["visibility"]},
            f"repos/{REPOSITORY}/rules/branches/main": state["rules"],
            f"repos/{REPOSITORY}/branches/main/protection": state["protection"],
            f"repos/{REPOSITORY}/actions/oidc/customization/sub": state["subject"],
            f"repos/{REPOSITORY}/environments": {
                "total_count": len(state["environments"]),
                "environments": [{k: v for k, v in each.items() if k != "policies"} for each in self.all()],
            },
        }
        if path in simple:
            found = simple[path]
            return (404, {"message": "Not Found"}) if found is None else (200, found)
        name, _, rest = path.removeprefix(f"repos/{REPOSITORY}/environments/").partition("/")
        if rest:
            assert rest == "deployment-branch-policies", path
            return self.policies(method, name)
        return self.environment(method, name)

    def policies(self, method: str, name: str) -> tuple[int, Any]:
        if name not in self.state["environments"]:
            return 404, {"message": "Not Found"}
        environment = self.state["environments"][name]
        if method == "GET":
            return 200, {"branch_policies": [{"name": each, "type": "branch"} for each in environment["policies"]]}
        if not (environment["deployment_branch_policy"] or {}).get("custom_branch_policies"):
            return 404, {"message": "Not Found"}
        wanted = option(self.words, "-f").removeprefix("name=")
        if wanted in environment["policies"]:
            return 303, {}
        environment["policies"].append(wanted)
        return 200, {}

    def all(self) -> list[dict[str, Any]]:
        return list(self.state["environments"].values())

    def environment(self, method: str, name: str) -> tuple[int, Any]:
        known = self.state["environments"]
        if method == "GET":
            return (200, known[name]) if name in known else (404, {"message": "Not Found"})
        document = json.loads(self.body)
        rules: list[dict[str, Any]] = []
        if document.get("wait_timer"):
            rules.append({"type": "wait_timer", "wait_timer": document["wait_timer"]})
        if reviewers := document.get("reviewers"):
            if self.state["visibility"] != "public" and not self.state["enterprise"]:
                return 422, {"message": "Failed to create the environment protection rule."}
            members = [{"type": each["type"], "reviewer": {"id": each["id"]}} for each in reviewers]
            own = document.get("prevent_self_review", False)
            rules.append({"type": "required_reviewers", "prevent_self_review": own, "reviewers": members})
        policy = document.get("deployment_branch_policy")
        rules += [{"type": "branch_policy"}] * bool(policy)
        before = known.get(name, {}).get("policies", []) if (policy or {}).get("custom_branch_policies") else []
        known[name] = {
            "name": name,
            "protection_rules": rules,
            "deployment_branch_policy": policy,
            "policies": before,
        }
        return 200, known[name]


class Pulumi:
    def __init__(self, state: dict[str, Any], words: list[str], _: str) -> None:
        self.state, self.words = state, words

    def run(self) -> str:
        if self.words[0] == "login":
            return ""
        assert self.words[0] == "stack", self.words
        name, known = self.words[2], self.state["stacks"]
        if (name in known) != (self.words[1] == "select"):
            raise Refused(f"stack '{name}' {'already exists' if name in known else 'not found'}")
        if self.words[1] == "init":
            assert option(self.words, "--secrets-provider").startswith("azurekeyvault://")
            known.append(name)
        return ""


def answer(state: dict[str, Any], fields: list[str]) -> tuple[int, str, str]:
    """Exit code, output and error output of a command."""
    name, parent, body, *words = fields
    state["calls"].append([name, *words])
    said = " ".join([name, *words])
    try:
        for prefix, left in state["fails"].items():
            if said.startswith(prefix) and left:
                state["fails"][prefix] = left - 1
                raise Refused("(Forbidden) a new role has not taken effect")
        if state["interrupts"] and said.startswith(state["interrupts"]):
            state["interrupts"] = ""
            os.kill(int(parent), signal.SIGINT)
            raise Refused("interrupted", 130)
        return 0, {"az": Az, "gh": Gh, "pulumi": Pulumi}[name](state, words, body).run(), ""
    except Refused as problem:
        return problem.code, "" if problem.body is None else json.dumps(problem.body), str(problem)
    except Exception as problem:
        return 99, "", f"the stand-in of {said}: {problem!r}"


class World:
    """Azure, GitHub and a state backend, and the folder of the commands that reach them."""

    def __init__(self, commands: Path, port: int) -> None:
        self.state: dict[str, Any] = copy.deepcopy(FRESH)
        self.commands = commands
        bodies = {name: ASKS.format(port=port, name=name, asker="$$") for name in COMMANDS}
        self.functions = "".join(f"{name}() {{\n{body}}}\n" for name, body in bodies.items())
        """The commands as functions, for a script to begin with."""

    def change(self, **changed: Any) -> None:
        self.state |= copy.deepcopy(changed)

    def calls(self, *words: str) -> list[list[str]]:
        return [each for each in self.state["calls"] if each[: len(words)] == list(words)]


@contextmanager
def world_in(folder: Path) -> Generator[World]:
    """Creates the commands in `folder`, which work until the context ends."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            text = b""
            while not text.endswith(b"\x1e"):
                text += self.connection.recv(65_536)
            code, out, err = answer(world.state, text[:-2].decode().split("\x1f"))
            with suppress(BrokenPipeError):
                self.wfile.write(f"{code}\0{out}\0{err}\0".encode())

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        port = server.server_address[1]
        world = World(folder, port)
        threading.Thread(target=server.serve_forever, args=(0.005,), daemon=True).start()
        folder.mkdir()
        for name in COMMANDS:
            command = folder / name
            body = ASKS.format(port=port, name=name, asker="$PPID")
            command.write_text(f'#!/bin/bash\nasked() {{\n{body}}}\nasked "$@"\n')
            command.chmod(0o755)
        yield world
        server.shutdown()

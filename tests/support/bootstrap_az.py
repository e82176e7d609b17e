"""Stand-in of `az` for the script of `physai bootstrap`."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.support.bootstrap_words import GROUP, Refused, option


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

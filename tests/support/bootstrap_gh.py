"""Stand-in of `gh` for the script of `physai bootstrap`."""

from __future__ import annotations

import json
from typing import Any

import jq

from tests.support.bootstrap_words import REPOSITORY, Refused, option


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

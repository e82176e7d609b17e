"""GitHub requests in the script of `physai bootstrap`: shell lines, and jq filters for `gh`.

The script reads what exists before it writes, for two reasons. A PUT of an environment resets every property that it
leaves out; it was seen to remove reviewers (ministryofjustice/modernisation-platform#4516). And a POST of a branch
policy that exists already answers 303 (REST reference), for which `gh` exits with 1.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

BRANCH = "main"
"""Name of the only branch whose jobs may deploy."""
POLICY = {"protected_branches": False, "custom_branch_policies": True}
_REVIEWS = "required_approving_review_count"
CLASSIC = f".required_pull_request_reviews | if . == null then empty else (.{_REVIEWS} // 0) end"
"""jq filter for the number of reviews that a classic branch protection requires; empty if it requires no
pull requests.
"""
RULES = (
    f'[.[] | select(.type == "pull_request") | .parameters.{_REVIEWS} // 0] | if length == 0 then empty else max end'
)
"""jq filter for the number of reviews that the rulesets of repository and organization require; empty if they require
no pull requests.
"""
SUBJECT = 'if .use_default == true then (.sub_claim_prefix // "") else "custom" end'
"""jq filter for the prefix of OIDC subjects in GitHub's answer. The prefix has the ids of owner and repository if the
repository was made, renamed or transferred since 2026-07-15 (GitHub changelog, 2026-04-23). The answer's field
`use_immutable_subject` is not reliable: it was seen to be false for such a repository.
"""
_RULE = '.protection_rules[]? | select(.type == "{0}")'
_REVIEWERS = f"[{_RULE.format('required_reviewers')} | .reviewers[]?]"
REVIEWERS = f"{_REVIEWERS} | length"
KEPT = "kept"
"""Output of `environment_filter` for an environment that already has policies for branches. Such an environment is not
changed.
"""


@dataclass(frozen=True)
class ScriptStep:
    """One step of the script: its title, its reason, and its commands."""

    title: str
    why: str
    lines: tuple[str, ...]


def environment_filter(name: str) -> str:
    """jq filter that makes the body of a PUT of an environment from GitHub's answer: the environment's present
    settings, with a policy for branches.

    For an environment that already has policies for branches, the output is `kept` instead.
    """
    timer, reviewers = _RULE.format("wait_timer"), _RULE.format("required_reviewers")
    body = (
        f"{{wait_timer: ([{timer} | .wait_timer] | first // 0), "
        f"prevent_self_review: ([{reviewers} | .prevent_self_review] | first // false), "
        f"reviewers: ({_REVIEWERS} | map({{type, id: .reviewer.id}})), deployment_branch_policy: {json.dumps(POLICY)}}}"
    )
    return (
        f'.environments[] | select((.name | ascii_downcase) == "{name}") | '
        f'if .deployment_branch_policy.custom_branch_policies == true then "{KEPT}" else {body} end'
    )


def api(path: str, *words: str) -> str:
    """Command for a request to GitHub's REST API."""
    return shlex.join(["gh", "api", *words, path])


def asked(path: str, jq: str) -> str:
    """Shell command that sends a request to GitHub's REST API and prints the part of the answer that the filter `jq`
    selects.
    """
    return api(path, "--jq", jq)


def protection(repository: str) -> Iterator[ScriptStep]:
    rules, classic = f"repos/{repository}/rules/branches/{BRANCH}?per_page=100", f"repos/{repository}/branches/{BRANCH}"
    settings = f"https://github.com/{repository}/settings/rules"
    yield ScriptStep(
        f"Ask GitHub for the repository {repository}",
        "A repository that was renamed answers under its old name, and the credentials below would be for nobody.",
        (
            f'FULL_NAME="$({asked(f"repos/{repository}", ".full_name")})"',
            f'VISIBILITY="$({asked(f"repos/{repository}", ".visibility")})"',
            'if [ "$(printf %s "$FULL_NAME" | tr "[:upper:]" "[:lower:]")" != '
            f"{shlex.quote(repository.lower())} ]; then",
            f'  echo "{repository} is called $FULL_NAME now: run physai bootstrap --repository $FULL_NAME." >&2',
            "  exit 1",
            "fi",
        ),
    )
    yield ScriptStep(
        f"Require that the branch {BRANCH} is protected",
        "Its jobs deploy. Without a rule, whoever may push to the repository could deploy any change.",
        (
            # Either answer may be missing: the one about classic protection is 404 if only rulesets protect the branch.
            f'REVIEWS="$({asked(rules, RULES)} || true)"',
            'case "$REVIEWS" in',
            f'  "" | *[!0-9]*) REVIEWS="$({asked(f"{classic}/protection", CLASSIC)} 2>/dev/null || true)" ;;',
            "esac",
            'case "$REVIEWS" in',
            '  "" | *[!0-9]*)',
            f'    echo "Protect the branch {BRANCH} of {repository} first: require pull requests with reviews, by a "'
            f'"ruleset or a branch protection, {settings}." >&2',
            "    exit 1",
            "    ;;",
            f'  0) echo "Note: pull requests into {BRANCH} need no review. Require one: {settings}." ;;',
            "esac",
        ),
    )
    yield ScriptStep(
        "Ask GitHub how it names the repository's jobs",
        "Entra compares this text with the credentials, letter by letter.",
        (
            f'SUBJECT="$({asked(f"repos/{repository}/actions/oidc/customization/sub", SUBJECT)})"',
            '[ -n "$SUBJECT" ] || SUBJECT="repo:$FULL_NAME" # of before the field was there',
            'case "$SUBJECT" in',
            "  custom)",
            f'    echo "{repository} has a template of its own for the subject of its jobs, which this script cannot "'
            '"foresee. Set it back: gh api --method PUT '
            f'repos/{repository}/actions/oidc/customization/sub -F use_default=true" >&2',
            "    exit 1",
            "    ;;",
            "  *[!a-zA-Z0-9_.:/@-]* | *:*:*)",
            '    echo "GitHub named a prefix of subjects that is none: $SUBJECT" >&2',
            "    exit 1",
            "    ;;",
            "  repo:*/*) ;;",
            "  *)",
            '    echo "GitHub named a prefix of subjects that is none: $SUBJECT" >&2',
            "    exit 1",
            "    ;;",
            "esac",
        ),
    )


def environment(repository: str, github: str, variables: Mapping[str, str]) -> ScriptStep:
    """The step that creates the GitHub environment with its branch policy and variables. The variables' values are
    shell words.
    """
    path = f"repos/{repository}/environments/{github}"
    put = api(path, "--method", "PUT", "--input", "-")
    listed = api(f"repos/{repository}/environments?per_page=100", "--paginate", "--jq", environment_filter(github))
    policies = api(f"{path}/deployment-branch-policies?per_page=100", "--jq", ".branch_policies[] | .name")
    post = api(f"{path}/deployment-branch-policies", "--method", "POST", "-f", f"name={BRANCH}")
    place = shlex.join(["--env", github, "--repo", repository])
    new = shlex.quote(json.dumps({"deployment_branch_policy": POLICY}))
    return ScriptStep(
        f"{github}: GitHub environment",
        f"Jobs on {BRANCH} get these variables, none of them secret. What the environment has already is kept.",
        (
            f'BODY="$({listed})"',
            'case "$BODY" in',
            f"  {KEPT}) ;;",
            f'  "") printf %s {new} | {put} >/dev/null || no_environments ;;',
            f'  *) printf %s "$BODY" | {put} >/dev/null || no_environments ;;',
            "esac",
            f'POLICIES="$({policies})"',
            f"if ! printf '%s\\n' \"$POLICIES\" | grep -qx {BRANCH}; then",
            f"  {post} >/dev/null",
            "fi",
            f"OTHERS=\"$(printf '%s\\n' \"$POLICIES\" | grep -vx {BRANCH} | tr '\\n' ' ' || true)\"",
            'if [ -n "${OTHERS// /}" ]; then',
            f'  echo "Note: the environment {github} also admits jobs of: $OTHERS. Remove what should not deploy."',
            "fi",
            *(f"gh variable set {key} {place} --body {value}" for key, value in variables.items()),
            *(() if github.endswith("-preview") else _reviewers(repository, github)),
        ),
    )


def _reviewers(repository: str, github: str) -> tuple[str, ...]:
    settings = f"https://github.com/{repository}/settings/environments"
    consequence = " deploy.yaml refuses production without them." if github == "prod" else ""
    return (
        f'if [ "$({asked(f"repos/{repository}/environments/{github}", REVIEWERS)})" = 0 ]; then',
        f'  echo "Nobody has to approve deployments to {github}: add required reviewers, {settings}.{consequence}"',
        '  [ "$VISIBILITY" = public ] || plans',
        "fi",
    )


FUNCTIONS = (
    "no_environments() {",
    '  echo "GitHub refused the environment. A private repository has environments from GitHub Pro and Team on." >&2',
    "  exit 1",
    "}",
    "plans() {",
    '  echo "The repository is $VISIBILITY: only GitHub Enterprise has required reviewers for one that is not public."',
    "}",
)

"""Check of the pipelines' federated credentials: their subjects must match the subject that GitHub sends for this
repository. Pure functions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from physical_ai.findings import Finding, Severity

TOPIC, SOURCE = "subject", "Azure"
_HELP = "physai bootstrap writes a script that sets the subject that GitHub sends; run it again."


def subject_findings(
    repository: str, prefix: str | None, environment: str, credentials: Mapping[str, Sequence[str]]
) -> Iterator[Finding]:
    """Findings about the identities with which the pipelines of an environment log in to Azure.

    Args:
        prefix: Beginning of the subjects that GitHub sends, as GitHub's API tells it; None if GitHub was not asked.
        credentials: Subjects of the federated credentials, by the name of the identity.
    """
    ours = {name: found for name, found in credentials.items() if any(_is_about(repository, each) for each in found)}
    if not ours:
        return
    if prefix is None:
        problem = "GitHub was not asked which subject it sends for the repository: gh is not logged in."
        yield Finding(Severity.UNKNOWN, TOPIC, repository, problem, "gh auth login", "GitHub")
        return
    for name, subjects in ours.items():
        wrong = [each for each in subjects if _is_about(repository, each) and not each.startswith(f"{prefix}:")]
        right = [each for each in subjects if each.startswith(f"{prefix}:")]
        if wrong and not right:
            problem = f"Its credential has the subject {wrong[0]}, and GitHub sends {prefix}:environment:{environment}."
            yield Finding(
                Severity.ERROR, TOPIC, name, f"{problem} Azure refuses the login of pipelines.", _HELP, SOURCE
            )
        else:
            yield Finding(Severity.OK, TOPIC, name, f"has the subject that GitHub sends: {right[0]}", None, SOURCE)


def _is_about(repository: str, subject: str) -> bool:
    """True for a subject of the repository: `repo:OWNER/NAME:…`, or with numeric ids `repo:OWNER@1/NAME@2:…`."""
    if not subject.startswith("repo:"):
        return False
    owner, _, name = subject.split(":")[1].partition("/")
    return f"{owner.partition('@')[0]}/{name.partition('@')[0]}".lower() == repository.lower()

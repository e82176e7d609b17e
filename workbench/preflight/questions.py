"""Table of the questions that are put to Azure before a deployment: the request, the right that it needs, and the
consequence of a missing answer.

Requests: azure-rest-api-specs. Rights: Azure docs, resource provider operations.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Question:
    """One question to Azure. `hours`: time in hours for which Azure's answer is stored and used again; 0 to ask Azure
    each time.
    """

    topic: str
    """Topic of the question's findings."""
    asks: str
    request: str
    right: str
    without: str
    """Consequence for the check if the caller lacks the right."""
    hours: int = 0

    @property
    def pattern(self) -> re.Pattern[str]:
        """Pattern that matches the paths of the question's requests."""
        path = re.escape(self.request.partition(" ")[2])
        return re.compile("^" + re.sub(r"\\\{[a-z]+\\\}", r"[^/]+", path) + "$", re.IGNORECASE)


_OWN = "/subscriptions/{id}"
QUESTIONS: tuple[Question, ...] = (
    Question("subscription", "its name and state", f"GET {_OWN}", "Microsoft.Resources/subscriptions/read", "unknown"),
    Question(
        "size",
        "sizes, zones, restrictions and disks of the subscription in the region",
        f"GET {_OWN}/providers/Microsoft.Compute/skus",
        "Microsoft.Compute/skus/read",
        "the catalogue's sizes count, of which the subscription may have none",
        24,
    ),
    Question(
        "quota",
        "used and most vCPU of each family",
        f"GET {_OWN}/providers/Microsoft.Compute/locations/{{region}}/usages",
        "Microsoft.Compute/locations/usages/read",
        "a pool is refused during the deployment",
    ),
    Question(
        "count",
        "used and most public addresses, networks and other counted resources of the network",
        f"GET {_OWN}/providers/Microsoft.Network/locations/{{region}}/usages",
        "Microsoft.Network/locations/usages/read",
        "a limit shows during the deployment",
    ),
    Question(
        "count",
        "used and most AKS clusters of the region",
        f"GET {_OWN}/providers/Microsoft.ContainerService/locations/{{region}}/usages",
        "Microsoft.ContainerService/locations/usages/read",
        "a limit shows during the deployment",
    ),
    Question(
        "kubernetes",
        "Kubernetes versions and their support plans",
        f"GET {_OWN}/providers/Microsoft.ContainerService/locations/{{region}}/kubernetesVersions",
        "Microsoft.ContainerService/locations/kubernetesVersions/read",
        "the catalogue's calendar counts",
        24,
    ),
    Question(
        "provider, api version, offer",
        "registrations, API versions, regions and zones of each declared type",
        f"GET {_OWN}/providers",
        "Microsoft.Resources/subscriptions/providers/read",
        "a type that the region does not have shows during the deployment",
        1,
    ),
    Question(
        "feature",
        "registration of preview features",
        f"GET {_OWN}/providers/Microsoft.Features/providers/{{namespace}}/features/{{name}}",
        "Microsoft.Features/providers/features/read",
        "unknown",
    ),
    Question(
        "count",
        "used and most storage accounts of the region",
        f"GET {_OWN}/providers/Microsoft.Storage/locations/{{region}}/usages",
        "Microsoft.Storage/locations/usages/read",
        "a limit shows during the deployment",
    ),
    Question(
        "sku",
        "redundancies by kind of storage account and region",
        f"GET {_OWN}/providers/Microsoft.Storage/skus",
        "Microsoft.Storage/skus/read",
        "a redundancy that the region lacks shows with the verdict, or during the deployment",
        24,
    ),
    Question(
        "sku",
        "sizes of caches by region",
        f"GET {_OWN}/providers/Microsoft.Cache/skus",
        "Microsoft.Cache/skus/read",
        "a size that the region lacks shows during the deployment: validation and what-if take any",
        24,
    ),
    Question(
        "lock",
        "locks on the subscription and on the stack's resource groups",
        f"GET {_OWN}/providers/Microsoft.Authorization/locks",
        "Microsoft.Authorization/locks/read",
        "a lock shows in the middle of the deployment",
    ),
    Question(
        "role",
        "the caller's rights for each declared resource, on the subscription, its group, and what others own",
        "GET {scope}/providers/Microsoft.Authorization/permissions",
        "none: everybody may ask for their own",
        "a missing right shows in the middle of the deployment",
    ),
    Question(
        "database",
        "sizes, versions, standbys and restrictions of PostgreSQL",
        f"GET {_OWN}/providers/Microsoft.DBforPostgreSQL/locations/{{region}}/capabilities",
        "Microsoft.DBforPostgreSQL/locations/capabilities/read",
        "the catalogue's regions count, which change",
        24,
    ),
    Question(
        "name",
        "whether somebody in the world has the names of storage, registry and database",
        f"POST {_OWN}/providers/{{namespace}}/checkNameAvailability",
        "the type's checkNameAvailability action",
        "a name that is taken shows during the deployment",
    ),
    Question(
        "policy",
        "policies that would deny a declared resource",
        f"POST {_OWN}/providers/Microsoft.PolicyInsights/checkPolicyRestrictions",
        "Microsoft.PolicyInsights/checkPolicyRestrictions/read",
        "a denial shows with the verdict, or during the deployment",
    ),
    Question(
        "verdict",
        "whether ARM and the services behind it accept all resources as one template",
        f"POST {_OWN}/providers/Microsoft.Resources/deployments/{{name}}/validate",
        "Microsoft.Resources/deployments/validate/action, and the right to write each resource",
        "the other questions remain; each resource is judged when it is created",
    ),
    Question(
        "verdict",
        "what the template would create and change",
        f"POST {_OWN}/providers/Microsoft.Resources/deployments/{{name}}/whatIf",
        "Microsoft.Resources/deployments/whatIf/action, and the right to write each resource",
        "the validation counts; counts of what exists are those of the whole stack",
    ),
    Question(
        "subject",
        "whether the credentials of the pipelines have the subject that GitHub sends for this repository",
        f"GET {_OWN}/resourceGroups/{{group}}/providers/Microsoft.ManagedIdentity/userAssignedIdentities",
        "Microsoft.ManagedIdentity/userAssignedIdentities/read, and a login of gh",
        "a pipeline stops at its login to Azure",
    ),
)


def hours(address: str) -> int:
    """Number of hours for which Azure's answer to a GET of `address` is stored; 0 if it is not stored."""
    path = re.sub(r"^https://[^/]+", "", address).partition("?")[0]
    return next((each.hours for each in QUESTIONS if each.hours and each.pattern.match(path)), 0)

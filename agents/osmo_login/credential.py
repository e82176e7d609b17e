"""Prints the Pod's ServiceAccount token as an ExecCredential, for a client that reads a token file only once.

With the development login OSMO's agents take their kubeconfig from a file. A token in it is valid for about an hour;
a client runs this program again when it expires, and the kubelet has renewed the file by then.
"""

from __future__ import annotations

import base64
import json
import sys
import time

TOKEN = "/var/run/secrets/kubernetes.io/serviceaccount/token"  # noqa: S105 - a path
EARLIER = 300
"""Seconds before the token expires at which the client requests a new one."""


def credential(token: str) -> dict[str, object]:
    """The answer of client-go's exec plugins. Raises ValueError for anything but a JSON Web Token."""
    _, claims, _ = token.split(".")
    ends = json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))["exp"] - EARLIER
    expires = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(ends))
    status = {"token": token, "expirationTimestamp": expires}
    return {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status}


if __name__ == "__main__":
    with open(sys.argv[1] if len(sys.argv) > 1 else TOKEN, encoding="utf-8") as file:
        print(json.dumps(credential(file.read().strip())))

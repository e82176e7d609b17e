"""The simulator's `kubelogin`: answers the exec credential call of a kubeconfig as the real `kubelogin` does.

It returns the token of the principal that is logged in to the simulated Azure. The token alone grants no rights.

It uses only Python's standard library, because it is started for every login.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

AKS_SERVER_ID = "6dae42f8-4368-4678-94ff-3960e28e3630"  # as in the catalogue, which costs too much to import here
NONINTERACTIVE = ("azurecli", "msi", "spn", "workloadidentity")
INTERACTIVE = ("devicecode", "interactive")
LIFETIME = timedelta(minutes=60)
PRINCIPAL_VARIABLE = "PHYSICAL_AI_SIMULATED_PRINCIPAL"
"""Environment variable with the object id of the principal that is logged in to the simulated Azure. Without the
variable, the principal that deploys the stack is logged in.
"""
WORKLOAD_IDENTITY_VARIABLES = ("AZURE_CLIENT_ID", "AZURE_TENANT_ID", "AZURE_FEDERATED_TOKEN_FILE")


class LoginFailed(Exception):
    """Error if a login gives no token; the text is for the user."""


def login_method(flag: str, environment: dict[str, str]) -> str:
    """The login mode in effect: kubelogin lets AAD_LOGIN_METHOD override the flag, because it reads the variable last.

    Raises:
        LoginFailed: the mode is unknown, needs a person at a browser, or lacks an environment variable.
    """
    method = environment.get("AAD_LOGIN_METHOD", flag)
    if method in INTERACTIVE:
        raise LoginFailed(f"--login {method} waits for a person at a browser; use azurecli or workloadidentity")
    if method not in NONINTERACTIVE:
        supported = ", ".join(sorted((*INTERACTIVE, *NONINTERACTIVE)))
        raise LoginFailed(f"'{method}' is not a supported login method. Supported method is one of {supported}")
    absent = [name for name in WORKLOAD_IDENTITY_VARIABLES if not environment.get(name)]
    if method == "workloadidentity" and absent:
        raise LoginFailed(f"workloadidentity needs {', '.join(absent)} in the environment")
    return method


def token(tokens: Path, principal: str) -> str:
    """The token of the principal with the object id `principal`, from the file `tokens`. If `principal` is empty, the
    token in the first row of the file, which is the deployer's.
    """
    with tokens.open(newline="") as file:
        known = {row[1]: row[0] for row in csv.reader(file)}
    if principal and principal not in known:
        raise LoginFailed(f"{PRINCIPAL_VARIABLE}: the simulated tenant has no principal {principal}")
    return known[principal] if principal else next(iter(known.values()))


def credential(secret: str, now: datetime) -> dict[str, object]:
    expires = (now + LIFETIME).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "kind": "ExecCredential",
        "status": {"expirationTimestamp": expires, "token": secret},
    }


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="kubelogin", description="Logs in to the simulated Azure.")
    parser.add_argument("--tokens", type=Path, required=True, help=argparse.SUPPRESS)
    commands = parser.add_subparsers(required=True)
    get_token = commands.add_parser("get-token", help="print an ExecCredential")
    get_token.add_argument("--login", "-l", default="devicecode")
    get_token.add_argument("--server-id", required=True)
    for option in ("--environment", "--client-id", "--tenant-id"):
        get_token.add_argument(option)
    options = parser.parse_args(arguments)
    try:
        if options.server_id != AKS_SERVER_ID:
            raise LoginFailed(f"the application {options.server_id} is not known in the tenant; AKS is {AKS_SERVER_ID}")
        login_method(options.login, dict(os.environ))
        secret = token(options.tokens, os.environ.get(PRINCIPAL_VARIABLE, ""))
    except LoginFailed as problem:
        print(f"Error: failed to get token: {problem}", file=sys.stderr)
        return 1
    json.dump(credential(secret, datetime.now(UTC)), sys.stdout)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

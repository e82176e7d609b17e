#!/bin/bash
# First process of the agent's container: runs the agent on the host's Python, in the host's mount namespace.
# The agent's files, settings and token stay in the container; the host reaches them through /proc/<pid>/root, which
# lasts as long as this shell does. The network namespace stays the Pod's.
set -u

# Without links on the way: images link /var/run to /run, which the host would follow on its own file system. The links
# that kubelet makes inside of its volumes are relative ones, and change.
FILES=$(realpath "${GRID_AGENT_FILES:-/opt/grid-driver}")
SETTINGS=${GRID_AGENT_WANTED:-/etc/grid-driver/wanted.json}
SETTINGS=$(realpath "$(dirname "$SETTINGS")")/$(basename "$SETTINGS")
ACCOUNT=$(realpath /var/run/secrets/kubernetes.io/serviceaccount)
readonly FILES SETTINGS ACCOUNT
readonly HERE="/proc/$$/root"

stop() {
    echo "$1" >&2
    echo "$1" >/dev/termination-log 2>/dev/null
    exit 2
}

readonly ON_HOST=(nsenter --target 1 --mount --ipc --uts --)

"${ON_HOST[@]}" test -d "$HERE$FILES" || stop "the host does not see this container's files; the Pod needs hostPID and privileged"
"${ON_HOST[@]}" test -x /usr/bin/python3 || stop "this node has no /usr/bin/python3; take an Ubuntu 22.04 or 24.04 node image"

# Not `-m` from a working directory: this mount namespace has no name for it.
# shellcheck disable=SC2016
"${ON_HOST[@]}" /usr/bin/env --ignore-environment \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C \
    NODE_NAME="${NODE_NAME:-}" POD_NAMESPACE="${POD_NAMESPACE:-}" \
    KUBERNETES_SERVICE_HOST="${KUBERNETES_SERVICE_HOST:-}" KUBERNETES_SERVICE_PORT="${KUBERNETES_SERVICE_PORT:-}" \
    /usr/bin/python3 -B -I -c 'import sys; sys.path.insert(0, sys.argv.pop(1)); import grid_agent.__main__' \
    "$HERE$FILES" --wanted "$HERE$SETTINGS" --service-account "$HERE$ACCOUNT" "$@" &
agent=$!
trap 'kill -TERM "$agent" 2>/dev/null' TERM INT

code=0
while kill -0 "$agent" 2>/dev/null; do
    wait "$agent"
    code=$?
done
exit "$code"

#!/bin/bash
# job.sh STEP: what systemd-run starts. Runs <step>.sh within its time, keeps its log, and leaves result.json whatever
# happens to it, except SIGKILL and power loss; then the agent finds no result and knows that much.
set -u

# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

readonly STEP=$1
child=

finish() {
    local code=$1 sentence=
    trap - TERM INT HUP
    if [ -n "$child" ]; then
        kill -TERM "$child" 2>/dev/null
    fi
    touch "$WORK/sentence"
    sentence=$(tr '\n\t' '  ' <"$WORK/sentence" | tr -d '"\\[:cntrl:]' | cut -c 1-600)
    printf '{"id": "%s", "code": %d, "sentence": "%s", "ended": %d}\n' "$GRID_JOB" "$code" "$sentence" "$(date +%s)" |
        write_whole "$GRID_STATE/result.json"
    exit "$code"
}

# shellcheck disable=SC2329  # the trap calls it
interrupted() {
    printf 'it was interrupted' >"$WORK/sentence"
    finish 143
}

mkdir -p "$WORK" "$GRID_STATE/logs" "$GRID_STATE/cache"
exec >>"$GRID_STATE/logs/$GRID_JOB.log" 2>&1 </dev/null
trap interrupted TERM INT HUP

exec 8>"$GRID_STATE/job.lock"
# For a moment the agent may hold it too, to see whether a job does.
if ! flock --timeout 1 8; then
    printf 'another job is running' >"$WORK/sentence"
    finish 75
fi
rm -rf "${WORK:?}"/*

say "$STEP of driver $GRID_VERSION for kernel $GRID_KERNEL"
# Without the lock's descriptor: a daemon that the installer starts would keep it.
timeout --kill-after=20 "$GRID_SECONDS" /bin/bash "$HERE/$STEP.sh" 8>&- &
child=$!
wait "$child"
code=$?
child=
if [ "$code" -eq 124 ] || [ "$code" -eq 137 ]; then
    printf 'it took longer than %s s and was ended' "$GRID_SECONDS" >"$WORK/sentence"
    code=143
fi
say "exit code $code"
finish "$code"

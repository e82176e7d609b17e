# shellcheck shell=bash
# What the jobs share. Sourced; never run.

export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C DEBIAN_FRONTEND=noninteractive
# What depmod, dpkg and the installer write is for everybody: with another mask only root could read modules.dep. The
# agent's own files are in a folder that only root may enter.
umask 022

readonly WORK="$GRID_STATE/work"
# NVIDIA's installer unpacks there, and no stranger can reach it.
export TMPDIR="$WORK"
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly HERE

# stop CODE SENTENCE: the job's last word, for the node's condition.
stop() {
    echo "$2"
    printf '%s' "$2" >"$WORK/sentence"
    exit "$1"
}

# write_whole FILE: standard input becomes the file, whole or not at all.
write_whole() {
    cat >"$1.new" && sync "$1.new" && mv -f "$1.new" "$1" && sync "$(dirname "$1")"
}

say() {
    echo "== $*"
}

agent() {
    (cd "$HERE/.." && exec /usr/bin/python3 -B -s -E -m "$@")
}

is_program() {
    [ -f "$1" ] && [ -s "$1" ] && [ -x "$1" ]
}

must_be_writable() {
    local folder
    for folder in /usr /lib/modules /etc; do
        # Root may write anywhere but on a read-only file system.
        [ -w "$folder" ] || stop 33 "$folder is read-only or missing"
    done
}

#!/bin/bash
# Builds and installs the cached driver for the running kernel. Exit codes: README.md.
set -u

# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

readonly INSTALLER="$GRID_STATE/cache/$GRID_SHA256.run"
readonly LOG="$GRID_STATE/logs/$GRID_JOB.installer.log"
readonly BUILD="/lib/modules/$GRID_KERNEL/build"

has_headers() {
    [ -e "$BUILD/Makefile" ]
}

has_compiler() {
    is_program /usr/bin/gcc && is_program /usr/bin/make
}

# The installer compiles test programs. gcc only recommends the package of these headers.
has_libc() {
    [ -e /usr/include/stdio.h ]
}

# locked COMMAND…: an apt or dpkg command, with its output in $OUT; waits while another one holds the lock.
# Returns 1 where it fails, with its exit code in $FAILED.
readonly OUT="$WORK/apt.out"
readonly ARCHIVE_SECONDS=300
FAILED=0
locked() {
    local left
    while true; do
        "$@" >"$OUT" 2>&1
        FAILED=$?
        [ "$FAILED" -eq 0 ] && break
        cat "$OUT"
        if ! grep -qiE 'could not get lock|unable to (lock|acquire)|is another process using it|is locked by another' "$OUT"; then
            return 1
        fi
        left=$((GRID_APT_LOCK_SECONDS - SECONDS))
        if [ "$left" -le 0 ]; then
            stop 21 "another apt or dpkg process has held the lock for $GRID_APT_LOCK_SECONDS s"
        fi
        say "apt is locked; waiting at most $left s more"
        sleep "$((left < 5 ? left : 5))"
    done
    cat "$OUT"
}

# complaint: the first error in $OUT.
complaint() {
    grep -iE '^(E:|dpkg:|Err)' "$OUT" | head -n 1 | cut -c 1-200
}

# is_unreachable: apt could not get a file, or got another one than its lists name: an archive that is being updated.
is_unreachable() {
    grep -qiE "failed to fetch|unable to fetch|could ?n[o']t (resolve|connect)|temporary failure|connection (failed|timed out|refused)|hash sum mismatch|unexpected size" "$OUT"
}

apt_install() {
    local options=(-o "DPkg::Lock::Timeout=$GRID_APT_LOCK_SECONDS" -o Acquire::Retries=3 -o Acquire::http::Timeout=20) stale=
    # One broken repository of somebody else does not hide what the others have, and old lists may do.
    if ! locked timeout --kill-after=20 "$ARCHIVE_SECONDS" apt-get "${options[@]}" update || is_unreachable; then
        stale=$(complaint)
        stale=${stale:-$(grep -m 1 -iE '^W:' "$OUT" | cut -c 1-200)}
        stale=${stale:-apt-get update did not end in $ARCHIVE_SECONDS s}
        say "the package lists are not complete: $stale"
    fi
    # First all downloads, which may be ended: an installation may not.
    if locked timeout --kill-after=20 "$((GRID_APT_LOCK_SECONDS + ARCHIVE_SECONDS))" \
        apt-get "${options[@]}" install -y --no-install-recommends --download-only "$@"; then
        locked apt-get "${options[@]}" install -y --no-install-recommends "$@" && return
    elif [ "$FAILED" -eq 124 ]; then
        stop 23 "the package archive can not be reached: no complete download of $* in $ARCHIVE_SECONDS s"
    fi
    if is_unreachable; then
        stop 23 "the package archive can not be reached: $(complaint)"
    elif [ -n "$stale" ] && grep -qiE 'unable to locate|no installation candidate' "$OUT"; then
        stop 23 "$(complaint); and the package lists are not complete: $stale"
    fi
    stop 22 "$* can not be installed: $(complaint)"
}

add_packages() {
    local needed=()
    has_headers || needed+=("linux-headers-$GRID_KERNEL")
    has_compiler || needed+=(gcc make)
    has_libc || needed+=(libc6-dev)
    [ "${#needed[@]}" -eq 0 ] && return
    if [ "$GRID_PACKAGE_SOURCE" = offline ]; then
        agent grid_agent.fetch --packages
        local code=$?
        [ "$code" -eq 12 ] && exit 12
        [ "$code" -eq 10 ] && stop 23 "packages for $GRID_KERNEL: $(cat "$WORK/sentence" 2>/dev/null)"
        [ "$code" -eq 0 ] || stop 22 "packages for $GRID_KERNEL: $(cat "$WORK/sentence" 2>/dev/null)"
        local files=()
        mapfile -t files <"$WORK/packages"
        [ "${#files[@]}" -gt 0 ] || stop 20 "${needed[*]} for $GRID_KERNEL are missing and no packages are given"
        locked dpkg --install "${files[@]}" || stop 22 "dpkg failed: $(complaint)"
    else
        apt_install "${needed[@]}"
    fi
    has_headers || stop 20 "headers for kernel $GRID_KERNEL are not available; take a newer node image"
    has_compiler || stop 20 "gcc and make are missing and not available"
    has_libc || stop 20 "the headers of the C library (libc6-dev) are missing and not available"
}

run_installer() {
    # The very file that is hashed is the one that is run: both through descriptor 9, whatever happens to the name.
    exec 9<"$INSTALLER" || stop 31 "the installer is not in the cache"
    local found
    found=$(sha256sum </proc/self/fd/9 | cut -d ' ' -f 1)
    if [ "$found" != "$GRID_SHA256" ]; then
        rm -f "$INSTALLER"
        stop 31 "the cached installer does not match its checksum any more; it was deleted"
    fi
    printf '%s\n' "$GRID_JOB" | write_whole "$GRID_STATE/installing"
    rm -f "$GRID_STATE/installed.json"
    local options=(--silent --accept-license --no-questions --ui=none --no-drm --no-nouveau-check
        "--kernel-name=$GRID_KERNEL" -M "$GRID_MODULE_TYPE" "--log-file-name=$LOG" "--tmpdir=$WORK")
    # Without a word the installer registers the modules wherever it finds dkms.
    if [ "$GRID_DKMS" = 1 ] && command -v dkms >/dev/null; then
        options+=(--dkms)
    else
        options+=(--no-dkms)
    fi
    say "installer ${options[*]}"
    sh /proc/self/fd/9 "${options[@]}"
    local code=$?
    if [ "$code" -ne 0 ]; then
        tail -n 40 "$LOG" 2>/dev/null
        if [ "$(df --output=avail -k "$WORK" | tail -n 1)" -lt 65536 ]; then
            stop 12 "the disk is full"
        fi
        stop 30 "NVIDIA's installer failed ($code): $(grep -hE 'ERROR' "$LOG" 2>/dev/null | head -n 1 | cut -c 1-300)"
    fi
}

prove() {
    local version
    depmod "$GRID_KERNEL" || say "depmod failed ($?)"
    version=$(modinfo -k "$GRID_KERNEL" nvidia 2>/dev/null | sed -n 's/^version:[[:space:]]*//p')
    [ "$version" = "$GRID_VERSION" ] || stop 32 "the installer reported success, but module nvidia is ${version:-missing}"
    is_program /usr/bin/nvidia-smi || stop 32 "the installer reported success, but /usr/bin/nvidia-smi is missing"
    is_program /usr/bin/nvidia-gridd || stop 32 "/usr/bin/nvidia-gridd is missing: the installer does not contain a GRID driver"
    if modinfo -k "$GRID_KERNEL" nouveau >/dev/null 2>&1 && command -v update-initramfs >/dev/null; then
        update-initramfs -u -k "$GRID_KERNEL" || say "update-initramfs failed ($?)"
    fi
}

must_be_writable
add_packages
run_installer
prove
printf '{"version": "%s", "sha256": "%s", "module_type": "%s", "kernel": "%s"}\n' \
    "$GRID_VERSION" "$GRID_SHA256" "$GRID_MODULE_TYPE" "$GRID_KERNEL" | write_whole "$GRID_STATE/installed.json"
rm -f "$GRID_STATE/installing"
sync "$GRID_STATE"
say "driver $GRID_VERSION is installed"

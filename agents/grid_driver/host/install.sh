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

# locked_apt CODE SENTENCE COMMAND…: an apt or dpkg command; waits while another one holds the lock.
locked_apt() {
    local code=$1 sentence=$2 out="$WORK/apt.out" left
    shift 2
    while ! "$@" >"$out" 2>&1; do
        cat "$out"
        if ! grep -qiE 'could not get lock|unable to (lock|acquire)|is another process using it|is locked by another' "$out"; then
            stop "$code" "$sentence: $(grep -iE '^(E:|dpkg:|Err)' "$out" | head -n 1 | cut -c 1-200)"
        fi
        left=$((GRID_APT_LOCK_SECONDS - SECONDS))
        if [ "$left" -le 0 ]; then
            stop 21 "another apt or dpkg process has held the lock for $GRID_APT_LOCK_SECONDS s"
        fi
        say "apt is locked; waiting at most $left s more"
        sleep "$((left < 5 ? left : 5))"
    done
    cat "$out"
}

add_packages() {
    local needed=()
    has_headers || needed+=("linux-headers-$GRID_KERNEL")
    has_compiler || needed+=(gcc make)
    [ "${#needed[@]}" -eq 0 ] && return
    if [ "$GRID_PACKAGE_SOURCE" = offline ]; then
        agent grid_agent.fetch --packages
        local code=$?
        [ "$code" -eq 12 ] && exit 12
        [ "$code" -eq 0 ] || stop 22 "packages for $GRID_KERNEL: $(cat "$WORK/sentence" 2>/dev/null)"
        local files=()
        mapfile -t files <"$WORK/packages"
        [ "${#files[@]}" -gt 0 ] || stop 20 "kernel headers or compiler for $GRID_KERNEL are missing and no packages are given"
        locked_apt 22 "dpkg failed" dpkg --install "${files[@]}"
    else
        local options=(-o "DPkg::Lock::Timeout=$GRID_APT_LOCK_SECONDS" -o Acquire::Retries=3)
        locked_apt 22 "the package lists can not be updated" apt-get "${options[@]}" update
        locked_apt 22 "${needed[*]} can not be installed" apt-get "${options[@]}" install -y --no-install-recommends "${needed[@]}"
    fi
    has_headers || stop 20 "headers for kernel $GRID_KERNEL are not to be had; take a newer node image"
    has_compiler || stop 20 "gcc and make are missing and not to be had"
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
    if [ "$GRID_DKMS" = 1 ] && command -v dkms >/dev/null; then
        options+=(--dkms)
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

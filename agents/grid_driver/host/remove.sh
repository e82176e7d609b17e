#!/bin/bash
# Takes every NVIDIA driver off the host that was not put there by Ubuntu packages: ours, one of another version, the
# CUDA driver of the node image, half an install. The container toolkit's files (nvidia-container-*, nvidia-ctk) stay.
set -u

# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

readonly PROGRAMS="nvidia-smi nvidia-debugdump nvidia-persistenced nvidia-modprobe nvidia-gridd nvidia-installer
    nvidia-uninstall nvidia-bug-report.sh nvidia-cuda-mps-control nvidia-cuda-mps-server nvidia-settings
    nvidia-xconfig nvidia-ngx-updater nvidia-powerd nvidia-topologyd"
readonly FOLDERS="/usr/lib/x86_64-linux-gnu /usr/lib/i386-linux-gnu /usr/lib64 /usr/bin/lib64"

must_be_writable
printf '%s\n' "$GRID_JOB" | write_whole "$GRID_STATE/installing"
rm -f "$GRID_STATE/installed.json"

uninstall() {
    if is_program /usr/bin/nvidia-uninstall; then
        say "nvidia-uninstall"
        nvidia-uninstall --silent || say "nvidia-uninstall failed ($?); removing the remaining files by name"
    elif is_program /usr/bin/nvidia-installer; then
        say "nvidia-installer --uninstall"
        nvidia-installer --uninstall --silent || say "nvidia-installer failed ($?); removing the remaining files by name"
    fi
}

forget_dkms() {
    local tree
    for tree in /var/lib/dkms/nvidia/*/; do
        [ -d "$tree" ] || continue
        tree=$(basename "$tree")
        case $tree in kernel-*) continue ;; esac
        say "dkms remove nvidia/$tree"
        if command -v dkms >/dev/null; then
            dkms remove "nvidia/$tree" --all || say "dkms failed ($?)"
        fi
        rm -rf "/var/lib/dkms/nvidia/$tree" "/usr/src/nvidia-$tree"
    done
    rmdir /var/lib/dkms/nvidia 2>/dev/null
}

remove_by_name() {
    local name folder file
    for name in $PROGRAMS; do
        rm -f "/usr/bin/$name"
    done
    for folder in $FOLDERS; do
        [ -d "$folder" ] || continue
        # libnvidia-container is the toolkit's.
        find "$folder" -maxdepth 2 \( -name 'libnvidia-*.so*' -o -name 'libcuda.so*' -o -name 'libcudadebugger.so*' \
            -o -name 'libnvcuvid.so*' -o -name 'libEGL_nvidia.so*' -o -name 'libGLX_nvidia.so*' \
            -o -name 'libGLESv*_nvidia.so*' -o -name 'libvdpau_nvidia.so*' \) \
            ! -name 'libnvidia-container*' -delete
    done
    for file in nvidia nvidia-uvm nvidia-modeset nvidia-drm nvidia-peermem; do
        find "/lib/modules/$GRID_KERNEL" -name "$file.ko*" ! -type d -delete
    done
    if grep -qs '/usr/bin/lib64' /etc/ld.so.conf.d/nvidia.conf; then
        rm -f /etc/ld.so.conf.d/nvidia.conf
    fi
    # With this marker there, a later provisioning run of AKS deletes /usr/bin/nvidia-* whoever put them there.
    rm -f /opt/azure/aks-gpu/dkms-marker
}

left() {
    modinfo -k "$GRID_KERNEL" nvidia >/dev/null 2>&1 && echo "module nvidia"
    local name folder
    for name in $PROGRAMS; do
        [ -e "/usr/bin/$name" ] && echo "/usr/bin/$name"
    done
    for folder in $FOLDERS; do
        compgen -G "$folder/libnvidia-ml.so.*"
    done
}

uninstall
forget_dkms
remove_by_name
depmod "$GRID_KERNEL" || say "depmod failed ($?)"
ldconfig || say "ldconfig failed ($?)"

still=$(left | head -n 3 | tr '\n' ' ')
if [ -n "$still" ]; then
    stop 40 "something of the old driver can not be removed: $still"
fi
if [ "$GRID_PRESENT" = 0 ]; then
    rm -f "$GRID_STATE"/cache/* /etc/nvidia/gridd.conf
fi
rm -f "$GRID_STATE/installing"
sync "$GRID_STATE"
say "all driver files are removed"

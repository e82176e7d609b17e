# shellcheck shell=sh
# Makes the node: an overlay of this root, its own /proc, /sys, /dev and /run, and then the process that everything
# orphaned belongs to. Called as: boot.sh NODE_FOLDER, in fresh mount, PID, UTS and IPC namespaces.
set -e
where=$1
root=$where/root
mount --make-rprivate /
mkdir -p "$root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$where/upper,workdir=$where/work" "$root"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=755 sys "$root/sys"
mount -t tmpfs -o mode=755 run "$root/run"
mount -t tmpfs -o mode=755 dev "$root/dev"
for device in null zero full random urandom; do
  : > "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
ln -s /proc/self/fd "$root/dev/fd"
mkdir -p "$root/dev/shm" "$root/sys/module" "$root/sys/bus/pci/devices" "$root/hw" "$root/run/lock"
mount -t tmpfs -o mode=1777 tmp "$root/tmp"
mount --bind "$where/hw" "$root/hw"
# What the kernel tells of itself, where this kernel has the file.
mount -t tmpfs driver "$root/proc/driver"
if [ -e "$root/proc/modules" ]; then mount --bind "$where/hw/modules" "$root/proc/modules"; fi
mount --bind "$where/hw/kernel" "$root/proc/sys/kernel/osrelease"
cat /proc/sys/kernel/random/uuid > "$where/hw/boot_id"
mount --bind "$where/hw/boot_id" "$root/proc/sys/kernel/random/boot_id"
mkdir -p "$root/.before"
pivot_root "$root" "$root/.before"
cd /
umount -l /.before
rmdir /.before
hostname "$(cat /hw/name)"
while read -r address vendor device class; do
  [ -n "$address" ] || continue
  mkdir -p "/sys/bus/pci/devices/$address"
  echo "$vendor" > "/sys/bus/pci/devices/$address/vendor"
  echo "$device" > "/sys/bus/pci/devices/$address/device"
  echo "$class" > "/sys/bus/pci/devices/$address/class"
done < /hw/pci
if [ -s /hw/secureboot ]; then
  mkdir -p /sys/firmware/efi/efivars
  if [ "$(cat /hw/secureboot)" = 1 ]; then value='\006\000\000\000\001'; else value='\006\000\000\000\000'; fi
  printf %b "$value" > /sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c
fi
if [ -e /hw/usr-is-read-only ]; then
  mount --bind /usr /usr
  mount -o remount,ro,bind /usr
fi
# Enabled services, as systemd would start them; then modules that load by themselves (a blacklist stops that).
if [ -x /usr/bin/systemctl ]; then
  for unit in /etc/systemd/system/multi-user.target.wants/nvidia-*; do
    [ ! -e "$unit" ] || systemctl start "${unit##*/}" || true
  done
fi
if [ -e /hw/loads-at-boot ]; then
  while read -r module; do modprobe -b "$module" || true; done < /hw/loads-at-boot
fi
: > /hw/booted
sleep 2147483647 &
idle=$!
# A node whose run is killed loses this process first: without it, `wait` would return at once, for ever.
while kill -0 "$idle" 2>/dev/null; do wait || true; done

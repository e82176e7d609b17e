#!/bin/sh
# NVIDIA's driver installer for Linux @ARCH@, version @VERSION@ (a stand-in with its options, stages and failures).
VERSION=@VERSION@
KIND=@KIND@
ARCH=@ARCH@
LIBRARIES=@LIBRARIES@
. /usr/local/lib/fakes/lib.sh
kernel=$(setting kernel)
flavour= uninstall= dkms=default drm=yes load=yes accepted= only= nouveau=
LOG=/var/log/nvidia-installer.log
say() {
  echo "-> $*" >> "$LOG"
}
fail() {
  echo "ERROR: $*" >> "$LOG"
  echo "ERROR: $*" >&2
  echo "ERROR: Installation has failed.  Please see the file '$LOG' for details." >&2
  exit 1
}
flavour_of() {
  case $1 in
    open | kernel-open) echo open ;;
    proprietary | kernel) echo proprietary ;;
    *) die 1 "ERROR: Invalid kernel module type: '$1'" ;;
  esac
}
while [ $# -gt 0 ]; do
  case $1 in
    -s | --silent | -q | --no-questions | --ui=none | -a | --accept-license) accepted=yes ;;
    -M | -m | --kernel-module-type | --kernel-module-build-directory) flavour=$(flavour_of "$2") || exit 1; shift ;;
    -M=* | -m=* | --kernel-module-type=* | --kernel-module-build-directory=*) flavour=$(flavour_of "${1#*=}") || exit 1 ;;
    -k | --kernel-name) kernel=$2; shift ;;
    -k=* | --kernel-name=*) kernel=${1#*=} ;;
    --dkms) dkms=yes ;;
    --no-dkms) dkms= ;;
    --no-drm) drm= ;;
    --uninstall) uninstall=yes ;;
    --log-file-name) LOG=$2; shift ;;
    --log-file-name=*) LOG=${1#*=} ;;
    --tmpdir) shift ;;
    --skip-module-load | --no-kernel-module-load) load= ;;
    --version | -v) echo "nvidia-installer:  version $VERSION"; exit 0 ;;
    --check) echo "MD5 checksums are OK."; exit 0 ;;
    --info | -i | --list) echo "Identification    : NVIDIA Accelerated Graphics Driver for Linux-$ARCH $VERSION"; exit 0 ;;
    --kernel-source-path=* | --tmpdir=* | --disable-nouveau | --no-disable-nouveau | --no-x-check | \
      --no-cc-version-check | --no-backup | --no-rebuild-initramfs | --rebuild-initramfs | --no-install-compat32-libs | \
      --no-distro-scripts | --no-check-for-alternate-installs | -j* | --concurrency-level=* | --no-wine-files | \
      --systemd | --no-systemd | --allow-installation-with-running-driver | --no-install-libglvnd | --no-opengl-files) ;;
    --no-nouveau-check) nouveau=unchecked ;;
    -x | --extract-only) only=yes ;;
    --target) shift ;;
    *) die 1 "ERROR: Unable to parse command line: unrecognized option: '$1'. Run with -h for help." ;;
  esac
  shift
done
echo "$VERSION $(sha256sum < "$0" | cut -d' ' -f1) $(readlink -f "$0")" >> /hw/executed
[ -z "$only" ] || exit 0

remove() { # remove whatever an installer of this family put here
  step installer:remove
  rm -f /usr/bin/nvidia-smi /usr/bin/nvidia-gridd /usr/bin/nvidia-persistenced /usr/bin/nvidia-uninstall /usr/bin/nvidia-installer
  rm -f /usr/bin/nvidia-modprobe
  rm -f /usr/lib/x86_64-linux-gnu/libnvidia-ml.so.* /usr/lib/systemd/system/nvidia-gridd.service
  rm -rf /var/lib/nvidia /var/lib/dkms/nvidia
  for file in /lib/modules/*/updates/dkms/nvidia*.ko /lib/modules/*/kernel/drivers/video/nvidia*.ko; do rm -f "$file"; done
}
if [ -n "$uninstall" ]; then
  [ -d /var/lib/nvidia ] || fail "There is no NVIDIA driver currently installed."
  ! loaded nvidia || [ "$(cat /sys/module/nvidia/refcnt)" = 0 ] || fail "An NVIDIA kernel module 'nvidia' is in use."
  remove
  exit 0
fi

: > "$LOG" || exit 1
step installer:start
say "nvidia-installer log file '$LOG', driver $VERSION, kernel $kernel"
[ -n "$accepted" ] || die 1 "ERROR: The installer has no terminal to ask questions on."
[ "$(setting machine)" = "$ARCH" ] || die 1 "ERROR: this .run file is intended for the Linux-$ARCH platform, but you appear to be running on Linux-$(setting machine).  Aborting installation."
! fault lies || exit 0
! { fault refuses-new && [ "$VERSION" != 580.105.08 ]; } || fail "Unable to build the kernel modules."
! fault fail-start || fail "Unable to extract the package."
[ "$(setting gpu)" = 1 ] || fail "You do not appear to have an NVIDIA GPU supported by the $VERSION NVIDIA Linux graphics driver installed in this system."
[ -n "$nouveau" ] || ! loaded nouveau || fail "The Nouveau kernel driver is currently in use by your system.  This driver is incompatible with the NVIDIA driver, and must be disabled before proceeding."
for module in nvidia_drm nvidia_modeset nvidia_uvm nvidia; do
  ! loaded $module || fail "An NVIDIA kernel module '$module' appears to be already loaded in your kernel.  This may be because it is in use."
done
[ -e "/lib/modules/$kernel/build/Makefile" ] || fail "Unable to find the kernel source tree for the currently running kernel.  Please make sure you have installed the kernel source files for your kernel."
! fault no-compiler || fail "Unable to find the development tool 'cc' in your path; please make sure that you have the package 'gcc' installed."
for tool in gcc make; do
  [ -s "/usr/bin/$tool" ] || fail "Unable to find the development tool '$tool' in your path; please make sure that you have the package '$tool' installed."
done
[ -e /usr/include/stdio.h ] || fail "You do not appear to have libc header files installed on your system.  Please install your distribution's libc development package."
[ "$dkms" != default ] || dkms=$(command -v dkms)
touch /usr/bin/.nvidia-installer 2> /dev/null || fail "Unable to write to '/usr/bin': Read-only file system."
rm -f /usr/bin/.nvidia-installer
[ ! -d /var/lib/nvidia ] || remove
: "${flavour:=open}"
say "kernel module type: $flavour"
step installer:build
! fault hang-build || sleep 600
! fault fail-build || fail "An error occurred while performing the step: \"Building kernel modules\". See $LOG for details."

licence="Dual MIT/GPL"
[ "$flavour" = open ] || licence=NVIDIA
place=/lib/modules/$kernel/kernel/drivers/video
if [ -n "$dkms" ]; then
  place=/lib/modules/$kernel/updates/dkms
  mkdir -p "/var/lib/dkms/nvidia/$VERSION"
fi
mkdir -p "$place" || fail "Unable to create '$place'."
step installer:files
write_module() { # write_module NAME DEPENDS
  {
    echo "version=$VERSION"
    echo "license=$licence"
    echo "vermagic=$kernel"
    echo "depends=$2"
  } > "$place/$(dashed "$1").ko" || fail "Unable to write '$place/$1.ko': No space left on device"
}
mkdir -p /var/lib/nvidia /usr/lib/x86_64-linux-gnu
echo "$VERSION $kernel $flavour" > /var/lib/nvidia/log
write_module nvidia ''
! fault fail-files || fail "Unable to write to '$place': No space left on device"
write_module nvidia_uvm nvidia
write_module nvidia_modeset nvidia
[ -z "$drm" ] || write_module nvidia_drm nvidia_modeset
sed "s/@VER[S]ION@/$LIBRARIES/" /usr/local/lib/fakes/nvidia-smi > /usr/bin/.nvidia-smi.new
chmod 755 /usr/bin/.nvidia-smi.new
mv /usr/bin/.nvidia-smi.new /usr/bin/nvidia-smi
: > "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.$LIBRARIES"
printf '#!/bin/sh\nexit 0\n' > /usr/bin/nvidia-persistenced
chmod 755 /usr/bin/nvidia-persistenced
cp /usr/local/lib/fakes/nvidia-uninstall /usr/local/lib/fakes/nvidia-modprobe /usr/bin
step installer:half
! fault fail-half || fail "Unable to create symbolic links."
if [ "$KIND" = grid ] && ! fault no-gridd; then
  printf '#!/bin/sh\nexit 0\n' > /usr/bin/nvidia-gridd
  chmod 755 /usr/bin/nvidia-gridd
  mkdir -p /etc/nvidia /usr/lib/systemd/system
  printf '[Service]\nExecStart=/usr/bin/nvidia-gridd\n[Install]\nWantedBy=multi-user.target\n' > /usr/lib/systemd/system/nvidia-gridd.service
  printf 'ServerAddress=\nFeatureType=0\nEnableUI=TRUE\n' > /etc/nvidia/gridd.conf.template
fi
if [ -n "$load" ]; then
  step installer:load
  if fault fail-load || ! modprobe nvidia 2>> "$LOG"; then
    fail "Unable to load the kernel module 'nvidia.ko'.  This happens most frequently when this kernel module was built against the wrong or improperly configured kernel sources, with a version of gcc that differs from the one used to build the target kernel, or if another driver, such as nouveau, is present and prevents the NVIDIA kernel module from obtaining ownership of the NVIDIA device(s)."
  fi
  ! fault load-then-unload || rmmod nvidia
fi
step installer:done
say "Installation of the NVIDIA driver $VERSION is now complete."
exit 0

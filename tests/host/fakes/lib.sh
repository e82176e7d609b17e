# shellcheck shell=sh
# What the stand-ins of one node share. /hw is the machine under the operating system: the test sets it, the tools obey it.

# step NAME: say that this point is reached, and wait here while the test holds it (the first time, or the one it says).
step() {
  echo "$1" >> /hw/steps
  if [ -e "/hw/hold/$1" ] && [ "$(grep -cxF "$1" /hw/steps)" = "$(cat "/hw/hold/$1")" ]; then
    : > "/hw/held/$1"
    while [ -e "/hw/hold/$1" ]; do sleep 0.02; done
  fi
  # Or at the next step that is not in a list of those that were held already.
  if [ -e /hw/hold-next ] && ! grep -qxF "$1" /hw/hold-next && mv /hw/hold-next /hw/held-next 2> /dev/null; then
    echo "$1" >> /hw/held-next
    while [ -e /hw/held-next ]; do sleep 0.02; done
  fi
}

# fault NAME: true while the test injects this fault; one that is to happen once is then over.
fault() {
  [ -e "/hw/faults/$1" ] || return 1
  [ ! -s "/hw/faults/$1" ] || rm -f "/hw/faults/$1"
}

die() {
  code=$1
  shift
  echo "$*" >&2
  exit "$code"
}

setting() {
  value=
  [ ! -e "/hw/$1" ] || read -r value < "/hw/$1" || true
  echo "$value"
}

# underscored NAME: modules are the same with either dash.
underscored() {
  name=${1%.ko}
  while :; do
    case $name in
      *-*) name=${name%%-*}_${name#*-} ;;
      *) break ;;
    esac
  done
  echo "$name"
}

# dashed NAME: how the driver's files are named.
dashed() {
  case $1 in
    nvidia_*) echo "nvidia-${1#nvidia_}" ;;
    *) echo "$1" ;;
  esac
}

# module_file NAME [KERNEL]: the built module, as depmod would find it (updates first).
module_file() {
  for folder in updates/dkms updates kernel/drivers/video; do
    file=/lib/modules/${2:-$(setting kernel)}/$folder/$(dashed "$1").ko
    if [ -s "$file" ]; then
      echo "$file"
      return 0
    fi
  done
  return 1
}

# field FILE KEY: a line of a module's .modinfo section (the stand-in's modules are that section alone).
field() {
  while IFS='=' read -r key value; do
    if [ "$key" = "$2" ]; then
      echo "$value"
      return 0
    fi
  done < "$1"
  return 1
}

loaded() { [ -d "/sys/module/$1" ]; }

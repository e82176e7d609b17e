#!/bin/sh
# Runs its arguments under mpirun: one rank for each GPU of all Pods of an Indexed Job. Every Pod runs sshd, which takes
# the key of this Job alone; the first Pod starts the ranks, so that no controller for MPI has to be in the cluster.
#   RANKS_HOSTS   names of the Pods, with spaces between them
#   RANKS_GPUS    GPUs of each Pod
#   RANKS_FOLDER  ssh_config, sshd_config
set -eu

PATH="$PATH:/usr/sbin:/opt/nccl_tests/build:/opt/nccl-tests/build"
export PATH
attempts=300 # of two seconds: another node may still pull the image

for program in ssh sshd mpirun "$1"; do
  command -v "$program" >/dev/null || {
    echo "nccl-ranks: the image has no $program" >&2
    exit 100
  }
done

mkdir -p /run/sshd
"$(command -v sshd)" -D -e -f "$RANKS_FOLDER/sshd_config" 2>/tmp/sshd.log &
if [ "$JOB_COMPLETION_INDEX" != 0 ]; then
  wait
  exit 1
fi

slots='' count=0
for host in $RANKS_HOSTS; do
  attempt=0
  until ssh -F "$RANKS_FOLDER/ssh_config" "$host" true 2>/tmp/ssh.log; do
    attempt=$((attempt + 1))
    if [ "$attempt" -ge "$attempts" ]; then
      echo "nccl-ranks: $host does not answer: $(tail -n 1 /tmp/ssh.log)" >&2
      exit 101
    fi
    sleep 2
  done
  slots="$slots${slots:+,}$host:$RANKS_GPUS"
  count=$((count + RANKS_GPUS))
done

# Ranks on other Pods do not inherit this Pod's environment.
for name in $(env | sed -n 's/^\(NCCL_[A-Z0-9_]*\)=.*/\1/p') PATH ${LD_LIBRARY_PATH:+LD_LIBRARY_PATH}; do
  set -- -x "$name" "$@"
done
# MPI only starts the ranks and gathers their results, over Ethernet; the messages of the test are NCCL's.
exec mpirun --allow-run-as-root -np "$count" --host "$slots" --bind-to none \
  --mca plm_rsh_agent ssh --mca plm_rsh_args "-F $RANKS_FOLDER/ssh_config" \
  --mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include eth0 --mca oob_tcp_if_include eth0 "$@"

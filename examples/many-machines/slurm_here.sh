#!/usr/bin/env bash
# A Slurm of one machine, to try slurm.sbatch on: slurm_here.sh FOLDER OF THE ENVIRONMENT [RANKS]
#
# As root, with Debian's packages slurm-wlm, munge and libpmix-dev. It starts Slurm's two servers, hands
# slurm.sbatch a small graph, shows what was written, and ends the servers again.
set -euo pipefail
environment=$(cd "$1" && pwd)
ranks=${2:-2}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
servers=()
finish() {
  kill "${servers[@]}" 2> /dev/null || true
  wait 2> /dev/null || true
  rm -rf "$work"
}
trap finish EXIT

# munge, by which users prove to Slurm who they are, with a key and a socket of its own.
install -d -o munge -m 755 "$work/munge"
chmod 755 "$work"
head -c 1024 /dev/urandom > "$work/munge/key"
chown munge "$work/munge/key" && chmod 400 "$work/munge/key"
runuser -u munge -- munged --foreground --key-file "$work/munge/key" --socket "$work/munge/socket" \
  --pid-file "$work/munge/pid" --seed-file "$work/munge/seed" > "$work/munged.log" 2>&1 &
servers+=($!)

cat > "$work/slurm.conf" << CONF
ClusterName=here
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=16817
SlurmdPort=16818
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge/socket
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SlurmdParameters=config_overrides
ReturnToService=2
NodeName=$(hostname -s) NodeAddr=127.0.0.1 CPUs=$ranks RealMemory=$((1000 * ranks))
PartitionName=here Nodes=$(hostname -s) Default=YES State=UP
CONF
mkdir "$work/state" "$work/spool"
export SLURM_CONF=$work/slurm.conf
slurmctld -D > "$work/slurmctld.log" 2>&1 &
servers+=($!)
slurmd -D > "$work/slurmd.log" 2>&1 &
servers+=($!)
for ((k = 0; k < 60; k++)); do # until the machine is there
  [[ $(sinfo --noheader --format %T 2> /dev/null) == idle ]] && break
  sleep 0.5
done

mkdir -p "$work/data/edges"
"$environment/bin/python" - "$work/data" << 'PYTHON'
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

folder, rng = Path(sys.argv[1]), np.random.default_rng(0)
for k in range(4):
    source, target = rng.integers(0, 2000, (2, 5000))
    pq.write_table(pa.table({"source": source, "target": target}), folder / "edges" / f"{k}.parquet")
labels = ["even" if i % 2 == 0 else "odd" for i in range(100)]
pq.write_table(pa.table({"node": range(100), "label": labels}), folder / "labels.parquet")
PYTHON

# Root is refused by Open MPI unless these say otherwise.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
DATA=$work/data VENV=$environment sbatch --wait --nodes=1 --ntasks-per-node="$ranks" --mem-per-cpu=900M \
  --output "$work/job.log" "$here/slurm.sbatch" || { cat "$work"/*.log; exit 1; }
cat "$work/job.log"
ls "$work/data/labelled"

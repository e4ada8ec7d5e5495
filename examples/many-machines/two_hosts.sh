#!/usr/bin/env bash
# Two hosts with addresses of their own, as network namespaces of one machine: two_hosts.sh PROGRAMS
#
# As root. The hosts are joined by a cable (a veth pair) and by nothing else. mpiexec on the first
# starts a rank on each, over a stand-in for ssh that enters the other namespace, with its own name.
set -euo pipefail
programs=$(cd "$1" && pwd)
work=$(mktemp -d)
one=isotherm-one two=isotherm-two
finish() {
  ip netns del $one 2> /dev/null || true
  ip netns del $two 2> /dev/null || true
  rm -rf "$work"
}
trap finish EXIT

ip netns add $one
ip netns add $two
ip link add cable-one netns $one type veth peer name cable-two netns $two
for host in one two; do
  address=$([[ $host == one ]] && echo 10.99.0.1 || echo 10.99.0.2)
  ip -n isotherm-$host address add $address/24 dev cable-$host
  ip -n isotherm-$host link set cable-$host up
  ip -n isotherm-$host link set lo up
done

cat > "$work/ssh" << 'SSH'
#!/usr/bin/env bash
# ssh [options] HOST COMMAND…: run it in the namespace of the host.
while [[ $1 == -* ]]; do shift; done
[[ $1 == 10.99.0.1 ]] && host=isotherm-one || host=isotherm-two
shift
exec ip netns exec $host unshare --uts sh -c "hostname $host && $*"
SSH
chmod +x "$work/ssh"

"$programs/python" - "$work" << 'PYTHON'
import sys
from pathlib import Path

import numpy as np

folder, rng = Path(sys.argv[1]), np.random.default_rng(0)
(folder / "parts").mkdir()
for k in range(4):
    pairs = rng.integers(0, 2000, (10_000, 2))
    rows = "\n".join(f"{i},{j}" for i, j in pairs)
    (folder / "parts" / f"{k}.csv").write_text(f"source,target\n{rows}\n")
labels = "\n".join(f"{i},{'even' if i % 2 == 0 else 'odd'}" for i in range(100))
(folder / "labels.csv").write_text(f"node,label\n{labels}\n")
PYTHON

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
ip netns exec $one unshare --uts sh -c "hostname $one && exec \"\$@\"" - "$programs/mpiexec" -n 2 --host 10.99.0.1:1,10.99.0.2:1 --map-by node \
  --prtemca plm_ssh_agent "$work/ssh" --mca btl tcp,self --mca pml ob1 --mca btl_tcp_if_include 10.99.0.0/24 \
  "$programs/isotherm" classify "$work"/parts/*.csv "$work/labels.csv" -o "$work/out" --timeout 60 --tol 1e-9
ls "$work/out"

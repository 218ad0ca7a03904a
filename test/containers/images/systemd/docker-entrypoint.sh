#!/bin/sh
# Gives systemd a group of processes in the second version of cgroups, the only one that it accepts, also where the machine uses the first.
set -eu
mkdir /run/groups
mount -t cgroup2 cgroup2 /run/groups
mkdir -p /run/groups/sluice-systemd
echo $$ >/run/groups/sluice-systemd/cgroup.procs
umount /run/groups
exec unshare --cgroup sh -euc 'mount -t cgroup2 cgroup2 /sys/fs/cgroup; exec "$@"' sh "$@"

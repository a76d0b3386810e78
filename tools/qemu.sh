#!/usr/bin/env bash
# The common part of qemu_aarch64.sh and qemu_arm.sh: qemu.sh MACHINE TRIPLE PROGRAM [ARGUMENT...]
set -euo pipefail
machine=$1 triple=$2
shift 2

if [[ $(uname -m) == "$machine" ]]; then exec "$@"; fi
qemu=$(dirname "$(readlink -f "$0")")/../.emulation/qemu/qemu-$machine
if [[ ! -x $qemu ]]; then qemu=qemu-$machine; fi
exec "$qemu" -L "${QEMU_LD_PREFIX:-/usr/$triple}" -cpu "${LARQ_ENGINE_QEMU_CPU:-max}" "$@"

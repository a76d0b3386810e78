#!/usr/bin/env bash
# Runs Python for 64-bit ARM, with LiteRT and the other packages of `tools/setup.sh arm64`. Folders
# of PYTHONPATH come before these packages.
set -euo pipefail
tools=$(dirname "$(readlink -f "$0")")
root=$(realpath "$tools/../.emulation/arm64")
export QEMU_LD_PREFIX=$root PYTHONHOME=$root/usr
export PYTHONPATH=${PYTHONPATH:+$PYTHONPATH:}$root/packages
exec "$tools/qemu_aarch64.sh" "$root/usr/bin/python3.11" "$@"

#!/usr/bin/env bash
# Runs a program for 64-bit ARM, without emulation if this machine is one:
#
#   tools/qemu_aarch64.sh PROGRAM [ARGUMENT...]
#
# LARQ_ENGINE_QEMU_CPU   the CPU, such as cortex-a53 or max,sme512=on; default max
# QEMU_LD_PREFIX         the folder that holds its C library; default Debian's for cross compilers
exec "$(dirname "$(readlink -f "$0")")/qemu.sh" aarch64 aarch64-linux-gnu "$@"

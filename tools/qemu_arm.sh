#!/usr/bin/env bash
# Runs a program for 32-bit ARM, as qemu_aarch64.sh does for 64-bit ARM.
exec "$(dirname "$(readlink -f "$0")")/qemu.sh" arm arm-linux-gnueabihf "$@"

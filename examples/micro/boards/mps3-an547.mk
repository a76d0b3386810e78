# Cortex-M55 with vectors (MVE)
COMPILER := arm-none-eabi-gcc
ARCHITECTURE := -mthumb -mcpu=cortex-m55 -mfloat-abi=hard
START := arm_start.c
EMULATOR := qemu-system-arm -M mps3-an547
# The memory that it boots from has 512 KB, so all but the vectors lies in its DRAM.
BOOT_START := 0x10000000
FLASH_START := 0x70000000
FLASH_BYTES := 0x1000000
RAM_START := 0x31000000
RAM_BYTES := 0x400000
STACK_BYTES := 0x10000

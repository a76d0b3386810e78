# Cortex-M0 without floats, 256 KB of flash and 16 KB of RAM
COMPILER := arm-none-eabi-gcc
ARCHITECTURE := -mthumb -mcpu=cortex-m0 -mfloat-abi=soft
START := arm_start.c
EMULATOR := qemu-system-arm -M microbit
BOOT_START := 0x0
FLASH_START := 0x40
FLASH_BYTES := 0x3ffc0
RAM_START := 0x20000000
RAM_BYTES := 0x4000
STACK_BYTES := 0x800

# Cortex-M4 with single precision
COMPILER := arm-none-eabi-gcc
ARCHITECTURE := -mthumb -mcpu=cortex-m4 -mfpu=fpv4-sp-d16 -mfloat-abi=hard
START := arm_start.c
EMULATOR := qemu-system-arm -M mps2-an386
BOOT_START := 0x0
FLASH_START := 0x40
FLASH_BYTES := 0x3fffc0
RAM_START := 0x20000000
RAM_BYTES := 0x400000
STACK_BYTES := 0x10000

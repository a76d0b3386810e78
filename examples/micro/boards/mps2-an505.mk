# Cortex-M33 with single precision
COMPILER := arm-none-eabi-gcc
ARCHITECTURE := -mthumb -mcpu=cortex-m33 -mfpu=fpv5-sp-d16 -mfloat-abi=hard
START := arm_start.c
EMULATOR := qemu-system-arm -M mps2-an505
BOOT_START := 0x10000000
FLASH_START := 0x10000040
FLASH_BYTES := 0x3fffc0
RAM_START := 0x38000000
RAM_BYTES := 0x400000
STACK_BYTES := 0x10000

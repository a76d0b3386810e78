# RISC-V of 32 bits without floats
COMPILER := riscv64-unknown-elf-gcc
ARCHITECTURE := --specs=picolibc.specs -march=rv32imac -mabi=ilp32
START := riscv_start.S
EMULATOR := qemu-system-riscv32 -M virt -bios none -cpu rv32,f=false,d=false,zba=false,zbc=false,zbs=false,zbb=false
BOOT_START := 0x80000000
FLASH_START := 0x80000040
FLASH_BYTES := 0xffffc0
RAM_START := 0x81000000
RAM_BYTES := 0x1000000
STACK_BYTES := 0x10000

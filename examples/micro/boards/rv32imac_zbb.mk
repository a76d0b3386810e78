# RISC-V of 32 bits without floats, with Zbb, which counts bits
COMPILER := riscv64-unknown-elf-gcc
ARCHITECTURE := --specs=picolibc.specs -march=rv32imac_zbb -mabi=ilp32
# There are no libraries compiled for Zbb.
LIBRARIES := --specs=picolibc.specs -march=rv32imac -mabi=ilp32
START := riscv_start.S
EMULATOR := qemu-system-riscv32 -M virt -bios none -cpu rv32,f=false,d=false,zba=false,zbc=false,zbs=false,zbb=true
BOOT_START := 0x80000000
FLASH_START := 0x80000040
FLASH_BYTES := 0xffffc0
RAM_START := 0x81000000
RAM_BYTES := 0x1000000
STACK_BYTES := 0x10000

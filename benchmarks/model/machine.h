// What the benchmark runs on, and the memory that it takes.
#ifndef BENCHMARKS_MODEL_MACHINE_H_
#define BENCHMARKS_MODEL_MACHINE_H_

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

namespace larq_engine {

struct Machine {
  std::string cpu;                   // its name, as far as the system tells
  std::string architecture;          // as `uname -m` has it
  std::string system;                // name and release of the kernel
  int processors = 0;                // that are on
  std::vector<std::string> isas;     // that the engine has kernels for, and this CPU runs
  std::vector<std::string> kernels;  // the rows that this CPU runs
};

Machine DescribeMachine();

// The name in Linux's /proc/cpuinfo. ARM has no name of the CPU there, but perhaps one of the
// board, and a number for each core that says who made it and what it is: "Raspberry Pi 4 (4 x
// 0x41/0xd08)".
std::string CpuName(std::istream& cpuinfo);

// Of this process, in bytes; 0 where the system does not tell.
int64_t ResidentBytes();
int64_t PeakResidentBytes();

}  // namespace larq_engine

#endif  // BENCHMARKS_MODEL_MACHINE_H_

// The machine that the benchmark runs on, and the memory that it takes.
#ifndef LARQ_ENGINE_BENCHMARK_MODEL_MACHINE_H_
#define LARQ_ENGINE_BENCHMARK_MODEL_MACHINE_H_

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

namespace larq_engine {

struct Machine {
  std::string cpu;                   // its name, as far as the system tells
  std::string architecture;          // from `uname -m`
  std::string system;                // name and release of the kernel
  int processors = 0;                // number that are on
  std::vector<std::string> isas;     // those that have kernels here and that this CPU runs
  std::vector<std::string> kernels;  // rows that this CPU runs
};

Machine DescribeMachine();

// Returns the name in Linux's /proc/cpuinfo. On ARM the file does not name the CPU. It may name the
// board, and has a number for each core that tells its maker and type: "Raspberry Pi 4 (4 x
// 0x41/0xd08)".
std::string CpuName(std::istream& cpuinfo);

// Return the memory of this process in bytes, or 0 if the system does not tell.
int64_t ResidentBytes();
int64_t PeakResidentBytes();

}  // namespace larq_engine

#endif  // LARQ_ENGINE_BENCHMARK_MODEL_MACHINE_H_

// Writes what was measured, for Python to make a profile of it and the model's file.
// docs/benchmark_binary.md describes the format, and larq_engine/profiling/measured_file.py reads
// it.
#ifndef LARQ_ENGINE_BENCHMARK_MODEL_MEASUREMENTS_FILE_H_
#define LARQ_ENGINE_BENCHMARK_MODEL_MEASUREMENTS_FILE_H_

#include <cstdint>
#include <span>
#include <string>

#include "larq_engine/benchmark_model/flags.h"
#include "larq_engine/benchmark_model/machine.h"
#include "larq_engine/benchmark_model/profile_run.h"

namespace larq_engine {

// `file` is the model that was run.
std::string MeasurementsFile(const Flags& flags, const Machine& machine,
                             std::span<const uint8_t> file, const ProfileRuns& runs);

// Returns the CRC-32 of zlib, by which Python knows the model's file again.
uint32_t Crc32(std::span<const uint8_t> data);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_BENCHMARK_MODEL_MEASUREMENTS_FILE_H_

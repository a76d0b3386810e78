// Lists the rows of the kernel tables that this CPU can run. If an ISA named in
// LARQ_ENGINE_REQUIRE_ISA (names with commas) is missing, the test fails.
#include <cstdio>
#include <cstdlib>
#include <set>
#include <sstream>
#include <string>

#include "gtest/gtest.h"
#include "larq_engine/kernels/binary/table.h"
#include "larq_engine/kernels/bytes/table.h"
#include "larq_engine/kernels/floats/table.h"
#include "larq_engine/kernels/isa/cpu_features.h"
#include "larq_engine/kernels/pixels/table.h"
#include "larq_engine/kernels/signed_sums/table.h"

namespace larq_engine {
namespace {

// Returns the names of the ISAs of these rows that this CPU has.
template <typename Rows>
std::set<std::string> Tested(const char* table, const Rows& rows) {
  const CpuFeatures cpu = DetectCpuFeatures();
  std::set<std::string> tested;
  for (const auto& row : rows) {
    const bool has = cpu.Has(row.isa) && PermitIsa(row.isa);
    std::printf("%s %s of %s\n", has ? "tested " : "SKIPPED", IsaName(row.isa), table);
    if (has) tested.insert(IsaName(row.isa));
  }
  return tested;
}

TEST(KernelRows, OfRequiredIsasAreThere) {
  std::set<std::string> tested = Tested("bgemm", BgemmRows());
  tested.merge(Tested("byte products", ByteRows()));
  tested.merge(Tested("float products", FloatRows()));
  tested.merge(Tested("pixel operations", PixelOpsRows()));
  tested.merge(Tested("signed sums", SignedSumsRows()));
  const char* required = std::getenv("LARQ_ENGINE_REQUIRE_ISA");
  std::istringstream names(required == nullptr ? "portable" : required);
  for (std::string name; std::getline(names, name, ',');) {
    EXPECT_TRUE(tested.contains(name)) << "this CPU can run no row of ISA '" << name << "'";
  }
}

}  // namespace
}  // namespace larq_engine

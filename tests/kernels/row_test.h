// The base of tests that run each row of a table on random data.
#ifndef LARQ_ENGINE_TESTS_KERNELS_ROW_TEST_H_
#define LARQ_ENGINE_TESTS_KERNELS_ROW_TEST_H_

#include "gtest/gtest.h"
#include "larq_engine/kernels/isa/cpu_features.h"
#include "tests/common/seed.h"

namespace larq_engine::testing {

// Skips a row that this CPU lacks (kernel_rows_test.cc lists these rows). A failure prints the
// command that replays it.
template <typename Row>
class RowTest : public ::testing::TestWithParam<Row> {
 protected:
  void SetUp() override {
    const Isa isa = this->GetParam().isa;
    if (!DetectCpuFeatures().Has(isa) || !PermitIsa(isa)) {
      GTEST_SKIP() << "this CPU has no " << IsaName(isa);
    }
  }

  Random random_;

 private:
  ::testing::ScopedTrace replay_{__FILE__, __LINE__, ReplayHint()};
};

}  // namespace larq_engine::testing

#endif  // LARQ_ENGINE_TESTS_KERNELS_ROW_TEST_H_

#include "larq_engine/kernels/binary/arm64/bgemm_dotprod.h"

#include "larq_engine/kernels/binary/arm64/bgemm_tile.h"

// Defined in bgemm_dotprod.S.
extern "C" {
void larq_engine_bgemm_dotprod_1x16x64(const larq_engine::BgemmArgs* args);
void larq_engine_bgemm_dotprod_2x16x64(const larq_engine::BgemmArgs* args);
void larq_engine_bgemm_dotprod_3x16x64(const larq_engine::BgemmArgs* args);
void larq_engine_bgemm_dotprod_4x16x64(const larq_engine::BgemmArgs* args);
void larq_engine_bgemm_dotprod_1x16x128(const larq_engine::BgemmArgs* args);
void larq_engine_bgemm_dotprod_2x16x128(const larq_engine::BgemmArgs* args);
void larq_engine_bgemm_dotprod_3x16x128(const larq_engine::BgemmArgs* args);
void larq_engine_bgemm_dotprod_4x16x128(const larq_engine::BgemmArgs* args);
}

namespace larq_engine {
namespace {

constexpr WholeBlocks kSteps64 = {
    larq_engine_bgemm_dotprod_1x16x64, larq_engine_bgemm_dotprod_2x16x64,
    larq_engine_bgemm_dotprod_3x16x64, larq_engine_bgemm_dotprod_4x16x64};
constexpr WholeBlocks kSteps128 = {
    larq_engine_bgemm_dotprod_1x16x128, larq_engine_bgemm_dotprod_2x16x128,
    larq_engine_bgemm_dotprod_3x16x128, larq_engine_bgemm_dotprod_4x16x128};

}  // namespace

void BgemmI32_4x16x64Dotprod(const BgemmArgs& args) { CountTile(kSteps64, args); }
void BgemmI32_4x16x128Dotprod(const BgemmArgs& args) { CountTile(kSteps128, args); }

}  // namespace larq_engine

#include "larq_engine/kernels/signed_sums/signed_sums_portable.h"

#include "larq_engine/kernels/signed_sums/signed_sums_loops.h"
#include "larq_engine/kernels/signed_sums/signed_sums_tables.h"

namespace larq_engine {

constexpr SignedSums kSignedSumsPortable = {
    .make_tables = MakeInt8TablesInLoops, .of_int8 = Int8SumsInLoops, .of_float = FloatSumsInLoops};

}  // namespace larq_engine

// Tests larq_engine_register_ops in a process that exports the symbol of a host with op resolvers.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "larq_engine/runtime/larq_engine.h"
#include "larq_engine/runtime/tflite_abi.h"

namespace larq_engine {
namespace {

struct Resolver {
  std::vector<std::string> names;
  std::vector<TfLiteRegistration> registrations;
};

}  // namespace
}  // namespace larq_engine

// tflite::MutableOpResolver::AddCustom(const char*, const TfLiteRegistration*, int), with its
// symbol.
extern "C" __attribute__((visibility("default"))) void AddCustom(
    larq_engine::Resolver* resolver, const char* name, const TfLiteRegistration* registration,
    int version) asm("_ZN6tflite17MutableOpResolver9AddCustomEPKcPK18TfLiteRegistrationi");

extern "C" void AddCustom(larq_engine::Resolver* resolver, const char* name,
                          const TfLiteRegistration* registration, int version) {
  EXPECT_EQ(version, 1);
  resolver->names.push_back(name);
  resolver->registrations.push_back(*registration);
}

namespace larq_engine {
namespace {

Resolver Register() {
  Resolver resolver;
  char error[256] = "";
  EXPECT_EQ(larq_engine_register_ops(&resolver, error, sizeof(error)), 0) << error;
  return resolver;
}

TEST(RegisterOps, EveryNameOfTheOperators) {
  EXPECT_EQ(Register().names,
            (std::vector<std::string>{"LceQuantize", "LceDequantize", "LceBconv2d", "LceBConv2d",
                                      "LceBMaxPool2d", "LceBmatmul", "LceUnpackWeights"}));
}

TEST(RegisterOps, NoResolverIsAnErrorThatFitsAnyBuffer) {
  char error[256];
  EXPECT_EQ(larq_engine_register_ops(nullptr, error, sizeof(error)), 1);
  EXPECT_STREQ(error, "larq_engine_register_ops: expected a tflite::MutableOpResolver, got null");
  char small[8] = "zzzzzzz";
  EXPECT_EQ(larq_engine_register_ops(nullptr, small, sizeof(small)), 1);
  EXPECT_STREQ(small, "larq_en");
  EXPECT_EQ(larq_engine_register_ops(nullptr, nullptr, 0), 1);
}

TEST(RegisterOps, InvokeWithoutPrepareIsAnError) {
  for (const TfLiteRegistration& registration : Register().registrations) {
    TfLiteContext context = {};
    TfLiteNode node = {};
    node.user_data = registration.init(&context, nullptr, 0);
    ASSERT_NE(node.user_data, nullptr);
    EXPECT_EQ(registration.invoke(&context, &node), kTfLiteError);
    registration.free(&context, node.user_data);
  }
}

}  // namespace
}  // namespace larq_engine

// Runs a .tflite model on zeros, without a host, and prints its first output.
#include <algorithm>
#include <cstdio>
#include <exception>

#include "larq_engine/runtime/larq_engine_model.hpp"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("expected the path of a model\n", stderr);
    return 1;
  }
  try {
    larq_engine::api::Model model(argv[1], {{"num_threads", "2"}});
    const auto input = model.input().Data<float>();
    std::fill(input.begin(), input.end(), 0.0f);
    model.Run();
    for (const float score : model.output().Data<float>()) std::printf("%.9g\n", score);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}

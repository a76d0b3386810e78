// Tests the plug-in in a host: which operators it claims, and that the results do not depend on the
// kernel, on the number of threads or on earlier shapes.
#include <gtest/gtest.h>
#if !defined(_WIN32)
#include <sys/wait.h>
#include <unistd.h>
#endif

#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "larq_engine/runtime/usable_cpus.h"
#include "tests/host/mini_host.h"
#include "tests/host/model_builder.h"
#include "tests/host/run_graph.h"
#include "tests/host/tflite_file.h"

namespace larq_engine::testing {
namespace {

Outputs MustRun(MiniHost* host, uint32_t seed) {
  Outputs outputs;
  EXPECT_TRUE(RunOnce(host, seed, 0xCD, &outputs)) << host->errors();
  return outputs;
}

Outputs MustRun(const Graph& graph, TfLiteDelegate* delegate, uint32_t seed) {
  MiniHost host(graph);
  EXPECT_EQ(host.ApplyDelegate(delegate), kTfLiteOk) << host.errors();
  return MustRun(&host, seed);
}

// Makes a chain float32 -> bits -> bits -> pooled -> float32.
Graph ChainGraph() {
  return ModelBuilder(kTfLiteFloat32, {1, 9, 7, 40})
      .AddQuantize()
      .AddConv({.filters = 33, .output = kTfLiteInt32})
      .AddPool({})
      .AddConv({.filters = 5, .padding = kValid})
      .Build();
}

TEST(Delegate, ClaimsAllFourOperatorsAsOnePartition) {
  const DelegatePtr delegate = CreateDelegate({});
  const Graph graph = ModelBuilder(kTfLiteFloat32, {1, 9, 7, 40})
                          .AddQuantize()
                          .AddConv({.filters = 33, .output = kTfLiteInt32})
                          .AddPool({})
                          .AddDequantize(kTfLiteFloat32)
                          .Build();
  MiniHost host(graph);
  ASSERT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk) << host.errors();
  EXPECT_EQ(host.claimed_operators(), 4u);
  EXPECT_EQ(host.partitions(), 1u);
  MustRun(&host, 1);
}

TEST(Delegate, AcceptsBothSpellingsOfTheConvolution) {
  const DelegatePtr delegate = CreateDelegate({});
  Graph graph = ChainGraph();
  const Outputs expected = MustRun(graph, delegate.get(), 1);
  for (GraphOperator& op : graph.operators) {
    if (op.custom_name == "LceBconv2d") op.custom_name = "LceBConv2d";
  }
  EXPECT_EQ(MustRun(graph, delegate.get(), 1), expected);
}

TEST(Delegate, LeavesOtherOperatorsAlone) {
  const DelegatePtr delegate = CreateDelegate({});
  Graph graph = ChainGraph();
  graph.operators[1].custom_name = "SomebodyElses";
  graph.operators[2].builtin_code = 17;
  MiniHost host(graph);
  ASSERT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk) << host.errors();
  EXPECT_EQ(host.claimed_operators(), 2u);
  EXPECT_EQ(host.partitions(), 2u);
  EXPECT_EQ(host.Allocate(), kTfLiteError);
  EXPECT_NE(host.errors().find("unsupported: operator 32 'SomebodyElses' (#1)"), std::string::npos)
      << host.errors();
}

// Computes a quantization and a convolution independently, with real products.
TEST(Delegate, ConvolutionIsThatOfTheSigns) {
  const ConvConfig config = {.filters = 6,
                             .filter_height = 3,
                             .filter_width = 2,
                             .groups = 2,
                             .stride_height = 2,
                             .dilation_width = 2,
                             .padding = kSame,
                             .pad_values = 0,
                             .activation = kRelu6};
  const int height = 5, width = 6, channels = 64, group = channels / config.groups;
  const Graph graph = ModelBuilder(kTfLiteFloat32, {2, height, width, channels})
                          .AddQuantize()
                          .AddConv(config)
                          .Build();
  const DelegatePtr delegate = CreateDelegate({});
  MiniHost host(graph);
  ASSERT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk) << host.errors();
  MustRun(&host, 5);

  const auto* image = reinterpret_cast<const float*>(host.input(0).data.raw);
  const auto* result = reinterpret_cast<const float*>(host.output(0).data.raw);
  const auto constant = [&graph](int input, size_t i) {
    const std::vector<uint8_t>& data = graph.tensors[graph.operators[1].inputs[input]].data;
    uint32_t word;
    std::memcpy(&word, &data[i * 4], 4);
    return word;
  };
  const auto constant_float = [&](int input, size_t i) {
    const uint32_t word = constant(input, i);
    float value;
    std::memcpy(&value, &word, 4);
    return value;
  };
  // SAME padding has 1 before in both directions: an extent of 3 rows at stride 2 over 5, and of 3
  // columns at stride 1 over 6.
  const int out_height = 3, out_width = 6, pad = 1;
  size_t at = 0;
  for (int n = 0; n < 2; ++n) {
    for (int oy = 0; oy < out_height; ++oy) {
      for (int ox = 0; ox < out_width; ++ox) {
        for (int f = 0; f < config.filters; ++f, ++at) {
          const int first_channel = f / (config.filters / config.groups) * group;
          float dot = 0;
          for (int ky = 0; ky < config.filter_height; ++ky) {
            for (int kx = 0; kx < config.filter_width; ++kx) {
              const int y = oy * 2 - pad + ky, x = ox - pad + 2 * kx;
              if (y < 0 || y >= height || x < 0 || x >= width) continue;
              for (int c = 0; c < group; ++c) {
                const float value =
                    image[((n * height + y) * width + x) * channels + first_channel + c];
                const size_t tap = (f * config.filter_height + ky) * config.filter_width + kx;
                const bool minus = constant(1, tap * (group / 32) + c / 32) >> (c % 32) & 1;
                dot += (value < 0 ? -1.0f : 1.0f) * (minus ? -1.0f : 1.0f);
              }
            }
          }
          const float clamped = std::min(std::max(dot, 0.0f), 6.0f);
          const float expected = clamped * constant_float(2, f) + constant_float(3, f);
          ASSERT_NEAR(result[at], expected, 1e-5)
              << "at " << n << "," << oy << "," << ox << "," << f;
        }
      }
    }
  }
}

// Every graph of the grid gives the same bytes with the reference and with the chosen kernels.
TEST(Delegate, ResultsDependNeitherOnKernelNorOnThreads) {
  const DelegatePtr reference = CreateDelegate({{"kernel", "reference"}, {"num_threads", "1"}});
  const DelegatePtr automatic = CreateDelegate({{"kernel", "auto"}, {"num_threads", "1"}});
  const DelegatePtr threaded = CreateDelegate({{"num_threads", "3"}});
  int graphs = 0;
  for (TfLiteType output : {kTfLiteFloat32, kTfLiteInt8, kTfLiteInt32}) {
    for (int pad_values : {1, 0, -1}) {
      for (int activation : {kNone, kRelu, kReluN1To1, kRelu6}) {
        for (int channels : {1, 33, 64}) {
          const ConvConfig config = {.filters = 3 + channels % 7,
                                     .groups = channels == 64 ? 2 : 1,
                                     .stride_width = 1 + graphs % 2,
                                     .dilation_height = 1 + graphs % 3,
                                     .padding = graphs % 5 == 0 ? kValid : kSame,
                                     .pad_values = pad_values,
                                     .activation = activation,
                                     .output = output};
          const int filters = config.filters + config.filters % config.groups;
          ConvConfig even = config;
          even.filters = filters;
          const Graph graph =
              ModelBuilder(kTfLiteInt8, {1 + graphs % 2, 7, 8, channels}, 1 + graphs)
                  .AddQuantize()
                  .AddConv(even)
                  .Build();
          SCOPED_TRACE("graph " + std::to_string(graphs++));
          const Outputs expected = MustRun(graph, reference.get(), graphs);
          EXPECT_EQ(MustRun(graph, automatic.get(), graphs), expected);
          EXPECT_EQ(MustRun(graph, threaded.get(), graphs), expected);
        }
      }
    }
  }
  EXPECT_EQ(graphs, 108);
}

class InteropFile : public ::testing::TestWithParam<const char*> {};

TEST_P(InteropFile, ReferenceAndChosenKernelAgree) {
  const Graph graph =
      ReadTfliteFile(ReadFileBytes(std::string("tests/interop/data/") + GetParam() + ".tflite"));
  const DelegatePtr reference = CreateDelegate({{"kernel", "reference"}});
  const DelegatePtr automatic = CreateDelegate({{"num_threads", "2"}});
  const Outputs expected = MustRun(graph, reference.get(), 11);
  EXPECT_EQ(MustRun(graph, automatic.get(), 11), expected);
  ASSERT_FALSE(expected.empty());
  EXPECT_FALSE(expected[0].empty());
}

INSTANTIATE_TEST_SUITE_P(Delegate, InteropFile,
                         ::testing::Values("bitpacked_chain.float", "channels_4.float",
                                           "dilated.float", "large_k_int16_overflow.float",
                                           "maxpool_chain.float", "pointwise_odd_channels.float",
                                           "relu6_3x3.float", "relu_3x3.float",
                                           "same_one_3x3.float", "same_one_stride2_even.float",
                                           "same_zero_3x3.float", "valid_5x5_stride2.float"),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name) c = c == '.' ? '_' : c;
                           return name;
                         });

TEST(Delegate, ResizeGivesWhatAFreshHostGives) {
  const DelegatePtr delegate = CreateDelegate({{"num_threads", "2"}});
  MiniHost host(ChainGraph());
  ASSERT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk) << host.errors();
  const std::vector<std::vector<int>> shapes = {
      {1, 9, 7, 40}, {3, 9, 7, 40}, {1, 20, 31, 40}, {2, 5, 5, 40}, {1, 9, 7, 40}};
  for (const std::vector<int>& shape : shapes) {
    SCOPED_TRACE(::testing::PrintToString(shape));
    ASSERT_EQ(host.ResizeInput(0, shape), kTfLiteOk) << host.errors();
    const Outputs resized = MustRun(&host, 3);
    MiniHost fresh(ChainGraph());
    ASSERT_EQ(fresh.ApplyDelegate(delegate.get()), kTfLiteOk);
    ASSERT_EQ(fresh.ResizeInput(0, shape), kTfLiteOk);
    EXPECT_EQ(resized, MustRun(&fresh, 3));
    const std::span<const int> output_shape = AsSpan(host.output(0).dims);
    // The layers are a SAME convolution, a pooling by 2 that rounds up, and a VALID 3x3
    // convolution.
    EXPECT_EQ(std::vector<int>(output_shape.begin(), output_shape.end()),
              (std::vector<int>{shape[0], (shape[1] + 1) / 2 - 2, (shape[2] + 1) / 2 - 2, 5}));
  }
}

TEST(Delegate, RunsAgainAfterARefusedShape) {
  const DelegatePtr delegate = CreateDelegate({});
  MiniHost host(ChainGraph());
  ASSERT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk);
  const Outputs before = MustRun(&host, 3);
  ASSERT_EQ(host.ResizeInput(0, std::vector<int>{1, 2, 2, 40}), kTfLiteOk);
  EXPECT_EQ(host.Allocate(), kTfLiteError);  // the VALID 3x3 window does not fit
  EXPECT_NE(host.errors().find("feed larger images"), std::string::npos) << host.errors();
  ASSERT_EQ(host.ResizeInput(0, std::vector<int>{1, 9, 7, 40}), kTfLiteOk);
  EXPECT_EQ(MustRun(&host, 3), before);
}

TEST(Delegate, ASecondOneFindsNothingToTakeOver) {
  const DelegatePtr first = CreateDelegate({}), second = CreateDelegate({});
  MiniHost host(ChainGraph());
  ASSERT_EQ(host.ApplyDelegate(first.get()), kTfLiteOk) << host.errors();
  ASSERT_EQ(host.ApplyDelegate(second.get()), kTfLiteOk) << host.errors();
  EXPECT_EQ(host.partitions(), 1u);
  EXPECT_EQ(MustRun(&host, 3), MustRun(ChainGraph(), first.get(), 3));
}

TEST(Delegate, HostsOneAfterAnotherShareADelegate) {
  const DelegatePtr delegate = CreateDelegate({});
  const Outputs first = MustRun(ChainGraph(), delegate.get(), 3);
  EXPECT_EQ(MustRun(ChainGraph(), delegate.get(), 3), first);
}

// The second host probably lies at the addresses of the first, and so does much of its graph.
TEST(Delegate, AGraphIsJudgedByItselfWhateverWasThereBefore) {
  const auto sum = [](int rows) {
    ModelBuilder builder(kTfLiteFloat32, {1, rows, 5, 8});
    builder.AddQuantize().AddConv({.filters = 8}).AddBinary(builtin::kAdd, kTfLiteActNone, 0);
    Graph graph = builder.Build();
    graph.tensors.push_back(graph.tensors[0]);
    graph.tensors.back().shape = {1, 6, 5, 8};
    graph.inputs.push_back(static_cast<int>(graph.tensors.size()) - 1);
    graph.operators.back().inputs[1] = graph.inputs[1];
    return graph;
  };
  const auto run = [](std::optional<MiniHost>* host, const Graph& graph, TfLiteDelegate* delegate) {
    host->emplace(graph);
    EXPECT_EQ((*host)->ApplyDelegate(delegate), kTfLiteOk) << (*host)->errors();
    return MustRun(&**host, 3);
  };
  std::optional<MiniHost> host;
  const DelegatePtr fresh = CreateDelegate({});
  const Outputs expected = run(&host, sum(1), fresh.get());
  const DelegatePtr shared = CreateDelegate({});
  run(&host, sum(6), shared.get());
  EXPECT_EQ(run(&host, sum(1), shared.get()), expected);
}

// Tensors of no size must cost no time, though the other dimensions multiply to 2^42 pixels, or to
// the 2^27 that a host with 32-bit sizes takes.
TEST(Delegate, EmptyTensorsAreNoWork) {
  const DelegatePtr delegate = CreateDelegate({});
  const int many = sizeof(size_t) == 8 ? 1 << 14 : 1 << 9;
  MiniHost quantize(ModelBuilder(kTfLiteFloat32, {many, many, many, 0}).AddQuantize().Build());
  ASSERT_EQ(quantize.ApplyDelegate(delegate.get()), kTfLiteOk);
  const Outputs no_bytes = {{}};
  EXPECT_EQ(MustRun(&quantize, 1), no_bytes);
  MiniHost chain(ChainGraph());
  ASSERT_EQ(chain.ApplyDelegate(delegate.get()), kTfLiteOk);
  ASSERT_EQ(chain.ResizeInput(0, std::vector<int>{0, 9, 7, 40}), kTfLiteOk);
  EXPECT_EQ(MustRun(&chain, 1), no_bytes);
}

TEST(Delegate, TellsTheHostWhatItNeeds) {
  const DelegatePtr delegate = CreateDelegate({});
  EXPECT_EQ(delegate->flags,
            kTfLiteDelegateFlagsAllowDynamicTensors | kTfLiteDelegateFlagsPerOperatorProfiling);
}

#if !defined(_WIN32)  // there is no file that lists threads
int ThreadsOfThisProcess() {
  const auto tasks = std::filesystem::directory_iterator("/proc/self/task");
  return static_cast<int>(std::distance(begin(tasks), end(tasks)));
}

// A thread that was joined is listed until the system has cleaned up after it. Returns the number
// once it no longer changes.
int LastingThreadsOfThisProcess() {
  int threads = ThreadsOfThisProcess();
  for (int unchanged = 0; unchanged < 10; ++unchanged) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const int now = ThreadsOfThisProcess();
    if (now != threads) unchanged = 0;
    threads = now;
  }
  return threads;
}

// Returns how many threads the delegate starts beside the caller in a host that recommends
// `host_threads`.
int StartedThreads(const DelegateOptions& options, int host_threads) {
  const int before = LastingThreadsOfThisProcess();
  const DelegatePtr delegate = CreateDelegate(options);
  MiniHost host(ChainGraph());
  host.SetRecommendedThreads(host_threads);
  EXPECT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk);
  MustRun(&host, 1);
  return ThreadsOfThisProcess() - before;
}

TEST(Delegate, ThreadsAreThoseOfTheOptionOrOfTheHost) {
  const int most = UsableCpus() - 1;
  EXPECT_EQ(StartedThreads({}, -1), 0);
  EXPECT_EQ(StartedThreads({}, 2), std::min(1, most));
  EXPECT_EQ(StartedThreads({{"num_threads", "2"}}, 1), std::min(1, most));
  EXPECT_EQ(StartedThreads({{"num_threads", "1"}}, 8), 0);
}

TEST(Delegate, ThreadsAreNoMoreThanCpus) {
  const int most = std::min(UsableCpus(), 256) - 1;
  EXPECT_EQ(StartedThreads({{"num_threads", "256"}}, 1), most);
  EXPECT_EQ(StartedThreads({}, 1000000), most);
}
#endif

TEST(Delegate, AHostThatIsGoneLeavesTheProfile) {
  const DelegatePtr delegate = CreateDelegate({});
  {
    MiniHost host(ChainGraph());
    ASSERT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk);
    larq_engine_profile_start(delegate.get());
    MustRun(&host, 1);
  }
  char json[64];
  larq_engine_profile_read(delegate.get(), json, sizeof(json));
  EXPECT_STREQ(json, "{\"steps\":[]}");
}

#if !defined(_WIN32)  // there is no fork
TEST(Delegate, AForkedChildMayFreeIt) {
  DelegatePtr delegate = CreateDelegate({{"num_threads", "4"}});
  auto host = std::make_unique<MiniHost>(ChainGraph());
  ASSERT_EQ(host->ApplyDelegate(delegate.get()), kTfLiteOk);
  const Outputs expected = MustRun(host.get(), 1);
// ThreadSanitizer does not follow a forked child, and AddressSanitizer waits in it for a lock of
// its allocator that a thread of the parent held.
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
  const pid_t child = fork();
  if (child == 0) {
    const bool same = MustRun(host.get(), 1) == expected;
    host.reset();
    delegate.reset();
    _exit(same ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
#endif
}
#endif

}  // namespace
}  // namespace larq_engine::testing

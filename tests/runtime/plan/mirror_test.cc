// Tests plans over two devices with random graphs. Their operators and parts of layers are spread
// by chance over the CPU and a device that works in memory of its own.
#include <algorithm>
#include <map>
#include <set>
#include <thread>
#include <tuple>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "larq_engine/runtime/cpu/cpu_executor.h"
#include "larq_engine/runtime/host/delegate.h"
#include "larq_engine/runtime/larq_engine.h"
#include "larq_engine/runtime/profile.h"
#include "tests/common/seed.h"
#include "tests/host/model_builder.h"
#include "tests/host/run_graph.h"
#include "tests/runtime/plan/mirror_device.h"

namespace larq_engine::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::HasSubstr;

constexpr double kDear = 1e9;  // seconds

struct Pair {
  explicit Pair(std::function<void(Program&)> split = {}) {
    EngineOptions options;
    options.kernel = "auto";
    options.num_threads = 2;
    std::vector<std::unique_ptr<Executor>> executors;
    executors.push_back(std::make_unique<CpuExecutor>(options));
    auto made = std::make_unique<MirrorExecutor>();
    mirror = made.get();
    executors.push_back(std::move(made));
    delegate.reset(MakeDelegate(
        std::make_shared<Engine>(options, std::move(executors), Placement{}, std::move(split)),
        options));
  }

  // Chooses each operator's device by a coin of its own, which gives the same answer every time.
  void SpreadByChance(uint32_t seed) {
    mirror->seconds = [seed](const ProgramOp& op) {
      std::mt19937 coin(seed + static_cast<uint32_t>(op.output) * 7919);
      return (coin() >> 9) % 2 == 0 ? 0.0 : kDear;
    };
  }

  MirrorExecutor* mirror;
  DelegatePtr delegate;
};

class GraphMaker {
 public:
  explicit GraphMaker(Random& random)
      : random_(random),
        builder_(kTfLiteFloat32,
                 {1, static_cast<int>(random.Int(1, 7)), static_cast<int>(random.Int(1, 7)),
                  static_cast<int>(random.Int(1, 70))},
                 random.Word()) {}

  Graph Make() {
    floats_.push_back({builder_.LastTensor(), builder_.shape()});
    for (int64_t steps = random_.Int(3, 12); steps > 0; --steps) AddStep();
    builder_.AddQuantize().AddConv({.filters = 5});
    Graph graph = builder_.Build();
    for (const auto& [tensor, shape] : floats_) {
      if (tensor != graph.inputs[0] && tensor != graph.outputs[0] && random_.Int(0, 3) == 0) {
        graph.outputs.push_back(tensor);
      }
    }
    return graph;
  }

 private:
  std::vector<int> Alike(size_t dims) const {
    std::vector<int> found;
    for (const auto& [tensor, shape] : floats_) {
      const std::vector<int>& own = builder_.shape();
      if (std::equal(own.begin(), own.begin() + static_cast<ptrdiff_t>(dims), shape.begin())) {
        found.push_back(tensor);
      }
    }
    return found;
  }

  void AddStep() {
    const auto pick = [&](const std::vector<int>& of) {
      return of[static_cast<size_t>(random_.Int(0, static_cast<int64_t>(of.size()) - 1))];
    };
    switch (random_.Int(0, 8)) {
      case 0: {
        const int bits = static_cast<int>(random_.Int(0, 3) > 0 ? random_.Int(1, 3) : 8);
        ConvConfig config = AnyConv(kTfLiteFloat32);
        config.bits_in = bits;
        config.bits_weights = static_cast<int>(random_.Int(1, 2));
        builder_.AddQuantize(bits, random_.Int(0, 1) == 0).AddConv(config);
        break;
      }
      case 1:
        builder_.AddQuantize().AddConv(AnyConv(kTfLiteInt32)).AddDequantize(kTfLiteFloat32);
        break;
      case 8:
        builder_.AddQuantize().AddConv(AnyConv(kTfLiteInt8)).AddQuantize();
        builder_.AddConv(AnyConv(kTfLiteFloat32));
        break;
      case 2:
        builder_.AddQuantize().AddPool({}).AddConv(AnyConv(kTfLiteFloat32));
        break;
      case 3:
        builder_.AddBinary(builtin::kAdd, kTfLiteActRelu, pick(Alike(4)));
        break;
      case 4:
        builder_.AddBinary(random_.Int(0, 1) == 0 ? builtin::kMul : builtin::kAdd, kTfLiteActNone);
        break;
      case 5:
        builder_.AddPrelu();
        break;
      case 6:
        builder_.AddFloatPool({.stride_height = 1});
        break;
      default:
        builder_.AddConcatenation({pick(Alike(3))});
    }
    floats_.push_back({builder_.LastTensor(), builder_.shape()});
  }

  ConvConfig AnyConv(TfLiteType output) {
    return {.filters = static_cast<int>(random_.Int(1, 70)),
            .filter_height = static_cast<int>(random_.Int(1, 3)),
            .filter_width = static_cast<int>(random_.Int(1, 3)),
            .pad_values = static_cast<int>(random_.Int(0, 1)),
            .output = output};
  }

  Random& random_;
  ModelBuilder builder_;
  std::vector<std::pair<int, std::vector<int>>> floats_;  // numbers of tensors and their shapes
};

std::function<void(Program&)> SplitByChance(uint32_t seed) {
  return [seed](Program& program) {
    std::mt19937 random(seed);
    for (size_t i = 0; i < program.ops().size(); ++i) {
      const auto* conv = std::get_if<Bconv2dOp>(program.op(i).op.get());
      if (conv == nullptr || random() % 2 == 0) continue;
      const int64_t step = conv->transform.kind == OutputKind::kBits ? 32 : 1;
      const int64_t cuts = (conv->spec.out_channels - 1) / step;
      if (cuts == 0) continue;
      program.Split(i, (1 + random() % cuts) * step);
      i += 2;
    }
  };
}

Outputs RunAlone(const Graph& graph, uint32_t seed) {
  const DelegatePtr delegate = CreateDelegate({});
  MiniHost host(graph);
  EXPECT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk) << host.errors();
  Outputs outputs;
  EXPECT_TRUE(RunOnce(&host, seed, 0x11, &outputs)) << host.errors();
  return outputs;
}

TEST(Mirror, RandomGraphsOverTwoDevices) {
  SCOPED_TRACE(ReplayHint());
  Random random;
  uint64_t transfers = 0;
  std::map<std::string, uint64_t> steps;  // number for each device
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(round);
    const Graph graph = GraphMaker(random).Make();
    const Outputs expected = RunAlone(graph, 7);
    Pair pair(SplitByChance(random.Word()));
    pair.SpreadByChance(random.Word());
    MiniHost host(graph);
    ASSERT_EQ(host.ApplyDelegate(pair.delegate.get()), kTfLiteOk) << host.errors();
    Outputs outputs;
    ASSERT_TRUE(RunOnce(&host, 1, 0x22, &outputs)) << host.errors();
    larq_engine_profile_start(pair.delegate.get());
    const MirrorMemory& memory = *pair.mirror->memory();
    const uint64_t before = memory.copied_in + memory.copied_out;
    ASSERT_TRUE(RunOnce(&host, 7, 0x33, &outputs)) << host.errors();
    ASSERT_EQ(outputs, expected);
    uint64_t moved = 0;
    for (const StepProfile& row : StopProfile(pair.delegate.get())) {
      EXPECT_EQ(row.calls, 1u) << row.op << " " << row.name;
      ++steps[row.device];
      if (row.op != kTransfer) {
        EXPECT_NE(row.reason, "");
        continue;
      }
      moved += row.bytes;
      ++transfers;
    }
    EXPECT_EQ(moved, memory.copied_in + memory.copied_out - before);
  }
  EXPECT_GT(transfers, 300u);
  EXPECT_GT(steps["cpu"], 300u);
  EXPECT_GT(steps["mirror"], 300u);
}

// The transfers follow from where each operator is: a tensor moves from its home to the other
// memory, once, if one of its readers is there.
TEST(Mirror, TransfersAreThoseThatAreNeeded) {
  SCOPED_TRACE(ReplayHint());
  Random random;
  for (int round = 0; round < 100; ++round) {
    SCOPED_TRACE(round);
    const Graph graph = GraphMaker(random).Make();
    Pair pair;
    pair.SpreadByChance(random.Word());
    // If the host reads all results as well, nothing is absorbed.
    Graph open = graph;
    open.outputs.clear();
    for (const GraphOperator& op : graph.operators) open.outputs.push_back(op.outputs[0]);
    MiniHost host(open);
    ASSERT_EQ(host.ApplyDelegate(pair.delegate.get()), kTfLiteOk) << host.errors();
    Outputs outputs;
    ASSERT_TRUE(RunOnce(&host, 1, 0x22, &outputs)) << host.errors();
    std::map<int, std::string> device;                  // indexed by node
    using Move = std::tuple<std::string, std::string>;  // tensor and destination
    std::multiset<Move> found;
    for (const StepProfile& row : StopProfile(pair.delegate.get())) {
      if (row.op == kTransfer) {
        found.insert({row.name, row.device});
      } else {
        device[row.node] = row.device;
      }
    }
    ASSERT_EQ(device.size(), open.operators.size());
    std::multiset<Move> needed;
    for (size_t t = 0; t < open.tensors.size(); ++t) {
      if (open.tensors[t].is_constant) continue;
      const auto tensor = static_cast<int>(t);
      std::string home = "cpu";
      bool read_there = false;
      for (size_t i = 0; i < open.operators.size(); ++i) {
        const GraphOperator& op = open.operators[i];
        if (op.outputs[0] == tensor) home = device[static_cast<int>(i)];
        const bool reads = std::find(op.inputs.begin(), op.inputs.end(), tensor) != op.inputs.end();
        read_there |= reads && device[static_cast<int>(i)] == "mirror";
      }
      if (home == "mirror") needed.insert({open.tensors[t].name, "cpu"});
      if (home == "cpu" && read_there) needed.insert({open.tensors[t].name, "mirror"});
    }
    EXPECT_EQ(found, needed);
  }
}

Graph Chain() {
  ModelBuilder builder(kTfLiteFloat32, {1, 6, 6, 33});
  builder.AddQuantize().AddConv({.filters = 40}).AddPrelu().AddQuantize().AddConv({.filters = 9});
  return builder.Build();
}

TEST(Mirror, OperatorsThatItCannotComputeStay) {
  Pair pair;
  pair.mirror->refusal = [](const Program&, const ProgramOp& op) {
    return op.name.kind == std::string("LceBconv2d") ? "it reflects no LceBconv2d" : "";
  };
  MiniHost host(Chain());
  ASSERT_EQ(host.ApplyDelegate(pair.delegate.get()), kTfLiteOk) << host.errors();
  Outputs outputs;
  ASSERT_TRUE(RunOnce(&host, 1, 0, &outputs)) << host.errors();
  EXPECT_EQ(outputs, RunAlone(Chain(), 1));
  int convolutions = 0;
  for (const StepProfile& row : StopProfile(pair.delegate.get())) {
    if (row.op != "LceBconv2d") continue;
    ++convolutions;
    EXPECT_EQ(row.device, "cpu");
    EXPECT_EQ(row.reason, "not on mirror: it reflects no LceBconv2d");
  }
  EXPECT_EQ(convolutions, 2);
}

// The mirror may refuse an operator for some shapes only.
TEST(Mirror, ShapesThatItCannotComputeStay) {
  Pair pair;
  pair.mirror->refusal = [](const Program& program, const ProgramOp& op) {
    return program.value(op.output).shape.dims[1] > 6 ? "it is too large" : "";
  };
  MiniHost host(Chain());
  ASSERT_EQ(host.ApplyDelegate(pair.delegate.get()), kTfLiteOk) << host.errors();
  for (const int size : {6, 7, 6}) {
    const std::vector<int> shape = {1, size, 6, 33};
    ASSERT_EQ(host.ResizeInput(0, shape), kTfLiteOk);
    Outputs outputs;
    ASSERT_TRUE(RunOnce(&host, 1, 0, &outputs)) << host.errors();
    for (const StepProfile& row : StopProfile(pair.delegate.get())) {
      if (row.op == kTransfer) continue;
      EXPECT_EQ(row.device, size == 7 ? std::string("cpu") : "mirror") << row.op;
      EXPECT_EQ(row.reason == "not on mirror: it is too large", size == 7);
    }
  }
}

TEST(Mirror, TransfersCountInTheChoice) {
  for (const double seconds_per_byte : {0.0, 1.0}) {
    Pair pair;
    pair.mirror->memory()->seconds_per_byte = seconds_per_byte;
    MiniHost host(Chain());
    ASSERT_EQ(host.ApplyDelegate(pair.delegate.get()), kTfLiteOk) << host.errors();
    Outputs outputs;
    ASSERT_TRUE(RunOnce(&host, 1, 0, &outputs)) << host.errors();
    EXPECT_EQ(outputs, RunAlone(Chain(), 1));
    const MirrorMemory& memory = *pair.mirror->memory();
    const uint64_t moved = memory.copied_in + memory.copied_out;
    EXPECT_EQ(moved > 0, seconds_per_byte == 0);
  }
}

// All but the first operator are free as long as the device computes the one before. The CPU takes
// the first one, and then the next one is the device's first.
TEST(Mirror, OperatorsThatShareALaunchAreAskedForAlone) {
  Pair pair;
  pair.mirror->shares_launches = true;
  pair.mirror->seconds = [](const ProgramOp&) { return kDear; };
  MiniHost host(Chain());
  ASSERT_EQ(host.ApplyDelegate(pair.delegate.get()), kTfLiteOk) << host.errors();
  Outputs outputs;
  ASSERT_TRUE(RunOnce(&host, 1, 0, &outputs)) << host.errors();
  EXPECT_EQ(outputs, RunAlone(Chain(), 1));
  EXPECT_EQ(pair.mirror->memory()->copied_in, 0u);
}

// The run fails whichever operator the device fails at, and the error names that operator. Later
// runs fail, too, because the device's memory is no longer valid.
TEST(Mirror, ErrorsOfTheDeviceAreTold) {
  const char* const kinds[] = {"LceQuantize", "LceBconv2d", "PRELU", "LceQuantize", "LceBconv2d"};
  for (int at = 0; at < 5; ++at) {
    Pair pair;
    pair.mirror->runs_until_failure = at;
    MiniHost host(Chain());
    ASSERT_EQ(host.ApplyDelegate(pair.delegate.get()), kTfLiteOk) << host.errors();
    Outputs outputs;
    for (int round = 0; round < 2; ++round) {
      EXPECT_FALSE(RunOnce(&host, 1, 0, &outputs));
      EXPECT_THAT(host.errors(), HasSubstr(std::string(kinds[at]) + " '"));
      EXPECT_THAT(host.errors(), HasSubstr("(#" + std::to_string(at) + "): the mirror is broken"));
    }
  }
}

// The CPU's time grows with the image, and the mirror's does not.
TEST(Mirror, OtherShapesHaveOtherDevices) {
  Pair pair;
  pair.mirror->seconds = [](const ProgramOp&) { return 1e-5; };
  const Graph graph = Chain();
  MiniHost host(graph);
  ASSERT_EQ(host.ApplyDelegate(pair.delegate.get()), kTfLiteOk) << host.errors();
  const DelegatePtr alone = CreateDelegate({});
  MiniHost other(graph);
  ASSERT_EQ(other.ApplyDelegate(alone.get()), kTfLiteOk) << other.errors();
  std::vector<uint64_t> moved;
  for (const int size : {2, 600, 1, 600}) {
    const std::vector<int> shape = {2, size, 6, 33};
    ASSERT_EQ(host.ResizeInput(0, shape), kTfLiteOk);
    ASSERT_EQ(other.ResizeInput(0, shape), kTfLiteOk);
    Outputs outputs;
    Outputs expected;
    const uint64_t before = pair.mirror->memory()->copied_in;
    ASSERT_TRUE(RunOnce(&host, 1, 0x44, &outputs)) << host.errors();
    ASSERT_TRUE(RunOnce(&other, 1, 0x55, &expected)) << other.errors();
    EXPECT_EQ(outputs, expected);
    moved.push_back(pair.mirror->memory()->copied_in - before);
  }
  EXPECT_THAT(moved, ElementsAre(0, Gt(0), 0, Gt(0)));
}

// A constant of 8 channels turns 1 channel into 8, which a quantization that absorbed it could not
// do.
TEST(Mirror, ProgramsThatAreMadeAnew) {
  ModelBuilder builder(kTfLiteFloat32, {1, 4, 4, 8});
  builder.AddBinary(builtin::kMul, kTfLiteActNone).AddQuantize().AddConv({.filters = 8});
  const Graph graph = builder.Build();
  Pair pair(SplitByChance(1));
  pair.SpreadByChance(2);
  MiniHost host(graph);
  ASSERT_EQ(host.ApplyDelegate(pair.delegate.get()), kTfLiteOk) << host.errors();
  const DelegatePtr alone = CreateDelegate({});
  MiniHost other(graph);
  ASSERT_EQ(other.ApplyDelegate(alone.get()), kTfLiteOk) << other.errors();
  for (const int channels : {8, 1, 8}) {
    const std::vector<int> shape = {1, 4, 4, channels};
    ASSERT_EQ(host.ResizeInput(0, shape), kTfLiteOk);
    ASSERT_EQ(other.ResizeInput(0, shape), kTfLiteOk);
    Outputs outputs;
    Outputs expected;
    ASSERT_TRUE(RunOnce(&host, 1, 0x44, &outputs)) << host.errors();
    ASSERT_TRUE(RunOnce(&other, 1, 0x55, &expected)) << other.errors();
    EXPECT_EQ(outputs, expected);
  }
}

// Constants do not change, so they are moved once, however often tensors are allocated and plans
// run.
TEST(Mirror, ConstantsAreMovedOnce) {
  for (const TfLiteType type : {kTfLiteFloat32, kTfLiteInt8}) {
    Graph graph = ModelBuilder(type, {1, 5, 5, 40}).AddQuantize().AddConv({.filters = 9}).Build();
    GraphTensor& image = graph.tensors[static_cast<size_t>(graph.inputs[0])];
    const size_t bytes = (type == kTfLiteFloat32 ? 4 : 1) * size_t{5 * 5 * 40};
    image.is_constant = true;
    for (size_t i = 0; i < bytes; ++i) image.data.push_back(static_cast<uint8_t>(i * 37));
    graph.inputs.clear();
    Pair pair;
    MiniHost host(graph);
    ASSERT_EQ(host.ApplyDelegate(pair.delegate.get()), kTfLiteOk) << host.errors();
    Outputs outputs;
    for (const uint8_t garbage : {0x11, 0x22, 0x33}) {
      ASSERT_TRUE(RunOnce(&host, 1, garbage, &outputs)) << host.errors();
      EXPECT_EQ(outputs, RunAlone(graph, 1));
      EXPECT_EQ(pair.mirror->memory()->copied_in, bytes);
    }
    for (const StepProfile& row : StopProfile(pair.delegate.get())) {
      EXPECT_EQ(row.device, row.op == kTransfer ? "cpu" : "mirror") << row.op;
    }
  }
}

// Data in the device's memory that it reads in place of the host's first input.
struct DeviceData {
  DeviceData(Pair& pair, MiniHost& host)
      : memory(*pair.mirror->memory()),
        bytes(host.InputBytes(0).size()),
        data(memory, MemoryUse::kActivations, 8 * bytes) {
    const auto floats = bytes / sizeof(float);
    std::fill_n(reinterpret_cast<float*>(data.data()), 8 * floats, 1.0f);
    char error[500] = "";
    EXPECT_EQ(larq_engine_set_device_input(pair.delegate.get(), host.graph().inputs[0], data.data(),
                                           bytes, error, sizeof(error)),
              0)
        << error;
  }

  MirrorMemory& memory;
  size_t bytes;
  DeviceBuffer data;
};

TEST(Mirror, DeviceInputsAreOfTheShapesThatTheyWereSetFor) {
  Pair pair;
  MiniHost host(Chain());
  ASSERT_EQ(host.ApplyDelegate(pair.delegate.get()), kTfLiteOk) << host.errors();
  ASSERT_EQ(host.Allocate(), kTfLiteOk) << host.errors();
  const std::vector<int> first(AsSpan(host.input(0).dims).begin(),
                               AsSpan(host.input(0).dims).end());
  const DeviceData data(pair, host);
  ASSERT_EQ(host.Invoke(), kTfLiteOk) << host.errors();
  std::vector<int> larger = first;
  larger[1] *= 2;
  ASSERT_EQ(host.ResizeInput(0, larger), kTfLiteOk);
  ASSERT_EQ(host.Allocate(), kTfLiteOk) << host.errors();
  EXPECT_NE(host.Invoke(), kTfLiteOk);
  EXPECT_THAT(host.errors(), HasSubstr("given input #" + std::to_string(host.graph().inputs[0]) +
                                       ": expected " + std::to_string(2 * data.bytes) +
                                       " bytes of data, got " + std::to_string(data.bytes)));
  ASSERT_EQ(host.ResizeInput(0, first), kTfLiteOk);
  ASSERT_EQ(host.Allocate(), kTfLiteOk) << host.errors();
  EXPECT_EQ(host.Invoke(), kTfLiteOk) << host.errors();
}

// In a plan for other shapes, the CPU may read the input from the host's tensor, where nothing was
// written.
TEST(Mirror, DeviceInputsAreNotReadByAnotherDevice) {
  Pair pair;
  bool computes = true;
  pair.mirror->refusal = [&](const Program&, const ProgramOp&) {
    return computes ? "" : "not now";
  };
  MiniHost host(Chain());
  ASSERT_EQ(host.ApplyDelegate(pair.delegate.get()), kTfLiteOk) << host.errors();
  ASSERT_EQ(host.Allocate(), kTfLiteOk) << host.errors();
  const DeviceData data(pair, host);
  computes = false;
  const std::vector<int> first(AsSpan(host.input(0).dims).begin(),
                               AsSpan(host.input(0).dims).end());
  ASSERT_EQ(host.ResizeInput(0, first), kTfLiteOk);
  ASSERT_EQ(host.Allocate(), kTfLiteOk) << host.errors();
  EXPECT_NE(host.Invoke(), kTfLiteOk);
  EXPECT_THAT(host.errors(), HasSubstr("expected data in the host's memory"));
}

TEST(Mirror, DeviceInputsGoWithTheirInterpreter) {
  Pair pair;
  const Graph graph = Chain();
  const Outputs expected = RunAlone(graph, 1);
  {
    MiniHost host(graph);
    ASSERT_EQ(host.ApplyDelegate(pair.delegate.get()), kTfLiteOk) << host.errors();
    ASSERT_EQ(host.Allocate(), kTfLiteOk) << host.errors();
    const DeviceData data(pair, host);
  }
  MiniHost host(graph);
  ASSERT_EQ(host.ApplyDelegate(pair.delegate.get()), kTfLiteOk) << host.errors();
  Outputs outputs;
  ASSERT_TRUE(RunOnce(&host, 1, 0, &outputs)) << host.errors();
  EXPECT_EQ(outputs, expected);
}

// They are read in place of the host's tensor, until they are set to null.
TEST(Mirror, HostInputsAreReadWhereTheyAre) {
  Pair pair;
  const Graph graph = Chain();
  MiniHost host(graph);
  ASSERT_EQ(host.ApplyDelegate(pair.delegate.get()), kTfLiteOk) << host.errors();
  ASSERT_EQ(host.Allocate(), kTfLiteOk) << host.errors();
  FillInputs(&host, 1);
  const std::vector<uint8_t> data(host.InputBytes(0).begin(), host.InputBytes(0).end());
  char error[500] = "";
  const auto give = [&](const void* from, size_t bytes) {
    return larq_engine_set_host_input(pair.delegate.get(), graph.inputs[0], from, bytes, error,
                                      sizeof(error));
  };
  EXPECT_EQ(give(data.data(), data.size() - 4), 1);
  EXPECT_EQ(std::string(error), "expected " + std::to_string(data.size()) + " bytes of data, got " +
                                    std::to_string(data.size() - 4));
  ASSERT_EQ(give(data.data(), data.size()), 0) << error;
  Outputs outputs;
  ASSERT_TRUE(RunOnce(&host, 2, 0, &outputs)) << host.errors();
  EXPECT_EQ(outputs, RunAlone(graph, 1));
  ASSERT_EQ(give(nullptr, 0), 0) << error;
  ASSERT_TRUE(RunOnce(&host, 2, 0, &outputs)) << host.errors();
  EXPECT_EQ(outputs, RunAlone(graph, 2));
}

TEST(Mirror, HostInputsAreForDevicesWithTheirOwnMemory) {
  const DelegatePtr delegate = CreateDelegate({});
  const Graph graph = Chain();
  MiniHost host(graph);
  ASSERT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk) << host.errors();
  ASSERT_EQ(host.Allocate(), kTfLiteOk) << host.errors();
  char error[500] = "";
  EXPECT_EQ(larq_engine_set_host_input(delegate.get(), graph.inputs[0], host.InputBytes(0).data(),
                                       host.InputBytes(0).size(), error, sizeof(error)),
            1);
  EXPECT_STREQ(error, "expected data in the host's tensor, as everything is computed on the CPU");
}

TEST(Mirror, ServesTwoThreads) {
  Pair pair(SplitByChance(5));
  pair.SpreadByChance(6);
  const Graph graph = Chain();
  const Outputs expected = RunAlone(graph, 1);
  const auto run = [&] {
    MiniHost host(graph);
    ASSERT_EQ(host.ApplyDelegate(pair.delegate.get()), kTfLiteOk) << host.errors();
    for (int round = 0; round < 20; ++round) {
      Outputs outputs;
      ASSERT_TRUE(RunOnce(&host, 1, 0, &outputs)) << host.errors();
      ASSERT_EQ(outputs, expected);
    }
  };
  std::thread beside(run);
  run();
  beside.join();
}

}  // namespace
}  // namespace larq_engine::testing

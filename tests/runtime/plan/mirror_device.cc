#include "tests/runtime/plan/mirror_device.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "larq_engine/kernels/binary/select.h"
#include "larq_engine/kernels/binary/table.h"
#include "larq_engine/kernels/common/aligned_buffer.h"
#include "larq_engine/kernels/common/bits.h"
#include "larq_engine/kernels/pixels/select.h"
#include "larq_engine/runtime/cpu/step.h"
#include "larq_engine/runtime/ops/op_error.h"

namespace larq_engine::testing {
namespace {

// Returns the name of the row that every CPU runs.
std::string PortableRow() {
  const std::span<const BgemmRow> rows = BgemmRows();
  return std::find_if(rows.begin(), rows.end(),
                      [](const BgemmRow& row) { return row.isa == Isa::kPortable; })
      ->name;
}

// Operators on the mirror. Every value has a place of its own, and every operator runs whole.
class MirrorSegment : public Segment {
 public:
  MirrorSegment(MirrorExecutor& executor, const Program& program, std::span<const size_t> ops,
                const std::vector<bool>& is_shared)
      : executor_(executor), program_(program), is_shared_(is_shared) {
    const StepKernels kernels{.kernel = PortableRow(), .pixel_ops = SelectPixelOps({})};
    for (size_t index : ops) {
      const ProgramOp& op = program.op(index);
      ForOperator(op.name, [&] { steps_.push_back({&op, MakeStep(*op.op, kernels), 0}); });
    }
  }
  ~MirrorSegment() override { FreeAll(); }

  void Resize(int) override {
    FreeAll();
    own_.assign(program_.values().size(), nullptr);
    for (Made& made : steps_) {
      const std::vector<TensorShape> inputs = program_.InputShapes(*made.op);
      const Value& output = program_.value(made.op->output);
      ForOperator(made.op->name, [&] { made.step->Resize(inputs, output.shape); });
      if (!is_shared_[made.op->output]) {
        own_[made.op->output] = executor_.memory()->Allocate(output.bytes);
      }
      scratch_bytes_ = std::max(scratch_bytes_, made.step->scratch_bytes());
    }
  }

  // Queues the operators, which read and write only when their turn comes.
  void Run(const SegmentRun& run) override {
    for (Made& made : steps_) {
      executor_.queue().Add([this, &made, places = run.places] { RunStep(made, places); });
    }
  }

  void ClearProfile() override {
    for (Made& made : steps_) made.calls = 0;
  }

  void AppendProfile(std::vector<StepProfile>& steps) const override {
    executor_.queue().Wait();
    for (const Made& made : steps_) {
      steps.push_back({.op = made.op->name.kind,
                       .name = program_.value(made.op->output).name,
                       .layer = made.op->name.layer,
                       .node = made.op->name.node,
                       .device = executor_.device(),
                       .kernel = made.step->kernel(),
                       .calls = made.calls,
                       .total_ns = 0});
    }
  }

 private:
  struct Made {
    const ProgramOp* op;
    std::unique_ptr<Step> step;
    uint64_t calls;
  };

  void RunStep(Made& made, std::span<std::byte* const> places) {
    int& left = executor_.runs_until_failure;
    if (left == 0) throw OpError(made.op->name.ErrorStart() + "the mirror is broken");
    if (left > 0) --left;
    const auto find = [&](size_t value) { return is_shared_[value] ? places[value] : own_[value]; };
    std::vector<const void*> inputs;
    for (size_t input : made.op->inputs) inputs.push_back(find(input));
    AlignedBuffer<std::byte> scratch(scratch_bytes_);
    TakeAtLeast(executor_.slow && executor_.seconds ? executor_.seconds(*made.op) : 0, [&] {
      made.step->Run(inputs, {0, made.step->pixels(), 0, made.step->blocks()}, scratch.data(),
                     find(made.op->output));
    });
    ++made.calls;
  }

  void FreeAll() {
    for (std::byte* memory : own_) executor_.memory()->Free(memory);
    own_.clear();
  }

  MirrorExecutor& executor_;
  const Program& program_;
  const std::vector<bool>& is_shared_;
  std::vector<Made> steps_;
  std::vector<std::byte*> own_;  // for each value
  size_t scratch_bytes_ = 0;
};

}  // namespace

// It spins, because sleeping takes longer than it was asked to.
void TakeAtLeast(double seconds, const std::function<void()>& work) {
  const auto end = ProfileClock::now() + std::chrono::duration<double>(seconds);
  work();
  while (ProfileClock::now() < end) {
  }
}

MirrorQueue::MirrorQueue() : thread_([this] { Work(); }) {}

MirrorQueue::~MirrorQueue() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void MirrorQueue::Add(std::function<void()> job) {
  const std::lock_guard<std::mutex> lock(mutex_);
  jobs_.push_back(std::move(job));
  changed_.notify_all();
}

void MirrorQueue::Wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return jobs_.empty() && !busy_; });
  if (error_ != nullptr) std::rethrow_exception(error_);
}

void MirrorQueue::Work() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stop_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    const std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    if (error_ != nullptr) {
      changed_.notify_all();
      continue;
    }
    busy_ = true;
    lock.unlock();
    std::exception_ptr error;
    try {
      job();
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    busy_ = false;
    error_ = error;
    changed_.notify_all();
  }
}

MirrorMemory::~MirrorMemory() {
  if (!blocks_.empty()) std::abort();  // a block was not freed
}

std::byte* MirrorMemory::Allocate(size_t bytes) {
  // If the bytes are no multiple of the alignment, a few bytes are left before the guard.
  const size_t used = RoundUp(bytes, kBufferAlignment);
  auto pages = std::make_unique<testing::GuardedPages>(used);
  std::memset(pages->begin(), 0xA5,
              static_cast<size_t>(pages->end() - pages->begin()));  // shows what nobody wrote
  std::byte* begin = pages->end() - used;
  const std::lock_guard<std::mutex> lock(mutex_);
  blocks_.push_back({begin, bytes, std::move(pages)});
  return blocks_.back().begin;
}

void MirrorMemory::Free(std::byte* memory) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = std::find_if(blocks_.begin(), blocks_.end(),
                                  [&](const Block& block) { return block.begin == memory; });
  if (found == blocks_.end()) {
    if (memory != nullptr) std::abort();
    return;
  }
  blocks_.erase(found);
}

void MirrorMemory::Wait() noexcept {
  try {
    queue_.Wait();
  } catch (const OpError&) {  // its caller has the error
  }
}

void MirrorMemory::CheckIsOwn(const std::byte* memory, size_t bytes) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const bool is_own = std::any_of(blocks_.begin(), blocks_.end(), [&](const Block& block) {
    return memory >= block.begin && memory + bytes <= block.begin + block.bytes;
  });
  if (!is_own) throw OpError("mirror: expected memory of the device, got another");
}

void MirrorMemory::Move(const std::byte* from, size_t bytes, std::byte* to) const {
  TakeAtLeast(slow ? Seconds(bytes) : 0, [&] { std::copy(from, from + bytes, to); });
}

void MirrorMemory::CopyIn(const std::byte* host, size_t bytes, std::byte* device) {
  CheckIsOwn(device, bytes);
  if (on_copy) on_copy("in");
  copied_in += bytes;
  queue_.Add([this, device, data = std::vector<std::byte>(host, host + bytes)] {
    Move(data.data(), data.size(), device);
  });
}

void MirrorMemory::CopyOut(const std::byte* device, size_t bytes, std::byte* host) {
  CheckIsOwn(device, bytes);
  if (on_copy) on_copy("out");
  copied_out += bytes;
  queue_.Wait();
  Move(device, bytes, host);
}

void MirrorMemory::CopyMade(const std::byte* made, size_t bytes, std::byte* device) {
  CheckIsOwn(made, bytes);
  CheckIsOwn(device, bytes);
  queue_.Add([this, made, bytes, device] { Move(made, bytes, device); });
}

std::string MirrorExecutor::Refusal(const Program& program, const ProgramOp& op) const {
  return refusal ? refusal(program, op) : "";
}

std::vector<double> MirrorExecutor::Seconds(const Program& program, std::span<const size_t> ops,
                                            int) const {
  std::vector<double> all;
  for (size_t op : ops) {
    const int producer = program.value(program.op(op).inputs[0]).producer;
    const bool is_free = shares_launches && producer != Value::kHost &&
                         std::ranges::find(ops, static_cast<size_t>(producer)) != ops.end();
    all.push_back(seconds && !is_free ? seconds(program.op(op)) : 0);
  }
  return all;
}

std::unique_ptr<Segment> MirrorExecutor::Compile(const Program& program,
                                                 std::span<const size_t> ops,
                                                 const std::vector<bool>& is_shared) {
  return std::make_unique<MirrorSegment>(*this, program, ops, is_shared);
}

}  // namespace larq_engine::testing

// What one JavaScript thread owns: its tensors, its generators, and the buffer through which packed calls travel.
//
// A tensor crosses into JavaScript as a number: slot index plus generation. The generation makes a stale or made-up
// number detectable, so that using a disposed tensor, or one of another thread, is an error and never a crash. When a
// worker thread ends, its table goes with it and everything it still held is freed.
#pragma once
#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <c10/core/InferenceMode.h>
#include <node_api.h>

#include <memory>
#include <string>
#include <vector>

struct Operator;

class TensorTable {
 public:
  static constexpr double slots = 67108864.0; // 2^26 living tensors a thread; the generation takes the 26 bits above

  double put(at::Tensor tensor) {
    if (!tensor.defined()) return 0;
    uint32_t index = free_;
    if (index == none) {
      index = static_cast<uint32_t>(table_.size());
      if (index >= static_cast<uint32_t>(slots)) throw std::runtime_error("too many living tensors on this thread");
      table_.push_back({});
    } else {
      free_ = table_[index].next;
    }
    Slot& slot = table_[index];
    slot.impl = tensor.unsafeReleaseTensorImpl();
    living_++;
    return slot.generation * slots + index;
  }

  at::Tensor get(double handle) const { return at::Tensor(Pointer::reclaim_copy(find(handle).impl)); }
  at::Tensor getOrUndefined(double handle) const { return handle == 0 ? at::Tensor() : get(handle); }

  void release(double handle) {
    if (handle == 0) return;
    Slot& slot = const_cast<Slot&>(find(handle));
    Pointer::reclaim(slot.impl); // the temporary drops the reference
    slot.impl = nullptr;
    slot.generation = slot.generation >= 67108862 ? 1 : slot.generation + 1;
    slot.next = free_;
    free_ = static_cast<uint32_t>(&slot - table_.data());
    living_--;
  }

  int64_t living() const { return living_; }
  ~TensorTable() {
    for (auto& slot : table_) if (slot.impl) Pointer::reclaim(slot.impl);
  }

 private:
  using Pointer = c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;
  static constexpr uint32_t none = UINT32_MAX;
  struct Slot {
    c10::TensorImpl* impl = nullptr;
    uint32_t generation = 1;
    uint32_t next = none;
  };

  const Slot& find(double handle) const {
    if (handle >= slots && handle < slots * slots) { // false for NaN too
      auto bits = static_cast<uint64_t>(handle);
      uint32_t index = bits & (static_cast<uint64_t>(slots) - 1), generation = static_cast<uint32_t>(bits >> 26);
      if (index < table_.size() && table_[index].impl && table_[index].generation == generation) return table_[index];
    }
    throw std::runtime_error("not a living tensor of this thread: it was disposed, or it belongs to another thread, or it is no tensor");
  }

  std::vector<Slot> table_;
  uint32_t free_ = none;
  int64_t living_ = 0;
};

struct ThreadState {
  napi_env env;
  TensorTable tensors;
  std::vector<at::Generator> generators; // handle = index + 1
  std::vector<Operator*> operators;      // those this thread has looked up; id = index
  std::vector<std::unique_ptr<c10::InferenceMode>> inference;
  std::vector<c10::IValue> stack;        // reused by every packed call
  double* buffer = nullptr;              // arguments in, results out
  size_t bufferLength = 0;
};

extern thread_local ThreadState* state;

inline at::Tensor tensorOf(double handle) { return state->tensors.get(handle); }
inline double handleOf(at::Tensor tensor) { return state->tensors.put(std::move(tensor)); }
inline at::Generator& generatorOf(double handle) {
  size_t index = static_cast<size_t>(handle) - 1;
  if (!(handle >= 1) || index >= state->generators.size() || !state->generators[index].defined())
    throw std::runtime_error("not a living generator of this thread");
  return state->generators[index];
}

// Devices travel as one number: type << 8 | (index + 1), where 0 in the low byte means "the current one".
inline c10::Device deviceOf(double code) {
  int bits = static_cast<int>(code);
  return c10::Device(static_cast<c10::DeviceType>(bits >> 8), static_cast<c10::DeviceIndex>((bits & 255) - 1));
}
inline double codeOf(c10::Device device) { return (static_cast<int>(device.type()) << 8) | (static_cast<int>(device.index()) + 1); }

// A compiled model, shared by every simulation, renderer and thread that loaded the same text and assets.
#pragma once

#include <mujoco/mujoco.h>

#include <memory>
#include <string>
#include <vector>

#include "call.h"

namespace reverie {

// One array field of mjModel or mjData, as TypeScript needs it to make a view.
struct Field {
  const char* name;
  char type;  // 'd' double, 'f' float, 'i' int32, 'b' byte; others are not shown
  void* data;
  size_t rows;
  size_t columns;

  size_t elementSize() const { return type == 'd' ? 8 : type == 'b' ? 1 : 4; }
  size_t bytes() const { return rows * columns * elementSize(); }
};

std::vector<Field> modelFields(mjModel* model);
std::vector<Field> dataFields(const mjModel* model, mjData* data);

// Memory that JavaScript sees through one ArrayBuffer. `release` detaches the buffer first, so that no
// view can reach the memory, and then lets go of it at once instead of at the next garbage collection.
class SharedMemory {
 public:
  napi_value arrayBuffer(napi_env env, void* data, size_t bytes, std::shared_ptr<void> keep);
  void release(napi_env env);
  // For a handle that was garbage-collected: views that still live keep the memory, as they must.
  void abandon(napi_env env);

 private:
  std::shared_ptr<std::shared_ptr<void>> keep_;
  napi_ref buffer_ = nullptr;
};

struct ModelHandle {
  static constexpr uint64_t kMagic = 0x5245564d4f444c31;
  static constexpr const char* kName = "a model";
  const uint64_t magic = kMagic;
  std::shared_ptr<mjModel> model;
  SharedMemory memory;

  bool disposed() const { return !model; }
  void abandon(napi_env env) { memory.abandon(env); }
};

napi_value describeFields(const Call& call, const std::vector<Field>& fields, const void* base, size_t bytes);

void registerModel(napi_env env, napi_value exports);

}  // namespace reverie

// The state of one world, and the parts of the model that this world may change.
#pragma once

#include <mujoco/mujoco.h>

#include <memory>
#include <vector>

#include "model.h"

namespace reverie {

// A model of 150 MB is shared; what a simulation writes to (say, body_pos) lies in a small block of its own.
// `view` is a copy of the mjModel struct, options included, whose pointers lead to that block where there
// is one and into the shared model elsewhere.
struct World {
  std::shared_ptr<mjModel> shared;
  mjModel view;
  std::vector<Field> ownedFields;
  std::unique_ptr<double[]> owned;
  size_t ownedBytes = 0;
  mjData* data = nullptr;

  World(std::shared_ptr<mjModel> model, const std::vector<std::string>& ownedNames);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;
};

struct SimulationHandle {
  static constexpr uint64_t kMagic = 0x52455653494d5531;
  static constexpr const char* kName = "a simulation";
  const uint64_t magic = kMagic;
  std::shared_ptr<World> world;
  SharedMemory dataMemory;
  SharedMemory ownedMemory;

  bool disposed() const { return !world; }
  void abandon(napi_env env) {
    dataMemory.abandon(env);
    ownedMemory.abandon(env);
  }
};

void registerSimulation(napi_env env, napi_value exports);

}  // namespace reverie

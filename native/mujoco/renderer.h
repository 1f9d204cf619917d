// Off-screen pictures of a simulation.
#pragma once

#include <mujoco/mujoco.h>

#include <memory>

#include "gl_context.h"
#include "simulation.h"

namespace reverie {

// A model's textures, meshes and buffers on the graphics side: one per thread, model and MSAA setting,
// shared by all renderers of that model on the thread, because uploading them takes about a second.
struct Drawing {
  std::shared_ptr<GlContext> gl;
  std::shared_ptr<mjModel> model;
  std::unique_ptr<mjrContext> context;
  int samples;

  Drawing(std::shared_ptr<GlContext> gl, std::shared_ptr<mjModel> model, int samples);
  ~Drawing();
  Drawing(const Drawing&) = delete;
  Drawing& operator=(const Drawing&) = delete;

  void fit(int width, int height);
};

struct Scene {
  std::shared_ptr<Drawing> drawing;
  int width, height;
  mjvScene scene;
  mjvOption option;
  mjvCamera camera;

  Scene(std::shared_ptr<Drawing> drawing, int width, int height, int maxGeoms);
  ~Scene();
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;
};

struct RendererHandle {
  static constexpr uint64_t kMagic = 0x52455652454e4431;
  static constexpr const char* kName = "a renderer";
  const uint64_t magic = kMagic;
  std::unique_ptr<Scene> scene;

  bool disposed() const { return !scene; }
  void abandon(napi_env) {}
};

void registerRenderer(napi_env env, napi_value exports);

}  // namespace reverie

#include "renderer.h"

#include <algorithm>
#include <vector>

#include "guard.h"

namespace reverie {

namespace {

thread_local std::vector<std::weak_ptr<Drawing>> threadDrawings;

std::shared_ptr<Drawing> drawingOf(const std::shared_ptr<GlContext>& gl, const std::shared_ptr<mjModel>& model, int samples) {
  std::erase_if(threadDrawings, [](const auto& drawing) { return drawing.expired(); });
  for (const auto& drawing : threadDrawings) {
    const auto found = drawing.lock();
    if (found && found->model == model && found->samples == samples) return found;
  }
  const auto made = std::make_shared<Drawing>(gl, model, samples);
  threadDrawings.push_back(made);
  return made;
}

}  // namespace

Drawing::Drawing(std::shared_ptr<GlContext> glContext, std::shared_ptr<mjModel> shared, int samples)
    : gl(std::move(glContext)), model(std::move(shared)), context(std::make_unique<mjrContext>()), samples(samples) {
  gl->makeCurrent();
  mjr_defaultContext(context.get());
  mjModel copy = *model;
  copy.vis.quality.offsamples = samples;
  guarded([&] {
    mjr_makeContext(&copy, context.get(), mjFONTSCALE_100);
    mjr_setBuffer(mjFB_OFFSCREEN, context.get());
  });
}

Drawing::~Drawing() {
  try {
    gl->makeCurrent();
    guarded([this] { mjr_freeContext(context.get()); });
  } catch (const JsError&) {
    // The driver is gone, as at the end of a process: nothing is left to free.
  }
}

void Drawing::fit(int width, int height) {
  const int wide = std::max(width, context->offWidth);
  const int high = std::max(height, context->offHeight);
  if (wide == context->offWidth && high == context->offHeight) return;
  gl->makeCurrent();
  guarded([&] { mjr_resizeOffscreen(wide, high, context.get()); });
}

Scene::Scene(std::shared_ptr<Drawing> shared, int width, int height, int maxGeoms)
    : drawing(std::move(shared)), width(width), height(height) {
  mjv_defaultScene(&scene);
  mjv_defaultOption(&option);
  mjv_defaultCamera(&camera);
  guarded([&] { mjv_makeScene(drawing->model.get(), &scene, maxGeoms); });
}

Scene::~Scene() { mjv_freeScene(&scene); }

namespace {

constexpr int kLargest = 16384;

Scene& sceneOf(const Call& call) { return *unwrap<RendererHandle>(call, 0).scene; }

// arguments: model, backend, device, width, height, MSAA samples, most geoms in a scene
napi_value createRenderer(Call& call) {
  const auto model = unwrap<ModelHandle>(call, 0).model;
  const int width = call.integer(3, 1, kLargest);
  const int height = call.integer(4, 1, kLargest);
  const int samples = call.integer(5, 0, 32);
  const int maxGeoms = call.integer(6, 1, 1 << 20);
  const auto gl = GlContext::ofThisThread(call.text(1), call.integer(2, 0, 1024));
  const auto drawing = drawingOf(gl, model, samples);
  drawing->fit(width, height);
  auto* handle = new RendererHandle;
  const napi_value out = wrap(call.env, handle);
  handle->scene = std::make_unique<Scene>(drawing, width, height, maxGeoms);
  return out;
}

napi_value describeRenderer(Call& call) {
  const Scene& scene = sceneOf(call);
  napi_value out = call.object();
  call.set(out, "backend", call.of(scene.drawing->gl->backend));
  call.set(out, "description", call.of(scene.drawing->gl->description));
  call.set(out, "samples", call.of(static_cast<double>(scene.drawing->context->offSamples)));
  return out;
}

napi_value setGroup(Call& call) {
  mjvOption& option = sceneOf(call).option;
  const std::string kind = call.text(1);
  const int group = call.integer(2, 0, mjNGROUP - 1);
  const bool shown = call.boolean(3);
  if (kind == "geom") option.geomgroup[group] = shown;
  else if (kind == "site") option.sitegroup[group] = shown;
  else throw JsError("ARGUMENT", "groups are of geoms or sites, not of " + kind);
  return call.none();
}

napi_value setSceneFlag(Call& call) {
  sceneOf(call).scene.flags[call.integer(1, 0, mjNRNDFLAG - 1)] = call.boolean(2);
  return call.none();
}

napi_value setVisualFlag(Call& call) {
  sceneOf(call).option.flags[call.integer(1, 0, mjNVISFLAG - 1)] = call.boolean(2);
  return call.none();
}

// arguments: renderer, look-at point (3), distance, azimuth and elevation in degrees
napi_value setFreeCamera(Call& call) {
  mjvCamera& camera = sceneOf(call).camera;
  for (int i = 0; i < 3; i++) camera.lookat[i] = call.number(i + 1);
  camera.distance = call.number(4);
  camera.azimuth = call.number(5);
  camera.elevation = call.number(6);
  return call.none();
}

// Draws `camera` (-1: the free camera) of the simulation in argument 1 into the off-screen buffer.
void draw(Call& call, Scene& scene) {
  World& world = *unwrap<SimulationHandle>(call, 1).world;
  if (world.shared != scene.drawing->model) throw JsError("ARGUMENT", "the simulation is of another model than the renderer");
  const int camera = call.integer(2, -1, static_cast<int>(world.view.ncam) - 1);
  scene.camera.type = camera < 0 ? mjCAMERA_FREE : mjCAMERA_FIXED;
  scene.camera.fixedcamid = camera;
  scene.drawing->gl->makeCurrent();
  guarded(world.data, [&] {
    mjv_updateScene(&world.view, world.data, &scene.option, nullptr, &scene.camera, mjCAT_ALL, &scene.scene);
    // The frame buffer of another model may be bound: mjr_render draws into whichever is.
    mjr_setBuffer(mjFB_OFFSCREEN, scene.drawing->context.get());
    mjr_render({0, 0, scene.width, scene.height}, &scene.scene, scene.drawing->context.get());
  });
}

void read(Scene& scene, uint8_t* color, float* depth) {
  guarded([&] { mjr_readPixels(color, depth, {0, 0, scene.width, scene.height}, scene.drawing->context.get()); });
}

// arguments: renderer, simulation, camera, color (3 bytes a pixel) or null, depth or null; rows bottom first
napi_value render(Call& call) {
  Scene& scene = sceneOf(call);
  const size_t pixels = static_cast<size_t>(scene.width) * scene.height;
  uint8_t* color = call.has(3) ? call.bytes(3, 3 * pixels).data : nullptr;
  float* depth = call.has(4) ? call.floats(4, pixels).data : nullptr;
  const auto turn = scene.drawing->gl->takeTurn();
  draw(call, scene);
  read(scene, color, depth);
  return call.none();
}

// arguments: renderer, simulation, camera, geom id of each pixel (-1: none); rows bottom first
napi_value segment(Call& call) {
  Scene& scene = sceneOf(call);
  const size_t pixels = static_cast<size_t>(scene.width) * scene.height;
  int32_t* out = call.ints(3, pixels).data;
  std::vector<uint8_t> color(3 * pixels);
  auto& flags = scene.scene.flags;
  flags[mjRND_SEGMENT] = flags[mjRND_IDCOLOR] = 1;
  try {
    const auto turn = scene.drawing->gl->takeTurn();
    draw(call, scene);
    read(scene, color.data(), nullptr);
  } catch (...) {
    flags[mjRND_SEGMENT] = flags[mjRND_IDCOLOR] = 0;
    throw;
  }
  flags[mjRND_SEGMENT] = flags[mjRND_IDCOLOR] = 0;
  std::vector<int32_t> geomOf(scene.scene.ngeom + 1, -1);  // by segmentation id + 1
  for (int i = 0; i < scene.scene.ngeom; i++) {
    const mjvGeom& geom = scene.scene.geoms[i];
    if (geom.objtype == mjOBJ_GEOM && geom.segid >= 0 && geom.segid < scene.scene.ngeom) geomOf[geom.segid + 1] = geom.objid;
  }
  for (size_t i = 0; i < pixels; i++) {
    const size_t id = color[3 * i] + 256u * color[3 * i + 1] + 65536u * color[3 * i + 2];
    out[i] = id < geomOf.size() ? geomOf[id] : -1;
  }
  return call.none();
}

napi_value disposeRenderer(Call& call) {
  unwrap<RendererHandle>(call, 0).scene.reset();
  return call.none();
}

napi_value probeRenderer(Call& call) { return call.of(GlContext::probe(call.text(0), call.integer(1, 0, 1024))->description); }

napi_value countDevices(Call& call) { return call.of(static_cast<double>(GlContext::deviceCount())); }

}  // namespace

void registerRenderer(napi_env env, napi_value exports) {
  const napi_property_descriptor properties[] = {
#define EXPORT(name) {#name, nullptr, entry<name>, nullptr, nullptr, nullptr, napi_enumerable, nullptr}
      EXPORT(createRenderer), EXPORT(describeRenderer), EXPORT(setGroup), EXPORT(setSceneFlag), EXPORT(setVisualFlag),
      EXPORT(setFreeCamera), EXPORT(render), EXPORT(segment), EXPORT(disposeRenderer), EXPORT(probeRenderer),
      EXPORT(countDevices),
#undef EXPORT
  };
  napi_define_properties(env, exports, std::size(properties), properties);
  napi_add_env_cleanup_hook(env, [](void*) { GlContext::leaveThread(); }, nullptr);
}

}  // namespace reverie

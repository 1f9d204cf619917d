// Loading, caching, naming and saving of compiled models.
//
// Compiling a scene can take seconds and hundreds of megabytes, so a model is compiled once per process:
// a process-wide table finds it by the key that TypeScript computes from the text and its assets. Worker
// threads that ask for the same key wait for the first and share its model, which nobody writes to.
#include "model.h"

#include <map>
#include <mutex>

#include "guard.h"
#include <mujoco/mjxmacro.h>

namespace reverie {

namespace {

struct CacheEntry {
  std::mutex compiling;
  std::weak_ptr<mjModel> model;
};

std::mutex cacheMutex;
std::map<std::string, std::shared_ptr<CacheEntry>> cache;

std::shared_ptr<CacheEntry> cacheEntry(const std::string& key) {
  const std::lock_guard lock(cacheMutex);
  auto& entry = cache[key];
  if (!entry) entry = std::make_shared<CacheEntry>();
  return entry;
}

// Files in memory, offered to MuJoCo's compiler before it looks on the disk.
class VirtualFiles {
 public:
  VirtualFiles() { mj_defaultVFS(&vfs_); }
  ~VirtualFiles() { mj_deleteVFS(&vfs_); }
  VirtualFiles(const VirtualFiles&) = delete;
  VirtualFiles& operator=(const VirtualFiles&) = delete;

  void add(const std::string& name, const void* data, size_t bytes) {
    if (bytes > INT32_MAX) throw JsError("MODEL", "the asset " + name + " is larger than 2 GiB");
    const int result = mj_addBufferVFS(&vfs_, name.c_str(), data, static_cast<int>(bytes));
    if (result == 2) throw JsError("MODEL", "two assets are named " + name + "; MuJoCo tells names apart without folders and case");
    if (result != 0) throw JsError("MODEL", "MuJoCo refused the asset " + name);
  }
  mjVFS* get() { return &vfs_; }

 private:
  mjVFS vfs_;
};

// `assets` is a flat array: name, bytes, name, bytes, …
void addAssets(Call& call, napi_value assets, VirtualFiles& files) {
  uint32_t length = 0;
  if (napi_get_array_length(call.env, assets, &length) != napi_ok) throw JsError("ARGUMENT", "assets must be an array");
  for (uint32_t i = 0; i + 1 < length; i += 2) {
    napi_value name, bytes;
    napi_get_element(call.env, assets, i, &name);
    napi_get_element(call.env, assets, i + 1, &bytes);
    napi_typedarray_type type;
    size_t count;
    void* data = nullptr;
    if (napi_get_typedarray_info(call.env, bytes, &type, &count, &data, nullptr, nullptr) != napi_ok || type != napi_uint8_array) {
      throw JsError("ARGUMENT", "each asset must be a Uint8Array");
    }
    files.add(Call::textOf(call.env, name), data, count);
  }
}

std::shared_ptr<mjModel> own(mjModel* model, const char* error) {
  if (!model) throw JsError("MODEL", error[0] ? error : "MuJoCo gave no reason");
  return {model, mj_deleteModel};
}

// arguments: key (empty: never cached), xml text or null, path or null, assets
std::shared_ptr<mjModel> compile(Call& call) {
  VirtualFiles files;
  if (call.has(3)) addAssets(call, call.value(3), files);
  std::string path = "model.xml";
  if (call.has(1)) {
    const std::string xml = call.text(1);
    files.add(path, xml.data(), xml.size());
  } else {
    path = call.text(2);
  }
  char error[1024] = "";
  mjModel* model = nullptr;
  guarded([&] { model = mj_loadXML(path.c_str(), files.get(), error, sizeof(error)); });
  return own(model, error);
}

napi_value handleOf(Call& call, std::shared_ptr<mjModel> model) {
  auto* handle = new ModelHandle;
  handle->model = std::move(model);
  return wrap(call.env, handle);
}

napi_value loadModel(Call& call) {
  const std::string key = call.text(0);
  if (key.empty()) return handleOf(call, compile(call));
  const auto entry = cacheEntry(key);
  const std::lock_guard lock(entry->compiling);
  auto model = entry->model.lock();
  if (!model) entry->model = model = compile(call);
  return handleOf(call, std::move(model));
}

// arguments: key, path of a file that saveModel wrote
napi_value loadBinary(Call& call) {
  const auto entry = cacheEntry(call.text(0));
  const std::string path = call.text(1);
  const std::lock_guard lock(entry->compiling);
  auto model = entry->model.lock();
  if (!model) {
    mjModel* loaded = nullptr;
    guarded([&] { loaded = mj_loadModel(path.c_str(), nullptr); });
    entry->model = model = own(loaded, "not a model of this MuJoCo version");
  }
  return handleOf(call, std::move(model));
}

napi_value saveModel(Call& call) {
  const auto model = unwrap<ModelHandle>(call, 0).model;
  const std::string path = call.text(1);
  guarded([&] { mj_saveModel(model.get(), path.c_str(), nullptr, 0); });
  return call.none();
}

napi_value modelIsCached(Call& call) {
  const std::lock_guard lock(cacheMutex);
  const auto found = cache.find(call.text(0));
  napi_value out;
  napi_get_boolean(call.env, found != cache.end() && !found->second->model.expired(), &out);
  return out;
}

napi_value modelSizes(Call& call) {
  const mjModel* m = unwrap<ModelHandle>(call, 0).model.get();
  napi_value out = call.object();
#define X(name) call.set(out, #name, call.of(static_cast<double>(m->name)));
  MJMODEL_INTS
#undef X
  return out;
}

// An array buffer over the whole model, and where in it each field lies.
napi_value modelMemory(Call& call) {
  ModelHandle& handle = unwrap<ModelHandle>(call, 0);
  mjModel* m = handle.model.get();
  napi_value out = call.object();
  call.set(out, "buffer", handle.memory.arrayBuffer(call.env, m->buffer, m->nbuffer, handle.model));
  call.set(out, "fields", describeFields(call, modelFields(m), m->buffer, m->nbuffer));
  return out;
}

napi_value nameToId(Call& call) {
  const mjModel* m = unwrap<ModelHandle>(call, 0).model.get();
  return call.of(static_cast<double>(mj_name2id(m, call.integer(1, 1, mjNOBJECT - 1), call.text(2).c_str())));
}

napi_value idToName(Call& call) {
  const mjModel* m = unwrap<ModelHandle>(call, 0).model.get();
  const char* name = mj_id2name(m, call.integer(1, 1, mjNOBJECT - 1), call.integer(2, 0, INT32_MAX));
  return name ? call.of(std::string(name)) : call.none();
}

napi_value disposeModel(Call& call) {
  ModelHandle& handle = unwrap<ModelHandle>(call, 0);
  handle.memory.release(call.env);
  handle.model.reset();
  return call.none();
}

napi_value version(Call& call) { return call.of(std::string(mj_versionString())); }

napi_value takeWarnings(Call& call) {
  napi_value out = call.array();
  auto& warnings = threadWarnings();
  for (size_t i = 0; i < warnings.size(); i++) call.push(out, i, call.of(warnings[i]));
  warnings.clear();
  return out;
}

}  // namespace

void registerModel(napi_env env, napi_value exports) {
  const napi_property_descriptor properties[] = {
#define EXPORT(name) {#name, nullptr, entry<name>, nullptr, nullptr, nullptr, napi_enumerable, nullptr}
      EXPORT(loadModel),   EXPORT(loadBinary),  EXPORT(saveModel), EXPORT(modelIsCached), EXPORT(modelSizes),
      EXPORT(modelMemory), EXPORT(nameToId),    EXPORT(idToName),  EXPORT(disposeModel),  EXPORT(version),
      EXPORT(takeWarnings),
#undef EXPORT
  };
  napi_define_properties(env, exports, std::size(properties), properties);
}

}  // namespace reverie

// The array fields of mjModel and mjData, by MuJoCo's own X-macros: none is forgotten, none is typed by hand.
#include <mujoco/mjxmacro.h>

#include <type_traits>

#include "model.h"

namespace reverie {

namespace {

template <class T>
constexpr char typeCode() {
  if (std::is_same_v<T, double>) return 'd';
  if (std::is_same_v<T, float>) return 'f';
  if (std::is_same_v<T, int>) return 'i';
  if (sizeof(T) == 1) return 'b';
  return '?';
}

}  // namespace

std::vector<Field> modelFields(mjModel* m) {
  MJMODEL_POINTERS_PREAMBLE(m)
  (void)nmocap;
  std::vector<Field> out;
#define X(type, name, rows, columns) \
  out.push_back({#name, typeCode<type>(), m->name, static_cast<size_t>(m->rows), static_cast<size_t>(columns)});
#define XNV X
  MJMODEL_POINTERS
#undef XNV
#undef X
  return out;
}

// Arena fields (contacts, efc_*) are not here: they move at every step, so a view of them would lie.
std::vector<Field> dataFields(const mjModel* m, mjData* d) {
  MJDATA_POINTERS_PREAMBLE(m)
  std::vector<Field> out;
#define X(type, name, rows, columns) \
  out.push_back({#name, typeCode<type>(), d->name, static_cast<size_t>(m->rows), static_cast<size_t>(columns)});
#define XNV X
  MJDATA_POINTERS
#undef XNV
#undef X
  return out;
}

napi_value describeFields(const Call& call, const std::vector<Field>& fields, const void* base, size_t bytes) {
  napi_value out = call.object();
  for (const Field& field : fields) {
    const auto offset = static_cast<const char*>(field.data) - static_cast<const char*>(base);
    if (field.type == '?' || offset < 0 || offset + field.bytes() > bytes) continue;
    napi_value entry = call.array();
    call.push(entry, 0, call.of(std::string(1, field.type)));
    call.push(entry, 1, call.of(static_cast<double>(offset)));
    call.push(entry, 2, call.of(static_cast<double>(field.rows)));
    call.push(entry, 3, call.of(static_cast<double>(field.columns)));
    call.set(out, field.name, entry);
  }
  return out;
}

napi_value SharedMemory::arrayBuffer(napi_env env, void* data, size_t bytes, std::shared_ptr<void> keep) {
  napi_value out;
  if (buffer_ && napi_get_reference_value(env, buffer_, &out) == napi_ok && out) return out;
  keep_ = std::make_shared<std::shared_ptr<void>>(std::move(keep));
  auto* hint = new std::shared_ptr<std::shared_ptr<void>>(keep_);
  const auto finalize = [](napi_env, void*, void* hint) { delete static_cast<std::shared_ptr<std::shared_ptr<void>>*>(hint); };
  if (napi_create_external_arraybuffer(env, data, bytes, finalize, hint, &out) != napi_ok) {
    delete hint;
    throw JsError("ENGINE", "could not share " + std::to_string(bytes) + " bytes with JavaScript");
  }
  if (buffer_) napi_delete_reference(env, buffer_);
  napi_create_reference(env, out, 0, &buffer_);
  return out;
}

void SharedMemory::release(napi_env env) {
  napi_value buffer = nullptr;
  const bool alive = buffer_ && napi_get_reference_value(env, buffer_, &buffer) == napi_ok && buffer;
  // Without a detached buffer the memory must outlive the views: the finalizer then lets go of it.
  const bool unreachable = !alive || napi_detach_arraybuffer(env, buffer) == napi_ok;
  if (keep_ && unreachable) keep_->reset();
  abandon(env);
}

void SharedMemory::abandon(napi_env env) {
  keep_.reset();
  if (buffer_) napi_delete_reference(env, buffer_);
  buffer_ = nullptr;
}

}  // namespace reverie

// The addon's entry: one ThreadState per JavaScript thread, and the table of exports.
#include <c10/util/Exception.h>

#include "exports.h"
#include "thread-state.h"

thread_local ThreadState* state = nullptr;

static void throwMessage(napi_env env, const char* message) {
  bool pending = false;
  napi_is_exception_pending(env, &pending);
  if (!pending) napi_throw_error(env, nullptr, message);
}

void bridge::throwCurrent(napi_env env) noexcept {
  try {
    throw;
  } catch (const c10::Error& e) {
    throwMessage(env, e.what_without_backtrace());
  } catch (const std::exception& e) {
    throwMessage(env, e.what());
  } catch (...) {
    throwMessage(env, "unknown C++ exception");
  }
}

NAPI_MODULE_INIT() {
  state = new ThreadState{env};
  napi_add_env_cleanup_hook(env, [](void* p) { delete static_cast<ThreadState*>(p); state = nullptr; }, state);
  napi_value f;
  napi_create_function(env, "run", NAPI_AUTO_LENGTH, run, nullptr, &f);
  napi_set_named_property(env, exports, "run", f);
#define REVERIE_EXPOSE(name) bridge::expose<name>(env, exports, #name);
  REVERIE_EXPORTS(REVERIE_EXPOSE)
  exposeCuda(env, exports);
  exposeKernels(env, exports);
  return exports;
}

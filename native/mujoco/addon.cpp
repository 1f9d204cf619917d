// The door that Node opens: it is loaded once per thread, so everything here is per thread.
#include "guard.h"
#include "model.h"
#include "renderer.h"
#include "simulation.h"

NAPI_MODULE_INIT() {
  reverie::installHandlers();
  reverie::registerModel(env, exports);
  reverie::registerSimulation(env, exports);
  reverie::registerRenderer(env, exports);
  return exports;
}

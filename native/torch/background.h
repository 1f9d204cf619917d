// Work that may block (a rendezvous, a collective, a device that is not done) runs off the JavaScript thread and
// answers with a promise.
#pragma once
#include <functional>

#include "bridge.h"

// `work` runs on a pool thread with this thread's gradient modes; `done` makes the promise's value back here.
napi_value inBackground(napi_env env, std::function<void()> work, std::function<napi_value(napi_env)> done = bridge::undefined);

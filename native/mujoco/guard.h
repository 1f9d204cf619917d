// MuJoCo reports a fatal error by calling a handler that must not return, and ends the process by default.
//
// `guarded` runs one MuJoCo call and turns such an error into a C++ exception. The way out of MuJoCo's C
// frames is longjmp, not throw: they have no unwind tables. So the body given to `guarded` must hold
// nothing with a destructor. Warnings, which MuJoCo would write to MUJOCO_LOG.TXT in the working folder,
// are kept per thread until somebody asks for them.
#pragma once

#include <mujoco/mujoco.h>
#include <setjmp.h>

#include <string>
#include <vector>

#include "call.h"

namespace reverie {

struct ErrorTrap {
  jmp_buf back;
  bool armed = false;
  char message[1024] = "";
};

ErrorTrap& errorTrap();
std::vector<std::string>& threadWarnings();

// Installs the handlers; once per process for warnings, once per thread for errors.
void installHandlers();

template <class Body>
__attribute__((noinline)) bool survives(Body& body) {
  ErrorTrap& trap = errorTrap();
  if (_setjmp(trap.back) != 0) {
    trap.armed = false;
    return false;
  }
  trap.armed = true;
  body();
  trap.armed = false;
  return true;
}

template <class Body>
void guarded(Body body) {
  if (!survives(body)) throw JsError("ENGINE", std::string("MuJoCo: ") + errorTrap().message);
}

// The same for a call that works on `data`: what it had allocated on the data's stack is given back.
template <class Body>
void guarded(mjData* data, Body body) {
  const size_t pstack = data->pstack;
  const size_t pbase = data->pbase;
  if (survives(body)) return;
  data->pstack = pstack;
  data->pbase = pbase;
  throw JsError("ENGINE", std::string("MuJoCo: ") + errorTrap().message);
}

}  // namespace reverie

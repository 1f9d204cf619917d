#include "guard.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

// Exported by libmujoco for its own bindings: an error handler of this thread only, asked before the
// process-wide one. Without it two worker threads would share one handler.
extern "C" void _mjPRIVATE__set_tls_error_fn(void (*handler)(const char*));

namespace reverie {

namespace {

constexpr size_t kMostWarnings = 64;

void onError(const char* message) {
  ErrorTrap& trap = errorTrap();
  if (!trap.armed) {
    std::fprintf(stderr, "internal: MuJoCo error outside a guarded call: %s\n", message);
    std::abort();
  }
  std::strncpy(trap.message, message, sizeof(trap.message) - 1);
  longjmp(trap.back, 1);
}

void onWarning(const char* message) {
  auto& warnings = threadWarnings();
  if (warnings.size() < kMostWarnings) warnings.emplace_back(message);
}

}  // namespace

ErrorTrap& errorTrap() {
  static thread_local ErrorTrap trap;
  return trap;
}

std::vector<std::string>& threadWarnings() {
  static thread_local std::vector<std::string> warnings;
  return warnings;
}

void installHandlers() {
  mju_user_warning = onWarning;
  _mjPRIVATE__set_tls_error_fn(onError);
}

}  // namespace reverie

// One off-screen OpenGL context per thread, from whichever of three makers this machine has.
//
//   egl-device      EGL on a device that the driver names: a GPU, or Mesa's software device
//   egl-surfaceless EGL on Mesa without a window system
//   osmesa          Mesa's off-screen library
//
// The libraries are opened at run time: the addon builds without their headers and simulates without them.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "call.h"

namespace reverie {

class GlContext {
 public:
  virtual ~GlContext() = default;
  virtual void makeCurrent() = 0;

  std::string backend;
  std::string description;  // the driver's own name of the renderer

  // Held while drawing. On a graphics card threads of one process draw in turns: without turns NVIDIA's driver
  // switches contexts all the time (H200, 16 threads: 123 frames/s in all; with turns 1,305; one thread 1,473).
  // Software renderers draw side by side.
  std::unique_lock<std::mutex> takeTurn() const;

  // The thread's context; made on first use with `backend` and `device`. Throws when they differ from
  // those of an earlier call on this thread, because MuJoCo draws with the context that is current.
  static std::shared_ptr<GlContext> ofThisThread(const std::string& backend, int device);

  // Makes a context apart from the thread's own, to see whether it works.
  static std::unique_ptr<GlContext> probe(const std::string& backend, int device);

  // Lets go of the thread's context, when the thread ends; renderers that still live keep it.
  static void leaveThread();

  static int deviceCount();
};

}  // namespace reverie

#include "gl_context.h"

#include <dlfcn.h>

#include <cstdio>
#include <mutex>
#include <vector>

namespace reverie {

namespace {

// From the EGL and OpenGL registries; declared here so that no development package is needed.
using EglHandle = void*;
constexpr int32_t kEglNone = 0x3038;
constexpr uint32_t kEglOpenGlApi = 0x30A2;
constexpr uint32_t kPlatformDevice = 0x313F;
constexpr uint32_t kPlatformSurfaceless = 0x31DD;
constexpr uint32_t kGlRenderer = 0x1F01;
constexpr uint32_t kGlUnsignedByte = 0x1401;
constexpr uint32_t kOsMesaRgba = 0x1908;
constexpr int32_t kConfig[] = {0x3033 /* SURFACE_TYPE */, 1 /* PBUFFER */, 0x3040 /* RENDERABLE_TYPE */, 8 /* OPENGL */,
                               0x3024 /* RED */, 8, 0x3023 /* GREEN */, 8, 0x3022 /* BLUE */, 8, 0x3021 /* ALPHA */, 8,
                               0x3025 /* DEPTH */, 24, 0x3026 /* STENCIL */, 8, kEglNone};

// MuJoCo looks up OpenGL's functions once per process, through the library that is visible to all: EGL if
// it is, else OSMesa. So a library is opened privately to probe it and made visible only to draw with it.
class Library {
 public:
  explicit Library(std::vector<const char*> names) : names_(std::move(names)) {}

  void* open() {
    for (size_t i = 0; !handle_ && i < names_.size(); i++) handle_ = dlopen(names_[i], RTLD_NOW | RTLD_LOCAL);
    if (!handle_) throw JsError("GL", std::string(names_[0]) + " is not installed");
    return handle_;
  }
  void makeVisible() {
    open();
    for (const char* name : names_) {
      if (dlopen(name, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL)) return;
    }
  }
  template <class Function>
  Function symbol(const char* name) {
    void* found = dlsym(open(), name);
    if (!found) throw JsError("GL", std::string(names_[0]) + " has no function " + name);
    return reinterpret_cast<Function>(found);
  }

 private:
  std::vector<const char*> names_;
  void* handle_ = nullptr;
};

std::mutex glMutex;
std::mutex turnMutex;
std::string drawingFamily;  // "egl" or "osmesa" once MuJoCo has bound to one
Library eglLibrary({"libEGL.so.1", "libEGL.so"});
Library osMesaLibrary({"libOSMesa.so.8", "libOSMesa.so.6", "libOSMesa.so"});

struct Egl {
  void* (*getProcAddress)(const char*);
  EglHandle (*getPlatformDisplay)(uint32_t, void*, const int32_t*);
  uint32_t (*queryDevices)(int32_t, EglHandle*, int32_t*);
  uint32_t (*initialize)(EglHandle, int32_t*, int32_t*);
  uint32_t (*bindApi)(uint32_t);
  uint32_t (*chooseConfig)(EglHandle, const int32_t*, EglHandle*, int32_t, int32_t*);
  EglHandle (*createContext)(EglHandle, EglHandle, EglHandle, const int32_t*);
  uint32_t (*makeCurrent)(EglHandle, EglHandle, EglHandle, EglHandle);
  uint32_t (*destroyContext)(EglHandle, EglHandle);
  EglHandle (*getCurrentContext)();
  int32_t (*getError)();

  template <class Function>
  void extension(Function& out, const char* name) {
    out = reinterpret_cast<Function>(getProcAddress(name));
  }

  Egl() {
    auto& l = eglLibrary;
    getProcAddress = l.symbol<decltype(getProcAddress)>("eglGetProcAddress");
    initialize = l.symbol<decltype(initialize)>("eglInitialize");
    bindApi = l.symbol<decltype(bindApi)>("eglBindAPI");
    chooseConfig = l.symbol<decltype(chooseConfig)>("eglChooseConfig");
    createContext = l.symbol<decltype(createContext)>("eglCreateContext");
    makeCurrent = l.symbol<decltype(makeCurrent)>("eglMakeCurrent");
    destroyContext = l.symbol<decltype(destroyContext)>("eglDestroyContext");
    getCurrentContext = l.symbol<decltype(getCurrentContext)>("eglGetCurrentContext");
    getError = l.symbol<decltype(getError)>("eglGetError");
    extension(getPlatformDisplay, "eglGetPlatformDisplayEXT");
    extension(queryDevices, "eglQueryDevicesEXT");
  }

  [[noreturn]] void fail(const std::string& what) const {
    char code[16];
    std::snprintf(code, sizeof(code), "0x%x", static_cast<unsigned>(getError()));
    throw JsError("GL", "EGL " + what + " (error " + code + ")");
  }

  std::vector<EglHandle> devices() const {
    EglHandle found[32];
    int32_t count = 0;
    if (!queryDevices || !queryDevices(32, found, &count)) return {};
    return std::vector<EglHandle>(found, found + count);  // braces would make a list of two pointers
  }

  // Displays are the process's and are never terminated: another thread may be drawing on one.
  EglHandle display(const std::string& backend, int device) const {
    if (!getPlatformDisplay) throw JsError("GL", "this EGL cannot open a display without a window system");
    EglHandle out = nullptr;
    if (backend == "egl-device") {
      const auto all = devices();
      if (device < 0 || static_cast<size_t>(device) >= all.size()) {
        throw JsError("GL", "EGL names " + std::to_string(all.size()) + " devices; there is no device " + std::to_string(device));
      }
      out = getPlatformDisplay(kPlatformDevice, all[device], nullptr);
    } else {
      out = getPlatformDisplay(kPlatformSurfaceless, nullptr, nullptr);
    }
    if (!out) fail("has no such display");
    if (!initialize(out, nullptr, nullptr)) fail("could not start the display");
    return out;
  }
};

const Egl& egl() {
  static const Egl functions;
  return functions;
}

std::string rendererName(void* (*getProcAddress)(const char*)) {
  const auto getString = reinterpret_cast<const unsigned char* (*)(uint32_t)>(getProcAddress("glGetString"));
  const unsigned char* name = getString ? getString(kGlRenderer) : nullptr;
  return name ? reinterpret_cast<const char*>(name) : "unknown";
}

class EglContext final : public GlContext {
 public:
  EglContext(const std::string& backend, int device) : display_(egl().display(backend, device)) {
    const Egl& e = egl();
    if (!e.bindApi(kEglOpenGlApi)) e.fail("does not speak desktop OpenGL");
    EglHandle config = nullptr;
    int32_t count = 0;
    if (!e.chooseConfig(display_, kConfig, &config, 1, &count) || count < 1) e.fail("has no 24-bit color configuration");
    context_ = e.createContext(display_, config, nullptr, nullptr);
    if (!context_) e.fail("could not create a context");
    this->backend = backend;
    makeCurrent();
    description = rendererName(e.getProcAddress);
  }
  ~EglContext() override {
    const Egl& e = egl();
    if (e.getCurrentContext() == context_) e.makeCurrent(display_, nullptr, nullptr, nullptr);
    e.destroyContext(display_, context_);
  }
  void makeCurrent() override {
    const Egl& e = egl();
    if (e.getCurrentContext() == context_) return;
    if (!e.makeCurrent(display_, nullptr, nullptr, context_)) e.fail("could not make its context current");
  }

 private:
  EglHandle display_;
  EglHandle context_ = nullptr;
};

class OsMesaContext final : public GlContext {
 public:
  OsMesaContext() {
    auto& l = osMesaLibrary;
    const auto create = l.symbol<void* (*)(uint32_t, int32_t, int32_t, int32_t, void*)>("OSMesaCreateContextExt");
    context_ = create(kOsMesaRgba, 24, 8, 0, nullptr);
    if (!context_) throw JsError("GL", "OSMesa could not create a context");
    backend = "osmesa";
    makeCurrent();
    description = rendererName(l.symbol<void* (*)(const char*)>("OSMesaGetProcAddress"));
  }
  ~OsMesaContext() override { osMesaLibrary.symbol<void (*)(void*)>("OSMesaDestroyContext")(context_); }
  void makeCurrent() override {
    auto& l = osMesaLibrary;
    if (l.symbol<void* (*)()>("OSMesaGetCurrentContext")() == context_) return;
    const auto make = l.symbol<unsigned char (*)(void*, void*, uint32_t, int32_t, int32_t)>("OSMesaMakeCurrent");
    // MuJoCo draws into a framebuffer object of its own; OSMesa only wants some buffer to exist.
    if (!make(context_, buffer_, kGlUnsignedByte, 8, 8)) throw JsError("GL", "OSMesa could not make its context current");
  }

 private:
  void* context_ = nullptr;
  uint8_t buffer_[8 * 8 * 4] = {};
};

std::unique_ptr<GlContext> create(const std::string& backend, int device) {
  if (backend == "osmesa") return std::make_unique<OsMesaContext>();
  if (backend == "egl-device" || backend == "egl-surfaceless") return std::make_unique<EglContext>(backend, device);
  throw JsError("GL", "no renderer is named " + backend);
}

// Called before the thread's first drawing. From then on the process draws with this family of libraries.
void bindFamily(const std::string& family) {
  if (!drawingFamily.empty() && drawingFamily != family) {
    throw JsError("GL", "this process already draws with " + drawingFamily + "; use " + family + " in another process");
  }
  (family == "osmesa" ? osMesaLibrary : eglLibrary).makeVisible();
  drawingFamily = family;
}

// Kept while the thread lives, not only while somebody draws: making one costs far more than keeping it.
thread_local std::shared_ptr<GlContext> threadContext;

}  // namespace

std::unique_ptr<GlContext> GlContext::probe(const std::string& backend, int device) {
  const std::lock_guard lock(glMutex);
  auto out = create(backend, device);
  if (threadContext) threadContext->makeCurrent();
  return out;
}

std::shared_ptr<GlContext> GlContext::ofThisThread(const std::string& backend, int device) {
  const std::lock_guard lock(glMutex);
  if (threadContext) {
    if (threadContext->backend == backend) return threadContext;
    throw JsError("GL", "this thread already draws with " + threadContext->backend);
  }
  std::shared_ptr<GlContext> out = create(backend, device);
  bindFamily(backend == "osmesa" ? "osmesa" : "egl");
  return threadContext = out;
}

std::unique_lock<std::mutex> GlContext::takeTurn() const {
  std::unique_lock<std::mutex> turn(turnMutex, std::defer_lock);
  const bool software = description.find("llvmpipe") != std::string::npos || description.find("softpipe") != std::string::npos;
  if (!software) turn.lock();
  return turn;
}

void GlContext::leaveThread() { threadContext.reset(); }

int GlContext::deviceCount() {
  const std::lock_guard lock(glMutex);
  return static_cast<int>(egl().devices().size());
}

}  // namespace reverie

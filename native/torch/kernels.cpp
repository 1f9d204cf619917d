// Kernels from source: compiles CUDA C at run time with the NVRTC that libtorch carries, and launches it on tensors.
//
// Generic on purpose: what a kernel computes, and its plain-operator twin that tests compare it with, stand together
// in TypeScript. Nothing here in a CPU build.
#ifdef REVERIE_CUDA
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <ATen/Context.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/detail/LazyNVRTC.h>
#include <ATen/cuda/nvrtc_stub/ATenNVRTC.h>

#include <mutex>

#include "exports.h"
#include "thread-state.h"

using namespace bridge;

static const at::cuda::NVRTC& nvrtc() { return at::globalContext().getNVRTC(); }

static void check(nvrtcResult result, const char* what) {
  if (result != NVRTC_SUCCESS) fail(std::string(what) + ": " + nvrtc().nvrtcGetErrorString(result));
}
static void check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  const char* text = "unknown CUDA error";
  nvrtc().cuGetErrorString(result, &text);
  fail(std::string(what) + ": " + text);
}

static std::mutex kernelsMutex;
static std::vector<CUfunction> kernels; // modules stay loaded for the life of the process

static std::string logOf(nvrtcProgram program) {
  size_t size = 0;
  nvrtc().nvrtcGetProgramLogSize(program, &size);
  std::string log(size, 0);
  nvrtc().nvrtcGetProgramLog(program, log.data());
  return log;
}

napi_value kernelCompile(Call& call) { // (source, function name) -> id
  at::globalContext().lazyInitDevice(at::kCUDA);
  cudaFree(nullptr); // makes sure that the primary context is current
  std::string source = call.text(0), name = call.text(1);
  auto* properties = at::cuda::getCurrentDeviceProperties();
  std::string arch = "--gpu-architecture=sm_" + std::to_string(properties->major) + std::to_string(properties->minor);
  const char* options[] = {arch.c_str(), "--std=c++17"};
  nvrtcProgram program;
  check(nvrtc().nvrtcCreateProgram(&program, source.c_str(), (name + ".cu").c_str(), 0, nullptr, nullptr), "creating a kernel");
  if (nvrtc().nvrtcCompileProgram(program, 2, options) != NVRTC_SUCCESS) fail("kernel " + name + " does not compile:\n" + logOf(program));
  size_t size = 0;
  check(nvrtc().nvrtcGetCUBINSize(program, &size), "kernel size");
  std::vector<char> binary(size);
  check(nvrtc().nvrtcGetCUBIN(program, binary.data()), "kernel binary");
  nvrtc().nvrtcDestroyProgram(&program);
  CUmodule module;
  CUfunction function;
  check(nvrtc().cuModuleLoadData(&module, binary.data()), "loading a kernel");
  check(nvrtc().cuModuleGetFunction(&function, module, name.c_str()), "finding a kernel");
  std::lock_guard<std::mutex> lock(kernelsMutex);
  kernels.push_back(function);
  return number(call.env, static_cast<double>(kernels.size() - 1));
}

// buffer in: [kernel, blocks, threads, argument count, then (kind, value) pairs]; kind 0 tensor, 1 int32, 2 float32
napi_value kernelLaunch(Call&) {
  const double* b = state->buffer;
  CUfunction function;
  {
    std::lock_guard<std::mutex> lock(kernelsMutex);
    auto index = static_cast<size_t>(b[0]);
    if (index >= kernels.size()) fail("internal: unknown kernel");
    function = kernels[index];
  }
  constexpr int most = 16;
  int count = static_cast<int>(b[3]);
  if (count > most) fail("internal: too many kernel arguments");
  union { void* pointer; int integer; float real; } values[most];
  void* arguments[most];
  for (int i = 0; i < count; i++) {
    double kind = b[4 + 2 * i], value = b[5 + 2 * i];
    if (kind == 0) values[i].pointer = tensorOf(value).data_ptr();
    else if (kind == 1) values[i].integer = static_cast<int>(value);
    else values[i].real = static_cast<float>(value);
    arguments[i] = &values[i];
  }
  auto stream = at::cuda::getCurrentCUDAStream();
  check(nvrtc().cuLaunchKernel(function, static_cast<unsigned>(b[1]), 1, 1, static_cast<unsigned>(b[2]), 1, 1, 0, stream, arguments, nullptr), "launching a kernel");
  return nullptr;
}

void exposeKernels(napi_env env, napi_value exports) {
  expose<kernelCompile>(env, exports, "kernelCompile");
  expose<kernelLaunch>(env, exports, "kernelLaunch");
}
#else
#include "exports.h"
void exposeKernels(napi_env, napi_value) {}
#endif

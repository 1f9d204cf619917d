// Kernels from source: compiles CUDA C at run time with the NVRTC that libtorch carries, and launches it on tensors.
//
// Generic on purpose: what a kernel computes, and its plain-operator twin that tests compare it with, stand together
// in TypeScript. A kernel's gradient is another kernel, launched by the autograd engine itself: what to launch is written
// down when the forward kernel runs, so that the backward pass never calls into JavaScript, whose thread is waiting for
// it. Nothing here in a CPU build.
#ifdef REVERIE_CUDA
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <ATen/core/grad_mode.h>
#include <dlfcn.h>
#include <torch/csrc/autograd/custom_function.h>

#include <functional>
#include <mutex>
#include <optional>

#include "exports.h"
#include "thread-state.h"

using namespace bridge;

// The few functions of NVRTC and of the driver that this needs, found at run time: the wheels ship the libraries but
// not every header, and a machine may have either major version.
struct Compiler {
  using Program = void*;
  int (*create)(Program*, const char* source, const char* name, int headers, const char* const*, const char* const*);
  int (*compile)(Program, int count, const char* const* options);
  int (*destroy)(Program*);
  int (*logSize)(Program, size_t*);
  int (*log)(Program, char*);
  int (*binarySize)(Program, size_t*);
  int (*binary)(Program, char*);
};
struct Driver {
  CUresult (*load)(CUmodule*, const void* image);
  CUresult (*find)(CUfunction*, CUmodule, const char* name);
  CUresult (*launch)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void**, void**);
  CUresult (*describe)(CUresult, const char**);
};

static void* openAny(std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (void* library = dlopen(name, RTLD_NOW | RTLD_GLOBAL)) return library;
  fail(std::string("cannot open ") + *names.begin() + ", which compiles fused kernels");
}
template <class F>
static void link(F& function, void* library, const char* name) {
  function = reinterpret_cast<F>(dlsym(library, name));
  if (!function) fail(std::string(name) + " is missing");
}
static const Compiler& compiler() {
  static const Compiler found = [] {
    void* library = openAny({"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"});
    Compiler c;
    link(c.create, library, "nvrtcCreateProgram");
    link(c.compile, library, "nvrtcCompileProgram");
    link(c.destroy, library, "nvrtcDestroyProgram");
    link(c.logSize, library, "nvrtcGetProgramLogSize");
    link(c.log, library, "nvrtcGetProgramLog");
    link(c.binarySize, library, "nvrtcGetCUBINSize");
    link(c.binary, library, "nvrtcGetCUBIN");
    return c;
  }();
  return found;
}
static const Driver& driver() {
  static const Driver found = [] {
    void* library = openAny({"libcuda.so.1", "libcuda.so"});
    Driver d;
    link(d.load, library, "cuModuleLoadData");
    link(d.find, library, "cuModuleGetFunction");
    link(d.launch, library, "cuLaunchKernel");
    link(d.describe, library, "cuGetErrorString");
    return d;
  }();
  return found;
}

static void check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  const char* words = "unknown CUDA error";
  driver().describe(result, &words);
  fail(std::string(what) + ": " + words);
}

static std::mutex kernelsMutex;
static std::vector<CUfunction> loaded; // modules stay loaded for the life of the process

static std::vector<char> compile(const std::string& source, const std::string& name) {
  cudaDeviceProp properties;
  C10_CUDA_CHECK(cudaGetDeviceProperties(&properties, c10::cuda::current_device()));
  std::string architecture = "--gpu-architecture=sm_" + std::to_string(properties.major) + std::to_string(properties.minor);
  const char* options[] = {architecture.c_str(), "--std=c++17"};
  Compiler::Program program;
  if (compiler().create(&program, source.c_str(), (name + ".cu").c_str(), 0, nullptr, nullptr) != 0) fail("cannot begin to compile kernel " + name);
  int result = compiler().compile(program, 2, options);
  size_t size = 0;
  std::vector<char> out;
  if (result != 0) {
    compiler().logSize(program, &size);
    out.resize(size + 1);
    compiler().log(program, out.data());
    compiler().destroy(&program);
    fail("kernel " + name + " does not compile:\n" + out.data());
  }
  compiler().binarySize(program, &size);
  out.resize(size);
  compiler().binary(program, out.data());
  compiler().destroy(&program);
  return out;
}

napi_value kernelCompile(Call& call) { // (source, function name) -> id
  at::globalContext().lazyInitDevice(at::kCUDA);
  C10_CUDA_CHECK(cudaFree(nullptr)); // makes sure that the primary context is current
  std::string name = call.text(1);
  auto binary = compile(call.text(0), name);
  CUmodule module;
  CUfunction function;
  check(driver().load(&module, binary.data()), "loading a kernel");
  check(driver().find(&function, module, name.c_str()), "finding a kernel");
  std::lock_guard<std::mutex> lock(kernelsMutex);
  loaded.push_back(function);
  return number(call.env, static_cast<double>(loaded.size() - 1));
}

// A launch in numbers: [kernel, blocks, threads, argument count, then (kind, value) pairs].
enum Kind { tensorArgument = 0, intArgument = 1, floatArgument = 2, gradOfOutput = 3, gradOfInput = 4, scratchArgument = 5 };

// Gives the tensor that an argument of another kind than int or float means.
using TensorAt = std::function<at::Tensor(Kind kind, double value)>;

static void launch(const double* b, const TensorAt& tensorAt) {
  CUfunction function;
  {
    std::lock_guard<std::mutex> lock(kernelsMutex);
    auto index = static_cast<size_t>(b[0]);
    if (index >= loaded.size()) fail("internal: unknown kernel");
    function = loaded[index];
  }
  constexpr int most = 16;
  int count = static_cast<int>(b[3]);
  if (count > most) fail("internal: too many kernel arguments");
  union { void* pointer; int integer; float real; } values[most];
  void* arguments[most];
  for (int i = 0; i < count; i++) {
    auto kind = static_cast<Kind>(static_cast<int>(b[4 + 2 * i]));
    double value = b[5 + 2 * i];
    if (kind == intArgument) values[i].integer = static_cast<int>(value);
    else if (kind == floatArgument) values[i].real = static_cast<float>(value);
    else values[i].pointer = tensorAt(kind, value).data_ptr();
    arguments[i] = &values[i];
  }
  auto stream = c10::cuda::getCurrentCUDAStream().stream();
  check(driver().launch(function, static_cast<unsigned>(b[1]), 1, 1, static_cast<unsigned>(b[2]), 1, 1, 0, stream, arguments, nullptr), "launching a kernel");
}

napi_value kernelLaunch(Call&) { // buffer in: a launch, tensors by their handles
  launch(state->buffer, [](Kind, double value) { return at::Tensor(tensorOf(value)); });
  return nullptr;
}

// ---- gradients

struct Recorded {
  std::vector<at::Tensor> outputs; // computed already, without history
  std::vector<at::Tensor> saved;   // what the gradients' kernels read
  std::vector<int64_t> scratch;    // float32 numbers that they need besides
  std::vector<double> words;       // their launches, one after the other; tensor arguments are places in `saved`
};

// Types and shapes in numbers: [type, dimensions, sizes...] of each tensor.
static std::vector<int64_t> shapesOf(at::TensorList tensors) {
  std::vector<int64_t> out;
  for (const at::Tensor& tensor : tensors) {
    out.push_back(static_cast<int64_t>(tensor.scalar_type()));
    out.push_back(tensor.dim());
    for (int64_t size : tensor.sizes()) out.push_back(size);
  }
  return out;
}
static std::vector<at::Tensor> roomFor(const std::vector<int64_t>& shapes, const at::TensorOptions& place) {
  std::vector<at::Tensor> out;
  for (size_t at = 0; at < shapes.size(); at += 2 + shapes[at + 1]) {
    at::IntArrayRef sizes(shapes.data() + at + 2, static_cast<size_t>(shapes[at + 1]));
    out.push_back(at::empty(sizes, place.dtype(static_cast<at::ScalarType>(shapes[at]))));
  }
  return out;
}

struct KernelGradient : torch::autograd::Function<KernelGradient> {
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* context, at::TensorList inputs, const Recorded* recorded) {
    context->save_for_backward(recorded->saved);
    context->saved_data["words"] = recorded->words;
    context->saved_data["scratch"] = recorded->scratch;
    context->saved_data["shapes"] = shapesOf(inputs);
    return recorded->outputs;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context, torch::autograd::variable_list grads) {
    if (at::GradMode::is_enabled()) throw std::runtime_error("internal: a fused kernel has no second derivative");
    auto saved = context->get_saved_variables();
    auto words = context->saved_data["words"].toDoubleVector();
    for (at::Tensor& grad : grads) grad = grad.contiguous();
    auto place = grads.at(0).options();
    torch::autograd::variable_list answers = roomFor(context->saved_data["shapes"].toIntVector(), place);
    std::vector<at::Tensor> scratch;
    for (int64_t size : context->saved_data["scratch"].toIntVector()) scratch.push_back(at::empty({size}, place.dtype(at::kFloat)));
    TensorAt tensorAt = [&](Kind kind, double value) {
      auto index = static_cast<size_t>(value);
      return (kind == gradOfOutput ? grads : kind == gradOfInput ? answers : kind == scratchArgument ? scratch : saved).at(index);
    };
    for (size_t at = 0; at < words.size(); at += 4 + 2 * static_cast<size_t>(words[at + 3])) launch(words.data() + at, tensorAt);
    answers.emplace_back(); // one per argument of `forward`: the last one takes none
    return answers;
  }
};

static std::vector<at::Tensor> tensorsOf(napi_env env, napi_value list) {
  std::vector<at::Tensor> out(lengthOf(env, list));
  for (size_t i = 0; i < out.size(); i++) out[i] = tensorOf(numberOf(env, elementOf(env, list, i)));
  return out;
}
template <class T>
static std::vector<T> numbersOf(napi_env env, napi_value list) {
  std::vector<T> out(lengthOf(env, list));
  for (size_t i = 0; i < out.size(); i++) out[i] = static_cast<T>(numberOf(env, elementOf(env, list, i)));
  return out;
}

// (outputs, inputs, saved, scratch sizes, launches of the gradients' kernels); buffer out: the outputs, which now depend on the inputs
napi_value kernelRecord(Call& call) {
  napi_env env = call.env;
  Recorded recorded{tensorsOf(env, call.values[0]), tensorsOf(env, call.values[2]), numbersOf<int64_t>(env, call.values[3]), numbersOf<double>(env, call.values[4])};
  std::vector<at::Tensor> inputs = tensorsOf(env, call.values[1]);
  at::TensorList list = inputs;
  auto outputs = KernelGradient::apply(list, static_cast<const Recorded*>(&recorded));
  for (size_t i = 0; i < outputs.size(); i++) state->buffer[i] = handleOf(outputs[i]);
  return nullptr;
}

void exposeKernels(napi_env env, napi_value exports) {
  expose<kernelCompile>(env, exports, "kernelCompile");
  expose<kernelLaunch>(env, exports, "kernelLaunch");
  expose<kernelRecord>(env, exports, "kernelRecord");
}
#else
#include "exports.h"
void exposeKernels(napi_env, napi_value) {}
#endif

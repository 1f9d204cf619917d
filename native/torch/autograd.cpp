// Gradients, gradient modes, random generators and the knobs of the process.
#include <unistd.h>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/version.h>

#include "bridge.h"
#include "exports.h"
#include "thread-state.h"

using namespace bridge;

static std::vector<at::Tensor> tensorsOf(napi_env env, napi_value list) {
  std::vector<at::Tensor> out(lengthOf(env, list));
  for (size_t i = 0; i < out.size(); i++) out[i] = state->tensors.getOrUndefined(numberOf(env, elementOf(env, list, i)));
  return out;
}

napi_value gradMode(Call& call) { // (on) -> was it on
  bool before = at::GradMode::is_enabled();
  at::GradMode::set_enabled(call.flag(0));
  return boolean(call.env, before);
}
napi_value inferenceMode(Call& call) { // (enter): guards nest, last in first out
  if (call.flag(0)) state->inference.push_back(std::make_unique<c10::InferenceMode>(true));
  else if (!state->inference.empty()) state->inference.pop_back();
  return nullptr;
}
napi_value setRequiresGrad(Call& call) { tensorOf(call.number(0)).set_requires_grad(call.flag(1)); return nullptr; }
napi_value gradGet(Call& call) { return number(call.env, handleOf(tensorOf(call.number(0)).grad())); }
napi_value gradSet(Call& call) { tensorOf(call.number(0)).mutable_grad() = state->tensors.getOrUndefined(call.number(1)); return nullptr; }

napi_value backward(Call& call) { // (outputs, grad outputs, keep graph, create graph)
  torch::autograd::backward(tensorsOf(call.env, call.values[0]), tensorsOf(call.env, call.values[1]), call.flag(2), call.flag(3));
  return nullptr;
}
napi_value gradients(Call& call) { // (outputs, inputs, grad outputs, keep graph, create graph, allow unused) -> handles
  auto out = torch::autograd::grad(tensorsOf(call.env, call.values[0]), tensorsOf(call.env, call.values[1]), tensorsOf(call.env, call.values[2]), call.flag(3), call.flag(4), call.flag(5));
  napi_value handles = array(call.env, out.size());
  for (size_t i = 0; i < out.size(); i++) napi_set_element(call.env, handles, i, number(call.env, handleOf(out[i])));
  return handles;
}

// ---- random generators

#ifdef REVERIE_CUDA
at::Generator makeCudaGenerator(c10::DeviceIndex device); // cuda.cpp
#endif

static at::Generator makeGenerator(c10::Device device) {
  if (device.is_cpu()) return at::make_generator<at::CPUGeneratorImpl>();
#ifdef REVERIE_CUDA
  if (device.is_cuda()) return makeCudaGenerator(device.index());
#endif
  fail("no random generator for device " + device.str());
}
napi_value generatorNew(Call& call) { // (device, seed as two 32-bit halves)
  auto generator = makeGenerator(deviceOf(call.number(0)));
  generator.set_current_seed((static_cast<uint64_t>(call.number(1)) << 32) | static_cast<uint64_t>(call.number(2)));
  state->generators.push_back(generator);
  return number(call.env, static_cast<double>(state->generators.size()));
}
napi_value generatorState(Call& call) { return number(call.env, handleOf(generatorOf(call.number(0)).get_state())); }
napi_value generatorRestore(Call& call) { generatorOf(call.number(0)).set_state(tensorOf(call.number(1))); return nullptr; }
napi_value generatorRelease(Call& call) { generatorOf(call.number(0)) = at::Generator(); return nullptr; }
napi_value seedDefault(Call& call) { at::manual_seed((static_cast<uint64_t>(call.number(0)) << 32) | static_cast<uint64_t>(call.number(1))); return nullptr; }

// ---- the process

napi_value torchVersion(Call& call) { return text(call.env, TORCH_VERSION); }
napi_value endProcess(Call& call) { _exit(static_cast<int>(call.number(0))); } // waits for no thread: one may hang
napi_value threadCount(Call& call) {
  if (call.has(0)) at::set_num_threads(static_cast<int>(call.number(0)));
  return number(call.env, at::get_num_threads());
}
napi_value allowTf32(Call& call) { // (on) -> nothing; libtorch's default is off for matmul and on for cuDNN
  bool on = call.flag(0);
  at::globalContext().setAllowTF32CuBLAS(on);
  at::globalContext().setAllowTF32CuDNN(on);
  return nullptr;
}
napi_value deterministic(Call& call) { at::globalContext().setDeterministicAlgorithms(call.flag(0), false); return nullptr; }
napi_value cpuCapability(Call& call) { return text(call.env, at::globalContext().hasMKLDNN() ? "oneDNN" : "plain"); }

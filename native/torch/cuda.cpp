// The accelerator: synchronizing, memory statistics, streams, events, graphs. Without CUDA only the first part exists.
#ifdef REVERIE_CUDA
#include <cuda.h> // first: CUDAGraph's layout depends on CUDA_VERSION
#include <cuda_runtime_api.h>

#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif
#include <ATen/Context.h>
#include <ATen/DeviceAccelerator.h>

#include "background.h"
#include "exports.h"
#include "thread-state.h"

using namespace bridge;

napi_value deviceCount(Call& call) { return number(call.env, at::accelerator::getAccelerator() ? at::accelerator::deviceCount() : 0); }
napi_value deviceSynchronize(Call&) {
  if (at::accelerator::getAccelerator()) at::accelerator::synchronizeDevice(at::accelerator::getDeviceIndex());
  return nullptr;
}
napi_value deviceUse(Call& call) { at::accelerator::setDeviceIndex(static_cast<c10::DeviceIndex>(call.number(0))); return nullptr; }

#ifdef REVERIE_CUDA
namespace allocator = c10::cuda::CUDACachingAllocator;

at::Generator makeCudaGenerator(c10::DeviceIndex device) {
  at::globalContext().lazyInitDevice(at::kCUDA);
  return at::cuda::detail::createCUDAGenerator(device);
}

static void start() { at::globalContext().lazyInitDevice(at::kCUDA); }

napi_value cudaMemory(Call& call) { // (device, reset peaks) -> numbers in bytes
  start();
  auto device = static_cast<c10::DeviceIndex>(call.number(0));
  auto stats = allocator::getDeviceStats(device);
  size_t free = 0, total = 0;
  c10::cuda::CUDAGuard guard(device);
  C10_CUDA_CHECK(cudaMemGetInfo(&free, &total));
  napi_value out = object(call.env);
  auto put = [&](const char* name, double v) { set(call.env, out, name, number(call.env, v)); };
  put("allocated", stats.allocated_bytes[0].current);
  put("allocatedPeak", stats.allocated_bytes[0].peak);
  put("reserved", stats.reserved_bytes[0].current);
  put("reservedPeak", stats.reserved_bytes[0].peak);
  put("free", static_cast<double>(free));
  put("total", static_cast<double>(total));
  if (call.flag(1)) allocator::resetPeakStats(device);
  return out;
}
napi_value cudaEmptyCache(Call&) { allocator::emptyCache(); return nullptr; }
napi_value cudaName(Call& call) {
  cudaDeviceProp properties;
  C10_CUDA_CHECK(cudaGetDeviceProperties(&properties, static_cast<int>(call.number(0))));
  return text(call.env, properties.name);
}

// Streams, events and graphs belong to the thread that made them; ids are positions in its lists.
static thread_local std::vector<c10::cuda::CUDAStream> streams;
static thread_local std::vector<cudaEvent_t> events;
static thread_local std::vector<std::unique_ptr<at::cuda::CUDAGraph>> graphs;

template <class T>
static T& itemOf(std::vector<T>& list, double id, const char* what) {
  auto index = static_cast<size_t>(id);
  if (!(id >= 0) || index >= list.size()) fail(std::string("not a ") + what + " of this thread");
  return list[index];
}
static c10::cuda::CUDAStream streamOf(double id) { return id < 0 ? c10::cuda::getDefaultCUDAStream() : itemOf(streams, id, "stream"); }
static at::cuda::CUDAGraph& graphOf(double id) {
  auto& graph = itemOf(graphs, id, "graph");
  if (!graph) fail("this graph was disposed");
  return *graph;
}

napi_value streamNew(Call& call) { start(); streams.push_back(c10::cuda::getStreamFromPool(call.flag(0))); return number(call.env, static_cast<double>(streams.size() - 1)); }
napi_value streamUse(Call& call) { c10::cuda::setCurrentCUDAStream(streamOf(call.number(0))); return nullptr; }
napi_value streamSynchronize(Call& call) { streamOf(call.number(0)).synchronize(); return nullptr; }
napi_value streamSynchronizeAsync(Call& call) { auto stream = streamOf(call.number(0)); return inBackground(call.env, [stream] { stream.synchronize(); }); }
napi_value streamRecord(Call& call) { tensorOf(call.number(0)).record_stream(streamOf(call.number(1))); return nullptr; }

napi_value eventNew(Call& call) { start(); cudaEvent_t event; C10_CUDA_CHECK(cudaEventCreate(&event)); events.push_back(event); return number(call.env, static_cast<double>(events.size() - 1)); }
napi_value eventRecord(Call& call) { C10_CUDA_CHECK(cudaEventRecord(itemOf(events, call.number(0), "event"), c10::cuda::getCurrentCUDAStream())); return nullptr; }
napi_value eventWait(Call& call) { C10_CUDA_CHECK(cudaStreamWaitEvent(c10::cuda::getCurrentCUDAStream(), itemOf(events, call.number(0), "event"), 0)); return nullptr; }
napi_value eventDone(Call& call) { return boolean(call.env, cudaEventQuery(itemOf(events, call.number(0), "event")) == cudaSuccess); }
napi_value eventElapsed(Call& call) { // (from, to) -> milliseconds
  float milliseconds = 0;
  C10_CUDA_CHECK(cudaEventSynchronize(itemOf(events, call.number(1), "event")));
  C10_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, itemOf(events, call.number(0), "event"), itemOf(events, call.number(1), "event")));
  return number(call.env, milliseconds);
}

napi_value graphNew(Call& call) { start(); graphs.push_back(std::make_unique<at::cuda::CUDAGraph>()); return number(call.env, static_cast<double>(graphs.size() - 1)); }
napi_value graphBegin(Call& call) { // (graph, graph to share memory with); the current stream must not be the default one
  at::cuda::MempoolId_t pool{0, 0};
  if (call.has(1)) pool = graphOf(call.number(1)).pool();
  graphOf(call.number(0)).capture_begin(pool, cudaStreamCaptureModeThreadLocal);
  return nullptr;
}
napi_value graphUseGenerator(Call& call) { graphOf(call.number(0)).register_generator_state(generatorOf(call.number(1))); return nullptr; }
napi_value graphEnd(Call& call) { graphOf(call.number(0)).capture_end(); return nullptr; }
napi_value graphReplay(Call& call) { graphOf(call.number(0)).replay(); return nullptr; }
napi_value graphDispose(Call& call) { itemOf(graphs, call.number(0), "graph").reset(); return nullptr; }

void exposeCuda(napi_env env, napi_value exports) {
  expose<cudaMemory>(env, exports, "cudaMemory");
  expose<cudaEmptyCache>(env, exports, "cudaEmptyCache");
  expose<cudaName>(env, exports, "cudaName");
  expose<streamNew>(env, exports, "streamNew");
  expose<streamUse>(env, exports, "streamUse");
  expose<streamSynchronize>(env, exports, "streamSynchronize");
  expose<streamSynchronizeAsync>(env, exports, "streamSynchronizeAsync");
  expose<streamRecord>(env, exports, "streamRecord");
  expose<eventNew>(env, exports, "eventNew");
  expose<eventRecord>(env, exports, "eventRecord");
  expose<eventWait>(env, exports, "eventWait");
  expose<eventDone>(env, exports, "eventDone");
  expose<eventElapsed>(env, exports, "eventElapsed");
  expose<graphNew>(env, exports, "graphNew");
  expose<graphBegin>(env, exports, "graphBegin");
  expose<graphUseGenerator>(env, exports, "graphUseGenerator");
  expose<graphEnd>(env, exports, "graphEnd");
  expose<graphReplay>(env, exports, "graphReplay");
  expose<graphDispose>(env, exports, "graphDispose");
}
#else
void exposeCuda(napi_env, napi_value) {}
#endif

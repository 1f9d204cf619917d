// Tensors and bytes: making tensors from JavaScript data, reading them back, viewing them without a copy, mapping
// files, pinned host memory, and handing a tensor to another thread of this process.
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "bridge.h"
#include "exports.h"
#include "thread-state.h"

using namespace bridge;

napi_value tensorRelease(Call& call) { state->tensors.release(call.number(0)); return nullptr; }
napi_value tensorReleaseMany(Call& call) { // the first n handles in the buffer
  auto n = static_cast<size_t>(call.number(0));
  for (size_t i = 0; i < n; i++) state->tensors.release(state->buffer[i]);
  return nullptr;
}
napi_value tensorRetain(Call& call) { return number(call.env, handleOf(tensorOf(call.number(0)))); }
napi_value tensorsLiving(Call& call) { return number(call.env, static_cast<double>(state->tensors.living())); }

napi_value tensorMeta(Call& call) { // buffer: [dtype, device, requires_grad, bytes, contiguous, dimensions, sizes…, strides…]
  at::Tensor t = tensorOf(call.number(0));
  double* b = state->buffer;
  size_t at = 0;
  b[at++] = static_cast<int>(t.scalar_type());
  b[at++] = codeOf(t.device());
  b[at++] = t.requires_grad();
  b[at++] = static_cast<double>(t.nbytes());
  b[at++] = t.is_contiguous();
  b[at++] = static_cast<double>(t.dim());
  for (auto s : t.sizes()) b[at++] = static_cast<double>(s);
  for (auto s : t.strides()) b[at++] = static_cast<double>(s);
  return nullptr;
}

struct Bytes { char* data; size_t length; };
static Bytes bytesOf(napi_env env, napi_value value) {
  napi_typedarray_type type;
  size_t length, offset;
  void* data;
  napi_value buffer;
  if (napi_get_typedarray_info(env, value, &type, &length, &data, &buffer, &offset) != napi_ok) fail("a typed array was expected");
  static const int sizes[] = {1, 1, 1, 2, 2, 4, 4, 4, 8, 8, 8};
  return {static_cast<char*>(data), length * sizes[type]};
}

napi_value tensorFromBytes(Call& call) { // (typed array, dtype, shape, pinned) -> tensor; the data is copied
  auto shape = integersOf(call.env, call.values[2]);
  auto options = at::TensorOptions().dtype(static_cast<c10::ScalarType>(call.integer(1))).pinned_memory(call.flag(3));
  auto bytes = bytesOf(call.env, call.values[0]);
  for (auto s : shape) if (s < 0) fail("a shape has a negative size");
  auto t = at::empty(shape, options);
  if (t.nbytes() != bytes.length) fail("the data has " + std::to_string(bytes.length) + " bytes, shape and dtype need " + std::to_string(t.nbytes()));
  if (bytes.length) std::memcpy(t.data_ptr(), bytes.data, bytes.length);
  return number(call.env, handleOf(std::move(t)));
}

napi_value tensorToBytes(Call& call) { // (tensor) -> ArrayBuffer, a copy, from any device
  at::Tensor t = tensorOf(call.number(0)).detach().to(at::kCPU).contiguous();
  void* data;
  napi_value out;
  if (napi_create_arraybuffer(call.env, t.nbytes(), &data, &out) != napi_ok) fail("no memory for " + std::to_string(t.nbytes()) + " bytes");
  if (t.nbytes()) std::memcpy(data, t.data_ptr(), t.nbytes());
  return out;
}

napi_value tensorHostView(Call& call) { // (tensor) -> ArrayBuffer over its own memory; the view keeps the memory alive
  at::Tensor t = tensorOf(call.number(0));
  if (!t.device().is_cpu()) fail("a view without a copy needs a CPU tensor; this one is on " + t.device().str());
  if (!t.is_contiguous()) fail("a view without a copy needs a contiguous tensor");
  napi_value out;
  if (t.nbytes() == 0) { void* none; napi_create_arraybuffer(call.env, 0, &none, &out); return out; }
  auto* holder = new at::Tensor(t);
  auto done = [](napi_env, void*, void* hint) { delete static_cast<at::Tensor*>(hint); };
  if (napi_create_external_arraybuffer(call.env, t.data_ptr(), t.nbytes(), done, holder, &out) != napi_ok) { delete holder; fail("this Node cannot make external array buffers"); }
  return out;
}

napi_value tensorItem(Call& call) {
  at::Tensor t = tensorOf(call.number(0));
  if (t.numel() != 1) fail("item() needs exactly one element; this tensor has " + std::to_string(t.numel()));
  return number(call.env, t.item().toDouble());
}

// ---- mapped files

struct Mapping {
  void* data = nullptr;
  size_t length = 0;
  ~Mapping() { if (data) munmap(data, length); }
};
static std::mutex mappingsMutex;
static std::unordered_map<int64_t, std::shared_ptr<Mapping>> mappings;

static std::shared_ptr<Mapping> mappingOf(double id) {
  std::lock_guard<std::mutex> lock(mappingsMutex);
  auto found = mappings.find(static_cast<int64_t>(id));
  if (found == mappings.end()) fail("this file mapping was closed");
  return found->second;
}

napi_value mapOpen(Call& call) { // (path) -> [id, length]; private and copy-on-write: the file is never changed
  std::string path = call.text(0);
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) fail("cannot open " + path + ": " + std::strerror(errno));
  struct stat info;
  if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) { close(file); fail(path + " is not a regular file"); }
  auto mapping = std::make_shared<Mapping>();
  mapping->length = static_cast<size_t>(info.st_size);
  if (mapping->length) {
    void* data = mmap(nullptr, mapping->length, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    if (data == MAP_FAILED) { close(file); fail("cannot map " + path + ": " + std::strerror(errno)); }
    mapping->data = data;
  }
  close(file);
  static int64_t nextId = 1;
  std::lock_guard<std::mutex> lock(mappingsMutex);
  mappings[nextId] = mapping;
  napi_value out = array(call.env, 2);
  napi_set_element(call.env, out, 0, number(call.env, static_cast<double>(nextId++)));
  napi_set_element(call.env, out, 1, number(call.env, static_cast<double>(mapping->length)));
  return out;
}
napi_value mapClose(Call& call) { // tensors made from it keep the memory
  std::lock_guard<std::mutex> lock(mappingsMutex);
  mappings.erase(call.integer(0));
  return nullptr;
}

static char* inside(const Mapping& mapping, double offset, double length) {
  if (!(offset >= 0) || !(length >= 0) || offset + length > static_cast<double>(mapping.length)) fail("a read past the end of the file");
  return static_cast<char*>(mapping.data) + static_cast<size_t>(offset);
}
napi_value mapBytes(Call& call) { // (id, offset, length) -> ArrayBuffer, a copy
  auto mapping = mappingOf(call.number(0));
  char* from = inside(*mapping, call.number(1), call.number(2));
  void* data;
  napi_value out;
  auto length = static_cast<size_t>(call.number(2));
  napi_create_arraybuffer(call.env, length, &data, &out);
  if (length) std::memcpy(data, from, length);
  return out;
}
napi_value mapTensor(Call& call) { // (id, offset, dtype, shape) -> tensor over the mapped bytes
  auto mapping = mappingOf(call.number(0));
  auto dtype = static_cast<c10::ScalarType>(call.integer(2));
  auto shape = integersOf(call.env, call.values[3]);
  double length = static_cast<double>(c10::elementSize(dtype));
  for (auto s : shape) { if (s < 0) fail("a shape has a negative size"); length *= static_cast<double>(s); }
  char* data = inside(*mapping, call.number(1), length);
  auto options = at::TensorOptions().dtype(dtype);
  if (length == 0) return number(call.env, handleOf(at::empty(shape, options)));
  if (reinterpret_cast<uintptr_t>(data) % c10::elementSize(dtype) != 0) { // some writers do not align: copy then
    at::Tensor copy = at::empty(shape, options);
    std::memcpy(copy.data_ptr(), data, copy.nbytes());
    return number(call.env, handleOf(std::move(copy)));
  }
  at::AutoDispatchBelowADInplaceOrView guard;
  return number(call.env, handleOf(at::from_blob(data, shape, [mapping](void*) {}, options)));
}

// ---- sharing between the threads of this process: a ticket is a tensor waiting to be taken, once

static std::mutex ticketsMutex;
static std::unordered_map<int64_t, at::Tensor> tickets;

napi_value shareGive(Call& call) {
  static int64_t nextTicket = 1;
  std::lock_guard<std::mutex> lock(ticketsMutex);
  tickets[nextTicket] = tensorOf(call.number(0));
  return number(call.env, static_cast<double>(nextTicket++));
}
napi_value shareTake(Call& call) {
  at::Tensor t;
  {
    std::lock_guard<std::mutex> lock(ticketsMutex);
    auto found = tickets.find(call.integer(0));
    if (found == tickets.end()) fail("this shared tensor was already taken, or never given");
    t = std::move(found->second);
    tickets.erase(found);
  }
  return number(call.env, handleOf(std::move(t)));
}

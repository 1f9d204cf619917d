// Collectives: c10d's TCPStore, Gloo and NCCL, wire-compatible with Python's torch.distributed.
//
// The wheel ships ProcessGroupGloo.hpp without gloo's headers; gloo_stub/ declares the few names it mentions, which
// it holds only behind pointers.
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#ifdef REVERIE_NCCL
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#endif

#include <mutex>
#include <unordered_map>

#include "background.h"
#include "exports.h"
#include "thread-state.h"

using namespace bridge;
using std::chrono::milliseconds;

template <class T>
class Shelf { // things held for the whole process under a number
 public:
  explicit Shelf(const char* what) : what_(what) {}
  double put(T thing) { std::lock_guard<std::mutex> lock(mutex_); things_[next_] = std::move(thing); return static_cast<double>(next_++); }
  T get(double id) { std::lock_guard<std::mutex> lock(mutex_); return find(id)->second; }
  T take(double id) { std::lock_guard<std::mutex> lock(mutex_); auto it = find(id); T thing = it->second; things_.erase(it); return thing; }

 private:
  auto find(double id) {
    auto it = things_.find(static_cast<int64_t>(id));
    if (it == things_.end()) fail(std::string("this ") + what_ + " was closed, or never opened");
    return it;
  }
  const char* what_;
  std::mutex mutex_;
  std::unordered_map<int64_t, T> things_;
  int64_t next_ = 1;
};
static Shelf<c10::intrusive_ptr<c10d::Store>> stores("store");
static Shelf<c10::intrusive_ptr<c10d::Backend>> groups("process group");
static Shelf<c10::intrusive_ptr<c10d::Work>> works("collective");

napi_value storeTcp(Call& call) { // (host, port, world size, is server, time-out ms) -> Promise<id>
  c10d::TCPStoreOptions options;
  options.port = static_cast<uint16_t>(call.number(1));
  // Announce ourselves as Python does: the server counts arrivals, and a silent client would hang a Python rank 0.
  options.numWorkers = static_cast<size_t>(call.number(2));
  options.waitWorkers = true;
  options.isServer = call.flag(3);
  options.multiTenant = true;
  options.timeout = milliseconds(call.integer(4));
  std::string host = call.text(0);
  auto id = std::make_shared<double>(0);
  return inBackground(call.env, [=] { *id = stores.put(c10::make_intrusive<c10d::TCPStore>(host, options)); }, [id](napi_env env) { return number(env, *id); });
}
napi_value storePrefix(Call& call) { return number(call.env, stores.put(c10::make_intrusive<c10d::PrefixStore>(call.text(1), stores.get(call.number(0))))); }
napi_value storeSet(Call& call) {
  auto store = stores.get(call.number(0));
  std::string key = call.text(1), value = call.text(2);
  return inBackground(call.env, [=] { store->set(key, value); });
}
napi_value storeGet(Call& call) {
  auto store = stores.get(call.number(0));
  std::string key = call.text(1);
  auto value = std::make_shared<std::string>();
  return inBackground(call.env, [=] { *value = store->get_to_str(key); }, [value](napi_env env) { return text(env, *value); });
}
napi_value storeAdd(Call& call) {
  auto store = stores.get(call.number(0));
  std::string key = call.text(1);
  int64_t amount = call.integer(2);
  auto value = std::make_shared<double>(0);
  return inBackground(call.env, [=] { *value = static_cast<double>(store->add(key, amount)); }, [value](napi_env env) { return number(env, *value); });
}
napi_value storeClose(Call& call) { stores.take(call.number(0)); return nullptr; }

static c10::intrusive_ptr<c10d::Backend> makeGroup(const std::string& backend, const c10::intrusive_ptr<c10d::Store>& store, int rank, int size, milliseconds timeout) {
  if (backend == "gloo") {
    auto options = c10d::ProcessGroupGloo::Options::create(timeout);
    const char* interfaceName = getenv("GLOO_SOCKET_IFNAME");
    options->devices.push_back(interfaceName ? c10d::ProcessGroupGloo::createDeviceForInterface(interfaceName) : c10d::ProcessGroupGloo::createDefaultDevice());
    options->threads = 2;
    return c10::make_intrusive<c10d::ProcessGroupGloo>(store, rank, size, options);
  }
#ifdef REVERIE_NCCL
  if (backend == "nccl") {
    auto options = c10d::ProcessGroupNCCL::Options::create();
    options->timeout = timeout;
    return c10::make_intrusive<c10d::ProcessGroupNCCL>(store, rank, size, options);
  }
#endif
  fail("the " + backend + " backend is not in this build");
}
napi_value groupNew(Call& call) { // (backend, store, rank, size, time-out ms) -> Promise<id>
  std::string backend = call.text(0);
  auto store = stores.get(call.number(1));
  int rank = static_cast<int>(call.number(2)), size = static_cast<int>(call.number(3));
  milliseconds timeout(call.integer(4));
  auto id = std::make_shared<double>(0);
  return inBackground(call.env, [=] {
    auto group = makeGroup(backend, store, rank, size, timeout);
    group->setSequenceNumberForGroup();
    *id = groups.put(group);
  }, [id](napi_env env) { return number(env, *id); });
}
napi_value groupClose(Call& call) { groups.take(call.number(0)); return nullptr; }

static c10::intrusive_ptr<c10d::Work> start(c10d::Backend& group, const std::string& kind, at::Tensor out, at::Tensor in, int x, milliseconds timeout) {
  std::vector<at::Tensor> outs{out};
  auto reduction = c10d::ReduceOp(static_cast<c10d::ReduceOp::RedOpType>(x));
  if (kind == "all_reduce") { c10d::AllreduceOptions o; o.reduceOp = reduction; o.timeout = timeout; return group.allreduce(outs, o); }
  if (kind == "broadcast") { c10d::BroadcastOptions o; o.rootRank = x; o.rootTensor = 0; o.timeout = timeout; return group.broadcast(outs, o); }
  if (kind == "all_gather") { c10d::AllgatherOptions o; o.timeout = timeout; return group._allgather_base(out, in, o); }
  if (kind == "reduce_scatter") { c10d::ReduceScatterOptions o; o.reduceOp = reduction; o.timeout = timeout; return group._reduce_scatter_base(out, in, o); }
  if (kind == "all_to_all") { std::vector<int64_t> even; c10d::AllToAllOptions o; o.timeout = timeout; return group.alltoall_base(out, in, even, even, o); }
  if (kind == "send") return group.send(outs, x, 0);
  if (kind == "recv") return group.recv(outs, x, 0);
  if (kind == "barrier") { c10d::BarrierOptions o; o.timeout = timeout; return group.barrier(o); }
  fail("internal: no collective " + kind);
}
napi_value collective(Call& call) { // (group, kind, out, in, reduction | root | peer, time-out ms) -> work id
  auto group = groups.get(call.number(0));
  at::NoGradGuard guard;
  auto out = state->tensors.getOrUndefined(call.number(2)), in = state->tensors.getOrUndefined(call.number(3));
  return number(call.env, works.put(start(*group, call.text(1), out, in, static_cast<int>(call.number(4)), milliseconds(call.integer(5)))));
}
napi_value collectiveWait(Call& call) { works.take(call.number(0))->wait(); return nullptr; }
napi_value collectiveWaitAsync(Call& call) {
  auto work = works.take(call.number(0));
  return inBackground(call.env, [work] { work->wait(); });
}

// Collectives: c10d's stores, Gloo and NCCL, wire-compatible with Python's torch.distributed.
//
// Nothing here listens outside loopback: c10d's own TCPStore binds every interface and asks nobody for a password, so it is
// given a socket that is already bound, and Gloo and NCCL are told which interface to use.
//
// The wheel ships ProcessGroupGloo.hpp without gloo's headers; gloo_stub/ declares the few names it mentions, which
// it holds only behind pointers.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#ifdef REVERIE_NCCL
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#endif

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
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

napi_value storeInProcess(Call& call) { // (name, time-out ms) -> id; who asks for one name in this process shares one store
  static std::mutex mutex;
  static std::unordered_map<std::string, c10::weak_intrusive_ptr<c10d::HashStore>> named;
  std::lock_guard<std::mutex> lock(mutex);
  std::string name = call.text(0);
  auto known = named.find(name);
  auto store = known == named.end() ? c10::intrusive_ptr<c10d::HashStore>() : known->second.lock();
  if (!store) store = c10::make_intrusive<c10d::HashStore>();
  named.insert_or_assign(name, c10::weak_intrusive_ptr<c10d::HashStore>(store));
  store->setTimeout(milliseconds(call.integer(1)));
  return number(call.env, stores.put(store));
}

static sockaddr_in loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}
napi_value storeListen(Call& call) { // (port, 0 for any) -> { descriptor, port }: a socket that only this machine reaches
  sockaddr_in address = loopback(static_cast<uint16_t>(call.number(0)));
  socklen_t length = sizeof address;
  auto* given = reinterpret_cast<sockaddr*>(&address);
  int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
  if (descriptor < 0) fail(std::string("no socket: ") + strerror(errno));
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(descriptor, given, length) != 0 || listen(descriptor, SOMAXCONN) != 0 || getsockname(descriptor, given, &length) != 0) {
    std::string why = strerror(errno);
    close(descriptor);
    fail("cannot listen on 127.0.0.1: " + why);
  }
  napi_value result = object(call.env);
  set(call.env, result, "descriptor", number(call.env, descriptor));
  set(call.env, result, "port", number(call.env, ntohs(address.sin_port)));
  return result;
}
napi_value storeTcp(Call& call) { // (port, world size, listening descriptor or -1, time-out ms) -> Promise<id>
  c10d::TCPStoreOptions options;
  options.port = static_cast<uint16_t>(call.number(0));
  // Announce ourselves as Python does: the server counts arrivals, and a silent client would hang a Python rank 0.
  options.numWorkers = static_cast<size_t>(call.number(1));
  options.waitWorkers = true;
  int descriptor = static_cast<int>(call.number(2));
  options.isServer = descriptor >= 0;
  if (options.isServer) options.masterListenFd = descriptor;
  options.multiTenant = true;
  options.timeout = milliseconds(call.integer(3));
  auto id = std::make_shared<double>(0);
  return inBackground(call.env, [=] { *id = stores.put(c10::make_intrusive<c10d::TCPStore>("127.0.0.1", options)); }, [id](napi_env env) { return number(env, *id); });
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
    options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1"));
    options->threads = 2;
    return c10::make_intrusive<c10d::ProcessGroupGloo>(store, rank, size, options);
  }
#ifdef REVERIE_NCCL
  if (backend == "nccl") {
    setenv("NCCL_SOCKET_IFNAME", "=lo", 0); // it would take the first interface that is not loopback; all ranks are here
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

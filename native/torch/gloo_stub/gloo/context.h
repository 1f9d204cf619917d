// Declarations only: the torch wheel ships ProcessGroupGloo.hpp but not gloo's headers. ProcessGroupGloo holds gloo's
// types behind pointers, so its layout needs no definitions; the store interface is the one it implements.
#pragma once
#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace gloo {
class Context {
 public:
  void setTimeout(std::chrono::milliseconds);
};
namespace transport {
class Device;
class UnboundBuffer;
} // namespace transport
namespace rendezvous {
class Store {
 public:
  virtual ~Store();
  virtual void set(const std::string&, const std::vector<char>&) = 0;
  virtual std::vector<char> get(const std::string&) = 0;
  virtual void wait(const std::vector<std::string>&) = 0;
  virtual void wait(const std::vector<std::string>&, const std::chrono::milliseconds&) = 0;
};
} // namespace rendezvous
} // namespace gloo

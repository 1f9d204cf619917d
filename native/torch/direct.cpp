// The commonest signatures, called as C++ functions instead of through boxed values: about 150 ns less a call.
//
// A signature is matched on the schema, so this knows types and, but for matmul, no operator. Whatever does not match goes through
// the boxed dispatcher in call.cpp with the same result.
#include <ATen/ScalarOps.h>
#include <ATen/ops/mm.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include "bridge.h"
#include "operators.h"
#include "thread-state.h"

using at::Scalar;
using at::Tensor;

namespace {

// Reads one argument after the other from the buffer; an argument that was not given has no numbers there.
class Reader {
 public:
  Reader(const Operator& op, uint32_t given, const double* at) : op_(op), given_(given), at_(at) {}

  Tensor tensor() { return present() ? checked(*at_++) : missing(); }
  std::optional<Tensor> optionalTensor() {
    if (!present() || *at_ == 0) { at_ += wasPresent(); return std::nullopt; }
    return checked(*at_++);
  }
  Scalar scalar() {
    if (!present()) return fallback().toScalar();
    double tag = *at_++, value = *at_++;
    if (tag == 0) return Scalar(static_cast<int64_t>(value));
    if (tag == 2) return Scalar(value != 0);
    return Scalar(value);
  }
  c10::SymIntArrayRef sizes() {
    if (!present()) missing();
    auto n = static_cast<size_t>(*at_++);
    sizes_.clear();
    for (size_t i = 0; i < n; i++) sizes_.emplace_back(static_cast<int64_t>(*at_++));
    return sizes_;
  }

 private:
  bool present() { return (given_ >> index_++) & 1; }
  bool wasPresent() const { return (given_ >> (index_ - 1)) & 1; }
  const Argument& argument() const { return op_.arguments[index_ - 1]; }
  const c10::IValue& fallback() { if (!argument().hasDefault) missing(); return argument().fallback; }
  [[noreturn]] Tensor missing() { bridge::fail(op_.fullName() + ": argument '" + argument().name + "' is missing"); }
  Tensor checked(double handle) {
    try {
      return tensorOf(handle);
    } catch (const std::exception& e) {
      bridge::fail(op_.fullName() + ": argument '" + argument().name + "': " + e.what());
    }
  }

  const Operator& op_;
  uint32_t given_;
  const double* at_;
  int index_ = 0;
  c10::SmallVector<c10::SymInt, 8> sizes_;
};

template <class Function, class... Args>
Tensor invoke(const Operator& op, Args&&... args) { return op.handle.typed<Function>().call(std::forward<Args>(args)...); }

Tensor callT(const Operator& op, uint32_t given, const double* at) {
  Reader r(op, given, at);
  return invoke<Tensor(const Tensor&)>(op, r.tensor());
}
Tensor callTT(const Operator& op, uint32_t given, const double* at) {
  Reader r(op, given, at);
  auto a = r.tensor(), b = r.tensor();
  return invoke<Tensor(const Tensor&, const Tensor&)>(op, a, b);
}
Tensor callTTS(const Operator& op, uint32_t given, const double* at) {
  Reader r(op, given, at);
  auto a = r.tensor(), b = r.tensor();
  auto c = r.scalar();
  return invoke<Tensor(const Tensor&, const Tensor&, const Scalar&)>(op, a, b, c);
}
Tensor callTS(const Operator& op, uint32_t given, const double* at) {
  Reader r(op, given, at);
  auto a = r.tensor();
  auto b = r.scalar();
  return invoke<Tensor(const Tensor&, const Scalar&)>(op, a, b);
}
Tensor callTSS(const Operator& op, uint32_t given, const double* at) {
  Reader r(op, given, at);
  auto a = r.tensor();
  auto b = r.scalar(), c = r.scalar();
  return invoke<Tensor(const Tensor&, const Scalar&, const Scalar&)>(op, a, b, c);
}
// A number with a tensor: as Python does, the number becomes a tensor that does not take part in type promotion, and
// the tensor overload is called; the scalar overload would dispatch once more to come to the same.
Tensor callNumber(const Operator& op, uint32_t given, const double* at) {
  Reader r(op, given, at);
  auto a = r.tensor();
  return invoke<Tensor(const Tensor&, const Tensor&)>(*op.withTensor, a, at::native::wrapped_scalar_tensor(r.scalar()));
}
Tensor callNumberScaled(const Operator& op, uint32_t given, const double* at) {
  Reader r(op, given, at);
  auto a = r.tensor();
  auto b = at::native::wrapped_scalar_tensor(r.scalar());
  return invoke<Tensor(const Tensor&, const Tensor&, const Scalar&)>(*op.withTensor, a, b, r.scalar());
}
// Of two matrices matmul is mm, which it would only come to after another dispatch.
Tensor callMatmul(const Operator& op, uint32_t given, const double* at) {
  Reader r(op, given, at);
  auto a = r.tensor(), b = r.tensor();
  if (a.dim() == 2 && b.dim() == 2) return at::mm(a, b);
  return invoke<Tensor(const Tensor&, const Tensor&)>(op, a, b);
}
Tensor callTTt(const Operator& op, uint32_t given, const double* at) {
  Reader r(op, given, at);
  auto a = r.tensor(), b = r.tensor();
  auto c = r.optionalTensor();
  return invoke<Tensor(const Tensor&, const Tensor&, const std::optional<Tensor>&)>(op, a, b, c);
}
Tensor callTsizes(const Operator& op, uint32_t given, const double* at) {
  Reader r(op, given, at);
  auto a = r.tensor();
  return invoke<Tensor(const Tensor&, c10::SymIntArrayRef)>(op, a, r.sizes());
}

// One letter an argument: T tensor, t optional tensor, S scalar, z list of symbolic ints, ? anything else.
char letterOf(const Type& type) {
  if (type.kind == Kind::Tensor && !type.list) return type.optional ? 't' : 'T';
  if (type.kind == Kind::Scalar && !type.list && !type.optional) return 'S';
  if (type.kind == Kind::Int && type.list && type.symbolic && !type.optional && type.fixedLength == 0) return 'z';
  return '?';
}

std::string lettersOf(const Operator& op) {
  std::string letters;
  for (auto& argument : op.arguments) letters += argument.written ? '?' : letterOf(argument.type);
  return letters;
}

DirectCall plainCall(const std::string& letters) {
  if (letters == "T") return callT;
  if (letters == "TT") return callTT;
  if (letters == "TTS") return callTTS;
  if (letters == "TS") return callTS;
  if (letters == "TSS") return callTSS;
  if (letters == "TTt") return callTTt;
  if (letters == "Tz") return callTsizes;
  return nullptr;
}

} // namespace

void chooseDirectCall(Operator& op) {
  bool oneFreshTensor = op.results.size() == 1 && op.results[0].type.kind == Kind::Tensor && !op.results[0].type.list && op.results[0].sameAs < 0;
  if (!oneFreshTensor || op.name.rfind("aten::", 0) != 0) return;
  std::string letters = lettersOf(op);
  op.direct = op.name == "aten::matmul" && letters == "TT" ? callMatmul : plainCall(letters);
  bool number = op.overload == "Scalar" && (letters == "TS" || letters == "TSS");
  if (!number || !c10::Dispatcher::singleton().findSchema({op.name, "Tensor"})) return;
  Operator* sibling = findOperator(op.name, "Tensor");
  if (lettersOf(*sibling) != (letters == "TS" ? "TT" : "TTS")) return;
  op.withTensor = sibling;
  op.direct = letters == "TS" ? callNumber : callNumberScaled;
}

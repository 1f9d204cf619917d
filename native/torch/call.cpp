// Calling an operator.
//
// The packed path is the fast one: TypeScript writes the arguments of a call as doubles into a shared buffer, the
// operator runs through the boxed dispatcher, and the results come back in the same buffer. Nothing is allocated on
// the JavaScript side but the result's Tensor. Strings and other rare types take the general path.
//   buffer in:  [operator id, argument count, mask of given arguments, arguments…]
//   buffer out: [results…]; a list is its length, then its elements
#include <ATen/core/dispatch/Dispatcher.h>

#include "bridge.h"
#include "exports.h"
#include "operators.h"
#include "thread-state.h"

using namespace bridge;
using c10::IValue;

static at::Scalar readScalar(const double*& p) { // two numbers: 0 int, 1 float, 2 bool; then the value
  double tag = *p++, value = *p++;
  if (tag == 0) return at::Scalar(static_cast<int64_t>(value));
  if (tag == 2) return at::Scalar(value != 0);
  return at::Scalar(value);
}

static IValue readOne(Kind kind, const double*& p) {
  switch (kind) {
    case Kind::Tensor: return IValue(tensorOf(*p++));
    case Kind::Int: case Kind::DType: case Kind::Layout: case Kind::MemoryFormat: return IValue(static_cast<int64_t>(*p++));
    case Kind::Float: return IValue(*p++);
    case Kind::Bool: return IValue(*p++ != 0);
    case Kind::Scalar: return IValue(readScalar(p));
    case Kind::Device: return IValue(deviceOf(*p++));
    case Kind::Generator: return IValue(generatorOf(*p++));
    default: fail("internal: this argument type needs the general path");
  }
}

template <class T, class Read>
static IValue readList(int n, Read read) {
  c10::List<T> list;
  list.reserve(n);
  for (int i = 0; i < n; i++) list.push_back(read());
  return IValue(std::move(list));
}

static IValue readArgument(const Type& type, const double*& p) {
  if (!type.list) {
    if (type.optional && type.kind == Kind::Tensor && *p == 0) { p++; return IValue(); }
    return readOne(type.kind, p);
  }
  int n = static_cast<int>(*p++);
  switch (type.kind) {
    case Kind::Tensor:
      if (type.elementOptional)
        return readList<std::optional<at::Tensor>>(n, [&] { double h = *p++; return h == 0 ? std::optional<at::Tensor>() : tensorOf(h); });
      return readList<at::Tensor>(n, [&] { return tensorOf(*p++); });
    case Kind::Int: return readList<int64_t>(n, [&] { return static_cast<int64_t>(*p++); });
    case Kind::Float: return readList<double>(n, [&] { return *p++; });
    case Kind::Bool: return readList<bool>(n, [&] { return *p++ != 0; });
    case Kind::Scalar: return readList<at::Scalar>(n, [&] { return readScalar(p); });
    default: fail("internal: this list type needs the general path");
  }
}

static void decode(const Operator& op, int count, uint32_t given, const double* p, std::vector<IValue>& stack) {
  int i = 0;
  for (auto& argument : op.arguments) {
    if (i < count && ((given >> i) & 1)) {
      try {
        stack.push_back(readArgument(argument.type, p));
      } catch (const std::exception& e) {
        fail(op.fullName() + ": argument '" + argument.name + "': " + e.what());
      }
    } else {
      pushDefault(op, argument, stack);
    }
    i++;
  }
}

static double plainResult(const IValue& v) {
  if (v.isTensor()) return handleOf(v.toTensor());
  if (v.isInt()) return static_cast<double>(v.toInt());
  if (v.isDouble()) return v.toDouble();
  if (v.isBool()) return v.toBool();
  if (v.isNone()) return 0;
  if (v.isScalar()) return v.toScalar().toDouble();
  if (v.isDevice()) return codeOf(v.toDevice());
  fail("internal: a result of type " + v.tagKind() + " needs the general path");
}

static void encode(const Operator& op, std::vector<IValue>& stack, double* out, size_t capacity) {
  size_t at = 0, i = 0;
  for (auto& v : stack) {
    bool sameAsArgument = i < op.results.size() && op.results[i].sameAs >= 0;
    i++;
    if (sameAsArgument) { out[at++] = 0; continue; } // TypeScript returns the argument itself
    if (v.isTensor()) { out[at++] = handleOf(std::move(v).toTensor()); continue; }
    if (!v.isList()) { out[at++] = plainResult(v); continue; }
    auto list = v.toListRef();
    if (at + list.size() + 1 > capacity) fail(op.fullName() + ": too many results for the buffer");
    out[at++] = static_cast<double>(list.size());
    for (auto& x : list) out[at++] = plainResult(x);
  }
}

napi_value run(napi_env env, napi_callback_info) { // no Call: this is the hot path, and it reads only the buffer
  auto& stack = state->stack;
  try {
    double* b = state->buffer;
    Operator& op = operatorOf(b[0]);
    if (op.direct) {
      b[0] = handleOf(op.direct(op, static_cast<uint32_t>(b[2]), b + 3));
      return nullptr;
    }
    decode(op, static_cast<int>(b[1]), static_cast<uint32_t>(b[2]), b + 3, stack);
    op.handle.callBoxed(stack);
    encode(op, stack, b, state->bufferLength);
  } catch (...) {
    throwCurrent(env);
  }
  stack.clear();
  return nullptr;
}

// ---- the general path: any JavaScript value, by the schema's type

static IValue fromJs(napi_env env, napi_value v, Kind kind) {
  switch (kind) {
    case Kind::Tensor: return tensorOf(numberOf(env, v));
    case Kind::Int: case Kind::DType: case Kind::Layout: case Kind::MemoryFormat: return static_cast<int64_t>(numberOf(env, v));
    case Kind::Float: return numberOf(env, v);
    case Kind::Bool: { bool b; if (napi_get_value_bool(env, v, &b) != napi_ok) fail("a boolean was expected"); return b; }
    case Kind::Scalar: {
      napi_valuetype t;
      napi_typeof(env, v, &t);
      if (t == napi_boolean) { bool b; napi_get_value_bool(env, v, &b); return at::Scalar(b); }
      if (t == napi_bigint) { int64_t x; bool exact; napi_get_value_bigint_int64(env, v, &x, &exact); return at::Scalar(x); }
      double d = numberOf(env, v);
      return d == std::trunc(d) && std::abs(d) < 9e15 ? at::Scalar(static_cast<int64_t>(d)) : at::Scalar(d);
    }
    case Kind::Text: return textOf(env, v);
    case Kind::Device: return deviceOf(numberOf(env, v));
    case Kind::Generator: return generatorOf(numberOf(env, v));
    default: fail("no JavaScript value fits this argument type");
  }
}

static IValue listFromJs(napi_env env, napi_value v, const Type& type) {
  bool isArray = false;
  napi_is_array(env, v, &isArray);
  uint32_t n = isArray ? lengthOf(env, v) : (type.fixedLength ? type.fixedLength : 1), i = 0;
  auto next = [&] { return fromJs(env, isArray ? elementOf(env, v, i++) : v, type.kind); };
  switch (type.kind) {
    case Kind::Tensor: return readList<at::Tensor>(n, [&] { return next().toTensor(); });
    case Kind::Int: return readList<int64_t>(n, [&] { return next().toInt(); });
    case Kind::Float: return readList<double>(n, [&] { return next().toDouble(); });
    case Kind::Bool: return readList<bool>(n, [&] { return next().toBool(); });
    case Kind::Scalar: return readList<at::Scalar>(n, [&] { return next().toScalar(); });
    case Kind::Text: return readList<std::string>(n, [&] { return next().toStringRef(); });
    default: fail("no JavaScript value fits this list type");
  }
}

static napi_value toJs(napi_env env, const IValue& v) {
  if (v.isString()) return text(env, v.toStringRef());
  if (v.isBool()) return boolean(env, v.toBool());
  if (v.isNone()) return null(env);
  if (!v.isList()) return number(env, plainResult(v));
  auto list = v.toListRef();
  napi_value out = array(env, list.size());
  for (size_t i = 0; i < list.size(); i++) napi_set_element(env, out, i, toJs(env, list[i]));
  return out;
}

napi_value callGeneral(Call& call) { // (operator id, positional arguments) -> results
  napi_env env = call.env;
  Operator& op = operatorOf(call.number(0));
  uint32_t n = lengthOf(env, call.values[1]), i = 0;
  if (n > op.arguments.size()) fail(op.fullName() + ": " + std::to_string(n) + " arguments for " + std::to_string(op.arguments.size()));
  std::vector<IValue> stack;
  for (auto& argument : op.arguments) {
    napi_value v = i < n ? elementOf(env, call.values[1], i) : undefined(env);
    i++;
    napi_valuetype t;
    napi_typeof(env, v, &t);
    if (t == napi_undefined) pushDefault(op, argument, stack);
    else if (t == napi_null) stack.emplace_back();
    else stack.push_back(argument.type.list ? listFromJs(env, v, argument.type) : fromJs(env, v, argument.type.kind));
  }
  op.handle.callBoxed(stack);
  napi_value out = array(env, stack.size());
  for (size_t r = 0; r < stack.size(); r++) napi_set_element(env, out, r, toJs(env, stack[r]));
  return out;
}

napi_value useBuffer(Call& call) { // (Float64Array): the caller keeps it alive as long as the thread
  napi_typedarray_type type;
  size_t length, offset;
  void* data;
  napi_value buffer;
  if (napi_get_typedarray_info(call.env, call.values[0], &type, &length, &data, &buffer, &offset) != napi_ok || type != napi_float64_array) fail("a Float64Array was expected");
  state->buffer = static_cast<double*>(data);
  state->bufferLength = length;
  napi_ref forever;
  napi_create_reference(call.env, call.values[0], 1, &forever);
  return nullptr;
}

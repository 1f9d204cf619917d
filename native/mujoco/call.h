// One call from JavaScript: its arguments, checked, and its errors, thrown.
//
// Native functions are free functions over opaque handles; the classes that people use are TypeScript
// (src/mujoco). Every function runs inside `entry`, which turns a C++ exception into a JavaScript error,
// so that a bad argument, a disposed handle or an error inside MuJoCo never ends the process.
#pragma once

#define NAPI_VERSION 8
#include <node_api.h>

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace reverie {

// An error with a code that TypeScript can tell apart: MODEL (bad input), GL (no renderer), DISPOSED, ARGUMENT, ENGINE.
struct JsError : std::runtime_error {
  const char* code;
  JsError(const char* code, const std::string& message) : std::runtime_error(message), code(code) {}
};

// A view of a caller's typed array. It stays valid for the duration of the call.
template <class T>
struct Span {
  T* data = nullptr;
  size_t length = 0;
};

class Call {
 public:
  static constexpr size_t kMax = 8;

  Call(napi_env env, napi_callback_info info) : env(env) {
    count_ = kMax;
    napi_get_cb_info(env, info, &count_, values_, nullptr, nullptr);
  }

  napi_env const env;

  bool has(size_t i) const {
    if (i >= count_) return false;
    napi_valuetype type;
    napi_typeof(env, values_[i], &type);
    return type != napi_undefined && type != napi_null;
  }

  napi_value value(size_t i) const { return values_[i]; }

  double number(size_t i) const {
    double out;
    if (napi_get_value_double(env, values_[i], &out) != napi_ok) fail(i, "a number");
    return out;
  }

  int integer(size_t i, int least, int most) const {
    const double out = number(i);
    if (!(out >= least && out <= most) || out != std::floor(out)) {
      fail(i, "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    }
    return static_cast<int>(out);
  }

  bool boolean(size_t i) const {
    bool out;
    if (napi_get_value_bool(env, values_[i], &out) != napi_ok) fail(i, "true or false");
    return out;
  }

  std::string text(size_t i) const { return textOf(env, values_[i], i); }

  static std::string textOf(napi_env env, napi_value value, size_t i = 0) {
    size_t length;
    if (napi_get_value_string_utf8(env, value, nullptr, 0, &length) != napi_ok) fail(i, "a string");
    std::string out(length, '\0');
    napi_get_value_string_utf8(env, value, out.data(), length + 1, &length);
    return out;
  }

  Span<double> doubles(size_t i, size_t least) const { return typed<double>(i, napi_float64_array, least, "Float64Array"); }
  Span<float> floats(size_t i, size_t least) const { return typed<float>(i, napi_float32_array, least, "Float32Array"); }
  Span<int32_t> ints(size_t i, size_t least) const { return typed<int32_t>(i, napi_int32_array, least, "Int32Array"); }
  Span<uint8_t> bytes(size_t i, size_t least) const { return typed<uint8_t>(i, napi_uint8_array, least, "Uint8Array"); }

  napi_value none() const {
    napi_value out;
    napi_get_undefined(env, &out);
    return out;
  }
  napi_value of(double number) const {
    napi_value out;
    napi_create_double(env, number, &out);
    return out;
  }
  napi_value of(const std::string& text) const {
    napi_value out;
    napi_create_string_utf8(env, text.data(), text.size(), &out);
    return out;
  }
  napi_value object() const {
    napi_value out;
    napi_create_object(env, &out);
    return out;
  }
  napi_value array() const {
    napi_value out;
    napi_create_array(env, &out);
    return out;
  }
  void set(napi_value object, const char* key, napi_value value) const {
    napi_set_named_property(env, object, key, value);
  }
  void push(napi_value array, uint32_t index, napi_value value) const { napi_set_element(env, array, index, value); }

 private:
  size_t count_;
  napi_value values_[kMax];

  [[noreturn]] static void fail(size_t i, const std::string& wanted) {
    throw JsError("ARGUMENT", "argument " + std::to_string(i + 1) + " must be " + wanted);
  }

  template <class T>
  Span<T> typed(size_t i, napi_typedarray_type wanted, size_t least, const char* name) const {
    napi_typedarray_type type;
    Span<T> out;
    void* data = nullptr;
    const bool ok = i < count_ && napi_get_typedarray_info(env, values_[i], &type, &out.length, &data, nullptr, nullptr) == napi_ok;
    if (!ok || type != wanted || out.length < least) {
      fail(i, std::string("a ") + name + " of at least " + std::to_string(least) + " elements");
    }
    out.data = static_cast<T*>(data);
    return out;
  }
};

template <napi_value (*Function)(Call&)>
napi_value entry(napi_env env, napi_callback_info info) {
  Call call(env, info);
  try {
    return Function(call);
  } catch (const JsError& error) {
    napi_throw_error(env, error.code, error.what());
  } catch (const std::exception& error) {
    napi_throw_error(env, "ENGINE", error.what());
  }
  return nullptr;
}

// A handle is a napi external that owns a T. The magic number refuses an external that is not ours.
template <class T>
napi_value wrap(napi_env env, T* owned) {
  napi_value out;
  const auto finalize = [](napi_env env, void* data, void*) {
    static_cast<T*>(data)->abandon(env);
    delete static_cast<T*>(data);
  };
  if (napi_create_external(env, owned, finalize, nullptr, &out) != napi_ok) {
    delete owned;
    throw JsError("ENGINE", "could not create a handle");
  }
  return out;
}

template <class T>
T& unwrap(const Call& call, size_t i) {
  void* data = nullptr;
  if (napi_get_value_external(call.env, call.value(i), &data) != napi_ok || static_cast<T*>(data)->magic != T::kMagic) {
    throw JsError("ARGUMENT", std::string("argument ") + std::to_string(i + 1) + " must be " + T::kName);
  }
  T& out = *static_cast<T*>(data);
  if (out.disposed()) throw JsError("DISPOSED", std::string(T::kName) + " was disposed and cannot be used any more");
  return out;
}

}  // namespace reverie

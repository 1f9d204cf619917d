// Small Node-API vocabulary shared by the files of this addon: reading arguments, making results, and turning
// C++ exceptions into JavaScript errors. Every exported function is `napi_value name(Call& call)`.
#pragma once
#include <node_api.h>

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace bridge {

[[noreturn]] inline void fail(const std::string& message) { throw std::runtime_error(message); }

struct Call {
  static constexpr size_t most = 8;
  napi_env env;
  napi_value values[most];
  size_t count = most;

  Call(napi_env e, napi_callback_info info) : env(e) { napi_get_cb_info(env, info, &count, values, nullptr, nullptr); }

  napi_valuetype type(size_t i) const {
    if (i >= count) return napi_undefined;
    napi_valuetype t;
    napi_typeof(env, values[i], &t);
    return t;
  }
  bool has(size_t i) const { auto t = type(i); return t != napi_undefined && t != napi_null; }
  double number(size_t i) const {
    double d;
    if (i >= count || napi_get_value_double(env, values[i], &d) != napi_ok) fail("argument " + std::to_string(i + 1) + ": a number was expected");
    return d;
  }
  double number(size_t i, double otherwise) const { return has(i) ? number(i) : otherwise; }
  int64_t integer(size_t i) const { return static_cast<int64_t>(number(i)); }
  bool flag(size_t i) const { bool b = false; if (i < count) napi_get_value_bool(env, values[i], &b); return b; }
  std::string text(size_t i) const;
};

inline std::string textOf(napi_env env, napi_value value) {
  size_t n = 0;
  if (napi_get_value_string_utf8(env, value, nullptr, 0, &n) != napi_ok) fail("a string was expected");
  std::string s(n, 0);
  napi_get_value_string_utf8(env, value, s.data(), n + 1, &n);
  return s;
}
inline std::string Call::text(size_t i) const {
  if (i >= count) fail("argument " + std::to_string(i + 1) + ": a string was expected");
  return textOf(env, values[i]);
}
inline double numberOf(napi_env env, napi_value value) {
  double d;
  if (napi_get_value_double(env, value, &d) != napi_ok) fail("a number was expected");
  return d;
}
inline uint32_t lengthOf(napi_env env, napi_value array) {
  uint32_t n = 0;
  if (napi_get_array_length(env, array, &n) != napi_ok) fail("an array was expected");
  return n;
}
inline napi_value elementOf(napi_env env, napi_value array, uint32_t i) { napi_value v; napi_get_element(env, array, i, &v); return v; }
inline std::vector<int64_t> integersOf(napi_env env, napi_value array) {
  std::vector<int64_t> out(lengthOf(env, array));
  for (size_t i = 0; i < out.size(); i++) out[i] = static_cast<int64_t>(numberOf(env, elementOf(env, array, i)));
  return out;
}

inline napi_value number(napi_env env, double d) { napi_value v; napi_create_double(env, d, &v); return v; }
inline napi_value boolean(napi_env env, bool b) { napi_value v; napi_get_boolean(env, b, &v); return v; }
inline napi_value undefined(napi_env env) { napi_value v; napi_get_undefined(env, &v); return v; }
inline napi_value null(napi_env env) { napi_value v; napi_get_null(env, &v); return v; }
inline napi_value text(napi_env env, const std::string& s) { napi_value v; napi_create_string_utf8(env, s.data(), s.size(), &v); return v; }
inline napi_value object(napi_env env) { napi_value v; napi_create_object(env, &v); return v; }
inline napi_value array(napi_env env, size_t n) { napi_value v; napi_create_array_with_length(env, n, &v); return v; }
inline void set(napi_env env, napi_value o, const char* name, napi_value v) { napi_set_named_property(env, o, name, v); }

void throwCurrent(napi_env env) noexcept; // rethrows the exception in flight as a JavaScript error (module.cpp)

template <napi_value (*body)(Call&)>
napi_value guarded(napi_env env, napi_callback_info info) {
  try {
    Call call(env, info);
    return body(call);
  } catch (...) {
    throwCurrent(env);
    return nullptr;
  }
}

template <napi_value (*body)(Call&)>
void expose(napi_env env, napi_value exports, const char* name) {
  napi_value f;
  napi_create_function(env, name, NAPI_AUTO_LENGTH, guarded<body>, nullptr, &f);
  napi_set_named_property(env, exports, name, f);
}

} // namespace bridge

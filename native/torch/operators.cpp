// Looking operators up in libtorch's dispatcher, and describing their schemas to TypeScript.
#include "operators.h"

#include <ATen/core/jit_type.h>

#include <memory>
#include <mutex>
#include <sstream>
#include <unordered_map>

#include "bridge.h"
#include "exports.h"
#include "thread-state.h"

using namespace bridge;

static Kind kindOf(const c10::TypePtr& type) {
  switch (type->kind()) {
    case c10::TypeKind::TensorType: return Kind::Tensor;
    case c10::TypeKind::IntType: case c10::TypeKind::SymIntType: return Kind::Int;
    case c10::TypeKind::FloatType: case c10::TypeKind::SymFloatType: return Kind::Float;
    case c10::TypeKind::BoolType: case c10::TypeKind::SymBoolType: return Kind::Bool;
    case c10::TypeKind::NumberType: return Kind::Scalar;
    case c10::TypeKind::StringType: return Kind::Text;
    case c10::TypeKind::DeviceObjType: return Kind::Device;
    case c10::TypeKind::ScalarTypeType: return Kind::DType;
    case c10::TypeKind::LayoutType: return Kind::Layout;
    case c10::TypeKind::MemoryFormatType: return Kind::MemoryFormat;
    case c10::TypeKind::GeneratorType: return Kind::Generator;
    default: return Kind::Other;
  }
}
const char* nameOf(Kind kind) {
  static const char* names[] = {"Tensor", "int", "float", "bool", "Scalar", "str", "Device", "ScalarType", "Layout", "MemoryFormat", "Generator", "other"};
  return names[static_cast<int>(kind)];
}

static Type typeOf(c10::TypePtr type, std::optional<int32_t> length) {
  Type out;
  if (auto optional = type->cast<c10::OptionalType>()) { out.optional = true; type = optional->getElementType(); }
  if (auto list = type->cast<c10::ListType>()) {
    out.list = true;
    out.fixedLength = length.value_or(0);
    type = list->getElementType();
    if (auto optional = type->cast<c10::OptionalType>()) { out.elementOptional = true; type = optional->getElementType(); }
  }
  out.kind = kindOf(type);
  out.symbolic = type->kind() == c10::TypeKind::SymIntType;
  return out;
}

// In "add_(Tensor(a!) self, …) -> Tensor(a!)" result 0 is argument 0.
static int argumentReturned(const c10::FunctionSchema& schema, const c10::Argument& result) {
  if (!result.alias_info() || !result.alias_info()->isWrite()) return -1;
  for (size_t i = 0; i < schema.arguments().size(); i++) {
    auto* info = schema.arguments()[i].alias_info();
    if (info && info->isWrite() && info->beforeSets() == result.alias_info()->beforeSets()) return static_cast<int>(i);
  }
  return -1;
}

static std::unique_ptr<Operator> describe(const std::string& name, const std::string& overload) {
  auto handle = c10::Dispatcher::singleton().findSchema({name, overload});
  if (!handle) fail("libtorch has no operator " + name + (overload.empty() ? "" : "." + overload));
  auto op = std::unique_ptr<Operator>(new Operator{*handle, name, overload, {}, {}});
  auto& schema = handle->schema();
  for (auto& a : schema.arguments()) {
    Argument out;
    out.type = typeOf(a.real_type(), a.N());
    out.name = a.name();
    out.keywordOnly = a.kwarg_only();
    out.written = a.alias_info() && a.alias_info()->isWrite();
    if (a.default_value()) { out.hasDefault = true; out.fallback = *a.default_value(); }
    op->arguments.push_back(std::move(out));
  }
  for (auto& r : schema.returns()) {
    Type type = typeOf(r.real_type(), r.N());
    bool single = type.kind == Kind::Tensor && !type.list;
    op->results.push_back({type, r.name(), single ? argumentReturned(schema, r) : -1});
  }
  return op;
}

Operator* findOperator(const std::string& name, const std::string& overload) {
  static std::mutex mutex;
  static std::unordered_map<std::string, std::unique_ptr<Operator>> known;
  {
    std::lock_guard<std::mutex> lock(mutex);
    auto found = known.find(name + "." + overload);
    if (found != known.end()) return found->second.get();
  }
  auto made = describe(name, overload);
  chooseDirectCall(*made); // may look up another operator
  std::lock_guard<std::mutex> lock(mutex);
  auto& entry = known[name + "." + overload];
  if (!entry) entry = std::move(made);
  return entry.get();
}

Operator& operatorOf(double id) {
  auto index = static_cast<size_t>(id);
  if (!(id >= 0) || index >= state->operators.size()) fail("internal: unknown operator id");
  return *state->operators[index];
}

void pushDefault(const Operator& op, const Argument& argument, std::vector<c10::IValue>& stack) {
  if (argument.hasDefault) stack.push_back(argument.fallback);
  else if (argument.type.optional) stack.emplace_back();
  else fail(op.fullName() + ": argument '" + argument.name + "' is missing");
}

napi_value operatorFind(Call& call) { // (name, overload) -> id
  state->operators.push_back(findOperator(call.text(0), call.text(1)));
  return number(call.env, static_cast<double>(state->operators.size() - 1));
}

static napi_value typeObject(napi_env env, const Type& type) {
  napi_value o = object(env);
  set(env, o, "kind", text(env, nameOf(type.kind)));
  set(env, o, "optional", boolean(env, type.optional));
  set(env, o, "list", boolean(env, type.list));
  set(env, o, "elementOptional", boolean(env, type.elementOptional));
  set(env, o, "fixedLength", number(env, type.fixedLength));
  return o;
}

napi_value operatorDescribe(Call& call) { // (id) -> { schema, arguments, results }
  napi_env env = call.env;
  Operator& op = operatorOf(call.number(0));
  napi_value out = object(env), arguments = array(env, op.arguments.size()), results = array(env, op.results.size());
  uint32_t i = 0;
  for (auto& a : op.arguments) {
    napi_value o = typeObject(env, a.type);
    set(env, o, "name", text(env, a.name));
    set(env, o, "keywordOnly", boolean(env, a.keywordOnly));
    set(env, o, "hasDefault", boolean(env, a.hasDefault));
    set(env, o, "written", boolean(env, a.written));
    napi_set_element(env, arguments, i++, o);
  }
  i = 0;
  for (auto& r : op.results) {
    napi_value o = typeObject(env, r.type);
    set(env, o, "name", text(env, r.name));
    set(env, o, "sameAs", number(env, r.sameAs));
    napi_set_element(env, results, i++, o);
  }
  std::ostringstream schema;
  schema << op.handle.schema();
  set(env, out, "schema", text(env, schema.str()));
  set(env, out, "arguments", arguments);
  set(env, out, "results", results);
  return out;
}

napi_value operatorNames(Call& call) { // -> ["aten::add|Tensor", …]
  auto& dispatcher = c10::Dispatcher::singleton();
  napi_value out = array(call.env, 0);
  uint32_t i = 0;
  for (auto& n : dispatcher.getAllOpNames())
    if (dispatcher.findSchema(n)) napi_set_element(call.env, out, i++, text(call.env, n.name + "|" + n.overload_name));
  return out;
}

// The dispatcher's operators, with their schemas boiled down to what encoding and decoding need.
#pragma once
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include <string>
#include <vector>

enum class Kind : uint8_t { Tensor, Int, Float, Bool, Scalar, Text, Device, DType, Layout, MemoryFormat, Generator, Other };

struct Type {
  Kind kind = Kind::Other;
  bool optional = false, list = false, elementOptional = false, symbolic = false; // symbolic: SymInt in C++
  int fixedLength = 0; // "int[2]" also takes one int, repeated
};
struct Argument {
  Type type;
  std::string name;
  bool keywordOnly = false, hasDefault = false, written = false;
  c10::IValue fallback;
};
struct Result {
  Type type;
  std::string name;
  int sameAs = -1; // for in-place operators: the argument that is also this result
};
struct Operator;
// Calls an operator without boxing: reads the packed arguments, returns the one resulting tensor.
using DirectCall = at::Tensor (*)(const Operator& op, uint32_t given, const double* arguments);

struct Operator {
  c10::OperatorHandle handle;
  std::string name, overload;
  std::vector<Argument> arguments;
  std::vector<Result> results;
  DirectCall direct = nullptr; // for the commonest signatures only (direct.cpp)
  Operator* withTensor = nullptr; // for "mul.Scalar": "mul.Tensor", which takes the number as a tensor
  std::string fullName() const { return overload.empty() ? name : name + "." + overload; }
};

Operator* findOperator(const std::string& name, const std::string& overload);
Operator& operatorOf(double id); // of this thread's table
void pushDefault(const Operator& op, const Argument& argument, std::vector<c10::IValue>& stack);
const char* nameOf(Kind kind);
void chooseDirectCall(Operator& op);

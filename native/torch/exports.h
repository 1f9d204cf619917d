// Everything that TypeScript sees of this addon, by the file that holds it.
#pragma once
#include "bridge.h"

#define REVERIE_EXPORTS(X)                                                                                       \
  /* operators.cpp */ X(operatorFind) X(operatorDescribe) X(operatorNames)                                       \
  /* call.cpp */ X(callGeneral) X(useBuffer)                                                                     \
  /* memory.cpp */ X(tensorRelease) X(tensorReleaseMany) X(tensorRetain) X(tensorsLiving) X(tensorMeta)          \
  X(tensorFromBytes) X(tensorToBytes) X(tensorHostView) X(tensorItem)                                            \
  X(mapOpen) X(mapClose) X(mapBytes) X(mapTensor) X(shareGive) X(shareTake)                                      \
  /* autograd.cpp */ X(gradMode) X(inferenceMode) X(setRequiresGrad) X(gradGet) X(gradSet) X(backward)           \
  X(gradients) X(generatorNew) X(generatorState) X(generatorRestore) X(generatorRelease) X(seedDefault)          \
  X(torchVersion) X(threadCount) X(allowTf32) X(deterministic) X(cpuCapability) X(endProcess)                    \
  /* distributed.cpp */ X(storeInProcess) X(storeListen) X(storeTcp) X(storePrefix)                              \
  X(storeSet) X(storeGet) X(storeAdd) X(storeClose)                                                              \
  X(groupNew) X(groupClose) X(collective) X(collectiveWait) X(collectiveWaitAsync)                               \
  /* cuda.cpp */ X(deviceCount) X(deviceSynchronize) X(deviceUse)

#define REVERIE_DECLARE(name) napi_value name(bridge::Call& call);
REVERIE_EXPORTS(REVERIE_DECLARE)

napi_value run(napi_env env, napi_callback_info info); // call.cpp, the packed path
void exposeCuda(napi_env env, napi_value exports);      // cuda.cpp, nothing in a CPU build
void exposeKernels(napi_env env, napi_value exports);   // kernels.cpp, likewise

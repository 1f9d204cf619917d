// Enough of CUDA to run a kernel's source on a CPU, for tests: threads of a block are fibers that take turns, one block after the other.
// Every collective (__syncthreads, __syncwarp, shuffles, the matrix product of a warp) is a barrier of those that take part.
#include <ucontext.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define REVERIE_ON_HOST
#define __device__
#define __global__
#define __shared__ static
#define __forceinline__ inline

struct Index { int x; };
static Index threadIdx, blockIdx, blockDim, gridDim;

struct Barrier {
  int members = 0, arrived = 0, round = 0;
};
struct Fiber {
  ucontext_t context;
  std::vector<char> stack;
  bool done = false;
};
static std::vector<Fiber> fibers;
static ucontext_t scheduler;
static int running = 0;
static Barrier ofBlock, ofWarp[32];
static unsigned char desk[1024][64]; // what a thread lays out for its warp

static void rest() { swapcontext(&fibers[running].context, &scheduler); }
static void meet(Barrier& barrier) {
  int round = barrier.round;
  if (++barrier.arrived == barrier.members) { barrier.arrived = 0; barrier.round++; }
  while (barrier.round == round) rest();
}
static void leave(Barrier& barrier) { // a thread that returned does not hold the others up
  barrier.members--;
  if (barrier.members > 0 && barrier.arrived == barrier.members) { barrier.arrived = 0; barrier.round++; }
}
static Barrier& warp() { return ofWarp[running / 32]; }

inline void __syncthreads() { meet(ofBlock); }
inline void __syncwarp(unsigned = 0xffffffffu) { meet(warp()); }
template <class T>
static T shuffled(T value, int lane) {
  std::memcpy(desk[running], &value, sizeof value);
  meet(warp());
  T answer;
  std::memcpy(&answer, desk[running / 32 * 32 + lane], sizeof answer);
  meet(warp());
  return answer;
}
template <class T> inline T __shfl_xor_sync(unsigned, T v, int mask) { return shuffled(v, running % 32 ^ mask); }
template <class T> inline T __shfl_down_sync(unsigned, T v, int by) { int to = running % 32 + by; return shuffled(v, to < 32 ? to : running % 32); }
template <class T> inline T __shfl_sync(unsigned, T v, int lane) { return shuffled(v, lane); }

inline float __uint_as_float(unsigned u) { float f; std::memcpy(&f, &u, 4); return f; }
inline unsigned __float_as_uint(float f) { unsigned u; std::memcpy(&u, &f, 4); return u; }
inline float __int_as_float(int i) { return __uint_as_float(static_cast<unsigned>(i)); }
inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
inline float __expf(float x) { return std::exp(x); }

// mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32: D += A B, fragments as the PTX manual lays them out.
inline void tensor_product(float* d, const unsigned* a, const unsigned* b) {
  unsigned* own = reinterpret_cast<unsigned*>(desk[running]);
  for (int i = 0; i < 4; i++) own[i] = a[i];
  for (int i = 0; i < 2; i++) own[4 + i] = b[i];
  meet(warp());
  auto half = [](unsigned word, int high) { return __uint_as_float(high ? word & 0xffff0000u : word << 16); };
  auto of = [](int lane) { return reinterpret_cast<unsigned*>(desk[running / 32 * 32 + lane]); };
  int lane = running % 32;
  for (int i = 0; i < 4; i++) {
    int row = lane / 4 + 8 * (i / 2), column = lane % 4 * 2 + i % 2;
    float sum = 0;
    for (int k = 0; k < 16; k++) {
      float left = half(of(row % 8 * 4 + k % 8 / 2)[row / 8 + 2 * (k / 8)], k % 2);
      float right = half(of(column * 4 + k % 8 / 2)[4 + k / 8], k % 2);
      sum += left * right;
    }
    d[i] += sum;
  }
  meet(warp());
}

static void (*body)();
static void enter() {
  body();
  fibers[running].done = true;
  leave(ofBlock);
  leave(warp());
  rest();
}
static void runBlock(int threads) {
  ofBlock = Barrier{threads};
  for (int w = 0; w * 32 < threads; w++) ofWarp[w] = Barrier{threads - w * 32 < 32 ? threads - w * 32 : 32};
  if (static_cast<int>(fibers.size()) < threads) fibers.resize(threads);
  for (int i = 0; i < threads; i++) {
    Fiber& fiber = fibers[i];
    fiber.done = false;
    fiber.stack.resize(128 << 10);
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.data();
    fiber.context.uc_stack.ss_size = fiber.stack.size();
    fiber.context.uc_link = &scheduler;
    makecontext(&fiber.context, enter, 0);
  }
  for (bool busy = true; busy;) {
    busy = false;
    for (running = 0; running < threads; running++) {
      if (fibers[running].done) continue;
      busy = true;
      threadIdx.x = running;
      swapcontext(&scheduler, &fibers[running].context);
    }
  }
}
static void runGrid(int blocks, int threads, void (*kernel)()) {
  body = kernel;
  blockDim.x = threads;
  gridDim.x = blocks;
  for (blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++) runBlock(threads);
}

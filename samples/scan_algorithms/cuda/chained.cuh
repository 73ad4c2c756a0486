#pragma once
// The single pass with look-back, as chained_by_threads() in ../chained.h. A tile is the work of a block.
//
// Blocks do not start in the order of their indices, and one that waits for a block that has not started
// might wait for ever. So a block draws the number of its tile from a counter: all lower tiles then belong to
// blocks that are running already.

#include <cstring>
#include <cuda/atomic>

#include "block_scan.cuh"
#include "memory.cuh"

namespace study::gpu {

enum Told : std::uint32_t { nothing = 0, aggregate = 1, prefix = 2 };

/// The published states and sums of the tiles. States and counter are 0 before the kernel starts.
template <class Value>
struct Board {
  std::uint32_t* ticket;
  std::uint32_t* told;
  Value* aggregates;
  Value* prefixes;

  /// Releases the state after the sum, so that a thread that acquires the state sees the sum.
  __device__ void tell(Index tile, Value* values, const Value& value, Told what) const {
    values[tile] = value;
    cuda::atomic_ref<std::uint32_t, cuda::thread_scope_device>(told[tile])
        .store(what, cuda::memory_order_release);
  }
  __device__ std::uint32_t wait_for(Index tile) const {
    const cuda::atomic_ref<std::uint32_t, cuda::thread_scope_device> word(told[tile]);
    std::uint32_t what = nothing;
    do what = word.load(cuda::memory_order_acquire);
    while (what == nothing);
    return what;
  }
};

template <class Value>
__device__ Value from_lane(const Value& value, int lane) {
  static_assert(sizeof(Value) % 4 == 0);
  std::uint32_t words[sizeof(Value) / 4];
  std::memcpy(words, &value, sizeof value);
  for (std::uint32_t& word : words) word = __shfl_sync(0xFFFFFFFFU, word, lane);
  Value result;
  std::memcpy(&result, words, sizeof result);
  return result;
}

/// Returns the sum of all tiles before `tile`, by one warp that reads 32 tiles at once, lane 0 the nearest.
/// Lanes beyond the nearest prefix do not count. Sums keep the order, because the operator need not commute.
template <class Value, class Op>
__device__ Value look_back(const Board<Value>& board, Index tile, Op op) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  Value sum = Op::identity();
  for (Index nearest = tile - 1;; nearest -= 32) {
    const Index mine = nearest - lane;
    std::uint32_t what = prefix;  // the sum before the first tile is the identity
    Value value = Op::identity();
    if (mine >= 0) {
      what = board.wait_for(mine);
      value = what == prefix ? board.prefixes[mine] : board.aggregates[mine];
    }
    const unsigned prefixes = __ballot_sync(0xFFFFFFFFU, what == prefix);
    if (prefixes != 0 && lane >= __ffs(static_cast<int>(prefixes))) value = Op::identity();
    for (int distance = 1; distance < 32; distance *= 2) {
      const Value left = from_lane(value, (lane + distance) % 32);
      if (lane + distance < 32) value = op(left, value);
    }
    sum = op(from_lane(value, 0), sum);
    if (prefixes != 0) return sum;
  }
}

constexpr int chained_threads = 256;

/// Values of one thread: 64 bytes, so that the tile fits registers and 16 KB of shared memory.
constexpr int bytes_per_thread = 64;
template <class Value>
constexpr int chained_tile = bytes_per_thread / static_cast<int>(sizeof(Value)) * chained_threads;

/// Calls store(i, sum of load(0) to load(i)). load and store are called once for each i.
template <class Load, class Store, class Op>
__global__ void __launch_bounds__(chained_threads)
    scan_chained(Index n, Load load, Store store, Op op, Board<ValueOf<Op>> board) {
  using Value = ValueOf<Op>;
  using ThreadSums = HillisSteeleInBlock<Op, chained_threads>;
  constexpr int tile = chained_tile<Value>;
  constexpr int each = tile / chained_threads;
  // `each` apart, threads would read one bank
  const auto padded = [](int i) { return i + i / each; };
  __shared__ std::uint32_t ticket;
  __shared__ Value values[tile + chained_threads];
  __shared__ ThreadSums thread_sums;
  __shared__ Value before_tile;
  const int thread = static_cast<int>(threadIdx.x);

  if (thread == 0) ticket = atomicAdd(board.ticket, 1U);
  __syncthreads();
  const Index number = ticket;
  const Index first = number * tile;
  for (int i = thread; i < tile; i += chained_threads)
    values[padded(i)] = first + i < n ? load(first + i) : Op::identity();
  __syncthreads();

  Value own[each];
  own[0] = values[padded(thread * each)];
  for (int k = 1; k < each; ++k) own[k] = op(own[k - 1], values[padded(thread * each + k)]);
  thread_sums.put(thread, own[each - 1]);
  const Value sum = thread_sums.scan(op);
  if (thread < 32) {
    if (thread == 0 && number > 0) board.tell(number, board.aggregates, sum, aggregate);
    const Value before = look_back(board, number, op);
    if (thread == 0) {
      board.tell(number, board.prefixes, op(before, sum), prefix);
      before_tile = before;
    }
  }
  __syncthreads();

  const Value before = op(before_tile, thread_sums.get(thread));
  for (int k = 0; k < each; ++k) values[padded(thread * each + k)] = op(before, own[k]);
  __syncthreads();
  for (int i = thread; i < tile; i += chained_threads)
    if (first + i < n) store(first + i, values[padded(i)]);
}

/// Owns the board.
template <class Op>
class ScanChained {
 public:
  using Value = ValueOf<Op>;

  explicit ScanChained(Index n)
      : tiles_(blocks_for(n, chained_tile<Value>)),
        words_(1 + tiles_),
        aggregates_(tiles_),
        prefixes_(tiles_) {}

  template <class Load, class Store>
  void run(Index n, Load load, Store store) {
    words_.fill_bytes(0);
    const Board<Value> board{words_.data(), words_.data() + 1, aggregates_.data(), prefixes_.data()};
    scan_chained<<<static_cast<unsigned>(tiles_), chained_threads>>>(n, load, store, Op{}, board);
    check_launch();
  }

 private:
  Index tiles_;
  DeviceArray<std::uint32_t> words_;
  DeviceArray<Value> aggregates_;
  DeviceArray<Value> prefixes_;
};

}  // namespace study::gpu

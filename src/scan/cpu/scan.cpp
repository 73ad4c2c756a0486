// Reduce, mean and scan on the CPU, as chains of chunks (satin/host/chain.h): each chunk is reduced, waits
// for the carry of the chunks before it, and is scanned onto that carry while it is still in the cache.

#include <functional>

#include "satin/error.h"
#include "satin/host/chain.h"
#include "satin/host/scan.h"
#include "scan/cpu/blocks.h"
#include "scan/cpu/chunk.h"
#include "scan/cpu/operations.h"
#include "scan/cpu/types.h"

namespace satin::cpu {
namespace {

/// Chunks of 64 to 128 KiB.
template <class In, class Out>
constexpr std::int64_t length = host::chunk_length<In, Out>;

/// Bytes from which results are stored past the caches, so that no line is read before it is overwritten.
constexpr std::int64_t stream_from = std::int64_t{1} << 24;

template <class Op, class In>
typename Op::Value reduced(CpuBackend& backend, const In* values, std::int64_t n, Operator op) {
  using Out = typename Op::Value;
  const ChunkFunctions functions = fastest_chunk_functions<Op, In>(op);
  const auto reduce_chunk = [&](std::int64_t first, std::int64_t last, const auto& pass) {
    Out own = Op::identity;
    functions.reduce(values + first, static_cast<std::size_t>(last - first), &own);
    static_cast<void>(pass(own));
  };
  return host::chain(BlocksOf{backend}, n, length<In, In>, Op::identity, Op(), reduce_chunk);
}

template <class Op, class In>
void scan_all(CpuBackend& backend, const In* values, typename Op::Value* result, std::int64_t n,
              const ScanRule& rule) {
  using Out = typename Op::Value;
  const ChunkFunctions functions = fastest_chunk_functions<Op, In>(rule.op);
  const auto scan_values = rule.exclusive ? functions.exclusive : functions.inclusive;
  const bool stream = n > stream_from / static_cast<std::int64_t>(sizeof(Out)) &&
                      static_cast<const void*>(values) != static_cast<const void*>(result);
  const auto scan_chunk = [&](std::int64_t first, std::int64_t last, const auto& pass) {
    const auto count = static_cast<std::size_t>(last - first);
    Out own = Op::identity;
    functions.reduce(values + first, count, &own);
    const Out carry = pass(own);
    scan_values(values + first, count, &carry, result + first, stream);
  };
  host::chain(BlocksOf{backend}, n, length<In, Out>, initial_of<Out>(rule.initial, Op::identity), Op(),
              scan_chunk);
}

/// Sums i32 in 64 bits, which no operator of scan_operator.h does.
std::int64_t sum_of_signed(CpuBackend& backend, const std::int32_t* values, std::int64_t n) {
  const auto reduce_chunk = [&](std::int64_t first, std::int64_t last, const auto& pass) {
    std::int64_t own = 0;
    for (std::int64_t i = first; i < last; ++i) own += values[i];
    static_cast<void>(pass(own));
  };
  return host::chain(BlocksOf{backend}, n, length<std::int32_t, std::int32_t>, std::int64_t{0},
                     std::plus<std::int64_t>(), reduce_chunk);
}

template <class In>
double sum_as_double(CpuBackend& backend, const In* values, std::int64_t n) {
  if constexpr (std::is_same_v<In, std::int32_t>) {
    return static_cast<double>(sum_of_signed(backend, values, n));
  } else {
    using Wide = std::conditional_t<std::is_floating_point_v<In>, double, std::uint64_t>;
    return static_cast<double>(reduced<Sum<Wide>>(backend, values, n, Operator::sum));
  }
}

}  // namespace

void reduce(Backend& backend, ArrayView values, Operator op, MutableArrayView result, Stream) {
  with_operator(op, values.type, result.type, [&]<class Op, class In>() {
    *result.values<typename Op::Value>() = reduced<Op>(as_cpu(backend), values.values<In>(), values.size, op);
  });
}

double mean(Backend& backend, ArrayView values, Stream) {
  const double sum = with_type(values.type, [&]<class In>() {
    return sum_as_double(as_cpu(backend), values.values<In>(), values.size);
  });
  return sum / static_cast<double>(values.size);
}

void scan(Backend& backend, ArrayView values, MutableArrayView result, const ScanRule& rule, Stream) {
  with_operator(rule.op, values.type, result.type, [&]<class Op, class In>() {
    scan_all<Op>(as_cpu(backend), values.values<In>(), result.values<typename Op::Value>(), values.size,
                 rule);
  });
}

void combine(Backend& backend, ArrayView a, ArrayView b, MutableArrayView result, Operator op, Stream) {
  with_operator(op, b.type, result.type, [&]<class Op, class In>() {
    using Out = typename Op::Value;
    const Out* left = a.values<Out>();
    const In* right = b.values<In>();
    Out* out = result.values<Out>();
    for_ranges(as_cpu(backend), result.size, length<In, Out>, [=](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) out[i] = Op()(Op::read(left[i]), Op::read(right[i]));
    });
  });
}

}  // namespace satin::cpu

namespace satin {

void host::for_blocks(const Device& device, std::int64_t blocks,
                      const std::function<void(std::int64_t block)>& body) {
  if (device.is_cuda())
    throw Error(ErrorKind::usage, "Functions of satin::host run on the device cpu; this one is " +
                                      device.info().id + ": see satin/cuda/scan.cuh.");
  cpu::for_blocks(cpu::as_cpu(device.backend()), blocks, body);
}

}  // namespace satin

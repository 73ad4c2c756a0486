// Segmented scan and reduce on the CPU: the segmented operator (Sengupta, Harris, Zhang and Owens, Scan
// primitives for GPU computing, 2007) on chains of chunks.

#include <algorithm>

#include "satin/host/scan.h"
#include "scan/cpu/blocks.h"
#include "scan/cpu/operations.h"
#include "scan/cpu/types.h"

namespace satin::cpu {
namespace {

/// Whether the group of value i is below `count` and not below the group before.
bool in_order(const Heads& heads, std::int64_t i, std::int64_t count) {
  const std::uint32_t* groups = heads.groups;
  return groups == nullptr || (groups[i] < count && (i == 0 || groups[i - 1] <= groups[i]));
}

template <class Op, class In>
void scan_segments(CpuBackend& backend, const In* values, const Heads& heads, typename Op::Value* result,
                   std::int64_t n, bool exclusive) {
  using Out = typename Op::Value;
  using State = host::Flagged<Out>;
  const host::FlaggedCombine<Op> combine{Op()};
  const auto load = [=](std::int64_t i) { return State{Op::read(values[i]), heads(i)}; };
  const auto scan_chunk = [&](std::int64_t first, std::int64_t last, const auto& pass) {
    State own{Op::identity, false};
    for (std::int64_t i = first; i < last; ++i) own = combine(own, load(i));
    State running = pass(own);
    for (std::int64_t i = first; i < last; ++i) {
      const State value = load(i);
      const State next = combine(running, value);
      result[i] = !exclusive ? next.value : value.head ? Op::identity : running.value;
      running = next;
    }
  };
  host::chain(BlocksOf{backend}, n, host::chunk_length<In, Out>, State{Op::identity, false}, combine,
              scan_chunk);
}

/// State of a chunk: the value of the segment that is open at its end, the number of segments that have
/// begun, and whether the group indices are in order so far.
template <class Out>
struct Open {
  host::Flagged<Out> segment;
  std::int64_t heads = 0;
  bool valid = true;
};

template <class Op>
struct OpenCombine {
  using State = Open<typename Op::Value>;
  State operator()(const State& a, const State& b) const {
    return {host::FlaggedCombine<Op>{Op()}(a.segment, b.segment), a.heads + b.heads, a.valid && b.valid};
  }
};

/// Stores one result for each segment: in order for flags, at the group's index otherwise. Groups without
/// values get the identity. Returns -1 if the group indices are not in order; later results stay unwritten.
template <class Op, class In>
std::int64_t reduce_segments(CpuBackend& backend, const In* values, std::int64_t n, const Heads& heads,
                             typename Op::Value* result, std::int64_t count) {
  using Out = typename Op::Value;
  using State = Open<Out>;
  // Stores the segment that ends before the head at i, after `before` heads.
  const auto close = [=](std::int64_t i, std::int64_t before, Out value) {
    const std::int64_t next = heads.flags != nullptr ? before : static_cast<std::int64_t>(heads.groups[i]);
    std::int64_t ended = before - 1;
    if (heads.flags == nullptr && before > 0) ended = heads.groups[i - 1];
    if (ended >= 0) result[ended] = value;
    std::fill(result + ended + 1, result + next, Op::identity);
  };
  const auto reduce_chunk = [&](std::int64_t first, std::int64_t last, const auto& pass) {
    State own{{Op::identity, false}};
    for (std::int64_t i = first; i < last; ++i) {
      const bool begins = heads(i);
      own.segment = {Op()(begins ? Op::identity : own.segment.value, Op::read(values[i])),
                     own.segment.head || begins};
      own.heads += begins ? 1 : 0;
      own.valid = own.valid && in_order(heads, i, count);
    }
    const State before = pass(own);
    if (!before.valid || !own.valid || own.heads == 0) return;
    Out running = before.segment.value;
    std::int64_t begun = before.heads;
    for (std::int64_t i = first; i < last; ++i) {
      if (heads(i)) {
        close(i, begun, running);
        running = Op::identity;
        ++begun;
      }
      running = Op()(running, Op::read(values[i]));
    }
  };
  const State all = host::chain(BlocksOf{backend}, n, host::chunk_length<In, std::uint32_t>,
                                State{{Op::identity, false}}, OpenCombine<Op>(), reduce_chunk);
  if (!all.valid) return -1;
  const bool by_flags = heads.flags != nullptr;
  const std::int64_t last = by_flags ? all.heads - 1 : static_cast<std::int64_t>(heads.groups[n - 1]);
  result[last] = all.segment.value;
  if (!by_flags) std::fill(result + last + 1, result + count, Op::identity);
  return all.heads;
}

}  // namespace

void segmented_scan(Backend& backend, ArrayView values, const Segments& segments, MutableArrayView result,
                    const ScanRule& rule, Stream) {
  with_operator(rule.op, values.type, result.type, [&]<class Op, class In>() {
    scan_segments<Op>(as_cpu(backend), values.values<In>(), Heads(segments),
                      result.values<typename Op::Value>(), values.size, rule.exclusive);
  });
}

std::int64_t segmented_reduce(Backend& backend, ArrayView values, const Segments& segments,
                              MutableArrayView result, Operator op, Stream) {
  std::int64_t count = 0;
  with_operator(op, values.type, result.type, [&]<class Op, class In>() {
    count = reduce_segments<Op>(as_cpu(backend), values.values<In>(), values.size, Heads(segments),
                                result.values<typename Op::Value>(), result.size);
  });
  return count;
}

}  // namespace satin::cpu

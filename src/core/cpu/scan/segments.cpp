// Segmented scan and reduce: the segmented operator of Sengupta et al., 2007, on chains of chunks.

#include <algorithm>

#include "core/cpu/scan/blocks.h"
#include "core/cpu/scan/operations.h"
#include "core/cpu/scan/types.h"
#include "satin/host/scan.h"

namespace satin::cpu {
namespace {

/// A segment begins at value i.
struct HeadByFlag {
  const std::uint8_t* flags;
  bool operator()(std::int64_t i) const { return flags[i] != 0 || i == 0; }
};
struct HeadByGroup {
  const std::uint32_t* groups;
  bool operator()(std::int64_t i) const { return i == 0 || groups[i] != groups[i - 1]; }
};

template <class Function>
decltype(auto) with_heads(const Segments& segments, const Function& function) {
  if (segments.flags) return function(HeadByFlag{segments.marks.values<std::uint8_t>()});
  return function(HeadByGroup{segments.marks.values<std::uint32_t>()});
}

template <class Op, class In, class Head>
void scan_segments(CpuBackend& backend, const In* values, const Head& head, typename Op::Value* result,
                   std::int64_t n, bool exclusive) {
  using Out = typename Op::Value;
  using State = host::Flagged<Out>;
  const State nothing{Op::identity, false};
  const host::FlaggedCombine<Op> combine{Op()};
  const auto load = [=](std::int64_t i) { return State{Op::read(values[i]), head(i)}; };
  constexpr std::int64_t length = host::chunk_length<In, Out>;
  const BlocksOf in_blocks{backend};
  if (exclusive) {
    const auto store = [=](std::int64_t i, const State& state) {
      result[i] = head(i) ? Op::identity : state.value;
    };
    host::chained_scan<true>(in_blocks, n, length, nothing, nothing, combine, load, store);
  } else {
    const auto store = [=](std::int64_t i, const State& state) { result[i] = state.value; };
    host::chained_scan<false>(in_blocks, n, length, nothing, nothing, combine, load, store);
  }
}

/// What a chunk hands on: the value of the segment that is open at its end, how many begin up to there, and
/// whether the group indices so far are in order.
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

/// Calls close(i, heads, value) where the segment before the head i ends: its value, and how many heads came
/// before. valid(i) says whether value i is in order; behind one that is not, nothing is closed.
template <class Op, class In, class Head, class Valid, class Close>
Open<typename Op::Value> reduce_segments(CpuBackend& backend, const In* values, std::int64_t n,
                                         const Head& head, const Valid& valid, const Close& close) {
  using Out = typename Op::Value;
  using State = Open<Out>;
  const auto reduce_chunk = [&](std::int64_t first, std::int64_t last, const auto& pass) {
    State own{{Op::identity, false}};
    for (std::int64_t i = first; i < last; ++i) {
      const bool begins = head(i);
      own.segment = {Op()(begins ? Op::identity : own.segment.value, Op::read(values[i])),
                     own.segment.head || begins};
      own.heads += begins ? 1 : 0;
      own.valid = own.valid && valid(i);
    }
    const State before = pass(own);
    if (!before.valid || !own.valid || own.heads == 0) return;
    Out running = before.segment.value;
    std::int64_t heads = before.heads;
    for (std::int64_t i = first; i < last; ++i) {
      if (head(i)) {
        close(i, heads, running);
        running = Op::identity;
        ++heads;
      }
      running = Op()(running, Op::read(values[i]));
    }
  };
  return host::chain(BlocksOf{backend}, n, host::chunk_length<In, std::uint32_t>,
                     State{{Op::identity, false}}, OpenCombine<Op>(), reduce_chunk);
}

template <class Op, class In>
std::int64_t reduce_by_flags(CpuBackend& backend, ArrayView values, const std::uint8_t* flags,
                             typename Op::Value* result) {
  using Out = typename Op::Value;
  const auto close = [=](std::int64_t, std::int64_t heads, Out value) {
    if (heads > 0) result[heads - 1] = value;
  };
  const Open<Out> all = reduce_segments<Op>(
      backend, values.values<In>(), values.size, HeadByFlag{flags}, [](std::int64_t) { return true; }, close);
  result[all.heads - 1] = all.segment.value;
  return all.heads;
}

template <class Op, class In>
std::int64_t reduce_by_group(CpuBackend& backend, ArrayView values, const std::uint32_t* groups,
                             typename Op::Value* result, std::int64_t count) {
  using Out = typename Op::Value;
  const auto valid = [=](std::int64_t i) {
    return groups[i] < count && (i == 0 || groups[i - 1] <= groups[i]);
  };
  const auto close = [=](std::int64_t i, std::int64_t heads, Out value) {
    const std::int64_t ended = heads == 0 ? -1 : static_cast<std::int64_t>(groups[i - 1]);
    if (ended >= 0) result[ended] = value;
    std::fill(result + ended + 1, result + groups[i], Op::identity);
  };
  const Open<Out> all =
      reduce_segments<Op>(backend, values.values<In>(), values.size, HeadByGroup{groups}, valid, close);
  if (!all.valid) return -1;
  const std::int64_t last = groups[values.size - 1];
  result[last] = all.segment.value;
  std::fill(result + last + 1, result + count, Op::identity);
  return all.heads;
}

}  // namespace

void segmented_scan(Backend& backend, ArrayView values, const Segments& segments, MutableArrayView result,
                    const ScanRule& rule, Stream) {
  with_operator(rule.op, values.type, result.type, [&]<class Op, class In>(Op, TypeTag<In>) {
    with_heads(segments, [&](const auto& head) {
      scan_segments<Op>(as_cpu(backend), values.values<In>(), head, result.values<typename Op::Value>(),
                        values.size, rule.exclusive);
    });
  });
}

std::int64_t segmented_reduce(Backend& backend, ArrayView values, const Segments& segments,
                              MutableArrayView result, Operator op, Stream) {
  std::int64_t count = 0;
  with_operator(op, values.type, result.type, [&]<class Op, class In>(Op, TypeTag<In>) {
    auto* out = result.values<typename Op::Value>();
    count = segments.flags
                ? reduce_by_flags<Op, In>(as_cpu(backend), values, segments.marks.values<std::uint8_t>(), out)
                : reduce_by_group<Op, In>(as_cpu(backend), values, segments.marks.values<std::uint32_t>(),
                                          out, result.size);
  });
  return count;
}

}  // namespace satin::cpu

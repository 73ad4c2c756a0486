// Reduction and scan of one chunk by SIMD (see chunk.h), compiled for every SIMD target. Each operator gives
// four small functions (Load, Stored, Combine, identity); the loops are written once for all of them.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "scan/cpu/chunk.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <limits>
#include <type_traits>

#include "core/with_type.h"
#include "scan/cpu/chunk.h"
#include "scan/maths/scan_operator.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

template <class D, class In>
hn::Vec<D> LoadWide(D d, const In* from) {
  if constexpr (sizeof(In) == sizeof(hn::TFromD<D>)) {
    return hn::LoadU(d, from);
  } else if constexpr (sizeof(In) < 4 && sizeof(hn::TFromD<D>) == 8) {
    const hn::Rebind<std::uint32_t, D> middle;
    return hn::PromoteTo(d, hn::PromoteTo(middle, hn::LoadU(hn::Rebind<In, D>(), from)));
  } else {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<In, D>(), from));
  }
}

template <class In, class Out>
struct VectorSum {
  using Lane = Out;
  static constexpr Lane identity = 0;
  template <class D>
  static hn::Vec<D> Load(D d, const In* from) {
    return LoadWide(d, from);
  }
  template <class D, class V>
  static V Stored(D, V v) {
    return v;
  }
  template <class V>
  static V Combine(V a, V b) {
    return hn::Add(a, b);
  }
};

/// Minima and maxima. Floats become integer keys of the same order, so that -0 is below +0; a NaN becomes the
/// identity.
template <class T, bool Maximum>
struct VectorExtreme {
  static constexpr bool is_float = std::is_floating_point_v<T>;
  using Word = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
  using Lane = std::conditional_t<is_float, Word, T>;
  static constexpr Word infinity =
      static_cast<Word>(sizeof(T) == 8 ? 0x7FF0000000000000 : 0x7F800000);  // its bits are its key
  static constexpr Lane identity =
      is_float ? static_cast<Lane>(Maximum ? ~infinity : infinity)
               : (Maximum ? std::numeric_limits<Lane>::lowest() : std::numeric_limits<Lane>::max());

  /// Converts bits into a key that orders as the numbers do, and a key into bits.
  template <class D, class V>
  static V Turn(D d, V bits) {
    return hn::Xor(bits, hn::And(hn::BroadcastSignBit(bits), hn::Set(d, std::numeric_limits<Lane>::max())));
  }
  template <class D>
  static hn::Vec<D> Load(D d, const T* from) {
    if constexpr (is_float) {
      const hn::Rebind<T, D> floats;
      const auto value = hn::LoadU(floats, from);
      const auto key = Turn(d, hn::BitCast(d, value));
      return hn::IfThenElse(hn::RebindMask(d, hn::Eq(value, value)), key, hn::Set(d, identity));
    } else {
      return hn::LoadU(d, from);
    }
  }
  template <class D, class V>
  static auto Stored(D d, V v) {
    if constexpr (is_float)
      return hn::BitCast(hn::Rebind<T, D>(), Turn(d, v));
    else
      return v;
  }
  template <class V>
  static V Combine(V a, V b) {
    if constexpr (Maximum)
      return hn::Max(a, b);
    else
      return hn::Min(a, b);
  }
};

/// Moves lanes up by `Lanes`; identities fill the lowest ones.
template <int Lanes, class Op, class D, class V>
V ShiftUp(D d, V v) {
  const V moved = hn::ShiftLeftLanes<Lanes>(d, v);
  if constexpr (Op::identity == 0)
    return moved;
  else
    return hn::IfThenElse(hn::FirstN(d, Lanes), hn::Set(d, Op::identity), moved);
}

template <class Op, class D, class V>
V ScanVector(D d, V v) {
  constexpr std::size_t lanes = 16 / sizeof(hn::TFromD<D>);
  v = Op::Combine(ShiftUp<1, Op>(d, v), v);
  if constexpr (lanes >= 4) v = Op::Combine(ShiftUp<2, Op>(d, v), v);
  if constexpr (lanes >= 8) v = Op::Combine(ShiftUp<4, Op>(d, v), v);
  if constexpr (lanes >= 16) v = Op::Combine(ShiftUp<8, Op>(d, v), v);
  return v;
}

template <class D, class V>
V BroadcastLast(D d, V v) {
  constexpr int last = 16 / sizeof(hn::TFromD<D>) - 1;
  if constexpr (sizeof(hn::TFromD<D>) == 1)
    return hn::Set(d, hn::ExtractLane(v, last));
  else if constexpr (sizeof(hn::TFromD<D>) == 8)
    return hn::ConcatUpperUpper(d, v, v);
  else
    return hn::Broadcast<last>(v);
}

/// How results are stored: through the caches or past them.
enum class StoreMode { cached, streamed };

template <StoreMode mode, class V, class Out>
void StoreBy(V v, Out* to) {
  const hn::Full128<Out> d;
  if constexpr (mode == StoreMode::streamed)
    hn::Stream(v, d, to);
  else
    hn::StoreU(v, d, to);
}

template <class Op, bool Exclusive, class In, class Out>
struct ScanLoop {
  using Lane = typename Op::Lane;
  static constexpr std::size_t lanes = 16 / sizeof(Lane);

  /// Scans one vector onto the carry and returns the next carry.
  template <StoreMode mode, class D, class V>
  static V Step(D d, V carry, const In* values, Out* result) {
    const V prefix = ScanVector<Op>(d, Op::Load(d, values));
    V own = prefix;
    if constexpr (Exclusive) own = ShiftUp<1, Op>(d, prefix);
    StoreBy<mode>(Op::Stored(d, Op::Combine(carry, own)), result);
    return Op::Combine(carry, BroadcastLast(d, prefix));
  }

  template <StoreMode mode, class D, class V>
  static V Steps(D d, V carry, const In* values, std::size_t count, Out* result) {
    for (std::size_t i = 0; i + lanes <= count; i += lanes)
      carry = Step<mode>(d, carry, values + i, result + i);
    return carry;
  }

  static void Run(const void* from, std::size_t count, const void* start, void* to, bool stream) {
    const auto* values = static_cast<const In*>(from);
    auto* result = static_cast<Out*>(to);
    const hn::Full128<Lane> d;
    HWY_ALIGN Out last[lanes];
    std::fill_n(last, lanes, *static_cast<const Out*>(start));
    auto carry = hn::Zero(d);
    if constexpr (std::is_same_v<Lane, Out>)
      carry = hn::LoadU(d, last);
    else
      carry = Op::Load(d, last);
    if (stream && reinterpret_cast<std::uintptr_t>(to) % 16 == 0) {
      carry = Steps<StoreMode::streamed>(d, carry, values, count, result);
      hwy::FlushStream();
    } else {
      carry = Steps<StoreMode::cached>(d, carry, values, count, result);
    }
    const std::size_t done = count / lanes * lanes;
    if (done == count) return;
    In rest[lanes] = {};
    std::copy(values + done, values + count, rest);
    Step<StoreMode::cached>(d, carry, rest, last);
    std::copy_n(last, count - done, result + done);
  }
};

template <class Op, class In, class Out>
void Reduce(const void* from, std::size_t count, void* total) {
  using Lane = typename Op::Lane;
  constexpr std::size_t lanes = 16 / sizeof(Lane);
  const auto* values = static_cast<const In*>(from);
  const hn::Full128<Lane> d;
  const auto nothing = hn::Set(d, Op::identity);
  auto sum0 = nothing;
  auto sum1 = nothing;
  auto sum2 = nothing;
  auto sum3 = nothing;
  std::size_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    sum0 = Op::Combine(sum0, Op::Load(d, values + i));
    sum1 = Op::Combine(sum1, Op::Load(d, values + i + lanes));
    sum2 = Op::Combine(sum2, Op::Load(d, values + i + 2 * lanes));
    sum3 = Op::Combine(sum3, Op::Load(d, values + i + 3 * lanes));
  }
  for (; i + lanes <= count; i += lanes) sum0 = Op::Combine(sum0, Op::Load(d, values + i));
  if (i < count) {  // the lanes behind the last value do not count
    In rest[lanes] = {};
    std::copy(values + i, values + count, rest);
    sum1 = Op::Combine(sum1, hn::IfThenElse(hn::FirstN(d, count - i), Op::Load(d, rest), nothing));
  }
  HWY_ALIGN Out sums[lanes];
  const auto sum = Op::Combine(Op::Combine(sum0, sum1), Op::Combine(sum2, sum3));
  StoreBy<StoreMode::cached>(Op::Stored(d, BroadcastLast(d, ScanVector<Op>(d, sum))), sums);
  *static_cast<Out*>(total) = sums[0];
}

template <class Out>
void ReduceBytes(const void* from, std::size_t count, void* total) {
  const auto* values = static_cast<const std::uint8_t*>(from);
  const hn::Full128<std::uint8_t> bytes;
  const hn::Full128<std::uint64_t> d;
  auto sum0 = hn::Zero(d);
  auto sum1 = hn::Zero(d);
  std::size_t i = 0;
  for (; i + 32 <= count; i += 32) {
    sum0 = hn::Add(sum0, hn::SumsOf8(hn::LoadU(bytes, values + i)));
    sum1 = hn::Add(sum1, hn::SumsOf8(hn::LoadU(bytes, values + i + 16)));
  }
  HWY_ALIGN std::uint64_t sums[2];
  hn::Store(hn::Add(sum0, sum1), d, sums);
  std::uint64_t sum = sums[0] + sums[1];
  for (; i < count; ++i) sum += values[i];
  *static_cast<Out*>(total) = static_cast<Out>(sum);
}

template <class Op, class In, class Out>
ChunkFunctions FunctionsOf() {
  return {Reduce<Op, In, Out>, ScanLoop<Op, false, In, Out>::Run, ScanLoop<Op, true, In, Out>::Run};
}

template <class In, class Out>
ChunkFunctions Sums() {
  ChunkFunctions functions = FunctionsOf<VectorSum<In, Out>, In, Out>();
  if constexpr (sizeof(In) == 1) functions.reduce = ReduceBytes<Out>;
  return functions;
}

ChunkFunctions Choose(Operator op, Type values, Type result) {
  return with_type(values, [=]<class T>() -> ChunkFunctions {
    if (op == Operator::product) return {};
    if (op == Operator::min) return FunctionsOf<VectorExtreme<T, false>, T, T>();
    if (op == Operator::max) return FunctionsOf<VectorExtreme<T, true>, T, T>();
    return with_type(result, []<class Out>() -> ChunkFunctions {
      if constexpr (sums_into<T, Out>) return Sums<T, Out>();
      return {};
    });
  });
}

#else

ChunkFunctions Choose(Operator, Type, Type) { return {}; }

#endif

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(Choose);

ChunkFunctions chunk_functions(Operator op, Type values, Type result) {
  return HWY_DYNAMIC_DISPATCH(Choose)(op, values, result);
}

}  // namespace satin::cpu
#endif

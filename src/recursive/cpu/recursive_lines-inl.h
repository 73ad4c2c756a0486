// SIMD loops of recursive smoothing: scans of many lines side by side, coefficients from distances,
// transposition, and rows of bytes to values and back. Compiled for every SIMD target, with the operations of
// recursive/maths/recursive.h in the same order, so that every target gives the same bytes.

#if defined(SATIN_RECURSIVE_LINES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_RECURSIVE_LINES_INL_H
#undef SATIN_RECURSIVE_LINES_INL_H
#else
#define SATIN_RECURSIVE_LINES_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <array>

#include "pixels/cpu/rows-inl.h"
#include "pixels/maths/real_pixel.h"
#include "recursive/cpu/recursive_rows.h"
#include "recursive/maths/recursive.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Lines of a tile, 128 bytes of values side by side. The value at position i of line l is at i * tile_lines
/// + l.
template <class Real>
inline constexpr std::size_t tile_lines = 128 / sizeof(Real);

/// The scan of one block of a tile.
template <class Real>
struct BlockScan {
  const Real* from = nullptr;  ///< values at the first position of the scan
  Real* values = nullptr;      ///< results; may be `from`
  std::ptrdiff_t step = 0;     ///< tile_lines, or -tile_lines backward
  int positions = 0;
  const Real* coefficients = nullptr;  ///< coefficients of each value; null: `feedback`
  Real feedback = 0;
  const Real* products = nullptr;  ///< products of 0 to `positions` factors `feedback`
  bool first = false;              ///< the line's first block in the direction of the scan
  /// For each line the result before the block, or the difference c - r if the block is `first`. The scan
  /// replaces it by the block's last result.
  Real* carry = nullptr;
};

/// Vectors of lines; a tile has an even number of them.
template <class Real>
using Lines = hn::CappedTag<Real, tile_lines<Real> / 2>;

template <class D, class V = hn::Vec<D>>
V Follow(D, V x, V a, V before) {
  return hn::Add(x, hn::Mul(a, hn::Sub(before, x)));
}

template <class D, class V = hn::Vec<D>>
V KeptProduct(D d, V product) {
  using Real = hn::TFromD<D>;
  const auto small = hn::Lt(product, hn::Set(d, static_cast<Real>(smallest_product)));
  return hn::IfThenZeroElse(small, product);
}

template <class D, class V = hn::Vec<D>>
V CarriedDifference(D d, V carry, V reference) {
  const auto difference = hn::Sub(carry, reference);
  const auto small = hn::Lt(hn::Abs(difference), hn::Set(d, negligible<hn::TFromD<D>>));
  return hn::IfThenZeroElse(small, difference);
}

/// Returns c - r of the lines from `line` on, whose first values are x.
template <class D, class V = hn::Vec<D>>
V DifferenceBefore(D d, const BlockScan<hn::TFromD<D>>& scan, std::size_t line, V x) {
  const auto carry = hn::LoadU(d, scan.carry + line);
  return scan.first ? carry : CarriedDifference(d, carry, x);
}

/// Scans two or four vectors of lines from `line` on, which hides the latency of the recurrence. Own: every
/// pair has its own coefficient.
template <bool Own, bool Four, class D, class Real>
void ScanVectors(D d, const BlockScan<Real>& scan, std::size_t line) {
  const std::size_t lanes = hn::Lanes(d);
  const Real* products = scan.products + (scan.first ? 0 : 1);
  const Real* from = scan.from + line;
  Real* values = scan.values + line;
  const Real* coefficients = Own ? scan.coefficients + line : nullptr;
  const auto first = [&](std::size_t i) HWY_ATTR { return hn::LoadU(d, from + i * lanes); };
  const auto difference = [&](std::size_t i, auto x)
                              HWY_ATTR { return DifferenceBefore(d, scan, line + i * lanes, x); };
  auto z0 = first(0);
  auto z1 = first(1);
  auto z2 = Four ? first(2) : z0;
  auto z3 = Four ? first(3) : z1;
  const auto difference0 = difference(0, z0);
  const auto difference1 = difference(1, z1);
  const auto difference2 = Four ? difference(2, z2) : difference0;
  const auto difference3 = Four ? difference(3, z3) : difference1;
  auto p0 = hn::Set(d, static_cast<Real>(1));
  auto p1 = p0;
  auto p2 = p0;
  auto p3 = p0;
  const auto feedback = hn::Set(d, scan.feedback);
  for (int position = 0; position < scan.positions; ++position) {
    const bool multiplies = position > 0 || !scan.first;
    const auto step = [&](std::size_t i, auto& z, auto& p, auto difference_before) HWY_ATTR {
      auto a = feedback;
      if constexpr (Own) {
        a = hn::LoadU(d, coefficients + i * lanes);
        if (multiplies) p = KeptProduct(d, hn::Mul(p, a));
      } else {
        p = hn::Set(d, products[position]);
      }
      z = Follow(d, hn::LoadU(d, from + i * lanes), a, z);
      hn::StoreU(hn::Add(z, hn::Mul(p, difference_before)), d, values + i * lanes);
    };
    step(0, z0, p0, difference0);
    step(1, z1, p1, difference1);
    if constexpr (Four) {
      step(2, z2, p2, difference2);
      step(3, z3, p3, difference3);
    }
    from += scan.step;
    values += scan.step;
    if constexpr (Own) coefficients += scan.step;
  }
  values -= scan.step;
  for (std::size_t i = 0; i < (Four ? 4 : 2); ++i)
    hn::StoreU(hn::LoadU(d, values + i * lanes), d, scan.carry + line + i * lanes);
}

template <bool Own, class Real>
void ScanLines(const BlockScan<Real>& scan) {
  const Lines<Real> d;
  const std::size_t lanes = hn::Lanes(d);
  if (4 * lanes <= tile_lines<Real>) {
    for (std::size_t line = 0; line < tile_lines<Real>; line += 4 * lanes)
      ScanVectors<Own, true>(d, scan, line);
  } else {
    ScanVectors<Own, false>(d, scan, 0);
  }
}

template <class Real>
void ScanBlock(const BlockScan<Real>& scan) {
  scan.coefficients == nullptr ? ScanLines<false>(scan) : ScanLines<true>(scan);
}

/// Computes decay() of recursive/maths/recursive.h.
template <class D, class V = hn::Vec<D>>
V Decay(D d, V t) {
  using Real = hn::TFromD<D>;
  using K = DecayTerms<Real>;
  const hn::RebindToSigned<D> integers;
  using Int = hn::TFromD<decltype(integers)>;
  constexpr int bits = sizeof(Real) == 4 ? 23 : 52;
  constexpr Int bias = sizeof(Real) == 4 ? 127 : 1023;
  const auto end = hn::Set(d, static_cast<Real>(decay_end));
  const auto bounded = hn::Min(t, end);
  const auto whole = hn::Floor(hn::Add(bounded, hn::Set(d, static_cast<Real>(0.5))));
  const auto f = hn::Sub(bounded, whole);
  auto q = hn::Set(d, K::k6);
  q = hn::Add(hn::Mul(q, f), hn::Set(d, K::k5));
  q = hn::Add(hn::Mul(q, f), hn::Set(d, K::k4));
  q = hn::Add(hn::Mul(q, f), hn::Set(d, K::k3));
  q = hn::Add(hn::Mul(q, f), hn::Set(d, K::k2));
  q = hn::Add(hn::Mul(q, f), hn::Set(d, K::k1));
  q = hn::Add(hn::Mul(q, f), hn::Set(d, K::k0));
  const auto exponent = hn::Sub(hn::Set(integers, bias), hn::ConvertTo(integers, whole));
  const auto scale = hn::BitCast(d, hn::ShiftLeft<bits>(exponent));
  const auto result = hn::Mul(hn::Sub(hn::Set(d, static_cast<Real>(1)), hn::Mul(f, q)), scale);
  return hn::IfThenElseZero(hn::Lt(t, end), result);
}

/// Sets coefficients[i] to decay(rate * distances[i]).
template <class Real>
void Decays(const float* distances, std::size_t count, Real rate, Real* coefficients) {
  const Lines<Real> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto factor = hn::Set(d, rate);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    if constexpr (sizeof(Real) == 4) {
      hn::StoreU(Decay(d, hn::Mul(factor, hn::LoadU(d, distances + i))), d, coefficients + i);
    } else {
      const auto wide = hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, decltype(d)>(), distances + i));
      hn::StoreU(Decay(d, hn::Mul(factor, wide)), d, coefficients + i);
    }
  }
  for (; i < count; ++i) coefficients[i] = decay(rate * static_cast<Real>(distances[i]));
}

#if HWY_TARGET != HWY_SCALAR
/// Loads four values from each of as many rows as a vector has quarters of 16 bytes; rows are `apart` values
/// apart.
template <class D>
HWY_INLINE hn::Vec<D> LoadQuarters(D d, const float* from, std::size_t apart) {
  if constexpr (HWY_HAVE_SCALABLE || hn::MaxLanes(D()) == 4) {
    return hn::LoadU(d, from);
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, LoadQuarters(half, from + hn::MaxLanes(half) * apart, apart),
                       LoadQuarters(half, from, apart));
  }
}

/// Transposes squares of 4 x 4, one in each quarter of a vector. `rows` is a multiple of a vector's lanes and
/// `columns` of 4.
template <class D>
void TransposeSquares(D d, const float* from, std::size_t from_step, std::size_t rows, std::size_t columns,
                      float* to, std::size_t to_step) {
  const hn::Repartition<double, D> pairs;
  const std::size_t lanes = hn::MaxLanes(d);
  for (std::size_t j = 0; j + 4 <= columns; j += 4) {
    for (std::size_t i = 0; i + lanes <= rows; i += lanes) {
      const float* corner = from + i * from_step + j;
      const auto row = [&](std::size_t r)
                           HWY_ATTR { return LoadQuarters(d, corner + r * from_step, from_step); };
      const auto r0 = row(0);
      const auto r1 = row(1);
      const auto r2 = row(2);
      const auto r3 = row(3);
      const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, r0, r1));
      const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, r2, r3));
      const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, r0, r1));
      const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, r2, r3));
      float* out = to + j * to_step + i;
      hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23)), d, out);
      hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23)), d, out + to_step);
      hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, high01, high23)), d, out + 2 * to_step);
      hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, high01, high23)), d, out + 3 * to_step);
    }
  }
}
#endif

/// Sets to[j * to_step + i] = from[i * from_step + j] for i < rows, j < columns.
inline void Transpose(const float* from, std::size_t from_step, std::size_t rows, std::size_t columns,
                      float* to, std::size_t to_step) {
  std::size_t whole_rows = 0;
  std::size_t whole_columns = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::FixedTag<float, HWY_HAVE_SCALABLE ? 4 : HWY_MAX_BYTES / sizeof(float)> d;
  whole_rows = rows / hn::MaxLanes(d) * hn::MaxLanes(d);
  whole_columns = columns / 4 * 4;
  TransposeSquares(d, from, from_step, whole_rows, whole_columns, to, to_step);
#endif
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = i < whole_rows ? whole_columns : 0; j < columns; ++j)
      to[j * to_step + i] = from[i * from_step + j];
}
inline void Transpose(const double* from, std::size_t from_step, std::size_t rows, std::size_t columns,
                      double* to, std::size_t to_step) {
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) to[j * to_step + i] = from[i * from_step + j];
}

// Rows of u8 and u16 without a mask.

/// Type of working values of stored integers.
template <class Stored>
using LightOf = std::conditional_t<sizeof(Stored) == 1, std::uint16_t, std::uint32_t>;

/// Returns nearest_integer() of finite values, up to `white`.
template <class Light, class D>
HWY_INLINE auto NearestLight(D d, hn::Vec<D> values, hn::TFromD<D> white) {
  const hn::Rebind<std::int32_t, D> integers;
  const hn::Rebind<Light, D> light;
  const auto above = hn::Max(values, hn::Zero(d));
  const auto raised = hn::Add(hn::Min(above, hn::Set(d, white)), hn::Set(d, hn::TFromD<D>{0.5F}));
  if constexpr (sizeof(Light) == 2) {
    return hn::DemoteTo(light, hn::ConvertTo(integers, raised));
  } else {
    return hn::BitCast(light, hn::DemoteTo(integers, raised));
  }
}

/// Sets light[i * Channels + c] to the integer nearest to values[c][i]. If Weighted, the last channel is
/// alpha up to `opaque`, and colours are divided by it; they are 0 where it is not positive.
template <std::size_t Channels, bool Weighted, class Real, class Light>
void NearestPixels(const std::array<const Real*, Channels>& values, std::size_t count, std::uint32_t white,
                   std::uint32_t opaque, Light* light) {
  constexpr std::size_t alpha = Weighted ? Channels - 1 : Channels;
  const hn::ScalableTag<Real> d;
  const hn::Rebind<Light, decltype(d)> narrow;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto channel = [&](std::size_t c) HWY_ATTR {
      auto value = hn::LoadU(d, values[c] + i);
      if constexpr (Weighted) {
        const auto weight = hn::LoadU(d, values[alpha] + i);
        if (c != alpha) value = hn::IfThenElseZero(hn::Gt(weight, hn::Zero(d)), hn::Div(value, weight));
      }
      return NearestLight<Light>(d, value, static_cast<Real>(c == alpha ? opaque : white));
    };
    Light* to = light + i * Channels;
    if constexpr (Channels == 1) hn::StoreU(channel(0), narrow, to);
    if constexpr (Channels == 2) hn::StoreInterleaved2(channel(0), channel(1), narrow, to);
    if constexpr (Channels == 3) hn::StoreInterleaved3(channel(0), channel(1), channel(2), narrow, to);
    if constexpr (Channels == 4)
      hn::StoreInterleaved4(channel(0), channel(1), channel(2), channel(3), narrow, to);
  }
  for (; i < count; ++i)
    for (std::size_t c = 0; c < Channels; ++c) {
      Real value = values[c][i];
      if (Weighted && c != alpha) value = values[alpha][i] > 0 ? value / values[alpha][i] : 0;
      light[i * Channels + c] = static_cast<Light>(nearest_integer(value, c == alpha ? opaque : white));
    }
}

/// A block of at most longest_row x longest_row pixels to be stored.
struct StoredBlock {
  std::size_t rows;
  std::size_t width;
  MutableImageView output;  ///< from the block's first pixel on
  ImageView original;       ///< from the same pixel on; empty unless the last channel is alpha
};

/// Stores a block of u8 or u16. values[c] is the first row of channel c; rows are `step` apart.
template <std::size_t Channels, class Stored>
void StoreIntegers(const std::array<const RealOf<Stored>*, 4>& values, std::size_t step,
                   const StoredBlock& block, const TransferView& transfer) {
  constexpr std::size_t most = Channels * longest_row * longest_row;
  const std::size_t row_values = Channels * block.width;
  LightOf<Stored> light[most] = {};  // or g++ warns at -O1 that it may be read before it is written
  Stored codes[most];
  constexpr auto opaque = static_cast<Stored>(~Stored{0});
  const std::uint32_t white = decode(opaque, transfer);
  const bool weighted = !block.original.empty();
  for (std::size_t r = 0; r < block.rows; ++r) {
    std::array<const RealOf<Stored>*, Channels> row;
    for (std::size_t c = 0; c < Channels; ++c) row[c] = values[c] + r * step;
    LightOf<Stored>* to = light + r * row_values;
    weighted ? NearestPixels<Channels, true>(row, block.width, white, opaque, to)
             : NearestPixels<Channels, false>(row, block.width, white, opaque, to);
  }
  if (!weighted) EncodeWorking(light, block.rows * row_values, transfer, codes);
  for (std::size_t r = 0; r < block.rows; ++r) {
    auto* out = block.output.template row<Stored>(static_cast<std::int64_t>(r));
    if (weighted)
      StoreWithAlpha(light + r * row_values, block.width, Channels, transfer,
                     block.original.template row<Stored>(static_cast<std::int64_t>(r)), out);
    else
      std::copy_n(codes + r * row_values, row_values, out);
  }
}

#if HWY_TARGET != HWY_SCALAR
/// Loads channel c of as many pixels as a vector of bytes has lanes.
template <class D>
HWY_INLINE hn::Vec<D> LoadChannel(D d, const std::uint8_t* pixels, int channels, int c) {
  hn::Vec<D> v0, v1, v2, v3;
  if (channels == 1) return hn::LoadU(d, pixels);
  if (channels == 2) {
    hn::LoadInterleaved2(d, pixels, v0, v1);
    return c == 0 ? v0 : v1;
  }
  if (channels == 3) {
    hn::LoadInterleaved3(d, pixels, v0, v1, v2);
    return c == 0 ? v0 : c == 1 ? v1 : v2;
  }
  hn::LoadInterleaved4(d, pixels, v0, v1, v2, v3);
  return c == 0 ? v0 : c == 1 ? v1 : c == 2 ? v2 : v3;
}
#endif

/// Reads the working values of channel c in whole vectors and returns the number of pixels read. `words`
/// holds the values of the 256 codes; null if codes are values.
inline std::size_t ReadVectors([[maybe_unused]] const std::uint8_t* pixels,
                               [[maybe_unused]] std::size_t count, [[maybe_unused]] int channels,
                               [[maybe_unused]] int c, [[maybe_unused]] const std::uint16_t* words,
                               [[maybe_unused]] const float* decoded, [[maybe_unused]] float* values) {
  std::size_t i = 0;
  if constexpr (has_avx512)
    return ReadWords(
        count, words,
        [&](auto d, std::size_t at) HWY_ATTR {
          return LoadChannel(d, pixels + at * static_cast<std::size_t>(channels), channels, c);
        },
        values);
#if HWY_TARGET != HWY_SCALAR
  if (words != nullptr && !gathers_fast) return 0;
  const hn::CappedTag<std::uint8_t, longest_row> d;
  const hn::ScalableTag<float> floats;
  const hn::Rebind<std::uint8_t, decltype(floats)> few;
  const hn::Rebind<std::int32_t, decltype(floats)> integers;
  std::uint8_t codes[longest_row];
  for (; i + hn::Lanes(d) <= count && hn::Lanes(floats) <= hn::Lanes(d); i += hn::Lanes(d)) {
    hn::StoreU(LoadChannel(d, pixels + i * static_cast<std::size_t>(channels), channels, c), d, codes);
    for (std::size_t j = 0; j < hn::Lanes(d); j += hn::Lanes(floats)) {
      const auto code = hn::PromoteTo(integers, hn::LoadU(few, codes + j));
      hn::StoreU(words == nullptr ? hn::ConvertTo(floats, code) : hn::GatherIndex(floats, decoded, code),
                 floats, values + i + j);
    }
  }
#endif
  return i;
}

#if HWY_TARGET != HWY_SCALAR
/// Returns the sums of |p - q| over the channels, for as many pixels as `sums` has lanes.
template <int Channels, class D, class Stored>
HWY_INLINE hn::Vec<D> Differences(D sums, const Stored* p, const Stored* q) {
  const hn::Rebind<Stored, D> stored;
  const auto of = [&](auto a, auto b) HWY_ATTR {
    return hn::PromoteTo(sums, hn::Or(hn::SaturatedSub(a, b), hn::SaturatedSub(b, a)));
  };
  hn::Vec<decltype(stored)> p0, p1, p2, p3, q0, q1, q2, q3;
  if constexpr (Channels == 1) {
    return of(hn::LoadU(stored, p), hn::LoadU(stored, q));
  } else if constexpr (Channels == 2) {
    hn::LoadInterleaved2(stored, p, p0, p1);
    hn::LoadInterleaved2(stored, q, q0, q1);
    return hn::Add(of(p0, q0), of(p1, q1));
  } else if constexpr (Channels == 3) {
    hn::LoadInterleaved3(stored, p, p0, p1, p2);
    hn::LoadInterleaved3(stored, q, q0, q1, q2);
    return hn::Add(hn::Add(of(p0, q0), of(p1, q1)), of(p2, q2));
  } else {
    hn::LoadInterleaved4(stored, p, p0, p1, p2, p3);
    hn::LoadInterleaved4(stored, q, q0, q1, q2, q3);
    return hn::Add(hn::Add(of(p0, q0), of(p1, q1)), hn::Add(of(p2, q2), of(p3, q3)));
  }
}
#endif

/// Computes transformed_distance() between pixels p and q of u8 or u16 without alpha in whole vectors and
/// returns their number. The sums are integers, so their order does not matter.
template <int Channels, class Stored>
std::size_t VectorDistances([[maybe_unused]] const Stored* p, [[maybe_unused]] const Stored* q,
                            [[maybe_unused]] double contrast, [[maybe_unused]] std::size_t count,
                            [[maybe_unused]] float* along) {
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR && HWY_HAVE_FLOAT64
  using Sum = LightOf<Stored>;
  const hn::ScalableTag<Sum> d;
  const hn::ScalableTag<double> doubles;
  const hn::Rebind<std::uint32_t, decltype(doubles)> integers;
  const hn::Rebind<float, decltype(doubles)> floats;
  HWY_ALIGN Sum sums[hn::MaxLanes(d)];
  const std::size_t lanes = hn::Lanes(d);
  for (; i + lanes <= count; i += lanes) {
    hn::Store(Differences<Channels>(d, p + i * Channels, q + i * Channels), d, sums);
    for (std::size_t j = 0; j < lanes; j += hn::Lanes(doubles)) {
      const auto sum = ExactDouble(doubles, LoadWide(integers, sums + j));
      const auto distance = hn::Add(hn::Set(doubles, 1.0), hn::Mul(sum, hn::Set(doubles, contrast)));
      hn::StoreU(hn::DemoteTo(floats, hn::Min(distance, hn::Set(doubles, largest_distance))), floats,
                 along + i + j);
    }
  }
#endif
  return i;
}

/// Does the same as read_distances() of recursive_rows.h for a row of u8 or u16 without alpha.
template <class Stored>
void ReadIntegerDistances(const Guide& guide, const Stored* p, const Stored* q, std::size_t count,
                          float* along) {
  with_channels(guide.channels, [&]<int Channels>() {
    const std::size_t done = VectorDistances<Channels>(p, q, guide.contrast, count, along);
    read_distances<Channels, false>(p + done * Channels, q + done * Channels, guide.contrast, count - done,
                                    along + done);
  });
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

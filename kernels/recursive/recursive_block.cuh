#pragma once
// A block of 32 pixels of a line in the registers of one thread (recursive/maths/recursive.h): what is left
// of it at its end by itself, and its results once the difference before it is known.
//
// `coefficients(i)` are those between pixel i of the block and the one before it, for i = 0..32; a vector of
// them is read at a time.

#include "kernels/device/vector.cuh"
#include "recursive/maths/recursive.h"

namespace satin::kernels {

inline constexpr int block_length = recursive_block;

/// As many values as one access of 16 bytes moves.
template <class Real>
using Quad = Vector<Real, 16 / sizeof(Real)>;
template <class Real>
inline constexpr int quads = block_length / Quad<Real>::count;

/// Products of coefficients times a power of two, below which a float is denormal: so one multiplication that
/// flushes these gives what kept_product() gives. A difference takes the other power.
template <class Real>
struct Products {
  static constexpr Real one = 1;
  static constexpr Real back = 1;
  static __device__ Real next(Real product, Real coefficient) { return kept_product(product * coefficient); }
};
template <>
struct Products<float> {
  static constexpr float one = 0x1p-66F;
  static constexpr float back = 0x1p66F;
  static __device__ float next(float product, float coefficient) {
    float result;
    asm("mul.rn.ftz.f32 %0, %1, %2;" : "=f"(result) : "f"(product), "f"(coefficient));
    return result;
  }
};
static_assert(smallest_product * Products<float>::one == 0x1p-126);

/// One coefficient for all pairs. A product belongs to its pixel, wherever the block lies but at the end
/// where the line's scan starts: there the first factor is left out. Forward the difference is 0 there;
/// backward the products are `backward`, in shared memory.
template <class Real>
struct OneCoefficient {
  const PassConstants<Real>& constants;
  const Quad<Real>* backward;

  template <bool is_backward>
  __device__ Real alone(Real (&values)[block_length]) const {
    Real before = values[is_backward ? block_length - 1 : 0];
#pragma unroll
    for (int step = 0; step < block_length; ++step) {
      Real& value = values[is_backward ? block_length - 1 - step : step];
      value = before = follow(value, constants.feedback, before);
    }
    return is_backward ? backward[0].of[0] : constants.products[block_length];
  }

  template <bool is_backward>
  __device__ void add(Real difference, Real (&values)[block_length]) const {
#pragma unroll
    for (int g = 0; g < quads<Real>; ++g) {
      Quad<Real> products;
      if constexpr (is_backward) products = backward[g];
#pragma unroll
      for (int j = 0; j < Quad<Real>::count; ++j) {
        const int i = g * Quad<Real>::count + j;
        values[i] =
            with_carry(values[i], is_backward ? products.of[j] : constants.products[i + 1], difference);
      }
    }
  }
};

/// A coefficient for every pair, in shared memory: quad g of a block is at `own[g * pitch]`.
template <class Real>
struct OwnCoefficients {
  const Quad<Real>* own;
  int pitch;
  Real behind;

  /// Calls step(i, coefficient) in the direction of the scan.
  template <bool is_backward, class Step>
  __device__ void for_each(const Step& step) const {
    constexpr int count = Quad<Real>::count;
    Real after = behind;
#pragma unroll
    for (int turn = 0; turn < quads<Real>; ++turn) {
      const int g = is_backward ? quads<Real> - 1 - turn : turn;
      const Quad<Real> here = own[g * pitch];
#pragma unroll
      for (int j = 0; j < count; ++j) {
        const int k = is_backward ? count - 1 - j : j;
        step(g * count + k, is_backward ? after : here.of[k]);
        after = here.of[k];
      }
    }
  }

  template <bool is_backward>
  __device__ Real alone(Real (&values)[block_length]) const {
    Real before = values[is_backward ? block_length - 1 : 0];
    Real product = Products<Real>::one;
    for_each<is_backward>([&](int i, Real coefficient) {
      values[i] = before = follow(values[i], coefficient, before);
      product = Products<Real>::next(product, coefficient);
    });
    return product * Products<Real>::back;
  }

  template <bool is_backward>
  __device__ void add(Real difference, Real (&values)[block_length]) const {
    const Real scaled = difference * Products<Real>::back;
    Real product = Products<Real>::one;
    for_each<is_backward>([&](int i, Real coefficient) {
      product = Products<Real>::next(product, coefficient);
      values[i] = with_carry(values[i], product, scaled);
    });
  }
};

/// Repeats the last of the block's first `count` values behind it: the scan backward stays at it.
template <class Real>
__device__ void repeat_last(int count, Real (&values)[block_length]) {
  if (count >= block_length) return;
#pragma unroll
  for (int i = 1; i < block_length; ++i) values[i] = i < count ? values[i] : values[i - 1];
}

}  // namespace satin::kernels

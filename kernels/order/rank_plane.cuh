#pragma once
// One channel of the pictures of a run, as the integer keys of extremes/maths/extreme.h.

#include <cstdint>

#include "extremes/sliding_extreme.h"
#include "kernels/order/launch.h"
#include "kernels/pixels/plane.cuh"

namespace satin::kernels {

/// Returns the coordinate of the picture that a coordinate of the extended picture comes from, or -1.
__device__ inline int place_of(int position, std::int64_t size, Border border) {
  if (position >= 0 && position < size) return position;
  return static_cast<int>(source_of(position, size, border));
}

template <class Key>
__device__ Key key_at(const RankArguments& run, int x, int y, int channel) {
  return turn_key(row_of<Key>(run.source, y)[static_cast<std::int64_t>(x) * run.job.channels + channel]);
}

/// Returns the key at coordinates that place_of() has found.
template <class Key>
__device__ Key key_or_outside(const RankArguments& run, int x, int y, int channel) {
  return x < 0 || y < 0 ? static_cast<Key>(run.outside[channel]) : key_at<Key>(run, x, y, channel);
}

template <class Key>
__device__ void store_key(const RankArguments& run, int x, int y, int channel, Key key) {
  row_of<Key>(run.output, y)[static_cast<std::int64_t>(x) * run.job.channels + channel] =
      run.plain ? turn_key(key) : key;
}

}  // namespace satin::kernels

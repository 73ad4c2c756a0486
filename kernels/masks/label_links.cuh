#pragma once
// Which runs of a band touch which runs of the band above.

#include <cstdint>

#include "kernels/masks/label_words.cuh"

namespace satin::kernels {

/// The runs of a word and of the one above, by which contacts become pairs of runs.
struct Links {
  std::uint32_t starts = 0;
  std::uint32_t up_starts = 0;
  std::uint32_t before = 0;
  std::uint32_t up_before = 0;

  __device__ std::uint32_t lower(std::uint32_t up_to) const { return before + __popc(starts & up_to) - 1; }
  __device__ std::uint32_t upper(std::uint32_t up_to) const {
    return up_before + __popc(up_starts & up_to) - 1;
  }
};

/// Bits of a word that touch a run of the row above.
struct Touching {
  std::uint32_t here = 0;   ///< the last run above that begins at the bit or before
  std::uint32_t after = 0;  ///< the one that begins behind it
};

/// `bits`, and those of `through` that follow them without a gap (Kogge and Stone 1973).
__device__ inline std::uint32_t filled(std::uint32_t bits, std::uint32_t through) {
  bits &= through;
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    bits |= through & bits << distance;
    through &= through << distance;
  }
  return bits;
}

/// `word` and `up` are the columns of the bands. Where two runs touch more than once in a word, but for
/// diagonals behind the bit, once.
template <int rows>
__device__ inline Touching touching(const Around& around, std::uint32_t word, std::uint32_t up) {
  const Contacts contacts = contacts_of(around, rows == 2);
  if (rows == 1) return {contacts.straight, 0};
  const std::uint32_t here = contacts.straight | contacts.falling | (contacts.rising & up);
  return {here & ~(filled(here, word & up) << 1), contacts.rising & ~up};
}

}  // namespace satin::kernels

#pragma once
// Means over boxes of any radius by four entries of a table a whole box: one pixel at a time, its channels in
// one vector.

#include <cstddef>
#include <cstdint>

namespace satin::cpu {

/// What a radius means where the whole window lies inside the picture.
struct BoxOfRadius {
  std::int32_t reach = 0;   ///< of the inner whole window
  bool fractional = false;  ///< the outer window, one further each way, counts too
  double inner = 1;         ///< weight of a row or column of the inner window
  double outer = 0;         ///< and of the outer one
  double half_up = 0;       ///< floor(divisor / 2) + 1/2
  double reciprocal = 0;    ///< 1 / divisor, correctly rounded
};

/// Radius in 1/256 pixel. The divisor is the covered area in pixels, or in 1/65536 pixels for a fractional
/// radius.
[[nodiscard]] BoxOfRadius box_of_radius(std::int32_t radius256);

/// A table whose rows may be a ring: row y is at data + (y & row_mask) * stride.
template <class Sum>
struct RingTable {
  const Sum* data = nullptr;
  std::size_t stride = 0;
  std::size_t row_mask = ~std::size_t{0};
};

/// Entries past the last pixel that gather_means() may read of a table, and write of the means.
inline constexpr std::size_t gather_slack = 3;

/// means[x * channels + c] for x in [first, last): the mean over the box of boxes[x] around (x, y) of the
/// table's coordinates, rounded to nearest, ties up; all entries must exist, and gather_slack
/// more. Sums are below 2^31 (u32) and weighted sums below 2^50.
template <class Sum>
void gather_means(const RingTable<Sum>& table, std::size_t y, std::size_t channels,
                  const BoxOfRadius* const* boxes, std::size_t first, std::size_t last, std::uint32_t* means);

}  // namespace satin::cpu

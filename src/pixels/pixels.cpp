#include "pixels/pixels.h"

#include <bit>

#include "core/side_inputs.h"
#include "satin/error.h"

namespace satin {
namespace {

std::uint64_t largest_integer(Type type, Transfer transfer) {
  if (transfer == Transfer::srgb) return type == Type::u8 ? 0xFFFF : 0xFFFFFF;
  return type == Type::u8 ? 0xFF : 0xFFFF;
}

constexpr int working_fraction = 8;

Type working_type(std::uint64_t maximum) {
  return maximum <= 0xFFFF ? Type::u16 : maximum <= 0xFFFFFFFF ? Type::u32 : Type::u64;
}

PixelRead working_pixels(const PixelRead& stored, int fraction) {
  PixelRead working = stored;
  working.transfer = Transfer::identity;
  working.type = Type::u64;
  if (stored.fixed_point) return working;
  working.fraction = fraction;
  working.maximum <<= fraction;
  working.alpha_maximum <<= fraction;
  working.type = working_type(working.maximum);
  return working;
}

}  // namespace

int fixed_bits_for(std::uint64_t area) {
  const int area_bits =
      static_cast<int>(std::bit_width(area));  // area < 2^area_bits, so its sums stay below 2^63
  return area_bits + 40 <= 63 ? 40 : 63 - area_bits;
}

PixelRead read_pixels(const Shape& shape, Transfer transfer, std::uint64_t area) {
  check_pixels(shape);
  PixelRead read;
  read.type = shape.type;
  read.channels = shape.channels;
  read.weighted = shape.alpha == Alpha::straight;
  if (shape.type == Type::f32) {
    read.fixed_point = true;
    read.fixed_bits = fixed_bits_for(area);
    read.maximum = std::uint64_t{1} << read.fixed_bits;
    return read;
  }
  if (shape.alpha == Alpha::premultiplied && transfer == Transfer::srgb)
    throw Error(
        ErrorKind::usage,
        "Premultiplied 8- and 16-bit pixels have no linear light: pass straight alpha, or space encoded.");
  read.transfer = transfer;
  read.maximum = largest_integer(shape.type, transfer);
  if (read.weighted) {
    read.alpha_maximum = largest_integer(shape.type, Transfer::identity);
    read.maximum *= read.alpha_maximum;
  }
  return read;
}

PixelRead counted_pixels() {
  PixelRead read;
  read.maximum = 1;
  return read;
}

void check_alpha_divisor(const PixelRead& read, std::uint64_t area) {
  constexpr std::uint64_t limit = std::uint64_t{1} << (61 - 16);
  if (read.alpha_maximum != 0 && area > (limit - 1) / read.alpha_maximum)
    throw Error(ErrorKind::usage,
                "A window of " + std::to_string(area) +
                    " pixels is too large for 16-bit alpha: reduce the radius, or use 8 bits.");
}

PixelRead successive_pixels(const PixelRead& stored) {
  if (stored.type != Type::u8 || !stored.weighted) return stored;
  PixelRead read = stored;
  read.weighted = false;
  read.premultiplied = true;
  return read;
}

PixelRead working_pixels(const PixelRead& stored) {
  const bool codes =
      stored.type == Type::u8 && stored.transfer == Transfer::identity && !stored.premultiplied;
  return working_pixels(stored, codes || stored.weighted ? working_fraction : 0);
}

PixelRead fine_working_pixels(const PixelRead& stored) { return working_pixels(stored, working_fraction); }

Accumulator choose_accumulator(const PixelRead& read, std::uint64_t area, std::uint64_t maximum) {
  const int bits = read.fixed_point ? 63 : 64;
  const std::uint64_t largest_sum = bits == 63 ? ~std::uint64_t{0} >> 1 : ~std::uint64_t{0};
  if (area != 0 && maximum > largest_sum / area)
    throw Error(ErrorKind::usage, "A sum over " + std::to_string(area) + " pixels with values up to " +
                                      std::to_string(maximum) + " does not fit " + std::to_string(bits) +
                                      " bits: reduce the radius, or use 8-bit pixels or space encoded.");
  return !read.fixed_point && area * maximum <= 0xFFFFFFFFULL ? Accumulator::u32 : Accumulator::u64;
}

}  // namespace satin

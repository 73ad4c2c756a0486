#pragma once
// Small things that several codecs share.

#include <csetjmp>
#include <cstdint>
#include <string>
#include <vector>

#include "io/codec.h"

namespace satin::io {

/// What is said about a picture that ReadOptions::allow_partial let through.
[[nodiscard]] std::string partial_warning(const char* format);

/// JPEG and WebP, where nothing says otherwise.
constexpr int default_quality = 95;

/// Throws Error(input) if a picture of this shape exceeds the limits; works for any size that a header can
/// claim.
void check_limits(std::uint64_t width, std::uint64_t height, int channels, Type type,
                  const ReadLimits& limits);

/// Checks the limits, and tells whom the options name.
void accept(std::uint64_t width, std::uint64_t height, int channels, Type type, const ReadOptions& options,
            std::uint64_t beside = 0);

[[nodiscard]] Shape shape_of(std::uint64_t width, std::uint64_t height, int channels, Type type, Alpha alpha);

/// Accepts the picture and allocates where the options say. Alpha::straight is assumed for 2 and 4 channels
/// if `alpha` says so.
[[nodiscard]] Image allocate(std::uint64_t width, std::uint64_t height, int channels, Type type, Alpha alpha,
                             const ReadOptions& options);

/// Alpha::straight for 2 and 4 channels.
[[nodiscard]] constexpr Alpha alpha_of(int channels) {
  return channels % 2 == 0 ? Alpha::straight : Alpha::none;
}

/// ".png", ".tiff" as "`.png`, `.tiff` or `.hdr`".
[[nodiscard]] std::string one_of(const std::vector<std::string>& words);

/// Row `y` of a dense host picture.
[[nodiscard]] inline std::byte* row_of(Image& image, std::int64_t y) {
  return image.data() + interleaved_strides(image.shape()).row * y;
}

/// One channel of ink over another, both as reflectance (the whole range = paper): v = c * k / maximum,
/// rounded. This is the plain conversion without colour management.
[[nodiscard]] constexpr std::uint32_t ink(std::uint32_t c, std::uint32_t k, std::uint32_t maximum) {
  return static_cast<std::uint32_t>((std::uint64_t{c} * k + maximum / 2) / maximum);
}

/// The picture as its orientation tag (1 to 8, as in EXIF and TIFF) wants it to be seen.
[[nodiscard]] Image upright(Image image, int orientation, const Allocator& allocator);

/// Makes it the image of a picture whose metadata was read, in which the resolution turns with it.
void turn_upright(Picture& picture, Image image, int orientation, const Allocator& allocator);

/// Swaps the first and the third channel of `count` dense pixels of three or four samples of `size` bytes.
void swap_red_and_blue(std::byte* pixels, std::size_t count, std::size_t channels, std::size_t size);

/// Spreads the codes from `black` to `white` of one channel (u8 or u16) over the whole range of its type,
/// rounded to nearest; codes beyond them are clipped.
void spread_codes(Image& image, int channel, std::uint32_t black, std::uint32_t white);

/// Throws Error(environment): the library that encodes gave up.
[[noreturn]] void not_encoded(const char* format, const std::string& reason);

/// For C libraries that report errors by longjmp: runs `step` and returns false if it left by longjmp(jump,
/// 1). Nothing inside `step` may have a destructor that does something: longjmp skips it.
template <class Step>
[[nodiscard]] bool guarded(std::jmp_buf& jump, const Step& step) {
  if (setjmp(jump) != 0) return false;
  step();
  return true;
}

}  // namespace satin::io

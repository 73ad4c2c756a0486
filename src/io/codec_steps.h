#pragma once
// Steps that several codecs share: limits and allocation, orientation, ranges of codes, rows read from a file
// that stores them uncompressed, and text headers.

#include <charconv>
#include <csetjmp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/codec.h"
#include "io/file.h"
#include "metadata/photo_source.h"

namespace satin::io {

/// Returns the warning for an incomplete picture that ReadOptions::allow_partial let through.
[[nodiscard]] std::string partial_warning(const char* format);

/// Quality of JPEG and WebP unless options or the input set another.
constexpr int default_quality = 95;

/// Throws Error(input) if a picture of this shape exceeds the limits. Works for any size that a header can
/// claim.
void check_limits(std::uint64_t width, std::uint64_t height, int channels, Type type,
                  const ReadLimits& limits);

/// Checks the limits and calls ReadOptions::accept. `beside` is the memory in bytes that decoding needs
/// beside the picture.
void accept(std::uint64_t width, std::uint64_t height, int channels, Type type, const ReadOptions& options,
            std::uint64_t beside = 0, Alpha alpha = Alpha::none);

[[nodiscard]] Shape shape_of(std::uint64_t width, std::uint64_t height, int channels, Type type, Alpha alpha);

/// Checks the picture like accept() and allocates it with the allocator of the options.
[[nodiscard]] Image allocate(std::uint64_t width, std::uint64_t height, int channels, Type type, Alpha alpha,
                             const ReadOptions& options);

/// Returns Alpha::straight for 2 and 4 channels.
[[nodiscard]] constexpr Alpha alpha_of(int channels) {
  return channels % 2 == 0 ? Alpha::straight : Alpha::none;
}

/// Joins words to a list, such as ".png, .tiff or .hdr".
[[nodiscard]] std::string one_of(const std::vector<std::string>& words);

/// Returns row `y` of a dense host picture.
[[nodiscard]] inline std::byte* row_of(Image& image, std::int64_t y) {
  return image.data() + interleaved_strides(image.shape()).row * y;
}

/// Turns the picture upright by its orientation tag (1 to 8, as in EXIF and TIFF).
[[nodiscard]] Image upright(Image image, int orientation, const Allocator& allocator);

/// Stores the upright image in `picture` and turns the resolution of its metadata too.
void turn_upright(Picture& picture, Image image, int orientation, const Allocator& allocator);

/// Corrects what the metadata blocks say about a picture that was turned upright and now has this shape.
/// `framing` says how it lies on the picture of the file.
void describe_upright(Metadata& metadata, const Shape& shape, const Framing& framing,
                      std::vector<std::string>& warnings);

/// Swaps the first and the third channel of `count` dense pixels of three or four samples of `size` bytes.
void swap_red_and_blue(std::byte* pixels, std::size_t count, std::size_t channels, std::size_t size);

/// Spreads the codes from `black` to `white` of one channel (u8 or u16) over the whole range of its type,
/// rounded to nearest; codes beyond them are clipped.
void spread_codes(Image& image, int channel, std::uint32_t black, std::uint32_t white);

/// Divides the colours of u8 or u16 pixels by their alpha, rounded to nearest; where alpha is 0 they stay.
void divide_by_alpha(std::byte* pixels, std::size_t count, int channels, Type type);
inline void divide_by_alpha(Image& image) {
  const Shape& shape = image.shape();
  divide_by_alpha(image.data(), static_cast<std::size_t>(shape.width * shape.height), shape.channels,
                  shape.type);
}

/// Converts codes (u8 or u16, one channel, oriented as stored) to values and turns these upright by
/// `orientation`. The codes become PhotoDepth::stored. Throws Error(input) for values that are not finite.
[[nodiscard]] PhotoDepth photo_depth(Image codes, const DepthTerms& terms, int orientation,
                                     const Allocator& allocator = {});

/// Throws Error(environment) with the reason of the library that failed to encode.
[[noreturn]] void not_encoded(const char* format, const std::string& reason);

/// Runs `step` of a C library that reports errors by longjmp(jump, 1). Returns false if that happened.
/// Nothing inside `step` may have a destructor with an effect, as longjmp skips it.
template <class Step>
[[nodiscard]] bool guarded(std::jmp_buf& jump, const Step& step) {
  if (setjmp(jump) != 0) return false;
  step();
  return true;
}

/// Returns the limits for a picture that is never whole in memory.
[[nodiscard]] inline ReadLimits without_bytes(const ReadLimits& limits) { return {limits.pixels, INT64_MAX}; }

/// Like accept(), for a picture that is never whole in memory. The limit of bytes applies to `held`, the
/// memory for the rows that are kept, which is reported as memory beside the picture.
void accept_rows(std::uint64_t width, std::uint64_t height, int channels, Type type, std::uint64_t held,
                 const ReadOptions& options);

/// Pixels that a file stores row after row, with a fixed number of bytes each.
struct StoredRows {
  const char* format = "";
  Shape shape{};
  std::uint64_t start = 0;  ///< offset of the first stored row
  std::size_t row_bytes = 0;
  bool upwards = false;  ///< the bottom row is stored first
  /// Converts the stored bytes of a row to pixels.
  std::function<void(Bytes stored, std::byte* pixels)> decode{};
  std::vector<std::string> warnings{};
};

/// Reads all rows of a file in memory.
[[nodiscard]] Picture read_stored(Bytes file, const StoredRows& rows, const ReadOptions& options);

/// Returns a reader for stored rows. `file` must outlive it.
[[nodiscard]] std::unique_ptr<RowReader> stored_rows(const InputFile& file, StoredRows rows,
                                                     const ReadOptions& options);

/// Parser for headers of words and numbers, as in PNM, PFM and Radiance HDR.
class TextHeader {
 public:
  TextHeader(Bytes bytes, const char* format, std::size_t start)
      : bytes_(bytes), format_(format), at_(start) {}

  [[nodiscard]] std::size_t position() const noexcept { return at_; }

  /// Returns the next word, or an empty one at the end of the data. Skips comments, from # to the end of the
  /// line.
  std::string_view word() {
    skip_space();
    const std::size_t start = at_;
    while (at_ < bytes_.size() && !is_space(bytes_[at_]) && bytes_[at_] != std::byte{'#'}) ++at_;
    return text_of(bytes_.subspan(start, at_ - start));
  }

  std::uint64_t number() {
    const std::string_view digits = word();
    if (digits.empty()) truncated(format_);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size())
      damaged(format_, "'" + std::string(digits.substr(0, 20)) + "' is not a number");
    return value;
  }

  /// Reads a single 0 or 1, with or without white space after it.
  bool bit() {
    skip_space();
    if (at_ >= bytes_.size()) truncated(format_);
    const std::byte c = bytes_[at_++];
    if (c != std::byte{'0'} && c != std::byte{'1'}) damaged(format_, "a pixel is neither 0 nor 1");
    return c == std::byte{'1'};
  }

  /// Skips the one white-space character between a header and binary data and returns what follows.
  Bytes rest() {
    if (at_ >= bytes_.size()) truncated(format_);
    if (!is_space(bytes_[at_])) damaged(format_, "its header does not end");
    return bytes_.subspan(at_ + 1);
  }

 private:
  static bool is_space(std::byte c) noexcept {
    const auto value = std::to_integer<unsigned>(c);
    return value == ' ' || (value >= 9 && value <= 13);
  }

  void skip_space() noexcept {
    while (at_ < bytes_.size()) {
      if (bytes_[at_] == std::byte{'#'}) {
        while (at_ < bytes_.size() && bytes_[at_] != std::byte{'\n'} && bytes_[at_] != std::byte{'\r'}) ++at_;
      } else if (is_space(bytes_[at_])) {
        ++at_;
      } else {
        break;
      }
    }
  }

  Bytes bytes_;
  const char* format_;
  std::size_t at_;
};

}  // namespace satin::io

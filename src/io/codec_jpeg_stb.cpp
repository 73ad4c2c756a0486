// JPEG without libjpeg-turbo, by stb_image.

#include <array>

#include "io/photo_depth.h"
#include "io/stb.h"
#include "io/support.h"
#include "metadata/jpeg_markers.h"
#include "metadata/xmp.h"

namespace satin::io {
namespace {

constexpr const char* format = "JPEG";

/// A look at the file before stb_image 2.27, which trusts what it finds there: run() throws Error(input) if a
/// code table has more than 256 codes (stb writes behind its array), or if a scan uses a code table or a
/// quantiser that is not defined (stb reads memory that was never set). Visits the same segments as stb.
class Checker {
 public:
  explicit Checker(Bytes bytes) : bytes_(bytes) {}

  void run() {
    while (next_marker()) {
      constexpr unsigned end_of_image = 0xD9, start_of_image = 0xD8;
      if (marker_ == end_of_image || marker_ == start_of_image) return;
      if (at_ + 2 > bytes_.size()) truncated(format);
      const std::size_t length = be16(bytes_, at_);
      if (length < 2) damaged(format, "a segment is shorter than its length");
      if (length > bytes_.size() - at_) truncated(format);
      segment(bytes_.subspan(at_ + 2, length - 2));
      at_ += length;
    }
  }

 private:
  /// Goes behind the next marker. Stuffed bytes and restart markers belong to the data of a scan.
  bool next_marker() {
    while (at_ + 1 < bytes_.size()) {
      if (byte_at(bytes_, at_) != 0xFF) {
        ++at_;
        continue;
      }
      marker_ = byte_at(bytes_, at_ + 1);
      if (marker_ == 0xFF) {
        ++at_;
        continue;
      }
      at_ += 2;
      if (marker_ != 0 && (marker_ < 0xD0 || marker_ > 0xD7)) return true;
    }
    return false;
  }

  void segment(Bytes content) {
    switch (marker_) {
      case 0xC4:
        read_codes(content);
        break;
      case 0xDB:
        read_quantisers(content);
        break;
      case 0xC0:
      case 0xC1:
      case 0xC2:
        read_frame(content);
        break;
      case 0xDA:
        check_scan(content);
        break;
      default:
        constexpr unsigned first_frame = 0xC3, last_frame = 0xCF, arithmetic_coding = 0xCC, reserved = 0xC8;
        if (marker_ >= first_frame && marker_ <= last_frame && marker_ != arithmetic_coding &&
            marker_ != reserved)
          refuse("a coding without loss, of several sizes or by arithmetic");
    }
  }

  void read_codes(Bytes content) {
    while (!content.empty()) {
      if (content.size() < 17) damaged(format, "a code table ends early");
      const unsigned id = byte_at(content, 0);
      std::size_t count = 0;
      for (std::size_t i = 1; i <= 16; ++i) count += byte_at(content, i);
      if (count > 256 || count > content.size() - 17) damaged(format, "a code table has too many codes");
      if (id >> 4 > 1 || (id & 15U) > 3) damaged(format, "a code table has a wrong number");
      codes_[id >> 4][id & 15U] = true;
      content = content.subspan(17 + count);
    }
  }

  void read_quantisers(Bytes content) {
    while (!content.empty()) {
      const unsigned id = byte_at(content, 0);
      const std::size_t size = id >> 4 == 0 ? 65 : 129;
      if ((id & 15U) > 3 || content.size() < size) damaged(format, "a quantiser is malformed");
      quantisers_[id & 15U] = true;
      content = content.subspan(size);
    }
  }

  void read_frame(Bytes content) {
    progressive_ = marker_ == 0xC2;
    frame_ = content;
    if (content.size() < 6 || content.size() < 6 + 3 * std::size_t{byte_at(content, 5)})
      damaged(format, "its frame header ends early");
    constexpr unsigned deep = 12;
    if (byte_at(content, 0) == deep) refuse("12 bits a sample");
  }

  [[noreturn]] static void refuse(const char* what) {
    unsupported(format, what, "Convert it to .png first, for example with djpeg of libjpeg-turbo 3.");
  }

  void check_scan(Bytes content) {
    const std::size_t count = content.empty() ? 0 : byte_at(content, 0);
    if (content.size() < 4 + 2 * count || frame_.empty()) damaged(format, "a scan header is malformed");
    const unsigned first = byte_at(content, 1 + 2 * count), refines = byte_at(content, 3 + 2 * count) >> 4;
    for (std::size_t i = 0; i < count; ++i) {
      const unsigned tables = byte_at(content, 2 + 2 * i);
      const bool needs_dc = !progressive_ || (first == 0 && refines == 0);
      const bool needs_ac = !progressive_ || first != 0;
      if ((tables >> 4) > 3 || (tables & 15U) > 3 || (needs_dc && !codes_[0][tables >> 4]) ||
          (needs_ac && !codes_[1][tables & 15U]))
        damaged(format, "a scan uses a code table that is not there");
    }
    for (std::size_t i = 0; i < byte_at(frame_, 5); ++i) {
      const unsigned id = byte_at(frame_, 6 + 3 * i + 2);
      if (id > 3 || !quantisers_[id]) damaged(format, "a channel uses a quantiser that is not there");
    }
  }

  Bytes bytes_;
  Bytes frame_;
  std::size_t at_ = 2;
  unsigned marker_ = 0;
  bool progressive_ = false;
  std::array<std::array<bool, 4>, 2> codes_{};
  std::array<bool, 4> quantisers_{};
};

Picture decode_jpeg(Bytes bytes, const ReadOptions& options) {
  Checker(bytes).run();
  Picture picture;
  const Metadata metadata = jpeg_metadata(bytes, picture.warnings);
  picture.image = upright(decode_with_stb(format, bytes, options),
                          stored_orientation(metadata.exif, metadata.xmp).value_or(1), options.allocator);
  return picture;
}

// stb stores one channel as three equal ones, so that a gray picture is read back as RGB.
FileBytes encode_jpeg(const ImageView& image, const WriteOptions& options) {
  return encode_jpeg_with_stb(image, options.quality.value_or(default_quality));
}

}  // namespace

Codec jpeg_codec() {
  Codec codec{"JPEG", {".jpg", ".jpeg", ".jpe", ".jfif"}, sniff_jpeg, decode_jpeg, encode_jpeg};
  codec.decode_photo = decode_jpeg_photo;
  codec.several.word = "page";
  codec.several.list = list_jpegs;
  codec.holds.types = set_of(Type::u8);
  codec.holds.channels = set_of(1, 3);
  codec.holds.max_side = 65500;
  return codec;
}

}  // namespace satin::io

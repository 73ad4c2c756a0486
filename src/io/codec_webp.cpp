// WebP by OpenCV; the container is looked at here.

#include "io/opencv_codec.h"
#include "io/orientation.h"
#include "io/support.h"
#include "metadata/exif.h"

namespace satin::io {
namespace {

constexpr std::size_t riff_header = 12;

std::uint32_t le24(Bytes b, std::size_t at) { return le16(b, at) | byte_at(b, at + 2) << 16; }

// Flags of the VP8X chunk, from the WebP container specification.
constexpr unsigned flag_animation = 0x02, flag_xmp = 0x04, flag_exif = 0x08, flag_alpha = 0x10,
                   flag_icc = 0x20;

struct Contents {
  std::uint64_t width = 0;
  std::uint64_t height = 0;
  bool animated = false;
  bool alpha = false;
  Bytes icc, exif, xmp;
  std::vector<Bytes> pixels;  ///< whole chunks: ALPH, VP8 or VP8L
};

void read_size(Bytes chunk, Contents& contents) {
  const Bytes data = chunk.subspan(8);
  if (starts_with(chunk, "VP8X") && data.size() >= 10) {
    contents.alpha = (byte_at(data, 0) & flag_alpha) != 0;
    contents.animated = (byte_at(data, 0) & flag_animation) != 0;
    contents.width = le24(data, 4) + 1;
    contents.height = le24(data, 7) + 1;
  } else if (starts_with(chunk, "VP8 ") && data.size() >= 10 && contents.width == 0) {
    contents.width = le16(data, 6) & 0x3FFFU;
    contents.height = le16(data, 8) & 0x3FFFU;
  } else if (starts_with(chunk, "VP8L") && data.size() >= 5 && contents.width == 0) {
    const std::uint32_t bits = le32(data, 1);
    contents.width = (bits & 0x3FFFU) + 1;
    contents.height = (bits >> 14 & 0x3FFFU) + 1;
    contents.alpha = (bits >> 28 & 1U) != 0;
  }
}

Contents read_contents(Bytes bytes) {
  Contents contents;
  const std::uint64_t end = std::uint64_t{le32(bytes, 4)} + 8;
  if (end > bytes.size()) truncated("WebP");
  bytes = bytes.first(end);
  std::size_t at = riff_header;
  while (at <= bytes.size() && bytes.size() - at >= 8) {
    const std::size_t length = le32(bytes, at + 4);
    if (length > bytes.size() - at - 8) truncated("WebP");
    const Bytes chunk = bytes.subspan(at, length + 8);
    read_size(chunk, contents);
    if (starts_with(chunk, "ANIM") || starts_with(chunk, "ANMF")) contents.animated = true;
    if (starts_with(chunk, "EXIF")) contents.exif = chunk.subspan(8);
    if (starts_with(chunk, "ICCP")) contents.icc = chunk.subspan(8);
    if (starts_with(chunk, "XMP ")) contents.xmp = chunk.subspan(8);
    if (starts_with(chunk, "ALPH") || starts_with(chunk, "VP8 ") || starts_with(chunk, "VP8L"))
      contents.pixels.push_back(chunk);
    at += 8 + length + length % 2;
  }
  return contents;
}

Picture decode_webp(Bytes bytes, const ReadOptions& options) {
  const Contents contents = read_contents(bytes);
  if (contents.animated)
    unsupported("WebP", "animation", "Save the frames as .png first, for example with anim_dump or ffmpeg.");
  if (contents.width == 0 || contents.height == 0) damaged("WebP", "it holds no picture");
  check_limits(contents.width, contents.height, 4, Type::u8, options.limits);
  Bytes exif = contents.exif;
  constexpr std::string_view prefix{"Exif\0\0", 6};  // left over from JPEG by some writers
  if (starts_with(exif, prefix)) exif = exif.subspan(prefix.size());
  Picture picture =
      upright(decode_with_opencv("WebP", bytes, options), exif_orientation(exif), options.allocator);
  picture.metadata.exif.assign(exif.begin(), exif.end());
  picture.metadata.icc.assign(contents.icc.begin(), contents.icc.end());
  picture.metadata.xmp.assign(contents.xmp.begin(), contents.xmp.end());
  return picture;
}

void write_chunk(Sink& sink, std::string_view name, Bytes content) {
  if (content.empty()) return;
  sink.text(name);
  sink.le32(static_cast<std::uint32_t>(content.size()));
  sink.text({reinterpret_cast<const char*>(content.data()), content.size()});
  if (content.size() % 2 != 0) sink.u8(0);
}

FileBytes extension_chunk(const Contents& contents, const Metadata& metadata) {
  const auto flag = [](bool is_set, unsigned bit) { return is_set ? bit : 0U; };
  Sink sink;
  sink.le32(flag(contents.alpha, flag_alpha) | flag(!metadata.icc.empty(), flag_icc) |
            flag(!metadata.exif.empty(), flag_exif) | flag(!metadata.xmp.empty(), flag_xmp));
  for (const std::uint64_t side : {contents.width, contents.height}) {
    sink.le16(static_cast<unsigned>(side - 1) & 0xFFFFU);
    sink.u8(static_cast<unsigned>((side - 1) >> 16));
  }
  return std::move(sink.bytes);
}

/// The picture with its blocks in the order of the specification: VP8X, ICCP, pixels, EXIF, XMP.
FileBytes with_metadata(const FileBytes& file, const Metadata& metadata) {
  const Contents contents = read_contents(file);
  Sink body;
  body.text("WEBP");
  write_chunk(body, "VP8X", extension_chunk(contents, metadata));
  write_chunk(body, "ICCP", metadata.icc);
  for (const Bytes chunk : contents.pixels)
    write_chunk(body, {reinterpret_cast<const char*>(chunk.data()), 4}, chunk.subspan(8));
  write_chunk(body, "EXIF", metadata.exif);
  write_chunk(body, "XMP ", metadata.xmp);
  Sink sink;
  write_chunk(sink, "RIFF", body.bytes);
  return std::move(sink.bytes);
}

FileBytes encode_webp(const ImageView& image, const WriteOptions& options) {
  FileBytes file = encode_with_opencv("WebP", image, ".webp", options.quality.value_or(default_quality));
  const Metadata& metadata = options.metadata;
  const bool plain = metadata.icc.empty() && metadata.exif.empty() && metadata.xmp.empty();
  return plain ? file : with_metadata(file, metadata);
}

}  // namespace

Codec webp_codec() {
  Codec codec{"WebP", {".webp"}, sniff_webp, decode_webp, encode_webp, {}, "", require_opencv};
  codec.holds.types = set_of(Type::u8);
  codec.holds.channels = set_of(1, 3, 4);
  codec.holds.alpha = set_of(Alpha::none, Alpha::straight);
  codec.holds.max_side = 16383;
  codec.holds.metadata = set_of(Carried::icc, Carried::exif, Carried::xmp);
  return codec;
}

}  // namespace satin::io

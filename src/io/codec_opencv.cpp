// WebP, and JPEG 2000 for reading only, by OpenCV's imgcodecs, which decode pixels and no more: this file
// parses the containers, checks sizes and completeness, and reads and writes metadata. This is the module
// satin_io_opencv (io/module.h).

#include <algorithm>
#include <cstring>
#include <iostream>
#include <mutex>
#include <opencv2/core.hpp>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/imgcodecs.hpp>
#include <vector>

#include "io/codec_steps.h"
#include "io/module.h"
#include "metadata/colour_profile.h"
#include "metadata/heif_boxes.h"
#include "metadata/xmp.h"
#include "satin/error.h"
#include "satin/version.h"

namespace satin::io {
namespace {

/// Silences std::cerr, where OpenCV reports damaged files in addition to its result.
class Silence {
 public:
  Silence() : lock_(mutex()), state_(std::cerr.rdstate()) { std::cerr.setstate(std::ios::failbit); }
  ~Silence() { std::cerr.clear(state_); }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  static std::mutex& mutex() {
    static std::mutex instance;
    return instance;
  }
  std::lock_guard<std::mutex> lock_;
  std::ios::iostate state_;
};

/// Calls OpenCV without its output. Returns the reason if it throws, or `failure` if it returns false.
template <class Work>
std::string reason_of(const char* failure, const Work& work) {
  const Silence silence;
  try {
    return work() ? "" : failure;
  } catch (const std::exception& error) {
    return error.what();
  }
}

Image decode_with_opencv(const char* format, Bytes bytes, const ReadOptions& options) {
  if (bytes.size() > std::size_t{0x7fffffff}) damaged(format, "OpenCV takes files up to 2 GiB");
  // OpenCV does not write to its input; its interface just lacks const.
  const cv::Mat input(1, static_cast<int>(bytes.size()), CV_8U, const_cast<std::byte*>(bytes.data()));
  cv::Mat mat;
  const std::string reason = reason_of("OpenCV could not decode it", [&] {
    mat = cv::imdecode(input, cv::IMREAD_UNCHANGED);
    return !mat.empty();
  });
  if (!reason.empty()) damaged(format, reason);
  if (mat.depth() != CV_8U && mat.depth() != CV_16U)
    damaged(format, "its samples have neither 8 nor 16 bits");
  const int channels = mat.channels();
  if (channels > 4) damaged(format, "it has more than 4 channels");
  Image image = allocate(static_cast<std::uint64_t>(mat.cols), static_cast<std::uint64_t>(mat.rows), channels,
                         mat.depth() == CV_8U ? Type::u8 : Type::u16, alpha_of(channels), options);
  const std::size_t row_bytes = mat.elemSize() * static_cast<std::size_t>(mat.cols);
  for (int y = 0; y < mat.rows; ++y) {
    std::memcpy(row_of(image, y), mat.ptr(y), row_bytes);
    if (channels >= 3)
      swap_red_and_blue(row_of(image, y), static_cast<std::size_t>(mat.cols),
                        static_cast<std::size_t>(channels), mat.elemSize1());
  }
  return image;
}

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
  std::vector<Bytes> pixels;  ///< ALPH, VP8 and VP8L chunks, with their headers
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
  // Memory of OpenCV's picture and of libwebp's, where it is lossless.
  accept(contents.width, contents.height, 4, Type::u8, options, 8 * contents.width * contents.height);
  Bytes exif = contents.exif;
  constexpr std::string_view prefix{"Exif\0\0", 6};  // some writers keep the prefix of JPEG
  if (starts_with(exif, prefix)) exif = exif.subspan(prefix.size());
  Picture picture = upright(decode_with_opencv("WebP", bytes, options),
                            stored_orientation(exif, contents.xmp).value_or(1), options.allocator);
  picture.metadata.exif.assign(exif.begin(), exif.end());
  picture.metadata.icc.assign(contents.icc.begin(), contents.icc.end());
  picture.metadata.xmp.assign(contents.xmp.begin(), contents.xmp.end());
  return picture;
}

void write_chunk(Sink& sink, std::string_view name, Bytes content) {
  if (content.empty()) return;
  sink.text(name);
  sink.le32(static_cast<std::uint32_t>(content.size()));
  sink.add(content);
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

/// Inserts the metadata into a file, in the order of the specification: VP8X, ICCP, pixels, EXIF, XMP.
FileBytes with_metadata(const FileBytes& file, const Metadata& metadata) {
  const Contents contents = read_contents(file);
  Sink body;
  body.text("WEBP");
  write_chunk(body, "VP8X", extension_chunk(contents, metadata));
  write_chunk(body, "ICCP", metadata.icc);
  for (const Bytes chunk : contents.pixels) write_chunk(body, text_of(chunk.first(4)), chunk.subspan(8));
  write_chunk(body, "EXIF", metadata.exif);
  write_chunk(body, "XMP ", metadata.xmp);
  Sink sink;
  write_chunk(sink, "RIFF", body.bytes);
  return std::move(sink.bytes);
}

FileBytes encode_webp(const ImageView& image, const WriteOptions& options) {
  const Shape& shape = image.shape;
  const auto width = static_cast<std::size_t>(shape.width),
             channels = static_cast<std::size_t>(shape.channels);
  cv::Mat mat(static_cast<int>(shape.height), static_cast<int>(shape.width),
              CV_MAKETYPE(CV_8U, shape.channels));
  for (int y = 0; y < mat.rows; ++y) {
    std::memcpy(mat.ptr(y), image.at(0, y), width * channels);
    if (channels >= 3) swap_red_and_blue(reinterpret_cast<std::byte*>(mat.ptr(y)), width, channels, 1);
  }
  std::vector<unsigned char> encoded;
  const int quality = options.quality.value_or(default_quality);
  const std::string reason = reason_of("OpenCV could not encode it", [&] {
    return cv::imencode(".webp", mat, encoded, {cv::IMWRITE_WEBP_QUALITY, quality}) && !encoded.empty();
  });
  if (!reason.empty()) not_encoded("WebP", reason);
  const FileBytes file = copy_of(std::as_bytes(std::span(encoded)));
  const Metadata& metadata = options.metadata;
  const bool plain = metadata.icc.empty() && metadata.exif.empty() && metadata.xmp.empty();
  return plain ? file : with_metadata(file, metadata);
}

constexpr const char* jpeg2000 = "JPEG 2000";
constexpr std::string_view codestream_start = "\xff\x4f\xff\x51";

/// The codestream of a .jp2 file (ISO/IEC 15444-1, annex I) and the boxes that are read; empty if missing.
struct Jp2Boxes {
  Bytes stream, colour, channels;
  bool has_palette = false;
};

/// Collects the boxes up to the codestream, also inside the header box.
void read_boxes(Bytes bytes, Jp2Boxes& boxes) {
  for (BoxReader reader(bytes); boxes.stream.empty() && !reader.at_end();) {
    const auto [type, content] = reader.box();
    if (reader.cut()) truncated(jpeg2000);
    if (type == "jp2c") boxes.stream = content;
    if (type == "jp2h") read_boxes(content, boxes);
    if (type == "colr" && boxes.colour.empty()) boxes.colour = content;  // later ones are alternatives
    if (type == "pclr") boxes.has_palette = true;
    if (type == "cdef") boxes.channels = content;
  }
}

[[noreturn]] void refuse_jpeg2000(const std::string& what) {
  unsupported(jpeg2000, what, "Convert it to .png or .tiff first, for example with opj_decompress.");
}

/// Refuses samples that OpenCV does not read, or reads wrongly, by the size segment (ITU-T T.800, A.5.1).
/// Returns their bits.
int bits_of_components(Bytes stream, std::size_t count) {
  constexpr std::size_t first = 42, component = 3;
  if (stream.size() < first + count * component) truncated(jpeg2000);
  const int bits = static_cast<int>(byte_at(stream, first) & 0x7FU) + 1;
  if (bits < 8 || bits > 16) refuse_jpeg2000(std::to_string(bits) + " bits a sample");
  if (count == 2) refuse_jpeg2000("grey and alpha");
  if (be32(stream, 16) != 0 || be32(stream, 20) != 0)
    refuse_jpeg2000("a picture that begins inside of its grid");
  for (std::size_t at = first; at < first + count * component; at += component) {
    if ((byte_at(stream, at) & 0x80U) != 0) refuse_jpeg2000("signed samples");
    if (byte_at(stream, at) != byte_at(stream, first)) refuse_jpeg2000("channels of different bits");
    if (be16(stream, at + 1) != 0x0101U) refuse_jpeg2000("channels of a lower resolution");
  }
  return bits;
}

/// Refuses colours that OpenCV mistakes for grey, RGB or opacity. Returns the profile.
Bytes check_colours(const Jp2Boxes& boxes, std::size_t channels) {
  constexpr unsigned by_number = 1, by_profile = 2;
  constexpr std::uint32_t srgb = 16, grey = 17, opacity = 1;
  if (boxes.has_palette) refuse_jpeg2000("a palette");
  const Bytes colour = boxes.colour;
  Bytes profile;
  if (colour.size() >= 7 && byte_at(colour, 0) == by_number) {
    const std::uint32_t space = be32(colour, 3);
    if (space != srgb && space != grey) refuse_jpeg2000("colours of the space " + std::to_string(space));
  } else if (colour.size() > 3 && byte_at(colour, 0) == by_profile) {
    profile = colour.subspan(3);
    if (!describes(profile, static_cast<int>(channels))) refuse_jpeg2000("a profile of other colours");
  }
  std::size_t opaque = 0;
  for (std::size_t at = 2; at + 6 <= boxes.channels.size(); at += 6) {  // fields: number, type, colour
    const std::uint32_t type = be16(boxes.channels, at + 2);
    if (type > opacity) refuse_jpeg2000("channels that are neither colours nor straight alpha");
    opaque += type;
  }
  if (!boxes.channels.empty() && opaque != (channels + 1) % 2)
    refuse_jpeg2000(std::to_string(channels) + " channels of this kind");
  return profile;
}

Picture decode_jpeg2000(Bytes bytes, const ReadOptions& options) {
  Jp2Boxes boxes;
  if (starts_with(bytes, codestream_start))
    boxes.stream = bytes;
  else
    read_boxes(bytes, boxes);
  const Bytes stream = boxes.stream;
  constexpr std::size_t size_segment = 42;
  if (stream.size() < size_segment) truncated(jpeg2000);
  if (!starts_with(stream, codestream_start)) damaged(jpeg2000, "its codestream has no size");
  const std::uint32_t right = be32(stream, 8), bottom = be32(stream, 12);
  const std::uint32_t left = be32(stream, 16), top = be32(stream, 20);
  const std::uint32_t components = be16(stream, 40);
  if (right <= left || bottom <= top) damaged(jpeg2000, "its size is not positive");
  const int channels = static_cast<int>(std::min<std::uint32_t>(components, 1000));
  check_limits(right - left, bottom - top, channels, Type::u8, options.limits);
  const int bits = bits_of_components(stream, components);
  const Type type = bits > 8 ? Type::u16 : Type::u8;
  // Memory of OpenJPEG, whose samples have 32 bits, and of OpenCV's picture.
  const std::uint64_t beside = (sizeof(std::int32_t) + size_of(type)) * components;
  accept(right - left, bottom - top, channels, type, options,
         beside * (right - left) * std::uint64_t{bottom - top});
  const Bytes profile = check_colours(boxes, components);
  // The decoder replaces missing data without an error. Zeros after the end are padding.
  const std::string_view text = text_of(stream);
  if (!text.substr(0, text.find_last_not_of('\0') + 1).ends_with("\xff\xd9")) truncated(jpeg2000);
  Picture picture(decode_with_opencv(jpeg2000, bytes, options));
  picture.metadata.icc = copy_of(profile);
  for (int c = 0; bits > 8 && bits < 16 && c < channels; ++c)
    spread_codes(picture.image, c, 0, (1U << bits) - 1);
  return picture;
}

}  // namespace
}  // namespace satin::io

extern "C" __attribute__((visibility("default"))) const satin::io::CodecModule* satin_codecs() {
  namespace io = satin::io;
  static const io::CodecModule module = [] {
    cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
    cv::redirectError([](int, const char*, const char*, const char*, int, void*) { return 0; });
    return io::CodecModule{satin::version(), [](io::Codec& codec) {
                             const bool is_webp = codec.name == std::string_view("WebP");
                             codec.decode = is_webp ? io::decode_webp : io::decode_jpeg2000;
                             if (is_webp) codec.encode = io::encode_webp;
                           }};
  }();
  return &module;
}

// Gain maps of files. Of JPEG files: decoding the map behind the picture, and writing Ultra HDR, whose
// parameters are in XMP and in the binary form of ISO 21496-1 both.

#include <functional>
#include <future>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "io/codec_steps.h"
#include "metadata/gain_map_source.h"
#include "metadata/jpeg_markers.h"
#include "metadata/xmp.h"
#include "satin/error.h"

namespace satin::io {
namespace {

constexpr unsigned app1 = 0xE1, app2 = 0xE2;
constexpr int map_quality = 95;

JpegSegment iso_segment(Bytes block) {
  Sink sink;
  sink.text(iso_gain_map_name);
  sink.add(block);
  return {app2, std::move(sink.bytes)};
}

/// Returns the segment of a picture that has a map: the versions alone.
JpegSegment iso_mark() { return iso_segment(FileBytes(4)); }

/// Encodes a picture without the blocks of its metadata.
FileBytes bare_file(const ImageView& image, const WriteOptions& options, Encoder* encode) {
  WriteOptions bare = options;
  bare.metadata = {};
  bare.metadata.jpeg = options.metadata.jpeg;
  bare.metadata.resolution = options.metadata.resolution;
  return encode(image, bare);
}

/// Returns the map as a JPEG file with its parameters.
FileBytes map_file(const GainMap& map, Encoder* encode) {
  WriteOptions options;
  options.quality = map_quality;
  const std::string packet = xmp_gain_map(map.metadata);
  options.metadata.xmp = copy_of(std::as_bytes(std::span(packet)));
  options.metadata.icc = map.alternate_icc;
  return with_segments(encode(map.pixels, options), {{iso_segment(iso_gain_map(map.metadata))}});
}

/// Decodes a map and turns it upright.
GainMap decode_item(const GainMapItem& item, int orientation, const Codec& jpeg, const ReadOptions& options) {
  ReadOptions plain;
  plain.limits = options.limits;
  Picture picture = jpeg.decode(item.jpeg, plain);
  // A map of its own orientation would be turned twice.
  const std::optional<int> own = stored_orientation(picture.metadata.exif, picture.metadata.xmp);
  Image pixels =
      own.value_or(1) == 1 ? upright(std::move(picture.image), orientation, {}) : std::move(picture.image);
  if (const double* headroom = std::get_if<double>(&item.terms))
    return apple_gain_map(std::move(pixels), *headroom);
  GainMap map{std::get<GainMapMetadata>(item.terms), std::move(pixels), item.origin, {}};
  if (!map.metadata.use_base_colour_space) map.alternate_icc = std::move(picture.metadata.icc);
  return map;
}

}  // namespace

void add_gain_map(const Codec& codec, Bytes bytes, const ReadOptions& options, Picture& picture) try {
  std::optional<GainMap> map = codec.read_gain_map(bytes, picture, options);
  if (!map) return;
  Shape shape = picture.image.shape();
  if (picture.reduction > 1)
    std::tie(shape.width, shape.height) = std::pair(picture.full_width, picture.full_height);
  map->check(shape);
  picture.gain_map = std::move(map);
} catch (const Error& error) {
  const std::string_view text = error.what();
  constexpr std::string_view prefix = "its gain map cannot be used: ";
  picture.warnings.push_back(std::string(text.starts_with(prefix) ? "" : prefix) + std::string(text) +
                             " It was left out.");
}

std::optional<GainMap> read_jpeg_gain_map(Bytes bytes, const Picture& picture, const ReadOptions& options) {
  const Codec* jpeg = nullptr;
  for (const Codec& codec : codecs())
    if (codec.read_gain_map == read_jpeg_gain_map) jpeg = &codec;
  const Bytes original = picture.photo ? Bytes(picture.photo->original.file) : Bytes();
  std::optional<GainMapItem> item = find_gain_map(original);
  if (!item) item = find_gain_map(bytes);
  if (!item) return std::nullopt;
  const int outer = stored_orientation(picture.metadata.exif, picture.metadata.xmp).value_or(1);
  return decode_item(*item, item->orientation.value_or(outer), *jpeg, options);
}

FileFacts jpeg_facts(Bytes bytes) try {
  return {.gain_map = find_gain_map(bytes).has_value()};
} catch (const Error&) {
  return {.gain_map = true};
}

FileBytes encode_with_gain_map(const ImageView& image, const WriteOptions& options, Encoder* encode) {
  const GainMap& map = *options.gain_map;
  map.check(image.shape);
  // The picture is encoded meanwhile. What names the size of the map is put before its pixels afterwards.
  std::future<FileBytes> map_bytes = std::async(std::launch::async, map_file, std::cref(map), encode);
  const FileBytes pixels = bare_file(image, options, encode);
  const FileBytes gains = map_bytes.get();
  const std::string packet = xmp_with_gain_map(gains.size());
  const Bytes own = std::as_bytes(std::span(packet));
  Metadata metadata = options.metadata;
  FileBytes& xmp = metadata.xmp;
  std::optional<FileBytes> joined = xmp.empty() ? std::nullopt : joined_xmp(xmp, own);
  xmp = joined ? std::move(*joined) : copy_of(own);
  std::vector<JpegSegment> segments = jpeg_segments(metadata);
  segments.push_back(iso_mark());
  return joined_jpegs(with_segments(pixels, segments), gains);
}

FileBytes jpeg_alone_with_gain_map(Bytes file) try {
  FileBytes alone = jpeg_alone(file);
  const std::optional<GainMapItem> item = find_gain_map(file);
  if (!item || alone.empty()) return alone;
  if (item->origin == GainMapOrigin::apple) return joined_jpegs(alone, item->jpeg);  // maker notes stay
  Sink xmp;
  xmp.text(xmp_name);
  xmp.text(xmp_with_gain_map(item->jpeg.size()));
  return joined_jpegs(with_segments(alone, {{{app1, std::move(xmp.bytes)}, iso_mark()}}), item->jpeg);
} catch (const Error&) {
  return jpeg_alone(file);  // reading the map says why
}

}  // namespace satin::io

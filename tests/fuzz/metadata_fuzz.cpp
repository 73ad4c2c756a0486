// libFuzzer: any metadata blocks are read or left out, and an XMP packet that is cut into segments has the
// same properties when they are joined. decode_fuzz.cpp says how to build it. Without a corpus it starts from
// decode.dict.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <tuple>

#include "metadata/exif.h"
#include "metadata/jpeg_markers.h"
#include "metadata/png_chunks.h"
#include "metadata/xmp.h"
#include "satin/error.h"

namespace {

using namespace satin;
using io::Bytes;
using io::FileBytes;

void require(bool holds) {
  if (!holds) std::abort();
}

using Values = std::vector<std::tuple<std::string, std::string, std::string>>;

Values values_in(Bytes xmp) {
  Values values;
  if (const auto all = io::xmp_properties(xmp))
    for (const io::XmpProperty& property : all->properties)
      if (property.space != "http://ns.adobe.com/xmp/note/")
        values.emplace_back(property.space, property.name, property.value);
  std::sort(values.begin(), values.end());
  return values;
}

/// Lengthens packets, as short ones are not split.
void cut_and_join(Bytes packet) {
  const auto all = io::xmp_properties(packet);
  if (!all) return;
  FileBytes xmp(packet.begin(), packet.begin() + static_cast<std::ptrdiff_t>(all->end));
  const std::string space(io::jpeg_segment_limit, ' ');
  for (const char c : space) xmp.push_back(static_cast<std::byte>(c));
  xmp.insert(xmp.end(), packet.begin() + static_cast<std::ptrdiff_t>(all->end), packet.end());
  const std::vector<FileBytes> segments = io::xmp_segments(xmp);
  require(segments.size() >= 2);
  io::ExtendedXmp extended;
  for (const FileBytes& segment : segments) {
    require(segment.size() <= io::jpeg_segment_limit);
    static_cast<void>(extended.add(segment));
  }
  const Bytes standard = Bytes(segments.front()).subspan(io::xmp_name.size());
  std::optional<FileBytes> named;
  const auto kept = io::xmp_properties(standard);
  require(kept.has_value());
  for (const io::XmpProperty& property : kept->properties)
    if (property.name == "HasExtendedXMP" && !named) named = extended.packet(property.value);
  require(named.has_value());
  const auto joined = io::joined_xmp(standard, *named);
  require(joined.has_value() && values_in(*joined) == values_in(packet));
}

void read_blocks(Bytes bytes) {
  std::vector<std::string> warnings;
  Metadata metadata = io::jpeg_metadata(bytes, warnings);
  static_cast<void>(io::jpeg_segments(metadata));
  const io::PngChunks chunks = io::scan_png(bytes, false);
  Metadata of_png;
  io::add_chunks(of_png, chunks, 3, 8);
  static_cast<void>(io::chunks_of(of_png, 3, 8));
  metadata.exif = io::copy_of(bytes);
  metadata.resolution = io::resolution_of_exif(bytes);
  io::turn_resolution(metadata);
  const FileBytes iptc = io::iptc_of_png_text(io::text_of(bytes));
  require(io::iptc_of_png_text(io::png_text_of_iptc(iptc)) == iptc);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
  read_blocks(bytes);
  cut_and_join(bytes);
  // Two packets with an unused byte between them.
  const auto between = std::find(bytes.begin(), bytes.end(), std::byte{0xFF});
  const auto first = static_cast<std::size_t>(between - bytes.begin());
  if (first != size) static_cast<void>(io::joined_xmp(bytes.first(first), bytes.subspan(first + 1)));
  return 0;
}

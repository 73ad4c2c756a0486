// What may stay of a file's metadata when a part of its picture was covered.

#include <algorithm>
#include <array>

#include "metadata/exif_directories.h"
#include "metadata/exif_reader.h"
#include "satin/metadata.h"

namespace satin {
namespace {

using io::ExifDirectory;
using io::ExifField;
using io::type_ascii, io::type_short, io::type_long, io::type_rational, io::type_signed_rational;

constexpr std::size_t longest_text = 255;
constexpr std::uint32_t most_numbers = 4;

/// Make, model, resolution, time, copyright (CIPA DC-008, table 4).
constexpr std::array<std::uint32_t, 7> first_tags{0x010F, 0x0110, 0x011A, 0x011B, 0x0128, 0x0132, 0x8298};

/// Exposure, times, lens, colour space, size (CIPA DC-008, tables 7, 8, 10). Not among them: serial numbers,
/// names, comments, the maker's note, places.
constexpr std::array<std::uint32_t, 44> exif_tags{
    0x829A, 0x829D, 0x8822, 0x8827, 0x8830, 0x8831, 0x8832, 0x8833, 0x8834, 0x8835, 0x9003,
    0x9004, 0x9010, 0x9011, 0x9012, 0x9201, 0x9202, 0x9203, 0x9204, 0x9205, 0x9207, 0x9208,
    0x9209, 0x920A, 0x9290, 0x9291, 0x9292, 0xA001, 0xA002, 0xA003, 0xA217, 0xA402, 0xA403,
    0xA404, 0xA405, 0xA406, 0xA407, 0xA408, 0xA409, 0xA40A, 0xA40C, 0xA432, 0xA433, 0xA434};

/// A short text up to its end, or a few numbers: nothing behind which something could hide.
bool make_plain(ExifField& field) {
  if (field.type != type_ascii)
    return field.count <= most_numbers && (field.type == type_short || field.type == type_long ||
                                           field.type == type_rational || field.type == type_signed_rational);
  const auto end = std::find(field.value.begin(), field.value.end(), std::byte{0});
  field.value.erase(end, field.value.end());
  if (field.value.empty() || field.value.size() > longest_text) return false;
  field.value.push_back(std::byte{0});
  field.count = static_cast<std::uint32_t>(field.value.size());
  return true;
}

template <std::size_t Count>
void keep_allowed(ExifDirectory& directory, const std::array<std::uint32_t, Count>& tags) {
  for (auto at = directory.begin(); at != directory.end();)
    at = std::ranges::find(tags, at->first) != tags.end() && make_plain(at->second) ? std::next(at)
                                                                                    : directory.erase(at);
}

}  // namespace

Metadata redacted(const Metadata& metadata) {
  io::ExifDescription description = io::read_description(metadata.exif);
  keep_allowed(description.first, first_tags);
  keep_allowed(description.exif, exif_tags);
  description.gps.clear();
  Metadata result = metadata;
  result.exif = io::exif_block(description);
  result.xmp.clear();
  result.iptc.clear();
  if (result.exr) result.exr->part = result.exr->view = "";
  result.jpeg_comments.clear();
  result.png_texts.clear();
  return result;
}

}  // namespace satin

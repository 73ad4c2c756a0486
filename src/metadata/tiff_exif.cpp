#include "metadata/tiff_exif.h"

#include "metadata/exif_directories.h"
#include "metadata/iptc.h"

namespace satin::io {
namespace {

constexpr std::uint32_t type_long = 4;
constexpr std::uint32_t iptc_tag = 0x83BB;

/// As Photoshop writes it: long numbers, although it is bytes.
ExifField iptc_field(Bytes iptc) {
  constexpr std::size_t word = 4;
  const std::size_t words = (iptc.size() + word - 1) / word;
  ExifField field{type_long, static_cast<std::uint32_t>(words), {iptc.begin(), iptc.end()}};
  field.value.resize(words * word);
  return field;
}

}  // namespace

FileBytes exif_from_tiff(Bytes file) { return exif_block(read_description(file)); }

FileBytes iptc_from_tiff(Bytes file) {
  const ExifField field = first_field(file, iptc_tag);
  return field.count != 0 ? iptc_of_tag(field.value) : FileBytes();
}

void add_to_tiff(FileBytes& file, Bytes exif, Bytes iptc) {
  const ExifDescription description = read_description(exif);
  ExifDirectory first = read_first_directory(file);
  if ((description.empty() && iptc.empty()) || first.empty()) return;
  for (const auto& [tag, field] : description.first) first.emplace(tag, field);
  if (!iptc.empty()) first.emplace(iptc_tag, iptc_field(iptc));
  Sink sink{std::move(file), 0};
  sink.position = sink.bytes.size();
  append_directories(sink, std::move(first), description);
  file = std::move(sink.bytes);
}

}  // namespace satin::io

#include "metadata/tiff_exif.h"

#include <algorithm>
#include <vector>

#include "metadata/iptc.h"

namespace satin::io {
namespace {

constexpr std::uint32_t type_long = 4;
constexpr std::uint32_t iptc_tag = 0x83BB;

/// IPTC as Photoshop writes it: long numbers, although it is bytes.
ExifField iptc_field(Bytes iptc) {
  constexpr std::size_t word = 4;
  const std::size_t words = (iptc.size() + word - 1) / word;
  ExifField field{type_long, static_cast<std::uint32_t>(words), {iptc.begin(), iptc.end()}};
  field.value.resize(words * word);
  return field;
}

}  // namespace

FileBytes exif_from_tiff(Bytes file, std::uint64_t directory) {
  return exif_block(read_description(file, directory));
}

FileBytes iptc_from_tiff(Bytes file, std::uint64_t directory) {
  const ExifField field = field_of(file, directory, iptc_tag);
  return field.count != 0 ? iptc_of_tag(field.value) : FileBytes();
}

ExifDescription add_tags(ExifDirectory& directory, const PageTags& page) {
  ExifDescription description = read_description(page.exif);
  for (const auto& [tag, field] : description.first) directory.emplace(tag, field);
  if (!page.iptc.empty()) directory.emplace(iptc_tag, iptc_field(page.iptc));
  return description;
}

void add_to_tiff(FileBytes& file, std::span<const PageTags> pages) {
  const auto has_none = [](const PageTags& tags) {
    return read_description(tags.exif).empty() && tags.iptc.empty();
  };
  std::vector<ExifDirectory> directories = read_directories(file);
  if (std::all_of(pages.begin(), pages.end(), has_none) || directories.size() != pages.size()) return;
  Sink sink{std::move(file), 0};
  sink.position = sink.bytes.size();
  std::uint32_t next = 0;
  for (std::size_t i = pages.size(); i-- > 0;) {  // a directory points to that of the next page
    const ExifDescription description = add_tags(directories[i], pages[i]);
    next = append_directories(sink, std::move(directories[i]), description, next);
  }
  file = std::move(sink.bytes);
}

}  // namespace satin::io

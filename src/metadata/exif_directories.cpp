#include "metadata/exif_directories.h"

#include <algorithm>
#include <array>

#include "metadata/exif_reader.h"
#include "metadata/iptc.h"

namespace satin::io {
namespace {

constexpr std::uint32_t exif_directory = 0x8769, gps_directory = 0x8825, interoperability = 0xA005;

/// Tags of the first directory that describe the picture: words, names of document and page, dates,
/// resolution.
constexpr std::array<std::uint32_t, 12> descriptive{0x010D, 0x010E, 0x010F, 0x0110, 0x011A, 0x011B,
                                                    0x011D, 0x0128, 0x0131, 0x0132, 0x013B, 0x8298};

/// Bytes of the numbers that a value of each type is made of.
constexpr std::array<std::uint8_t, 13> number_bytes{0, 1, 1, 2, 4, 4, 1, 1, 2, 4, 4, 4, 8};

/// Nothing for values that do not lie in the file or are longer than `most`.
std::optional<ExifField> read_field(const ExifReader& reader, Bytes file, const ExifEntry& entry,
                                    std::size_t most) {
  if (bytes_of_type(entry.type) == 0) return std::nullopt;
  const std::uint64_t size = std::uint64_t{entry.count} * bytes_of_type(entry.type);
  const std::uint64_t at = size <= reader.sizes().number ? entry.value_at : reader.number(entry.value_at);
  if (size > most || at > file.size() || size > file.size() - at) return std::nullopt;
  ExifField field{entry.type, entry.count, {}};
  const Bytes value = file.subspan(at, size);
  field.value.assign(value.begin(), value.end());
  const std::size_t number = number_bytes[entry.type];
  if (!reader.little()) swap_bytes(field.value.data(), field.value.size() / number, number);
  return field;
}

ExifDirectory read_directory(const ExifReader& reader, Bytes file, std::size_t at) {
  ExifDirectory directory;
  std::size_t left =
      file.size();  // honest directories do not share their values: no file grows by being read
  for (std::size_t i = 0; i < reader.entries(at); ++i) {
    const ExifEntry entry = reader.entry(at, i);
    auto field = read_field(reader, file, entry, left);
    if (!field) continue;
    left -= field->value.size();
    directory.emplace(entry.tag, std::move(*field));
  }
  return directory;
}

ExifDirectory read_pointed(const ExifReader& reader, Bytes file, std::size_t from, std::uint32_t tag) {
  const auto pointer = reader.find(from, tag);
  const bool wide = pointer && (pointer->type == type_long8 || pointer->type == type_ifd8);
  if (!pointer || (pointer->type != type_long && !wide)) return {};
  ExifDirectory directory =
      read_directory(reader, file, wide ? reader.number(pointer->value_at) : pointer->value);
  directory.erase(interoperability);
  return directory;
}

void add_number(Sink& sink, std::uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i) sink.u8(static_cast<unsigned>(value >> 8 * i & 255));
}

/// Appends a directory and its values, with the offset of the next one; gives its own.
std::uint64_t append(Sink& sink, const TiffEnd& end, const ExifDirectory& directory,
                     std::uint64_t next_directory = 0) {
  const DirectorySizes sizes = end.big ? big_sizes : DirectorySizes{};
  while ((end.base + sink.position) % sizes.count != 0) sink.u8(0);
  const std::uint64_t start = end.base + sink.position;
  std::uint64_t next = start + sizes.count + directory.size() * sizes.entry + sizes.number;
  Sink values;
  add_number(sink, directory.size(), sizes.count);
  for (const auto& [tag, field] : directory) {
    sink.le16(tag);
    sink.le16(field.type);
    add_number(sink, field.count, sizes.number);
    FileBytes inside = field.value;
    if (inside.size() > sizes.number) {
      const std::size_t before = values.position;
      values.add(field.value);
      if (values.position % 2 != 0) values.u8(0);
      add_number(sink, next, sizes.number);
      next += values.position - before;
      continue;
    }
    inside.resize(sizes.number);
    sink.add(inside);
  }
  add_number(sink, next_directory, sizes.number);
  sink.add(values.bytes);
  return start;
}

ExifField pointer_to(std::uint64_t offset, bool big) {
  Sink value;
  add_number(value, offset, big ? 8 : 4);
  return {big ? type_ifd8 : type_long, 1, std::move(value.bytes)};
}

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

ExifField field_of(Bytes file, std::uint64_t directory, std::uint32_t tag) {
  const ExifReader reader(file, true);
  const auto entry = reader.valid() ? reader.find(directory, tag) : std::nullopt;
  auto field = entry ? read_field(reader, file, *entry, file.size()) : std::nullopt;
  return field ? std::move(*field) : ExifField();
}

ExifDescription read_description(Bytes file, std::optional<std::uint64_t> directory) {
  const ExifReader reader(file, directory.has_value());
  ExifDescription result;
  if (!reader.valid()) return result;
  const std::size_t first = directory.value_or(reader.first_directory());
  ExifDirectory all = read_directory(reader, file, first);
  for (const std::uint32_t tag : descriptive)
    if (const auto found = all.find(tag); found != all.end()) result.first.insert(all.extract(found));
  result.exif = read_pointed(reader, file, first, exif_directory);
  result.gps = read_pointed(reader, file, first, gps_directory);
  return result;
}

std::vector<ExifDirectory> read_directories(Bytes file) {
  const ExifReader reader(file);
  std::vector<ExifDirectory> directories;
  if (!reader.valid() || !reader.little()) return directories;
  for (std::size_t at = reader.first_directory(); at != 0; at = reader.u32(reader.link_of(at)))
    directories.push_back(read_directory(reader, file, at));
  return directories;
}

std::uint64_t append_directories(Sink& sink, const TiffEnd& end, ExifDirectory first,
                                 const ExifDescription& description, std::uint64_t next) {
  if (!description.exif.empty())
    first.insert_or_assign(exif_directory, pointer_to(append(sink, end, description.exif), end.big));
  if (!description.gps.empty())
    first.insert_or_assign(gps_directory, pointer_to(append(sink, end, description.gps), end.big));
  return append(sink, end, first, next);
}

std::uint32_t append_directories(Sink& sink, ExifDirectory first, const ExifDescription& description,
                                 std::uint32_t next) {
  const auto start =
      static_cast<std::uint32_t>(append_directories(sink, TiffEnd{}, std::move(first), description, next));
  sink.position = 4;
  sink.le32(start);
  sink.position = sink.bytes.size();
  return start;
}

FileBytes exif_block(const ExifDescription& description) {
  if (description.empty()) return {};
  Sink sink;
  sink.text({"II*\0\0\0\0\0", 8});
  append_directories(sink, description.first, description);
  return std::move(sink.bytes);
}

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

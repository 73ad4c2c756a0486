#include "metadata/tiff_exif.h"

#include <array>
#include <map>

#include "metadata/exif_reader.h"
#include "metadata/iptc.h"

namespace satin::io {
namespace {

constexpr std::uint32_t exif_directory = 0x8769, gps_directory = 0x8825, interoperability = 0xA005;
constexpr std::uint32_t iptc_tag = 0x83BB;

/// Tags of the first directory that describe the picture: words, dates, resolution.
constexpr std::array<std::uint32_t, 10> descriptive{0x010E, 0x010F, 0x0110, 0x011A, 0x011B,
                                                    0x0128, 0x0131, 0x0132, 0x013B, 0x8298};

/// Bytes of one value of each type, and of the numbers that it is made of.
constexpr std::array<std::uint8_t, 13> value_bytes{0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8};
constexpr std::array<std::uint8_t, 13> number_bytes{0, 1, 1, 2, 4, 4, 1, 1, 2, 4, 4, 4, 8};

struct Field {
  std::uint32_t type = 0;
  std::uint32_t count = 0;
  FileBytes value;  ///< little-endian
};
using Directory = std::map<std::uint32_t, Field>;

/// Nothing for values that do not lie in the file or are longer than `most`.
std::optional<Field> read_field(const ExifReader& reader, Bytes file, const ExifEntry& entry,
                                std::size_t most) {
  if (entry.type == 0 || entry.type >= value_bytes.size()) return std::nullopt;
  const std::uint64_t size = std::uint64_t{entry.count} * value_bytes[entry.type];
  const std::uint64_t at = size <= 4 ? entry.at + 8 : reader.u32(entry.at + 8);
  if (size > most || at > file.size() || size > file.size() - at) return std::nullopt;
  Field field{entry.type, entry.count, {}};
  const Bytes value = file.subspan(at, size);
  field.value.assign(value.begin(), value.end());
  const std::size_t number = number_bytes[entry.type];
  if (!reader.little()) swap_bytes(field.value.data(), field.value.size() / number, number);
  return field;
}

Directory read_directory(const ExifReader& reader, Bytes file, std::size_t at) {
  Directory directory;
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

Directory read_pointed(const ExifReader& reader, Bytes file, std::uint32_t tag) {
  const auto pointer = reader.find(reader.first_directory(), tag);
  if (!pointer || pointer->type != type_long) return {};
  Directory directory = read_directory(reader, file, pointer->value);
  directory.erase(interoperability);
  return directory;
}

/// Appends a directory and its values; gives its offset.
std::uint32_t append(Sink& sink, const Directory& directory) {
  if (sink.position % 2 != 0) sink.u8(0);
  const auto start = static_cast<std::uint32_t>(sink.position);
  auto next = static_cast<std::uint32_t>(start + 2 + directory.size() * entry_size + 4);
  Sink values;
  sink.le16(static_cast<unsigned>(directory.size()));
  for (const auto& [tag, field] : directory) {
    sink.le16(tag);
    sink.le16(field.type);
    sink.le32(field.count);
    FileBytes inside = field.value;
    if (inside.size() > 4) {
      const std::size_t before = values.position;
      values.add(field.value);
      if (values.position % 2 != 0) values.u8(0);
      sink.le32(next);
      next += static_cast<std::uint32_t>(values.position - before);
      continue;
    }
    inside.resize(4);
    sink.add(inside);
  }
  sink.le32(0);
  sink.add(values.bytes);
  return start;
}

Field pointer_to(std::uint32_t offset) {
  Sink value;
  value.le32(offset);
  return {type_long, 1, std::move(value.bytes)};
}

/// As Photoshop writes it: long numbers, although it is bytes.
Field iptc_field(Bytes iptc) {
  constexpr std::size_t word = 4;
  const std::size_t words = (iptc.size() + word - 1) / word;
  Field field{type_long, static_cast<std::uint32_t>(words), {iptc.begin(), iptc.end()}};
  field.value.resize(words * word);
  return field;
}

struct Description {
  Directory first, exif, gps;
  [[nodiscard]] bool empty() const { return first.empty() && exif.empty() && gps.empty(); }
};

Description read_description(Bytes file) {
  const ExifReader reader(file);
  Description result;
  if (!reader.valid()) return result;
  Directory all = read_directory(reader, file, reader.first_directory());
  for (const std::uint32_t tag : descriptive)
    if (const auto found = all.find(tag); found != all.end()) result.first.insert(all.extract(found));
  result.exif = read_pointed(reader, file, exif_directory);
  result.gps = read_pointed(reader, file, gps_directory);
  return result;
}

/// Appends the directories, the first one last, and sets the header's offset to it.
void append_all(Sink& sink, Directory first, const Description& description) {
  if (!description.exif.empty())
    first.insert_or_assign(exif_directory, pointer_to(append(sink, description.exif)));
  if (!description.gps.empty())
    first.insert_or_assign(gps_directory, pointer_to(append(sink, description.gps)));
  const std::uint32_t start = append(sink, first);
  sink.position = 4;
  sink.le32(start);
  sink.position = sink.bytes.size();
}

}  // namespace

FileBytes exif_from_tiff(Bytes file) {
  const Description description = read_description(file);
  if (description.empty()) return {};
  Sink sink;
  sink.text({"II*\0\0\0\0\0", 8});
  append_all(sink, description.first, description);
  return std::move(sink.bytes);
}

FileBytes iptc_from_tiff(Bytes file) {
  const ExifReader reader(file);
  const auto entry = reader.valid() ? reader.find(reader.first_directory(), iptc_tag) : std::nullopt;
  const auto field = entry ? read_field(reader, file, *entry, file.size()) : std::nullopt;
  return field ? iptc_of_tag(field->value) : FileBytes();
}

void add_to_tiff(FileBytes& file, Bytes exif, Bytes iptc) {
  const Description description = read_description(exif);
  const ExifReader reader(file);
  if ((description.empty() && iptc.empty()) || !reader.valid() || !reader.little()) return;
  Directory first = read_directory(reader, file, reader.first_directory());
  for (const auto& [tag, field] : description.first) first.emplace(tag, field);
  if (!iptc.empty()) first.emplace(iptc_tag, iptc_field(iptc));
  Sink sink{std::move(file), 0};
  sink.position = sink.bytes.size();
  append_all(sink, std::move(first), description);
  file = std::move(sink.bytes);
}

}  // namespace satin::io

// Reading and writing EXIF and TIFF directories, changing the tags about pixels in place, and metadata for
// redacted pictures.

#include "metadata/exif.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "metadata/iptc.h"
#include "metadata/photo_source.h"
#include "metadata/xmp.h"
#include "satin/metadata.h"

namespace satin::io {
namespace {

enum Tag : std::uint32_t {
  image_width = 0x0100,
  image_length = 0x0101,
  strip_offsets = 0x0111,
  orientation = 0x0112,
  strip_byte_counts = 0x0117,
  tile_offsets = 0x0144,
  tile_byte_counts = 0x0145,
  sub_directories = 0x014A,
  x_resolution = 0x011A,
  y_resolution = 0x011B,
  resolution_unit = 0x0128,
  jpeg_offset = 0x0201,
  jpeg_length = 0x0202,
  iptc_tag = 0x83BB,
  exif_directory = 0x8769,
  gps_directory = 0x8825,
  interoperability = 0xA005,
  pixel_x_dimension = 0xA002,
  pixel_y_dimension = 0xA003,
  subject_area = 0x9214,
  subject_location = 0xA214,
  focal_plane_x_resolution = 0xA20E,
  focal_plane_y_resolution = 0xA20F,
};

/// Crops of DNG (1.7): origin and size, active and masked areas, final sizes, the user's crop.
constexpr std::array<std::uint32_t, 8> crops{0xC61F, 0xC620, 0xC68D, 0xC68E, 0xC791, 0xC792, 0xC793, 0xC7B5};

/// Tags of the first directory that describe the picture: texts, names of document and page, dates,
/// resolution.
constexpr std::array<std::uint32_t, 12> descriptive{0x010D, 0x010E, 0x010F, 0x0110, 0x011A, 0x011B,
                                                    0x011D, 0x0128, 0x0131, 0x0132, 0x013B, 0x8298};

/// Bytes of the numbers in a value of each type; a rational has two.
constexpr std::array<std::uint8_t, 13> number_bytes{0, 1, 1, 2, 4, 4, 1, 1, 2, 4, 4, 4, 8};

/// Returns nothing for values that are not inside the file or longer than `most`.
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
  // Valid directories do not share values, so together these are no longer than the file.
  std::size_t left = file.size();
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

/// Appends a directory, its values and the offset of the next one. Returns the directory's offset.
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

/// Returns IPTC as Photoshop writes it: as 32-bit numbers, although it is bytes.
ExifField iptc_field(Bytes iptc) {
  constexpr std::size_t word = 4;
  const std::size_t words = (iptc.size() + word - 1) / word;
  ExifField field{type_long, static_cast<std::uint32_t>(words), {iptc.begin(), iptc.end()}};
  field.value.resize(words * word);
  return field;
}

/// Whether the bytes contain the start of a JPEG, PNG or WebP file.
bool holds_picture(Bytes bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (const std::string_view start : {"\xff\xd8\xff", "\x89PNG", "WEBPVP8"})
    if (text.find(start) != std::string_view::npos) return true;
  return false;
}

std::uint64_t value_bytes(const ExifEntry& entry) {
  constexpr std::uint32_t type_utf8 = 129;  // only in Exif 3.0
  return entry.count * std::uint64_t{entry.type == type_utf8 ? 1 : bytes_of_type(entry.type)};
}

/// Changes a block in place, without moving values.
class Editor {
 public:
  explicit Editor(FileBytes& block) : block_(block), little_(ExifReader(block).little()) {}

  [[nodiscard]] ExifReader reader() const { return ExifReader(block_); }

  void set_number(std::size_t directory, std::uint32_t tag, std::uint32_t value) {
    const auto entry = reader().find(directory, tag);
    if (!entry) return;
    put(entry->at + 2, type_long, 2);
    put(entry->at + 4, 1, 4);
    put(entry->at + 8, value, 4);
  }

  /// Replaces the numbers of a SHORT or LONG entry, as many as it has, all inside the block. SHORT is
  /// limited to its range.
  void set_numbers(const ExifEntry& entry, std::span<const double> values) {
    const bool is_short = entry.type == type_short;
    const int size = is_short ? 2 : 4;
    const std::size_t bytes = values.size() * static_cast<std::size_t>(size);
    const std::size_t at = bytes <= 4 ? entry.value_at : reader().u32(entry.value_at);
    for (std::size_t i = 0; i < values.size(); ++i)
      put(at + i * static_cast<std::size_t>(size),
          static_cast<std::uint32_t>(
              std::clamp(std::round(values[i]), 0.0, is_short ? 65535.0 : 4294967295.0)),
          size);
  }

  /// Multiplies a RATIONAL inside the block.
  void scale_rational(std::size_t at, double factor) {
    const double value = factor * reader().u32(at) / reader().u32(at + 4);
    constexpr double most = 4e9;
    if (!(value > 0 && value < most)) return;
    const double denominator = std::min(1e4, std::floor(most / value));
    put(at, static_cast<std::uint32_t>(std::round(value * denominator)), 4);
    put(at + 4, static_cast<std::uint32_t>(denominator), 4);
  }

  void set_orientation(std::size_t directory, int value) {
    const auto entry = reader().find(directory, orientation);
    if (!entry) return;
    put(entry->at + 8, 0, 4);
    put(entry->at + 8, static_cast<std::uint32_t>(value), entry->type == type_short ? 2 : 4);
  }

  void remove(std::size_t directory, const ExifEntry& entry) {
    const std::size_t count = reader().entries(directory);
    const std::size_t end = std::min(directory + 2 + count * entry_size + 4, block_.size());
    const auto at = block_.begin() + static_cast<std::ptrdiff_t>(entry.at);
    std::copy(at + entry_size, block_.begin() + static_cast<std::ptrdiff_t>(end), at);
    wipe(end - entry_size, entry_size);
    put(directory, static_cast<std::uint32_t>(count - 1), 2);
  }

  /// Overwrites every byte outside the header, these directories and their values.
  void wipe_all_but(std::span<const std::size_t> directories) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> owned{{0, 8}};  // begin and end
    for (const std::size_t directory : directories) {
      const std::size_t count = reader().entries(directory);
      if (directory != 0) owned.emplace_back(directory, directory + 2 + count * entry_size + 4);
      for (std::size_t i = 0; i < count; ++i) {
        const ExifEntry entry = reader().entry(directory, i);
        const std::uint64_t size = value_bytes(entry), at = reader().u32(entry.value_at);
        if (size > 4) owned.emplace_back(at, at + size);
      }
    }
    std::ranges::sort(owned);
    std::uint64_t end = 0;
    for (const auto& [first, last] : owned) {
      if (first > end) wipe(end, first - end);
      end = std::max(end, last);
    }
    if (end < block_.size()) block_.resize(end);
  }

  void wipe(std::size_t at, std::size_t size) {
    if (at >= block_.size()) return;
    std::fill_n(block_.begin() + static_cast<std::ptrdiff_t>(at), std::min(size, block_.size() - at),
                std::byte{0});
  }

  /// Removes the picture whose strips begin at the offsets of one entry and have the lengths of another.
  void drop_picture(std::size_t directory, std::uint32_t offsets, std::uint32_t lengths) {
    const auto starts = reader().find(directory, offsets);
    const auto sizes = reader().find(directory, lengths);
    if (starts && sizes) {
      const auto at = reader().numbers(*starts), size = reader().numbers(*sizes);
      for (std::size_t i = 0; i < std::min(at.size(), size.size()); ++i) wipe(at[i], size[i]);
    }
    for (const std::uint32_t tag : {offsets, lengths})
      if (const auto entry = reader().find(directory, tag)) remove(directory, *entry);
  }

  void drop_pictures(std::size_t directory) {
    drop_picture(directory, strip_offsets, strip_byte_counts);
    drop_picture(directory, tile_offsets, tile_byte_counts);
    drop_picture(directory, jpeg_offset, jpeg_length);
  }

  /// Removes values that hold an encoded picture, as maker notes and private tags do.
  void drop_encoded(std::size_t directory) {
    for (std::size_t i = 0; i < reader().entries(directory);) {
      const ExifEntry entry = reader().entry(directory, i);
      const std::uint64_t size = value_bytes(entry);
      const std::size_t at = entry.value;
      if (size > 4 && entry.type != type_short && at <= block_.size() && size <= block_.size() - at &&
          holds_picture(Bytes(block_).subspan(at, size))) {
        remove(directory, entry);  // before the value, which may lie over the directory
        wipe(at, size);
      } else {
        ++i;
      }
    }
  }

  /// Removes the directory of a preview and all that it points to.
  void drop_directory(std::size_t directory) {
    if (directory == 0 || directory >= block_.size()) return;
    drop_pictures(directory);
    drop_encoded(directory);
    wipe(directory, 2 + reader().entries(directory) * entry_size + 4);
  }

  void unlink_next(std::size_t directory) {
    if (const std::size_t link = reader().link_of(directory); link != 0) put(link, 0, 4);
  }

 private:
  void put(std::size_t at, std::uint32_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) {
      const int shift = 8 * (little_ ? i : bytes - 1 - i);
      block_[at + static_cast<std::size_t>(i)] = static_cast<std::byte>(value >> shift);
    }
  }

  FileBytes& block_;
  bool little_;
};

/// Returns the directories that follow in the chain, up to the first one that is repeated.
std::vector<std::size_t> following(const ExifReader& reader, std::size_t directory) {
  std::vector<std::size_t> chain{directory};
  for (std::size_t link = reader.link_of(directory); link != 0; link = reader.link_of(chain.back())) {
    const std::size_t next = reader.u32(link);
    if (next == 0 || std::find(chain.begin(), chain.end(), next) != chain.end()) break;
    chain.push_back(next);
  }
  chain.erase(chain.begin());
  return chain;
}

/// Removes all previews: the directories that follow the first one, its sub-directories, and pictures in any
/// value.
void drop_previews(Editor& editor, std::size_t first, std::size_t directory) {
  const std::vector<std::size_t> chain = following(editor.reader(), first);
  editor.unlink_next(first);
  if (const auto below = editor.reader().find(first, sub_directories)) {
    for (const std::size_t preview : editor.reader().numbers(*below))
      if (preview != first && preview != directory) editor.drop_directory(preview);
    if (const auto pointer = editor.reader().find(first, sub_directories)) editor.remove(first, *pointer);
  }
  for (const std::size_t preview : chain)
    if (preview != directory) editor.drop_directory(preview);
  std::vector<std::size_t> kept{first, directory};
  for (std::size_t i = 0; i < 2; ++i)
    for (const std::uint32_t tag : {gps_directory, interoperability})
      if (const auto pointer = editor.reader().find(kept[i], tag)) kept.push_back(pointer->value);
  for (const std::size_t at : kept) {
    editor.drop_pictures(at);
    editor.drop_encoded(at);
  }
  editor.wipe_all_but(kept);
}

}  // namespace

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

/// Appends the directories to a classic file, and lets its header point to `first`. Returns its offset.
static std::uint64_t append_to_file(Sink& sink, ExifDirectory first, const ExifDescription& description,
                                    std::uint64_t next = 0) {
  const std::uint64_t start = append_directories(sink, {}, std::move(first), description, next);
  sink.position = 4;
  sink.le32(static_cast<std::uint32_t>(start));
  sink.position = sink.bytes.size();
  return start;
}

FileBytes exif_block(const ExifDescription& description) {
  if (description.empty()) return {};
  Sink sink;
  sink.text({"II*\0\0\0\0\0", 8});
  append_to_file(sink, description.first, description);
  return std::move(sink.bytes);
}

FileBytes iptc_from_tiff(Bytes file, std::uint64_t directory) {
  const ExifReader reader(file, true);
  const auto entry = reader.valid() ? reader.find(directory, iptc_tag) : std::nullopt;
  const auto field = entry ? read_field(reader, file, *entry, file.size()) : std::nullopt;
  return field ? iptc_of_tag(field->value) : FileBytes();
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
  std::uint64_t next = 0;
  for (std::size_t i = pages.size(); i-- > 0;) {  // a directory points to the next page's
    const ExifDescription description = add_tags(directories[i], pages[i]);
    next = append_to_file(sink, std::move(directories[i]), description, next);
  }
  file = std::move(sink.bytes);
}

std::optional<int> exif_orientation(Bytes exif) noexcept {
  const ExifReader reader(exif);
  const auto entry = reader.find(reader.first_directory(), orientation);
  if (!entry || (entry->type != type_short && entry->type != type_long)) return std::nullopt;
  return entry->value >= 1 && entry->value <= 8 ? std::optional(static_cast<int>(entry->value))
                                                : std::nullopt;
}

FileBytes exif_of_orientation(int turn) {
  // Little-endian, with a single directory at 8 that has one SHORT entry.
  std::array<unsigned char, 26> block = {'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, type_short, 0, 1};
  block[18] = static_cast<unsigned char>(turn);
  const Bytes bytes = std::as_bytes(std::span(block));
  return {bytes.begin(), bytes.end()};
}

void describe_in_exif(FileBytes& exif, std::int64_t width, std::int64_t height, int turn) {
  const ExifReader reader(exif);
  if (!reader.valid()) return exif.clear();
  const std::size_t first = reader.first_directory();
  const auto pointer = reader.find(first, exif_directory);
  const std::size_t directory = pointer ? pointer->value : 0;
  const auto w = static_cast<std::uint32_t>(width), h = static_cast<std::uint32_t>(height);
  Editor editor(exif);
  editor.set_orientation(first, turn);
  editor.set_number(first, image_width, w);
  editor.set_number(first, image_length, h);
  editor.set_number(directory, pixel_x_dimension, w);
  editor.set_number(directory, pixel_y_dimension, h);
  drop_previews(editor, first, directory);
}

namespace {

/// Moves the subject's place or area. Returns false for one outside the result or without a place.
bool move_subject(Editor& editor, const ExifEntry& entry, const Framing& framing, int turn,
                  std::array<double, 2> stored) {
  const std::vector<std::uint32_t> numbers = editor.reader().numbers(entry);
  if (numbers.size() < 2 || numbers.size() > 4) return false;
  const Point place = upright_point(numbers[0] / stored[0], numbers[1] / stored[1], turn);
  const double scale_x = framing.result_width / framing.box_width;
  const double scale_y = framing.result_height / framing.box_height;
  std::vector<double> moved(numbers.begin(), numbers.end());
  moved[0] = (place.x.value / 100 * framing.width - framing.x) * scale_x;
  moved[1] = (place.y.value / 100 * framing.height - framing.y) * scale_y;
  if (moved.size() == 3) moved[2] *= (scale_x + scale_y) / 2;  // a diameter
  if (moved.size() == 4 && turn >= 5) std::swap(moved[2], moved[3]);
  if (moved.size() == 4) moved = {moved[0], moved[1], moved[2] * scale_x, moved[3] * scale_y};
  if (!(moved[0] >= 0 && moved[1] >= 0 && moved[0] <= framing.result_width &&
        moved[1] <= framing.result_height))
    return false;
  editor.set_numbers(entry, moved);
  return true;
}

/// Returns where the RATIONAL of a tag is stored; 0 if there is none inside the block.
std::size_t place_of_rational(const FileBytes& exif, std::size_t directory, std::uint32_t tag) {
  const auto entry = ExifReader(exif).find(directory, tag);
  return entry && entry->type == type_rational && entry->count == 1 && entry->value + 8ULL <= exif.size()
             ? entry->value
             : 0;
}

}  // namespace

bool frame_in_exif(FileBytes& exif, const Framing& framing, int turn) {
  const ExifReader reader(exif);
  if (!reader.valid() || (turn == 1 && !framing.changes())) return false;
  const std::size_t first = reader.first_directory();
  const auto pointer = reader.find(first, exif_directory);
  const std::size_t directory = pointer ? pointer->value : 0;
  const bool lies = turn >= 5;
  const auto stored = [&](std::uint32_t tag, double otherwise) {
    const auto entry = ExifReader(exif).find(directory, tag);
    return entry && entry->value != 0 ? static_cast<double>(entry->value) : otherwise;
  };
  const std::array<double, 2> size{stored(pixel_x_dimension, lies ? framing.height : framing.width),
                                   stored(pixel_y_dimension, lies ? framing.width : framing.height)};
  Editor editor(exif);
  bool removed = false;
  const auto remove = [&](std::size_t from, std::uint32_t tag) {
    if (const auto entry = editor.reader().find(from, tag)) {
      editor.remove(from, *entry);
      removed = true;
    }
  };
  for (const std::uint32_t tag : {subject_area, subject_location})
    if (const auto entry = editor.reader().find(directory, tag);
        entry && !move_subject(editor, *entry, framing, turn, size))
      remove(directory, tag);
  const std::size_t x = place_of_rational(exif, directory, focal_plane_x_resolution);
  const std::size_t y = place_of_rational(exif, directory, focal_plane_y_resolution);
  if (x != 0 && y != 0 && x != y) {
    if (lies) std::swap_ranges(&exif[x], &exif[x] + 8, &exif[y]);
    if (framing.result_width != framing.box_width)
      editor.scale_rational(x, framing.result_width / framing.box_width);
    if (framing.result_height != framing.box_height)
      editor.scale_rational(y, framing.result_height / framing.box_height);
  }
  if (framing.changes())
    for (const std::uint32_t tag : crops)
      for (const std::size_t from : {first, directory}) remove(from, tag);
  return removed;
}

// Resolution.

namespace {

using Unit = Resolution::Unit;

constexpr double metres_per_inch = 0.0254;

std::optional<Resolution> if_informative(const Resolution& resolution) {
  const auto positive = [](double v) { return v > 0 && std::isfinite(v); };
  if (!positive(resolution.x) || !positive(resolution.y)) return std::nullopt;
  if (resolution.unit == Unit::none && resolution.x == resolution.y) return std::nullopt;
  return resolution;
}

/// Returns the value of a tag of the first directory; 0 if there is none.
double rational(const ExifReader& reader, Bytes exif, std::uint32_t tag) {
  const auto entry = reader.find(reader.first_directory(), tag);
  if (!entry || entry->type != type_rational || entry->count != 1) return 0;
  const std::size_t at = entry->value;
  if (at > exif.size() || exif.size() - at < 8) return 0;
  return static_cast<double>(reader.u32(at)) / static_cast<double>(reader.u32(at + 4));
}

/// Converts to pixels per inch. A whole number per inch is restored if it rounds to this number per metre.
double per_inch(double per_metre) {
  const double inches = per_metre * metres_per_inch, whole = std::round(inches);
  return std::round(whole / metres_per_inch) == per_metre ? whole : inches;
}

std::optional<StoredResolution> stored(double x, double y, unsigned unit, double most) {
  x = std::round(x);
  y = std::round(y);
  if (std::min(x, y) < 1 || std::max(x, y) > most) return std::nullopt;
  return StoredResolution{static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y), unit};
}

}  // namespace

std::optional<Resolution> resolution_of_exif(Bytes exif) {
  const ExifReader reader(exif);
  const auto unit = reader.find(reader.first_directory(), resolution_unit);
  const std::uint32_t code = unit && unit->type == type_short ? unit->value : 2;
  const Unit read = code == 3 ? Unit::centimetre : code == 2 ? Unit::inch : Unit::none;
  return if_informative({rational(reader, exif, x_resolution), rational(reader, exif, y_resolution), read});
}

std::optional<Resolution> resolution_of_jfif(Bytes segment) {
  constexpr std::size_t unit_at = 7;  // after the name and the version
  if (segment.size() < unit_at + 5) return std::nullopt;
  const unsigned code = byte_at(segment, unit_at);
  const Unit unit = code == 1 ? Unit::inch : code == 2 ? Unit::centimetre : Unit::none;
  const auto x = static_cast<double>(be16(segment, unit_at + 1));
  const auto y = static_cast<double>(be16(segment, unit_at + 3));
  return if_informative({x, y, unit});
}

std::optional<Resolution> resolution_of_physical(Bytes chunk) {
  if (chunk.size() != 9) return std::nullopt;
  const auto x = static_cast<double>(be32(chunk, 0)), y = static_cast<double>(be32(chunk, 4));
  return if_informative({x, y, byte_at(chunk, 8) == 1 ? Unit::metre : Unit::none});
}

std::optional<StoredResolution> jfif_of(const Resolution& resolution) {
  const Resolution r = without_metres(resolution);
  const unsigned code = r.unit == Unit::inch ? 1 : r.unit == Unit::centimetre ? 2 : 0;
  return stored(r.x, r.y, code, std::numeric_limits<std::uint16_t>::max());
}

std::optional<StoredResolution> physical_of(const Resolution& resolution) {
  const Unit unit = resolution.unit;
  const double per_metre = unit == Unit::inch ? 1 / metres_per_inch : unit == Unit::centimetre ? 100 : 1;
  return stored(resolution.x * per_metre, resolution.y * per_metre, unit == Unit::none ? 0 : 1,
                std::numeric_limits<std::int32_t>::max());
}

Resolution without_metres(const Resolution& resolution) {
  if (resolution.unit != Unit::metre) return resolution;
  return {per_inch(resolution.x), per_inch(resolution.y), Unit::inch};
}

void turn_resolution(Metadata& metadata) {
  if (metadata.resolution) std::swap(metadata.resolution->x, metadata.resolution->y);
  const ExifReader reader(metadata.exif);
  const auto x = reader.find(reader.first_directory(), x_resolution);
  const auto y = reader.find(reader.first_directory(), y_resolution);
  if (!x || !y || x->type != y->type || x->count != y->count) return;
  constexpr std::size_t value_at = 8;
  std::swap_ranges(&metadata.exif[x->at + value_at], &metadata.exif[x->at] + entry_size,
                   &metadata.exif[y->at + value_at]);
}

}  // namespace satin::io

namespace satin {
namespace {

// Metadata that may stay when a part of the picture was covered.

using io::ExifDirectory;
using io::ExifField;
using io::type_ascii, io::type_short, io::type_long, io::type_rational, io::type_signed_rational;

constexpr std::size_t longest_text = 255;
constexpr std::uint32_t most_numbers = 4;

/// Make, model, resolution, time, copyright (CIPA DC-008, table 4).
constexpr std::array<std::uint32_t, 7> first_tags{0x010F, 0x0110, 0x011A, 0x011B, 0x0128, 0x0132, 0x8298};

/// Exposure, times, lens, colour space, size (CIPA DC-008, tables 7, 8, 10), but no serial numbers, names,
/// comments, maker notes or places.
constexpr std::array<std::uint32_t, 44> exif_tags{
    0x829A, 0x829D, 0x8822, 0x8827, 0x8830, 0x8831, 0x8832, 0x8833, 0x8834, 0x8835, 0x9003,
    0x9004, 0x9010, 0x9011, 0x9012, 0x9201, 0x9202, 0x9203, 0x9204, 0x9205, 0x9207, 0x9208,
    0x9209, 0x920A, 0x9290, 0x9291, 0x9292, 0xA001, 0xA002, 0xA003, 0xA217, 0xA402, 0xA403,
    0xA404, 0xA405, 0xA406, 0xA407, 0xA408, 0xA409, 0xA40A, 0xA40C, 0xA432, 0xA433, 0xA434};

/// Whether the field is a short text or a few numbers, so that no other data can hide in it. Cuts texts at
/// their end.
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

std::vector<std::string> frame(Metadata& metadata, const Framing& framing) {
  std::vector<std::string> dropped;
  if (!framing.changes()) return dropped;
  if (io::frame_in_exif(metadata.exif, framing)) dropped.emplace_back("the subject's place or crops in EXIF");
  io::describe_in_exif(metadata.exif, static_cast<std::int64_t>(framing.result_width),
                       static_cast<std::int64_t>(framing.result_height));
  for (std::string& name : io::frame_in_xmp(metadata.xmp, framing)) dropped.push_back(std::move(name));
  return dropped;
}

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

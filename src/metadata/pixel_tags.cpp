#include "metadata/pixel_tags.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "metadata/exif_reader.h"

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
  jpeg_offset = 0x0201,
  jpeg_length = 0x0202,
  exif_directory = 0x8769,
  gps_directory = 0x8825,
  interoperability = 0xA005,
  pixel_x_dimension = 0xA002,
  pixel_y_dimension = 0xA003,
};

/// True if the bytes hold the start of a JPEG, PNG or WebP file.
bool holds_picture(Bytes bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (const std::string_view start : {"\xff\xd8\xff", "\x89PNG", "WEBPVP8"})
    if (text.find(start) != std::string_view::npos) return true;
  return false;
}

std::uint64_t value_bytes(const ExifEntry& entry) {
  constexpr std::uint32_t type_utf8 = 129;  // of Exif 3.0 alone
  return entry.count * std::uint64_t{entry.type == type_utf8 ? 1 : bytes_of_type(entry.type)};
}

/// Changes one block in place; offsets inside it stay what they are.
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

  /// Takes the picture away whose parts begin at the numbers of one entry and are as long as those of
  /// another.
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

  /// Takes away the values that hold an encoded picture: maker notes and private tags do.
  void drop_encoded(std::size_t directory) {
    for (std::size_t i = 0; i < reader().entries(directory);) {
      const ExifEntry entry = reader().entry(directory, i);
      const std::uint64_t size = value_bytes(entry);
      const std::size_t at = entry.value;
      if (size > 4 && entry.type != type_short && at <= block_.size() && size <= block_.size() - at &&
          holds_picture(Bytes(block_).subspan(at, size))) {
        wipe(at, size);
        remove(directory, entry);
      } else {
        ++i;
      }
    }
  }

  /// Takes a whole directory of a preview away, with what it points at.
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

/// Directories behind the first one, in their chain; a chain that bites its tail ends there.
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

/// Takes away all that shows the picture as it was: the directories behind the first one, those below it, and
/// pictures in any value.
void drop_previews(Editor& editor, std::size_t first, std::size_t directory) {
  const std::vector<std::size_t> chain = following(editor.reader(), first);
  editor.unlink_next(first);
  if (const auto below = editor.reader().find(first, sub_directories)) {
    for (const std::size_t preview : editor.reader().numbers(*below))
      if (preview != first && preview != directory) editor.drop_directory(preview);
    editor.remove(first, *editor.reader().find(first, sub_directories));
  }
  for (const std::size_t preview : chain)
    if (preview != directory) editor.drop_directory(preview);
  std::vector<std::size_t> kept{first, directory};
  for (std::size_t i = 0; i < 2; ++i)
    for (const std::uint32_t tag : {gps_directory, interoperability})
      if (const auto pointer = editor.reader().find(kept[i], tag)) kept.push_back(pointer->value);
  for (const std::size_t of : kept) {
    editor.drop_pictures(of);
    editor.drop_encoded(of);
  }
  editor.wipe_all_but(kept);
}

}  // namespace

std::optional<int> exif_orientation(Bytes exif) noexcept {
  const ExifReader reader(exif);
  const auto entry = reader.valid() ? reader.find(reader.first_directory(), orientation) : std::nullopt;
  if (!entry || (entry->type != type_short && entry->type != type_long)) return std::nullopt;
  return entry->value >= 1 && entry->value <= 8 ? std::optional(static_cast<int>(entry->value))
                                                : std::nullopt;
}

FileBytes exif_of_orientation(int turn) {
  // Little endian; one directory at 8, with an entry of one short number and none behind it.
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

}  // namespace satin::io

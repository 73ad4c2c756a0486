#include "metadata/pixel_tags.h"

#include <algorithm>

#include "metadata/exif_reader.h"

namespace satin::io {
namespace {

enum Tag : std::uint32_t {
  image_width = 0x0100,
  image_length = 0x0101,
  strip_offsets = 0x0111,
  orientation = 0x0112,
  strip_byte_counts = 0x0117,
  jpeg_offset = 0x0201,
  jpeg_length = 0x0202,
  exif_directory = 0x8769,
  maker_note = 0x927C,
  pixel_x_dimension = 0xA002,
  pixel_y_dimension = 0xA003,
};
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

  void set_orientation(std::size_t directory) {
    const auto entry = reader().find(directory, orientation);
    if (!entry) return;
    put(entry->at + 8, 0, 4);
    put(entry->at + 8, 1, entry->type == type_short ? 2 : 4);
  }

  void remove(std::size_t directory, const ExifEntry& entry) {
    const std::size_t count = reader().entries(directory);
    const std::size_t end = std::min(directory + 2 + count * entry_size + 4, block_.size());
    const auto at = block_.begin() + static_cast<std::ptrdiff_t>(entry.at);
    std::copy(at + entry_size, block_.begin() + static_cast<std::ptrdiff_t>(end), at);
    wipe(end - entry_size, entry_size);
    put(directory, static_cast<std::uint32_t>(count - 1), 2);
  }

  void wipe(std::size_t at, std::size_t size) {
    if (at >= block_.size()) return;
    std::fill_n(block_.begin() + static_cast<std::ptrdiff_t>(at), std::min(size, block_.size() - at),
                std::byte{0});
  }

  /// Bytes that `offset` and `length` entries point at.
  void wipe_pointed(std::size_t directory, std::uint32_t offset, std::uint32_t length) {
    const auto start = reader().find(directory, offset);
    const auto size = reader().find(directory, length);
    if (!start || !size || start->count != 1 || size->count != 1) return;
    wipe(start->value, size->value);
    // Nothing lies behind most thumbnails: the block need not carry zeros.
    if (start->value <= block_.size() && size->value >= block_.size() - start->value)
      block_.resize(std::max<std::size_t>(start->value, 8));
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

bool holds_jpeg(Bytes bytes) { return text_of(bytes).find("\xff\xd8\xff") != std::string_view::npos; }

void drop_maker_preview(Editor& editor, FileBytes& exif, std::size_t directory) {
  const auto note = editor.reader().find(directory, maker_note);
  if (!note || note->count <= 4 || note->value > exif.size() || note->count > exif.size() - note->value)
    return;
  if (!holds_jpeg(Bytes(exif).subspan(note->value, note->count))) return;
  editor.wipe(note->value, note->count);
  editor.remove(directory, *note);
}

void drop_thumbnail(Editor& editor, std::size_t directory) {
  const ExifReader reader = editor.reader();
  const std::size_t link = reader.link_of(directory);
  const std::size_t thumbnail = link != 0 ? reader.u32(link) : 0;
  editor.unlink_next(directory);
  if (thumbnail == 0 || thumbnail == directory) return;
  editor.wipe_pointed(thumbnail, strip_offsets, strip_byte_counts);
  editor.wipe_pointed(thumbnail, jpeg_offset, jpeg_length);
  editor.wipe(thumbnail, 2 + editor.reader().entries(thumbnail) * entry_size + 4);
}

/// Sets a number that stands as an attribute, name="6", or as an element, <name>6</name>.
void set_number(std::string& text, std::string_view name, const std::string& value) {
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + name.size())) {
    if (at == 0 || text[at - 1] == '/') continue;
    std::size_t first = text.find_first_not_of(" \t\r\n", at + name.size());
    if (first == std::string::npos) return;
    if (text[first] == '=')
      first = text.find_first_of("'\"", first);
    else if (text[first] != '>')
      continue;
    if (first == std::string::npos) return;
    ++first;
    const std::size_t end = text.find_first_not_of("0123456789", first);
    if (end != std::string::npos && end > first) text.replace(first, end - first, value);
  }
}

void erase_element(std::string& text, const std::string& name) {
  const std::string closing = "</" + name + ">";
  for (std::size_t at = text.find("<" + name); at != std::string::npos; at = text.find("<" + name, at)) {
    const std::size_t end = text.find(closing, at);
    if (end == std::string::npos) return text.clear();  // a broken packet that shows the old picture
    text.erase(at, end + closing.size() - at);
  }
}

}  // namespace

int exif_orientation(Bytes exif) noexcept {
  const ExifReader reader(exif);
  if (!reader.valid()) return 1;
  const auto entry = reader.find(reader.first_directory(), orientation);
  if (!entry || (entry->type != type_short && entry->type != type_long)) return 1;
  return entry->value >= 1 && entry->value <= 8 ? static_cast<int>(entry->value) : 1;
}

void describe_in_exif(FileBytes& exif, std::int64_t width, std::int64_t height) {
  const ExifReader reader(exif);
  if (!reader.valid()) return exif.clear();
  const std::size_t first = reader.first_directory();
  const auto pointer = reader.find(first, exif_directory);
  const std::size_t directory = pointer ? pointer->value : 0;
  const auto w = static_cast<std::uint32_t>(width), h = static_cast<std::uint32_t>(height);
  Editor editor(exif);
  editor.set_orientation(first);
  editor.set_number(first, image_width, w);
  editor.set_number(first, image_length, h);
  editor.set_number(directory, pixel_x_dimension, w);
  editor.set_number(directory, pixel_y_dimension, h);
  drop_maker_preview(editor, exif, directory);
  drop_thumbnail(editor, first);
}

void describe_in_xmp(FileBytes& xmp, std::int64_t width, std::int64_t height) {
  std::string text(text_of(xmp));
  set_number(text, "tiff:Orientation", "1");
  for (const std::string_view name : {"tiff:ImageWidth", "exif:PixelXDimension"})
    set_number(text, name, std::to_string(width));
  for (const std::string_view name : {"tiff:ImageLength", "exif:PixelYDimension"})
    set_number(text, name, std::to_string(height));
  for (const char* name : {"xmp:Thumbnails", "xap:Thumbnails", "photoshop:Thumbnail"})
    erase_element(text, name);
  xmp = copy_of(std::as_bytes(std::span(text)));
}

}  // namespace satin::io

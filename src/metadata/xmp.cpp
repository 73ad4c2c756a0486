#include "metadata/xmp.h"

#include <algorithm>

#include "metadata/bytes.h"

namespace satin::io {
namespace {

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

void describe_in_xmp(FileBytes& xmp, std::int64_t width, std::int64_t height) {
  std::string text(reinterpret_cast<const char*>(xmp.data()), xmp.size());
  set_number(text, "tiff:Orientation", "1");
  for (const std::string_view name : {"tiff:ImageWidth", "exif:PixelXDimension"})
    set_number(text, name, std::to_string(width));
  for (const std::string_view name : {"tiff:ImageLength", "exif:PixelYDimension"})
    set_number(text, name, std::to_string(height));
  for (const char* name : {"xmp:Thumbnails", "xap:Thumbnails", "photoshop:Thumbnail"})
    erase_element(text, name);
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  xmp.assign(first, first + text.size());
}

}  // namespace satin::io

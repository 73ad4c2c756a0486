#include "view/pages.h"

#include <algorithm>
#include <array>
#include <utility>

namespace satin::view {

const PageFile* find_page_file(std::string_view name) {
  const std::span<const PageFile> files = page_files();
  const auto found = std::ranges::find(files, name, &PageFile::name);
  return found == files.end() ? nullptr : &*found;
}

const char* media_type(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, const char*>, 4> types{
      {{".html", "text/html; charset=utf-8"},
       {".css", "text/css; charset=utf-8"},
       {".js", "text/javascript; charset=utf-8"},
       {".svg", "image/svg+xml"}}};
  for (const auto& [extension, type] : types)
    if (name.ends_with(extension)) return type;
  return "application/octet-stream";
}

}  // namespace satin::view

#pragma once
// The files of the page, which the build puts into the module.

#include <span>
#include <string_view>

namespace satin::view {

struct PageFile {
  std::string_view name;  ///< "view.js"
  std::string_view text;
};

/// The files of src/view/page.
[[nodiscard]] std::span<const PageFile> page_files();

/// The file of this name; null if there is none.
[[nodiscard]] const PageFile* find_page_file(std::string_view name);

/// The media type that the extension stands for.
[[nodiscard]] const char* media_type(std::string_view name);

}  // namespace satin::view

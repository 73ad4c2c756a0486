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

}  // namespace satin::view

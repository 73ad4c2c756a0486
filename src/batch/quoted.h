#pragma once

#include <filesystem>
#include <string>

namespace satin::batch {

/// A path as messages show it.
[[nodiscard]] inline std::string quoted(const std::filesystem::path& path) {
  std::string text = "'";
  text += path.string();
  text += '\'';
  return text;
}

}  // namespace satin::batch

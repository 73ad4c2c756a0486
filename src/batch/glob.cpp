#include "batch/glob.h"

#include <fnmatch.h>

#include <string>
#include <system_error>
#include <vector>

namespace satin::batch {
namespace {

namespace fs = std::filesystem;

bool has_wildcard(const fs::path& part) { return part.native().find_first_of("*?[") != std::string::npos; }

class Expansion {
 public:
  using Found = std::function<void(const fs::path&)>;

  Expansion(fs::path root, std::vector<std::string> parts, const Found& found)
      : root_(std::move(root)), parts_(std::move(parts)), found_(found) {}

  /// `relative` is a folder that matches the parts before `part`.
  void walk(const fs::path& relative, std::size_t part) const {
    if (parts_[part] == "**") return walk_deep(relative, part);
    if (!has_wildcard(parts_[part])) return take(relative / parts_[part], part);
    for_each_entry(relative, [&](const fs::directory_entry& entry) {
      const fs::path name = entry.path().filename();
      if (::fnmatch(parts_[part].c_str(), name.c_str(), FNM_PERIOD) == 0) take(relative / name, part);
    });
  }

 private:
  void walk_deep(const fs::path& relative, std::size_t part) const {
    walk(relative, part + 1);
    for_each_entry(relative, [&](const fs::directory_entry& entry) {
      std::error_code ignored;
      const fs::path name = entry.path().filename();
      if (name.native().front() != '.' && entry.is_directory(ignored) && !entry.is_symlink(ignored))
        walk_deep(relative / name, part);
    });
  }

  void take(const fs::path& relative, std::size_t part) const {
    std::error_code ignored;
    const fs::path path = root_ / relative;
    if (part + 1 < parts_.size()) {
      if (fs::is_directory(path, ignored)) walk(relative, part + 1);
    } else if (fs::is_regular_file(path, ignored)) {
      found_(relative);
    }
  }

  template <class Visit>
  void for_each_entry(const fs::path& relative, const Visit& visit) const {
    std::error_code error;
    const fs::path folder = root_ / relative;
    for (fs::directory_iterator entry(folder.empty() ? "." : folder, error), end; !error && entry != end;
         entry.increment(error))
      visit(*entry);
  }

  fs::path root_;
  std::vector<std::string> parts_;
  const Found& found_;
};

}  // namespace

bool is_glob(const fs::path& path) {
  std::error_code ignored;
  return has_wildcard(path) && !fs::exists(fs::symlink_status(path, ignored));
}

fs::path fixed_folder_of_glob(const fs::path& pattern) {
  fs::path folder;
  for (const fs::path& part : pattern) {
    if (has_wildcard(part)) break;
    folder /= part;
  }
  return folder;
}

void expand_glob(const fs::path& pattern, const std::function<void(const fs::path&)>& found) {
  std::vector<std::string> parts;
  const fs::path root = fixed_folder_of_glob(pattern);
  bool fixed = true;
  for (const fs::path& part : pattern) {
    fixed = fixed && !has_wildcard(part);
    const bool repeated = part == "**" && !parts.empty() && parts.back() == "**";
    if (!fixed && !repeated && !part.empty()) parts.push_back(part.native());
  }
  if (parts.back() == "**") parts.emplace_back("*");
  Expansion(root, std::move(parts), found).walk({}, 0);
}

}  // namespace satin::batch

#include "satin/picture_list.h"

#include <algorithm>

namespace satin {

void PictureList::below(const std::filesystem::path& folder) {
  if (folders_.back() != folder) folders_.push_back(folder);
}

void PictureList::add(std::string_view relative) {
  entries_.push_back({names_.size(), static_cast<std::uint32_t>(relative.size()),
                      static_cast<std::uint32_t>(folders_.size() - 1)});
  names_ += relative;
}

void PictureList::sort_from(std::size_t first) {
  const auto begin = entries_.begin() + static_cast<std::ptrdiff_t>(first);
  std::sort(begin, entries_.end(), [this](const Entry& a, const Entry& b) { return text(a) < text(b); });
  entries_.erase(std::unique(begin, entries_.end(),
                             [this](const Entry& a, const Entry& b) { return text(a) == text(b); }),
                 entries_.end());
}

std::filesystem::path PictureList::path(std::size_t index) const {
  const Entry& entry = entries_[index];
  return folders_[entry.folder] / text(entry);
}

std::filesystem::path PictureList::relative(std::size_t index) const {
  const Entry& entry = entries_[index];
  const std::filesystem::path name = text(entry);
  return folders_[entry.folder].empty() ? name.filename() : name;
}

}  // namespace satin

#pragma once
// A compact list of file names, for batches of very many files.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace [[gnu::visibility("default")]] satin {

/// Format of an output that would take its extension from an input in a format that Satin reads but does not
/// write; `none` for all other outputs.
enum class StandIn : std::uint8_t { none, jpeg, png };

/// A list of files, each a folder and a name below it. Names are stored one after another, with 16 bytes
/// beside each.
class PictureList {
 public:
  /// Sets the folder of the files that add() appends from now on; empty for files that were named directly.
  void below(const std::filesystem::path& folder);
  /// Appends a file; `relative` is its name below the folder.
  void add(std::string_view relative);
  /// Sorts the files from index `first` on by name, byte by byte, and drops duplicates.
  void sort_from(std::size_t first);
  /// Drops the files for which keep(name) is false.
  template <class Keep>
  void filter(const Keep& keep) {
    std::erase_if(entries_, [&](const Entry& entry) { return !keep(text(entry)); });
  }

  /// Number of files.
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  /// Whether the list is empty.
  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
  /// Returns folder and name.
  [[nodiscard]] std::filesystem::path path(std::size_t index) const;
  /// Returns the name below the folder; for a file that was named directly, its name without folders.
  [[nodiscard]] std::filesystem::path relative(std::size_t index) const;

  /// Returns the format set by set_stand_in(), or StandIn::none.
  [[nodiscard]] StandIn stand_in(std::size_t index) const { return entries_[index].stand_in; }
  void set_stand_in(std::size_t index, StandIn kind) {
    entries_[index].stand_in = kind;
  }  ///< sets the format of the output

 private:
  struct Entry {
    std::uint64_t first = 0;
    std::uint32_t size = 0;
    std::uint32_t folder : 30 = 0;
    StandIn stand_in : 2 = StandIn::none;
  };

  [[nodiscard]] std::string_view text(const Entry& entry) const {
    return std::string_view(names_).substr(entry.first, entry.size);
  }

  std::string names_;
  std::vector<Entry> entries_;
  std::vector<std::filesystem::path> folders_{{}};
};

}  // namespace satin

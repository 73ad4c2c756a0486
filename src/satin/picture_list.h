#pragma once
// The names of very many files in little memory.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace [[gnu::visibility("default")]] satin {

/// What an output is written as where it takes its extension from a file whose format is read alone.
enum class StandIn : std::uint8_t { none, jpeg, png };

/// Files as a folder and a name below it. The names lie one after another, with 16 bytes beside each.
class PictureList {
 public:
  /// Names a folder for the files that add() gives from now on; empty for files as they were named.
  void below(const std::filesystem::path& folder);
  /// `relative` is the name below the folder.
  void add(std::string_view relative);
  /// Sorts the files from this one on by name, byte by byte, and drops repetitions.
  void sort_from(std::size_t first);
  /// Drops the files for which keep(name as added) is false.
  template <class Keep>
  void filter(const Keep& keep) {
    std::erase_if(entries_, [&](const Entry& entry) { return !keep(text(entry)); });
  }

  /// Number of files.
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  /// True if there are none.
  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
  /// The whole name.
  [[nodiscard]] std::filesystem::path path(std::size_t index) const;
  /// The name below its folder; for a file that was named itself, its name without folders.
  [[nodiscard]] std::filesystem::path relative(std::size_t index) const;

  /// What set_stand_in() said; otherwise StandIn::none.
  [[nodiscard]] StandIn stand_in(std::size_t index) const { return entries_[index].stand_in; }
  void set_stand_in(std::size_t index, StandIn kind) { entries_[index].stand_in = kind; }  ///< of this file

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

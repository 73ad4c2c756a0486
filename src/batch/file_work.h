#pragma once
// One file through a batch: read, filter, write.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "batch/filter_chains.h"
#include "batch/manifest.h"
#include "batch/picture_memory.h"
#include "satin/batch.h"
#include "satin/io.h"

namespace satin::batch {

/// One picture of a file and its own side images.
struct PageSource {
  Picture picture;
  std::vector<std::vector<Image>> own_sides{};
};

/// A page or part of a file, or the only picture in it.
struct PageInFlight {
  std::shared_ptr<PageSource> source;  ///< shared by the pictures of a series
  Pipeline own_steps{};  ///< in place of those of the batch, by what the photograph tells; empty: those
  std::vector<std::string> photo_warnings{};
  Image output{};
  std::vector<std::string> warnings{};
};

/// A file in flight and what is known of it so far.
struct FileInFlight {
  std::size_t index = 0;
  std::uint64_t share = 0;  ///< of the memory for pictures
  BatchFile file;
  FileResult result;
  bool cancelled = false;
  bool replaces = false;                   ///< the output may be overwritten
  Made made;                               ///< with a manifest
  std::shared_ptr<Thumbnails> thumbnails;  ///< with a gallery
  std::vector<PageInFlight> pages;         ///< one, if not all of a file are taken
  std::string json;                        ///< in place of the outputs

  /// True if there is nothing left to do.
  [[nodiscard]] bool over() const noexcept { return cancelled || result.status != FileStatus::done; }
};

/// The three stages. Errors end up in the file's result. read() and write() may run for any number of files
/// at once, filter() for one a chain.
class FileWork {
 public:
  /// All arguments must outlive it.
  FileWork(std::span<const Device> devices, const Batch& work, const BatchEvents& events,
           PictureMemory& memory);

  /// FilterChains::first() of this work's chains.
  [[nodiscard]] std::vector<FilterChain*> first_chains() const { return chains_.first(); }

  /// Throws Error(usage) for parameters that fit no picture.
  void check_parameters() const;

  [[nodiscard]] FileInFlight begin(std::size_t index) const;
  void read(FileInFlight& flight) const;
  /// Tells which chains are free afterwards, and whether the file is to be filtered once more.
  [[nodiscard]] FilterChains::Next filter(FileInFlight& flight, FilterChain& chain);
  void write(FileInFlight& flight) const;

 private:
  template <class Body>
  void attempt(FileInFlight& flight, Stage stage, const Body& body) const;
  void decide_on(FileInFlight& flight) const;
  void read_pages(FileInFlight& flight) const;
  using Sources = std::vector<std::shared_ptr<PageSource>>;
  [[nodiscard]] Sources read_sources(const FileInFlight& flight) const;
  [[nodiscard]] Sources sources_of(const FileInFlight& flight) const;
  void foresee(const Shape& picture, std::uint64_t beside) const;
  [[nodiscard]] FilterChain::Needs needs_of(const Shape& picture) const;
  void take_photo(FileInFlight& flight, PageInFlight& page) const;
  void filter_page(FileInFlight& flight, PageInFlight& page, FilterChain& chain) const;
  [[nodiscard]] std::string json_of_pages(FileInFlight& flight, FilterChain& chain) const;
  void filter_pages(FileInFlight& flight, FilterChain& chain) const;
  void write_pages(FileInFlight& flight) const;
  void work_by_rows(FileInFlight& flight, const FilterChain& chain) const;
  void log_done(FileInFlight& flight) const;
  [[nodiscard]] Progress progress_of(const FileInFlight& flight) const;
  [[nodiscard]] ReadOptions reading_of_pictures() const;
  [[nodiscard]] WriteOptions options_of(const FileInFlight& flight, const PageInFlight& page) const;

  std::span<const Device> devices_;
  const Batch& work_;
  const BatchEvents& events_;
  PictureMemory& memory_;
  ReadOptions reading_;  ///< of the pictures and of their own side inputs
  FilterChains chains_;
  mutable std::mutex series_mutex_;
  mutable std::pair<std::filesystem::path, Sources> last_read_;  ///< of a series
  mutable std::mutex mutex_;
  mutable std::optional<std::pair<Shape, FilterChain::Needs>> foreseen_;  ///< of the last shape
  std::unique_ptr<ManifestLog> log_;
};

}  // namespace satin::batch

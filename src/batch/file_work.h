#pragma once
// The three stages of a file in a batch: read, filter, write.

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

/// A picture of a file, with the side images that belong to it alone.
struct PageSource {
  Picture picture;
  std::vector<std::vector<Image>> own_sides{};
};

/// A page or part of a file in flight, or its only picture.
struct PageInFlight {
  std::shared_ptr<PageSource> source;  ///< shared by all pictures of a series
  Pipeline own_steps{};  ///< steps for this photograph or member of a series; empty: those of the batch
  std::vector<std::string> photo_warnings{};
  Image output{};
  std::vector<std::string> warnings{};
};

/// A file in flight and everything known about it so far.
struct FileInFlight {
  std::size_t index = 0;
  std::uint64_t share = 0;  ///< bytes of the memory for pictures
  BatchFile file;
  FileResult result;
  bool cancelled = false;
  bool replaces = false;                   ///< the output may be overwritten
  OutputRecord record;                     ///< used with a manifest
  std::shared_ptr<Thumbnails> thumbnails;  ///< used with a gallery
  std::vector<PageInFlight> pages;         ///< one, unless all pages are read
  std::string json;                        ///< output of a pipeline that makes JSON

  /// Whether nothing is left to do.
  [[nodiscard]] bool over() const noexcept { return cancelled || result.status != FileStatus::done; }
};

/// Runs the stages of the files of a batch. Errors are stored in the result of the file. read() and write()
/// may run for any number of files at the same time, filter() for one file per chain.
class FileWork {
 public:
  /// All arguments must outlive the object.
  FileWork(std::span<const Device> devices, const Batch& work, const BatchEvents& events,
           PictureMemory& memory);

  /// Returns FilterChains::first().
  [[nodiscard]] std::vector<FilterChain*> first_chains() const { return chains_.first(); }

  /// Throws Error(usage) for parameters that fit no picture.
  void check_parameters() const;

  [[nodiscard]] FileInFlight begin(std::size_t index) const;
  void read(FileInFlight& flight) const;
  /// Returns the chains that are free afterwards, and whether the file must be filtered again.
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
  ReadOptions reading_;  ///< options for pictures and their own side inputs
  FilterChains chains_;
  mutable std::mutex series_mutex_;
  mutable std::pair<std::filesystem::path, Sources> last_read_;  ///< file of a series that was read last
  mutable std::mutex mutex_;
  mutable std::optional<std::pair<Shape, FilterChain::Needs>> foreseen_;  ///< memory needs of the last shape
  std::unique_ptr<ManifestLog> log_;
};

}  // namespace satin::batch

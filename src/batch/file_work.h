#pragma once
// The work on one file of a batch, in three stages: read, filter, write. Errors are stored in the result of
// the file.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "batch/filter_chains.h"
#include "batch/linear_light.h"
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
  std::optional<Picture> framed{};    ///< what travels with a result of another size, without pixels
  Framing after_photo{};              ///< framing_after_photo()
  std::optional<GainMap> gain_map{};  ///< new map of the result
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

/// Returns the result of a file before any work on it.
[[nodiscard]] FileResult result_of(const Batch& work, std::size_t index, const BatchFile& file);

/// Runs the stages of the files of a batch. read() and write() may run for any number of files at the same
/// time, filter() for one file per chain.
class FileWork {
 public:
  /// All arguments must outlive the object.
  FileWork(std::span<const Device> devices, const Batch& work, const BatchEvents& events,
           PictureMemory& memory);
  /// Returns FilterChains::first().
  [[nodiscard]] std::vector<FilterChain*> first_chains() const { return chains_.first(); }
  /// Throws Error(usage) for parameters that fit no picture.
  void check_parameters() const;
  /// Returns a file before any work on it.
  [[nodiscard]] FileInFlight begin(std::size_t index) const;
  void read(FileInFlight& flight) const;
  /// Returns the chains that are free afterwards, and whether the file must be filtered again.
  FilterChains::Next filter(FileInFlight& flight, FilterChain& chain);
  void write(FileInFlight& flight) const;

 private:
  using Sources = std::vector<std::shared_ptr<PageSource>>;

  /// Runs a stage and stores its error in the result of the file.
  template <class Body>
  void attempt(FileInFlight& flight, Stage stage, const Body& body) const;
  /// Decides whether the file is processed, and how.
  void decide_on(FileInFlight& flight) const;
  void read_pages(FileInFlight& flight) const;
  Sources read_sources(const FileInFlight& flight) const;
  /// Estimates the picture's depth, or replaces it by what the model makes of it. The runtime has memory and
  /// threads of its own on the CPU, whatever the device.
  void estimate(const FileInFlight& flight, Picture& picture) const;
  /// Returns the pictures of a file. For a series they are read once, and kept until another file is read.
  Sources sources_of(const FileInFlight& flight) const;
  /// Refuses a picture by its header if its filters cannot stay below the memory limit, or if everything
  /// together exceeds the free memory. `beside` is the memory that decoding needs.
  void foresee(const Shape& picture, std::uint64_t beside) const;
  /// Returns the memory of the pipeline for a picture, or 0 on a GPU, which has its own. Errors other than of
  /// memory are left to the filters. A single picture is planned only once, as plans are slow for some
  /// filters.
  FilterChain::Needs needs_of(const Shape& picture) const;
  /// Adapts the steps to this photograph.
  void take_photo(FileInFlight& flight, PageInFlight& page) const;
  /// Runs all stages of a file that is streamed. Each device streams one file at a time.
  void work_by_rows(FileInFlight& flight, const FilterChain& chain) const;
  void filter_pages(FileInFlight& flight, FilterChain& chain) const;
  /// Returns one line for a single page, or an object with the objects of all pages in a list.
  std::string json_of_pages(FileInFlight& flight, FilterChain& chain) const;
  void filter_page(FileInFlight& flight, PageInFlight& page, FilterChain& chain) const;
  /// Returns the extension of the format that the output of a page has.
  [[nodiscard]] std::string extension_of(const FileInFlight& flight, const PageInFlight& page) const;
  /// Whether the output gets restored light in place of the base and a gain map.
  [[nodiscard]] bool writes_light(const FileInFlight& flight, const PageInFlight& page) const;
  /// Makes the gain map of a result, or turns the result to restored light.
  void follow_gain_map(FileInFlight& flight, PageInFlight& page, FilterChain& chain,
                       const LinearLight& light) const;
  /// Whether the output could hold the picture's profile, but is linear light, which that does not describe.
  [[nodiscard]] bool drops_profile(const FileInFlight& flight, const PageInFlight& page) const;
  /// Covers the gain map like the picture.
  void cover_gain_map(const FileInFlight& flight, PageInFlight& page, FilterChain& chain) const;
  [[nodiscard]] static ChainInput input_of(const FileInFlight& flight, const PageInFlight& page);
  [[nodiscard]] const Pipeline& steps_of(const PageInFlight& page) const;
  /// Throws Error(input) if the name says another size than the first page has.
  void check_named_size(const FileInFlight& flight, const Shape& shape) const;
  /// Adapts what travels with a result of another size.
  void take_framing(PageInFlight& page, const Device& device) const;
  Progress progress_of(const FileInFlight& flight) const;
  ReadOptions reading_of_pictures() const;
  WriteOptions options_of(const FileInFlight& flight, const PageInFlight& page) const;
  void write_pages(FileInFlight& flight) const;
  /// Returns what happens when the new file is complete and the input that it replaces still whole.
  std::function<void(const std::filesystem::path&)> before_rename(FileInFlight& flight) const;
  /// `file` has the bytes of the output.
  void log_done(FileInFlight& flight, const std::filesystem::path& file) const;

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
  mutable std::optional<ManifestLog> log_;
};

}  // namespace satin::batch

#pragma once
// One file through a batch: read, filter, write.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "batch/filter_chain.h"
#include "batch/manifest.h"
#include "batch/picture_memory.h"
#include "satin/batch.h"
#include "satin/io.h"

namespace satin::batch {

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
  Picture source;
  std::vector<std::vector<Image>> own_sides;
  Image output;

  /// True if there is nothing left to do.
  [[nodiscard]] bool over() const noexcept { return cancelled || result.status != FileStatus::done; }
};

/// The filters of the devices that have no picture at present.
class FreeChains {
 public:
  void put(FilterChain& chain);
  /// There must be one.
  [[nodiscard]] FilterChain& take();

 private:
  std::mutex mutex_;
  std::vector<FilterChain*> chains_;
};

/// The three stages. Errors end up in the file's result. read() and write() may run for any number of files
/// at once, filter() for as many as there are devices.
class FileWork {
 public:
  /// All arguments must outlive it.
  FileWork(std::span<const Device> devices, const Batch& work, const BatchEvents& events,
           PictureMemory& memory);

  [[nodiscard]] std::size_t devices() const noexcept { return chains_.size(); }

  /// Throws Error(usage) for parameters that fit no picture.
  void check_parameters() const;

  [[nodiscard]] FileInFlight begin(std::size_t index) const;
  void read(FileInFlight& flight) const;
  void filter(FileInFlight& flight);
  void write(FileInFlight& flight) const;

 private:
  template <class Body>
  void attempt(FileInFlight& flight, Stage stage, const Body& body) const;
  void read_picture(FileInFlight& flight) const;
  void filter_picture(FileInFlight& flight, FilterChain& chain) const;
  void write_picture(FileInFlight& flight) const;
  [[nodiscard]] WriteOptions options_of(const FileInFlight& flight) const;

  const Batch& work_;
  const BatchEvents& events_;
  PictureMemory& memory_;
  std::vector<std::unique_ptr<FilterChain>> chains_;  ///< one a device
  FreeChains free_chains_;
  std::unique_ptr<ManifestLog> log_;
};

}  // namespace satin::batch

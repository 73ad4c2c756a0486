#pragma once
// Many files through one pipeline. Everything that can be checked without decoding a picture is checked
// before the first one is touched; after that one bad file is reported and the others are done. Nothing here
// prints.

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "satin/device.h"
#include "satin/error.h"
#include "satin/image.h"
#include "satin/pipeline.h"

namespace satin {

struct BatchOptions {
  /// Files and folders; `-` alone is standard input. Of a folder those files are taken whose extension can be
  /// read and whose name does not begin with a dot, sorted by name.
  std::vector<std::filesystem::path> inputs;
  /// One file in: the output file, or the folder for it if it is one or ends with '/'; `-` is standard
  /// output. Several files or a folder in: a folder, which is created; it mirrors the names below each input
  /// folder.
  std::filesystem::path output;
  std::string
      format;  ///< extension of the outputs with its dot; empty: that of OUTPUT, or that of each input
  bool recursive = false;  ///< folders with all folders below them
  bool overwrite = false;  ///< otherwise an existing output is refused
};

/// One picture to be done.
struct BatchFile {
  std::filesystem::path input;
  std::filesystem::path output;
  std::optional<Error> problem;  ///< known already: it cannot be read
};

/// The pictures that these files and folders (`-`: standard input) lead to, as prepare_batch() finds them,
/// for work that writes no pictures; outputs are empty. Throws Error(usage) for no input, Error(input) if
/// folders hold no picture.
[[nodiscard]] std::vector<BatchFile> find_pictures(const std::vector<std::filesystem::path>& inputs,
                                                   bool recursive);

/// The checked work. Holds the side inputs, which are read once.
struct Batch {
  std::vector<BatchFile> files;
  Pipeline pipeline;
  /// For each step the side inputs in the order of the filter's record; empty for those that are not used.
  std::vector<std::vector<Image>> side_images;
  BatchOptions options;
};

struct FileResult {
  std::filesystem::path input;
  std::filesystem::path output;
  Shape shape;         ///< of the picture; width 0 if it could not be read
  Shape output_shape;  ///< width 0 if nothing was written
  std::chrono::duration<double> time{0};
  std::optional<Error> error;
  std::vector<std::string> warnings;
};

struct BatchResult {
  std::vector<FileResult> files;  ///< those that were begun, in order
  std::size_t total = 0;
  std::size_t failed = 0;
  bool cancelled = false;
  std::chrono::duration<double> time{0};
};

enum class Stage { reading, filtering, writing };

/// Called from the thread that runs the batch. Any of them may be empty.
struct BatchEvents {
  std::function<void(std::size_t index, std::size_t total, const BatchFile& file, Stage stage)> stage;
  std::function<void(const FileResult& result)> finished;
  std::function<bool()>
      cancelled;  ///< asked between stages; true ends the batch and leaves no temporary file
};

/// Finds the inputs, names the outputs, reads the side inputs and checks all of it. Changes nothing on disk.
/// Throws Error(usage) for names and combinations to be corrected: two inputs with one output, an output that
/// is an input (through links too), an existing output without `overwrite`, a missing folder of a single
/// output, an unknown format; Error(input) for a side input that cannot be read or a folder that cannot be
/// written. An input that does not exist is no error here but the file's `problem`.
[[nodiscard]] Batch prepare_batch(const Pipeline& pipeline, const BatchOptions& options);

/// Does the files in order. Plans are reused for pictures of the same shape. Throws Error(usage) if there are
/// several files and the parameters contradict each other for any picture; what happens to single files is in
/// the result. Two environment errors in a row (a full disk, a lost device) end the batch early.
[[nodiscard]] BatchResult run_batch(const Device& device, const Batch& batch, const BatchEvents& events = {});

}  // namespace satin

#pragma once
// Runs one pipeline over many files. Everything that can be checked without decoding a picture is checked
// before any file is touched. After that a bad file is reported and the other files are still processed.
// Nothing here prints.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "satin/device.h"
#include "satin/error.h"
#include "satin/image.h"
#include "satin/image_model.h"
#include "satin/io.h"
#include "satin/picture_list.h"
#include "satin/pipeline.h"

namespace satin::batch {
class Manifest;
}

namespace [[gnu::visibility("default")]] satin {

/// A process among several that share a batch. The hash of a file's name below its folder selects its shard,
/// so the choice does not depend on the other files.
struct Shard {
  int index = 1;  ///< number of this shard, from 1 to `count`
  int count = 1;  ///< number of shards
};

/// Parses "2/8", or "auto", which reads the shard from the environment variables of a SLURM array, an indexed
/// Kubernetes job or GNU parallel. "auto/8" gives the number of shards for a launcher that sets the index
/// alone. Throws Error(usage) for any other text and, with the remedy, if the environment names no shard or
/// several.
[[nodiscard]] Shard parse_shard(const std::string& text);

/// Source of the mask for steps that blend by one.
enum class MaskSource {
  file,   ///< the side input; without one the whole picture is filtered
  matte,  ///< the portrait matte of the photograph, scaled to the picture: the mask, or the subject if any
  background  ///< the inverted matte, so that everything except the person is filtered
};

/// Source of the picture that a batch filters for a file.
enum class PictureSource {
  file,         ///< its pixels
  model_depth,  ///< the depth that the model estimates from them, as f32, or 16-bit codes for PNG; without
                ///< metadata
  model_mask    ///< the mask that the model makes of them, as u8; without metadata
};

/// Inputs, outputs and options of a batch.
struct BatchOptions {
  /// Files, folders and patterns with * ? [a-z] and ** for folders (when there is no file of that very name);
  /// `-` alone is standard input. Folders and patterns contribute the files that have a readable extension
  /// and are not hidden, sorted by name. Below a folder, links to other folders are not followed.
  std::vector<std::filesystem::path> inputs;
  std::string list;  ///< further inputs, each ended by a zero byte; needs less memory for very many files
  /// Pipelines of a series: each makes one picture of every input. They differ from the batch's pipeline only
  /// in parameters that a plan can vary (Plan::vary()), so every input is read once and its depth analysed
  /// once. The output is a pattern with {index}, which counts from 1 and is padded with zeros to one width.
  /// For pictures of several sizes it may have {width} or {height} instead; one that gets the name of an
  /// earlier one, because it would be no larger, is skipped.
  /// Empty: one picture per input.
  std::vector<Pipeline> series{};
  /// For one input file: the output file, or a folder if it exists as one or ends with '/'; `-` is standard
  /// output. For several files or a folder: a folder, which is created. It mirrors the names below each input
  /// folder, or below the part of a pattern before its first wildcard. A name with placeholders is a pattern
  /// for every input: {dir} its folder, {sub} the folder below the folder that was named, {name} its name,
  /// {stem} the same without extension, {ext} the extension without its dot, {width} and {height} the size of
  /// the output, which the header of the input determines; {{ and }} are braces.
  std::filesystem::path output;
  /// Extension of the outputs with its dot. Empty: the extension of `output`, or else of each input. If Satin
  /// reads but does not write the input's format, 8-bit pictures without alpha become ".jpg" (quality 92) and
  /// all others ".png".
  std::string format;
  bool recursive = false;  ///< also searches all folders below a folder
  /// Replaces every input by its result, in its own format, in place of an output. A manifest in the folder
  /// of each input records what was done, whether or not `resume` is set: a file that is still as an earlier
  /// run left it is skipped by `resume` if the pipeline is the same, and otherwise refused without
  /// `overwrite`. Symbolic links are refused.
  bool in_place = false;
  /// With `in_place`: keeps each original under its name and this suffix, which no file may have yet.
  std::optional<std::string> backup;
  // How existing outputs are treated. Set at most one of these; only `resume` and `overwrite` combine.
  bool overwrite = false;  ///< replaces an existing output; with none of the three set, the batch is refused
  bool skip_existing = false;  ///< skips the input
  /// Keeps an output if the manifest beside the outputs (`.satin-manifest` in the folder before the first
  /// placeholder) records that the same pipeline and version made it from the same input (size and time), and
  /// its size and hash match the record. If anything differs, it is made again. An output that the manifest
  /// does not record is refused without `overwrite`.
  bool resume = false;
  /// With `resume`: suffix of this process's own manifest, `.satin-manifest.SUFFIX`, for file systems where
  /// several machines cannot append to one file. All existing manifests are read.
  std::string manifest_part;
  bool fail_fast = false;    ///< starts no further file after the first failure
  Shard shard{};             ///< processes only the files of this shard
  std::uint64_t memory = 0;  ///< byte limit for the pictures in flight; 0: a quarter of the machine's memory
  int threads = 0;           ///< threads that decode and encode; 0: all that the process may use
  std::filesystem::path report;  ///< file that the caller writes meanwhile; must be neither input nor output
  /// Page that the caller writes, with a folder beside it (folder_of_gallery()) for thumbnails. If set,
  /// results hold thumbnails.
  std::filesystem::path gallery;
  /// How pictures and side inputs are read. The choice of a page or part applies to pictures only; a side
  /// input must hold a single picture. With `all_pages` the output has one page or part for each in the
  /// input.
  ReadOptions read{};
  std::optional<int> quality{};  ///< quality of JPEG and WebP; unset: as WriteOptions::quality
  bool dither = false;           ///< dithers when deeper pixels become 8 bits
  bool strip = false;            ///< omits ICC profile, EXIF, XMP, IPTC and named channels
  /// Reads, filters and writes pictures and side inputs row by row (satin/row_files.h), so that memory grows
  /// only with their width. The pixels are the same as without it. Inputs are TIFF, NPY, PFM or PNM, outputs
  /// are TIFF. Options that need a whole picture in memory, such as `gallery` or pages, are refused.
  bool stream = false;
  bool pyramid = false;  ///< writes TIFF with the reduced pictures that write_rows() describes
  /// Source of masks for the steps that accept one and have none set.
  MaskSource mask_from = MaskSource::file;
  bool invert_mask = false;  ///< exchanges black and white of all masks that are read from files
  /// Stores the photograph's depth (DepthSource::photo) and the sharp original in JPEG outputs.
  bool keep_depth = false;
  /// Model that estimates depth for DepthSource::model, or what `picture_from` asks for
  /// (satin/image_model.h). Empty: usual_depth_model(), for depth.
  std::filesystem::path model;
  PictureSource picture_from = PictureSource::file;  ///< what the pipeline gets as its input
  /// File that receives the photograph's depth, or the model's, as an image, or a pattern for several
  /// pictures. Formats: f32 as .tif, .exr, .pfm and .npy; 16 bits from the lowest to the highest value as
  /// .png.
  std::filesystem::path depth_out;
  /// How the run treats gain maps. Unset: filters in linear light use them; filters that change the size, and
  /// filters of stored values that keep constant pictures, keep them; all others drop them.
  std::optional<GainMapUse> gain_map{};
  /// Keeps the metadata that redacted() would drop when the pipeline covers parts of the picture, and warns.
  bool keep_metadata = false;
  /// Decodes JPEG at a half, a quarter or an eighth where the first filter is `resize` and needs no more. The
  /// pixels differ. Pipelines that read other pictures of the full size are refused.
  bool fast_decode = false;
};

/// Returns the folder that belongs to a gallery page: `page_files` for `page.html`. Pictures in it are never
/// inputs.
[[nodiscard]] std::filesystem::path folder_of_gallery(const std::filesystem::path& page);

/// An input file and its output.
struct BatchFile {
  std::filesystem::path input;       ///< input file as found
  std::filesystem::path output;      ///< output file
  std::optional<Error> problem;      ///< why the input cannot be read, if that is known already
  StandIn stand_in = StandIn::none;  ///< replacement for an input format that Satin cannot write
};

/// Files that a list of names leads to.
struct FoundPictures {
  std::vector<BatchFile> files;               ///< pictures
  std::vector<std::filesystem::path> unread;  ///< as Batch::unread
};

/// Finds the pictures that `inputs`, `list` and `recursive` lead to, as prepare_batch() does, for work that
/// writes no pictures. `output` is the name below the input folder. Throws Error(usage) for no input,
/// Error(input) if folders hold no picture.
[[nodiscard]] FoundPictures find_pictures(const BatchOptions& options);

/// Returns a sentence with the number and the first names of files that Satin does not read; empty for none.
[[nodiscard]] std::string describe_unread(const std::vector<std::filesystem::path>& files);

/// A checked batch. It holds the names of the files (16 bytes each beside the text) and the side inputs that
/// all pictures share.
struct Batch {
  PictureList files;                          ///< input files in the order of processing
  std::vector<std::filesystem::path> unread;  ///< files in folders and patterns that are not pictures, sorted
  Pipeline pipeline;                          ///< pipeline for every picture
  /// Side inputs of each step in the order of the filter's record. Unused inputs and inputs whose name is a
  /// pattern are empty; with `stream` all are.
  std::vector<std::vector<Image>> side_images;
  BatchOptions options;                             ///< options of prepare_batch()
  bool folder_output = false;                       ///< whether `output` names a folder or is a pattern
  std::shared_ptr<const batch::Manifest> manifest;  ///< record of earlier runs, with `resume`
  std::shared_ptr<const ImageModel> model;          ///< opened once, if pictures or their depth come from it
  std::vector<std::string> side_warnings;           ///< warnings about `side_images` and `model`
  /// Sizes of the outputs of a file, for each picture of the series; only if names have {width} or {height}.
  /// 0 x 0 if the header cannot be read.
  std::map<std::filesystem::path, std::vector<Shape>> output_sizes;

  /// Number of pictures made from every file.
  [[nodiscard]] std::size_t series() const noexcept {
    return options.series.empty() ? 1 : options.series.size();
  }
  /// Number of pictures to be made. The pictures of one file are adjacent.
  [[nodiscard]] std::size_t size() const noexcept { return files.size() * series(); }
  /// Returns the pipeline that makes this picture.
  [[nodiscard]] const Pipeline& steps(std::size_t index) const noexcept {
    return options.series.empty() ? pipeline : options.series[index % series()];
  }
  /// Returns a notice for the user before the run, or an empty text.
  [[nodiscard]] std::string notice() const;
  /// Returns the names of one picture's files. Does not access the disk.
  [[nodiscard]] BatchFile file(std::size_t index) const;
  /// Fills in the pattern of a side input, such as `{dir}/{stem}_mask.png`, for one picture.
  [[nodiscard]] std::filesystem::path side_path(const SideInput& side, std::size_t index) const;
};

/// Outcome of a file, or the outcome that foresee_batch() expects.
enum class FileStatus {
  done,       ///< written
  failed,     ///< not written because of an error
  exists,     ///< skipped because an output exists
  unchanged,  ///< skipped by `resume` because the output is up to date
  repeated    ///< skipped because an earlier picture of its series has the same size
};

/// Small pictures of a file's input and output, in linear light as f32 with 1 or 3 channels. A picture is
/// empty if the file was not read or written, and for tables.
struct Thumbnails {
  static constexpr std::int64_t side = 256;  ///< longest side in pixels

  Image before;  ///< the input
  Image after;   ///< the output
};

/// Returns a thumbnail of the first picture that read_pictures() returns. It is empty if the file is not a
/// picture or is too large.
[[nodiscard]] Image thumbnail_of(const std::filesystem::path& file, const ReadOptions& options = {});

/// Facts about the photograph's depth and focus, for the report.
struct PhotoReport {
  std::string format;                     ///< format of the depth, such as "Apple disparity"
  std::string place;                      ///< position of the depth in the file
  Shape depth;                            ///< shape of the depth values
  DepthKind kind = DepthKind::disparity;  ///< meaning of the depth values
  bool metric = false;                    ///< whether values are in 1/m or m
  float lowest = 0;                       ///< smallest depth value
  float highest = 0;                      ///< largest depth value
  std::string original;  ///< position of the sharp original in the file; empty: the file's own picture
  PhotoBlur blur;        ///< focus and blur of the result
  std::filesystem::path depth_out;  ///< file the depth was written to; empty if none
};

/// Result of one file of a batch.
struct FileResult {
  std::filesystem::path input;           ///< input file as found
  std::filesystem::path output;          ///< output file, whether or not it was written
  FileStatus status = FileStatus::done;  ///< outcome
  Shape shape;                           ///< shape of the picture; width 0 if it was not read
  Shape output_shape;                    ///< shape of the output; width 0 if nothing was written
  std::size_t pages = 0;  ///< number of pages read; `shape` and `output_shape` belong to the first one
  std::chrono::duration<double> time{0};         ///< time spent in its stages, without waiting between them
  std::optional<Error> error;                    ///< reason of a failure
  std::vector<std::string> warnings;             ///< warnings for the user
  std::vector<FoundValue> found;                 ///< parameters that filters derived from the picture
  std::size_t index = 0;                         ///< index in the series, from 1; 0 if there is no series
  std::string pipeline{};                        ///< pipeline that made this picture of a series
  std::shared_ptr<const Thumbnails> thumbnails;  ///< small pictures, with `gallery`
  std::uint64_t bytes = 0;                       ///< size of the output, with `resume`; 0 if there is none
  std::uint64_t hash = 0;                        ///< 64-bit FNV-1a hash of the output
  std::optional<PhotoReport> photo;              ///< set if depth came from the photograph
  std::int64_t reduction = 1;  ///< the file was decoded at this part of its size, with `fast_decode`
};

/// Counts of outcomes. BatchEvents::finished reports the files one by one, so that memory does not grow with
/// their number.
struct BatchResult {
  std::size_t total = 0;             ///< number of files in the batch
  std::size_t done = 0;              ///< written
  std::size_t failed = 0;            ///< files not written because of an error
  std::size_t skipped = 0;           ///< files skipped, see FileStatus
  bool cancelled = false;            ///< whether BatchEvents::cancelled ended the batch
  std::optional<ErrorKind> failure;  ///< kind of the only file's error; for several files, environment if
                                     ///< there was one, otherwise input
  std::vector<std::filesystem::path> unread{};  ///< as Batch::unread
  std::chrono::duration<double> time{0};        ///< duration of the run

  /// Counts one file.
  void count(const FileResult& file);
  /// Number of files that were never started because the batch ended early.
  [[nodiscard]] std::size_t not_started() const noexcept { return total - done - failed - skipped; }
};

/// A stage of the work on one file.
enum class Stage {
  reading,    ///< reading and decoding
  filtering,  ///< running the pipeline on the device
  writing     ///< encoding and writing
};

/// Callbacks of a run. Any of them may be empty.
struct BatchEvents {
  /// Called when a stage of a file begins and when it ends, also by an error. Filtering may begin a second
  /// time. Called from several threads at once.
  std::function<void(const BatchFile& file, Stage stage, bool begins)> stage;
  /// Called with the filters' progress on a file: see Plan::watch(). Called from several threads at once.
  std::function<void(const BatchFile& file, double done)> filtering{};
  /// Called for every finished file, in the order of the files, from the thread that runs the batch.
  std::function<void(const FileResult& result, const BatchResult& so_far)> finished;
  /// Polled between stages and inside filters, from several threads. Returning true ends the batch without
  /// leaving temporary files.
  std::function<bool()> cancelled;
};

/// Finds the inputs, names the outputs, reads the side inputs and checks all of it. Changes nothing on disk.
/// Throws Error(usage) for names and combinations to be corrected: two inputs with one output, an output that
/// is an input (through links too), an existing output that may not be replaced, a missing folder of a single
/// output, an unknown format; Error(input) for a side input that cannot be read or a folder that cannot be
/// written. An input that does not exist is no error here but the file's own.
[[nodiscard]] Batch prepare_batch(const Pipeline& pipeline, const BatchOptions& options);

/// Reports what run_batch() would do with each file, in order, as far as that is known without decoding.
void foresee_batch(const Batch& batch, const std::function<void(const FileResult& result)>& tell);

/// Processes the files. Reading and writing run beside the filters, on several threads. The bytes of all
/// pictures in flight stay below `memory` (a single picture may be larger; a picture larger than all before
/// it counts as soon as it is decoded). Plans are reused for pictures of one shape. A GPU works on two
/// pictures at a time, so that one is copied while the other is filtered, or on one if the plans for two
/// exceed limit_memory() or the free memory. Pictures for a GPU are in page-locked memory, at most `memory`
/// bytes, unless ReadOptions::allocator is set. Throws Error(usage) if there are several files and the
/// parameters contradict each other for any picture. Errors of single files go to `events`. Two environment
/// errors in a row (a full disk, a lost device) end the batch early.
[[nodiscard]] BatchResult run_batch(const Device& device, const Batch& batch, const BatchEvents& events = {});

/// Processes the files on several devices. Each device starts the next picture as soon as it is free. The
/// bytes of the outputs do not depend on the number of devices.
[[nodiscard]] BatchResult run_batch(std::span<const Device> devices, const Batch& batch,
                                    const BatchEvents& events = {});

/// An input file as a folder and a name below it, which determine {sub} and the folder of the output.
struct PictureName {
  std::filesystem::path folder;    ///< folder; may be empty
  std::filesystem::path relative;  ///< name below the folder
};

/// A batch whose files become known over time. Devices, plans, side inputs and the manifest are kept from one
/// run to the next. Only one thread may use it at a time.
class BatchSession {
 public:
  /// `options` must have no inputs and an output that is a folder or a pattern. Throws as prepare_batch() and
  /// run_batch().
  BatchSession(std::vector<Device> devices, const Pipeline& pipeline, const BatchOptions& options);
  BatchSession(const BatchSession&) = delete;
  BatchSession& operator=(const BatchSession&) = delete;
  ~BatchSession();

  /// Checks and processes these files. If an output exists that the manifest does not record, the manifest is
  /// read again, because another process may have made it. Throws as prepare_batch() and run_batch().
  [[nodiscard]] BatchResult run(std::span<const PictureName> files, const BatchEvents& events = {});

  /// Returns the folder of the manifest; empty without `resume`.
  [[nodiscard]] std::filesystem::path manifest_folder() const;

 private:
  struct State;

  std::unique_ptr<State> state_;
};

}  // namespace satin

#pragma once
// Many files through one pipeline. Everything that can be checked without decoding a picture is checked
// before the first one is touched; after that one bad file is reported and the others are done. Nothing here
// prints.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "satin/device.h"
#include "satin/error.h"
#include "satin/image.h"
#include "satin/io.h"
#include "satin/picture_list.h"
#include "satin/pipeline.h"

namespace satin::batch {
class Manifest;
}

namespace [[gnu::visibility("default")]] satin {

/// One of several processes that share a batch. The hash of a file's name below its folder says to which
/// shard it belongs, whatever other files there are.
struct Shard {
  int index = 1;  ///< from 1 to count
  int count = 1;  ///< shards in all
};

/// Takes "2/8", or "auto" for what the program that started this process says: the array of SLURM, the
/// indexed job of Kubernetes, GNU parallel. "auto/8" tells the number of shards where such a program tells
/// the index alone. Throws Error(usage) for other texts and, with the remedy, where nothing or too much is
/// said.
[[nodiscard]] Shard parse_shard(const std::string& text);

/// Where the mask of steps that blend by one comes from.
enum class MaskSource {
  file,       ///< a side input; none: everything is filtered
  matte,      ///< the portrait matte of the photograph, scaled to the picture: the person is filtered
  background  ///< the same inverted: everything else is
};

/// What is to be done with which files.
struct BatchOptions {
  /// Files, folders and patterns with * ? [a-z] and ** for folders (when there is no file of that very name);
  /// `-` alone is standard input. Of folders and patterns those files are taken that can be read by their
  /// extension and are not hidden, sorted by name. Links to folders are not followed below a folder.
  std::vector<std::filesystem::path> inputs;
  std::string list;  ///< further inputs, each ended by a zero byte: less memory for very many
  /// A series of pictures of every input: the pipelines that make them, which are that of the batch but for
  /// what plans may vary (Plan::vary()). Every input is read once and its depth analysed once. The output is
  /// a pattern with {index}, from 1 and with zeros to one width. Empty: one picture of each.
  std::vector<Pipeline> series{};
  /// One file in: the output file, or the folder for it if it is one or ends with '/'; `-` is standard
  /// output. Several files or a folder in: a folder, which is created; it mirrors the names below each input
  /// folder or below the part of a pattern before its first wildcard. A name with placeholders is a pattern
  /// for every input: {dir} its folder, {sub} the folder below the folder that was named, {name} its name,
  /// {stem} the same without extension, {ext} the extension without its dot; {{ and }} are braces.
  std::filesystem::path output;
  /// Extension of the outputs with its dot; empty: that of OUTPUT, or that of each input. Where the input's
  /// is of a format that is read alone, it is ".jpg" for 8 bits without alpha (of quality 92) and ".png" for
  /// others.
  std::string format;
  bool recursive = false;  ///< folders with all folders below them
  // What happens to an output that exists; one of these at most, but resume goes with overwrite.
  bool overwrite = false;      ///< it is replaced; otherwise, with none of these, it is refused
  bool skip_existing = false;  ///< its input is left out
  /// It is kept if the manifest beside the outputs (`.satin-manifest` in the folder before the first
  /// placeholder) says that it was made from the same input (size and time) by the same pipeline and version,
  /// and its bytes have the size and the hash that the manifest tells. If any of that differs it is made
  /// again; if the manifest does not know it, it is refused without `overwrite`.
  bool resume = false;
  /// Name PART of this process's own manifest, `.satin-manifest.PART`, with `resume`, for file systems where
  /// several machines cannot append to one file. All manifests that are there are read.
  std::string manifest_part;
  bool fail_fast = false;        ///< begin no file after the first failure
  Shard shard{};                 ///< the files of this one only
  std::uint64_t memory = 0;      ///< bytes for the pictures in flight; 0: a quarter of the machine's memory
  int threads = 0;               ///< that decode and encode; 0: all that the process may use
  std::filesystem::path report;  ///< a file that the caller writes meanwhile: must be no input and no output
  /// Likewise, with a folder beside it (folder_of_gallery()) for small pictures, which results then hold.
  std::filesystem::path gallery;
  /// How pictures and side inputs are read; a page or part is chosen of pictures alone, and side inputs have
  /// one. With `all_pages` the output has a page or part for each of the input.
  ReadOptions read{};
  std::optional<int> quality{};  ///< of JPEG and WebP; otherwise as WriteOptions::quality
  bool dither = false;           ///< where 8 bits are made of more
  bool strip = false;            ///< leaves out ICC profile, EXIF, XMP, IPTC and named channels
  /// Pictures and side inputs stay in their files, TIFF, NPY, PFM or PNM: they are read, filtered and written
  /// by rows (satin/row_files.h), to the pixels of the whole, and memory grows with their width alone. The
  /// outputs are TIFF. Of pictures that are whole in memory nothing is left, a gallery or pages for instance,
  /// and what asks for them is refused.
  bool stream = false;
  bool pyramid = false;  ///< outputs are TIFF, with the pictures of half the size that write_rows() tells of
  /// Source of masks for the steps that take one and are given none.
  MaskSource mask_from = MaskSource::file;
  /// JPEG outputs get the photograph's depth (DepthSource::photo), with the sharp original.
  bool keep_depth = false;
  /// Name, or for several pictures a pattern, of a file for the photograph's depth as an image of its own:
  /// f32 as .tif, .exr, .pfm and .npy, as .png 16 bits from the lowest value to the highest.
  std::filesystem::path depth_out;
  /// Keeps what redacted() would drop where the pipeline covers parts of the picture, with a warning.
  bool keep_metadata = false;
};

/// The folder that belongs to a page: `page_files` for `page.html`. Pictures in it are no inputs.
[[nodiscard]] std::filesystem::path folder_of_gallery(const std::filesystem::path& page);

/// A picture to be made.
struct BatchFile {
  std::filesystem::path input;       ///< as it was found
  std::filesystem::path output;      ///< what is written
  std::optional<Error> problem;      ///< known already: it cannot be read
  StandIn stand_in = StandIn::none;  ///< how the output is written, if its format is to be the input's
};

/// What names lead to.
struct FoundPictures {
  std::vector<BatchFile> files;               ///< pictures
  std::vector<std::filesystem::path> unread;  ///< as Batch::unread
};

/// The pictures that `inputs`, `list` and `recursive` lead to, as prepare_batch() finds them, for work that
/// makes no picture of each; `output` is the name below the folder that was named. Throws Error(usage) for no
/// input, Error(input) if folders hold no picture.
[[nodiscard]] FoundPictures find_pictures(const BatchOptions& options);

/// "2 files are no pictures that Satin reads: ..." with the first names; empty for none.
[[nodiscard]] std::string describe_unread(const std::vector<std::filesystem::path>& files);

/// The checked work. Holds the names of the files (their bytes and 16 more for each) and the side inputs that
/// are the same for every picture.
struct Batch {
  PictureList files;                          ///< in the order in which they are begun
  std::vector<std::filesystem::path> unread;  ///< what folders and patterns lead to beside pictures, sorted
  Pipeline pipeline;                          ///< what is done with each
  /// For each step the side inputs in the order of the filter's record; empty for those that are not used,
  /// for those whose name is a pattern, and all with `stream`.
  std::vector<std::vector<Image>> side_images;
  BatchOptions options;                             ///< as given
  bool folder_output = false;                       ///< `output` names a folder or is a pattern
  std::shared_ptr<const batch::Manifest> manifest;  ///< with `resume`: what earlier runs have made
  std::vector<std::string> side_warnings;           ///< what may surprise in `side_images`

  /// Pictures that are made of every file.
  [[nodiscard]] std::size_t series() const noexcept {
    return options.series.empty() ? 1 : options.series.size();
  }
  /// Number of pictures to be made; those of one file follow each other.
  [[nodiscard]] std::size_t size() const noexcept { return files.size() * series(); }
  /// The pipeline that makes the picture of this index.
  [[nodiscard]] const Pipeline& steps(std::size_t index) const noexcept {
    return options.series.empty() ? pipeline : options.series[index % series()];
  }
  /// What a user should know before the run, once; empty if nothing.
  [[nodiscard]] std::string notice() const;
  /// Names the files; looks at nothing on disk.
  [[nodiscard]] BatchFile file(std::size_t index) const;
  /// The pattern of a side input, such as `{dir}/{stem}_mask.png`, filled in for one picture.
  [[nodiscard]] std::filesystem::path side_path(const SideInput& side, std::size_t index) const;
};

/// What has become of a file, or what prepare_batch() foresees.
enum class FileStatus {
  done,       ///< written
  failed,     ///< not written, for an error
  exists,     ///< left out, because there is an output
  unchanged,  ///< left out by resume: the output is what this run would make
};

/// What the files hold, in linear light as f32 with 1 or 3 channels, no side longer than `side`. Empty for
/// what was not read or written and for tables.
struct Thumbnails {
  static constexpr std::int64_t side = 256;  ///< pixels

  Image before;  ///< the picture
  Image after;   ///< the result
};

/// Such a picture of the first one that read_pictures() gives; empty if the file is no picture, or too large
/// to be read.
[[nodiscard]] Image thumbnail_of(const std::filesystem::path& file, const ReadOptions& options = {});

/// What a photograph told for its depth of field.
struct PhotoReport {
  std::string format;                     ///< of its depth: "Apple disparity"
  std::string place;                      ///< where that lay
  Shape depth;                            ///< of its values
  DepthKind kind = DepthKind::disparity;  ///< of its values
  bool metric = false;                    ///< in 1/m or m
  float lowest = 0;                       ///< value
  float highest = 0;                      ///< value
  std::string original;             ///< where the sharp original lay; empty: the picture is the file's own
  PhotoBlur blur;                   ///< what is sharp now
  std::filesystem::path depth_out;  ///< as written; empty: it was not
};

/// One file of a batch, after it.
struct FileResult {
  std::filesystem::path input;                   ///< as it was found
  std::filesystem::path output;                  ///< what was to be written
  FileStatus status = FileStatus::done;          ///< what has become of it
  Shape shape;                                   ///< of the picture; width 0 if it was not read
  Shape output_shape;                            ///< width 0 if nothing was written
  std::size_t pages = 0;                         ///< that were read; the shapes are those of the first one
  std::chrono::duration<double> time{0};         ///< of its stages, without waiting between them
  std::optional<Error> error;                    ///< why it failed
  std::vector<std::string> warnings;             ///< what was done but may surprise
  std::vector<FoundValue> found;                 ///< what filters took from the picture
  std::size_t index = 0;                         ///< in its series, from 1; 0: there is none
  std::string pipeline{};                        ///< of the series, what made this picture
  std::shared_ptr<const Thumbnails> thumbnails;  ///< with `gallery`
  std::uint64_t bytes = 0;                       ///< of the output, with `resume`; 0: none
  std::uint64_t hash = 0;                        ///< of these bytes: FNV-1a of 64 bits
  std::optional<PhotoReport> photo;              ///< with depth of the photograph
};

/// Counts; the files themselves are told one by one, so that a batch of any size keeps nothing of them.
struct BatchResult {
  std::size_t total = 0;    ///< files of the batch
  std::size_t done = 0;     ///< written
  std::size_t failed = 0;   ///< not written, for an error
  std::size_t skipped = 0;  ///< left out, as told
  bool cancelled = false;   ///< by BatchEvents::cancelled
  std::optional<ErrorKind>
      failure;  ///< of the only file; of several, environment if any was, otherwise input
  std::vector<std::filesystem::path> unread{};  ///< as Batch::unread
  std::chrono::duration<double> time{0};        ///< of the whole run

  /// Adds one file.
  void count(const FileResult& file);
  /// Files that were neither done nor left out: the batch ended early.
  [[nodiscard]] std::size_t not_started() const noexcept { return total - done - failed - skipped; }
};

/// What is done with one file.
enum class Stage {
  reading,    ///< and decoding
  filtering,  ///< on the device
  writing     ///< and encoding
};

/// Any of them may be empty.
struct BatchEvents {
  /// A stage of a file begins or ends, also by an error; filtering may begin once more. Called from several
  /// threads at once.
  std::function<void(const BatchFile& file, Stage stage, bool begins)> stage;
  /// Filters have done so much of a file: see Plan::watch(). Called from several threads at once.
  std::function<void(const BatchFile& file, double done)> filtering{};
  /// Called from the thread that runs the batch, in the order of the files.
  std::function<void(const FileResult& result, const BatchResult& so_far)> finished;
  /// Asked between stages and inside of filters, from several threads; true ends the batch and leaves no
  /// temporary file.
  std::function<bool()> cancelled;
};

/// Finds the inputs, names the outputs, reads the side inputs and checks all of it. Changes nothing on disk.
/// Throws Error(usage) for names and combinations to be corrected: two inputs with one output, an output that
/// is an input (through links too), an existing output that may not be replaced, a missing folder of a single
/// output, an unknown format; Error(input) for a side input that cannot be read or a folder that cannot be
/// written. An input that does not exist is no error here but the file's own.
[[nodiscard]] Batch prepare_batch(const Pipeline& pipeline, const BatchOptions& options);

/// What run_batch() would do with each file, in order, as far as it can be told without decoding.
void foresee_batch(const Batch& batch, const std::function<void(const FileResult& result)>& tell);

/// Does the files. Reading and writing run beside the filters, on several threads; the bytes of all pictures
/// in flight stay below `memory` (a single picture may be larger; one that is larger than all before it
/// counts as soon as it is decoded). Plans are reused for pictures of one shape. A GPU has two pictures at a
/// time, so that one is copied while the other is filtered; one, if the plans for two are above
/// limit_memory() or what is free. Pictures for a GPU lie in page-locked memory, `memory` bytes at most,
/// unless ReadOptions::allocator is given. Throws Error(usage) if there are several files and the parameters
/// contradict each other for any picture; `events` tell of single files. Two environment errors in a row (a
/// full disk, a lost device) end the batch early.
[[nodiscard]] BatchResult run_batch(const Device& device, const Batch& batch, const BatchEvents& events = {});

/// Does the files on several devices: each takes the next picture as soon as it is free. The bytes of the
/// outputs do not depend on their number.
[[nodiscard]] BatchResult run_batch(std::span<const Device> devices, const Batch& batch,
                                    const BatchEvents& events = {});

/// A picture to be done, by its folder and its name below that: {sub} and folders of outputs follow from it.
struct PictureName {
  std::filesystem::path folder;    ///< may be empty
  std::filesystem::path relative;  ///< name below it
};

/// A batch whose files come bit by bit: devices, plans, side inputs and the manifest are kept from one run to
/// the next. Not to be used by two threads at once.
class BatchSession {
 public:
  /// `options` without inputs; the output is a folder or a pattern. Throws as prepare_batch() and
  /// run_batch().
  BatchSession(std::vector<Device> devices, const Pipeline& pipeline, const BatchOptions& options);
  BatchSession(const BatchSession&) = delete;
  BatchSession& operator=(const BatchSession&) = delete;
  ~BatchSession();

  /// Checks and does these files. Where an output exists that the manifest does not know, the manifest is
  /// read again: another process may have made it. Throws as prepare_batch() and run_batch().
  [[nodiscard]] BatchResult run(std::span<const PictureName> files, const BatchEvents& events = {});

  /// The folder of the manifest; empty without `resume`.
  [[nodiscard]] std::filesystem::path manifest_folder() const;

 private:
  struct State;

  std::unique_ptr<State> state_;
};

}  // namespace satin

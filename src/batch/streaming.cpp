#include "batch/streaming.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "batch/file_names.h"
#include "batch/filter_chains.h"
#include "batch/linear_light.h"
#include "batch/outputs.h"
#include "batch/side_inputs.h"
#include "satin/error.h"
#include "satin/row_files.h"

namespace satin::batch {
namespace {

/// Bytes read from a source at once: small beside the memory of a filter.
constexpr std::size_t chunk_bytes = std::size_t{4} << 20;

Shape with_rows(Shape shape, std::int64_t rows) {
  shape.height = rows;
  shape.frames = 1;
  return shape;
}

std::int64_t chunk_rows(const Shape& whole) {
  const std::size_t row = byte_size(with_rows(whole, 1));
  return static_cast<std::int64_t>(std::max<std::size_t>(chunk_bytes / row, 1));
}

template <class Byte>
BasicImageView<Byte> rows_of(BasicImageView<Byte> view, std::int64_t first, std::int64_t count) {
  view.data = view.at(0, first);
  view.shape.height = count;
  return view;
}

void copy_rows(const ImageView& from, const MutableImageView& to) {
  const auto bytes = static_cast<std::size_t>(interleaved_strides(to.shape).row);
  for (std::int64_t y = 0; y < to.shape.height; ++y) std::memcpy(to.at(0, y), from.at(0, y), bytes);
}

/// Rows of a source, converted.
class ChangedRows final : public RowSource {
 public:
  /// Converts rows of the source, which are dense, to as many rows.
  using Change = std::function<void(const ImageView& from, const MutableImageView& to)>;

  /// `shape` differs from that of the source only in type and channels.
  ChangedRows(RowSource& source, const Shape& shape, Change change)
      : source_(source), shape_(shape), change_(std::move(change)) {}

  [[nodiscard]] const Shape& shape() const noexcept override { return shape_; }
  void rewind() override { source_.rewind(); }

  void read(const MutableImageView& rows) override {
    const Shape& whole = source_.shape();
    const std::int64_t most = chunk_rows(whole);
    for (std::int64_t y = 0; y < rows.shape.height;) {
      const std::int64_t count = std::min(most, rows.shape.height - y);
      if (chunk_.empty() || chunk_.shape().height < count) chunk_ = Image(with_rows(whole, count));
      const MutableImageView chunk = rows_of(chunk_.view(), 0, count);
      source_.read(chunk);
      change_(chunk, rows_of(rows, y, count));
      y += count;
    }
  }

 private:
  RowSource& source_;
  Shape shape_;
  Change change_;
  Image chunk_{};  ///< rows of the source
};

namespace fs = std::filesystem;

/// The rows of a pipeline. Checks the pipeline before it returns the last rows, so that no file with wrong
/// pixels is finished.
class CheckedRows final : public RowSource {
 public:
  /// `pipeline` must outlive the object.
  explicit CheckedRows(RowPipeline& pipeline) : pipeline_(pipeline) {}

  [[nodiscard]] const Shape& shape() const noexcept override { return pipeline_.shape(); }
  void rewind() override {
    pipeline_.rewind();
    next_ = 0;
  }
  void read(const MutableImageView& rows) override {
    pipeline_.read(rows);
    next_ += rows.shape.height;
    if (next_ == shape().height) warnings_ = pipeline_.check();
  }

  /// Returns the warnings of RowPipeline::check(), available when all rows have been read.
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept { return warnings_; }

 private:
  RowPipeline& pipeline_;
  std::int64_t next_ = 0;
  std::vector<std::string> warnings_;
};

/// Returns the option that causes outputs to be written by rows.
std::string option_of(const BatchOptions& options) { return options.stream ? "--stream" : "--pyramid"; }

/// An option that excludes --stream or --pyramid.
struct Refused {
  bool given;
  const char* option;
  const char* reason;  ///< a sentence that says what to do
};

void refuse(const std::string& option, const std::vector<Refused>& refused) {
  for (const Refused& each : refused)
    if (each.given)
      throw Error(ErrorKind::usage,
                  std::string(each.option) + " cannot be combined with " + option + ": " + each.reason);
}

void refuse_standard_input(const Pipeline& pipeline, const BatchOptions& options) {
  const char* const reason = " cannot be combined with --stream: rows are read from a file, more than once. ";
  if (std::ranges::any_of(options.inputs, is_stream))
    throw Error(ErrorKind::usage, std::string("Standard input") + reason + "Save it, and name the file.");
  for (const PipelineStep& step : pipeline)
    for (const SideInput& side : step.side_inputs)
      if (is_stream(side.path))
        throw Error(ErrorKind::usage, "--" + side.name + " -" + reason + "Save it, and name the file.");
}

/// Throws unless every side input has the size of the picture.
void check_side_sizes(const Pipeline& steps, const SideRows& sides, const fs::path& input,
                      const Shape& picture) {
  std::vector<Shape> shapes{picture};
  for (const RowSource* side : sides.sources) shapes.push_back(side == nullptr ? Shape{} : side->shape());
  for (std::size_t i = 0; i < steps.size(); ++i) check_sizes(steps, i, shapes, input, picture);
}

RowWriteOptions row_options(const WriteOptions& options, bool pyramid, int threads) {
  return {options.overwrite, pyramid, threads, options.metadata, options.modified, options.before_rename};
}

/// Refuses a file by its header if its reader needs more memory than filters may use, or more than is free.
void refuse_large_parts(const Device& device, std::uint64_t beside) {
  constexpr std::uint64_t always_free = std::uint64_t{64} << 20;
  const std::uint64_t limit = memory_limit(device);
  const bool limited = limit != 0 && !device.is_cuda();
  if (beside <= (limited ? limit : always_free)) return;
  const std::uint64_t most = limited ? limit : free_memory();
  if (beside > most)
    throw Error(ErrorKind::environment,
                "The strips or tiles of the file need " + std::to_string(beside) + " bytes, above the " +
                    (limited ? "memory limit of " + std::to_string(most) + " bytes: raise it, or save"
                             : std::to_string(most) + " bytes that are free. Save") +
                    " the picture in smaller ones.");
}

/// Rows of another type, which convert(rows) makes.
template <class Convert>
std::unique_ptr<RowSource> converted_rows(RowSource& source, Type type, const Convert& convert) {
  Shape shape = source.shape();
  shape.type = type;
  return std::make_unique<ChangedRows>(
      source, shape,
      [convert](const ImageView& from, const MutableImageView& to) { copy_rows(convert(from), to); });
}

void append(std::vector<std::string>& warnings, std::span<const std::string> more) {
  warnings.insert(warnings.end(), more.begin(), more.end());
}

}  // namespace

std::unique_ptr<RowSource> one_channel_rows(RowSource& source, bool alpha, const std::string& refusal) {
  const Shape& shape = source.shape();
  return std::make_unique<ChangedRows>(source, Shape{shape.width, shape.height, 1, shape.type},
                                       [alpha, refusal](const ImageView& from, const MutableImageView& to) {
                                         if (!take_one_channel(from, alpha, to))
                                           throw Error(ErrorKind::usage, refusal);
                                       });
}

std::unique_ptr<RowSource> inverted_rows(RowSource& source) {
  return std::make_unique<ChangedRows>(source, source.shape(),
                                       [](const ImageView& from, const MutableImageView& to) {
                                         copy_rows(from, to);
                                         invert(to);
                                       });
}

bool is_transparent(RowSource& source) {
  const Shape& whole = source.shape();
  if (whole.alpha == Alpha::none) return false;
  const std::int64_t most = chunk_rows(whole);
  Image chunk(with_rows(whole, std::min(most, whole.height)));
  bool found = false;
  for (std::int64_t y = 0; y < whole.height && !found; y += most) {
    const MutableImageView rows = rows_of(chunk.view(), 0, std::min(most, whole.height - y));
    source.read(rows);
    found = is_transparent(rows);
  }
  source.rewind();
  return found;
}

bool is_tiff(std::string extension) {
  extension = lower(std::move(extension));
  return extension == ".tif" || extension == ".tiff";
}

void check_row_options(const Pipeline& pipeline, const BatchOptions& options) {
  if (!writes_rows(options)) return;
  const std::string option = option_of(options);
  if (output_kind(pipeline) == OutputKind::json)
    throw Error(ErrorKind::usage, "'" + pipeline.back().parameters.filter().name +
                                      "' makes JSON, and no picture. Drop " + option + ".");
  const char* const tiff = "the output is TIFF. Drop one of them.";
  refuse(option, {{!options.format.empty() && !is_tiff(options.format), "--format", tiff},
                  {options.quality.has_value(), "--jpeg-quality", tiff},
                  {options.dither, "--dither", "TIFF holds every type of pixels, and nothing is rounded."},
                  {options.keep_depth, "--keep-depth", tiff},
                  {options.read.all_pages, "--all-pages",
                   "the output is one picture. Choose pages one by one, by --page."}});
  if (!options.stream) return;
  const char* const photo = "photographs with depth are not read by rows. Drop one of them.";
  refuse(
      option,
      {{!options.gallery.empty(), "--gallery",
        "its thumbnails need whole pictures. Use --report, or drop --stream."},
       {!options.read.part.empty(), "--part", "OpenEXR files are not read by rows. Drop one of them."},
       {options.mask_from != MaskSource::file, "--mask-from", photo},
       {!options.depth_out.empty(), "--depth-out", photo},
       {options.picture_from != PictureSource::file, "a model", "it reads whole pictures. Drop --stream."}});
  refuse_standard_input(pipeline, options);
}

void check_row_outputs(const Batch& work) {
  if (!writes_rows(work.options)) return;
  for (std::size_t i = 0; i < work.size(); ++i)
    if (const fs::path output = work.file(i).output; !is_tiff(output.extension().string())) {
      const std::string name = is_stream(output) ? "standard output" : quoted(output);
      throw Error(ErrorKind::usage, "With " + option_of(work.options) + " the output is a TIFF file, but " +
                                        name + " is not called .tif or .tiff. Name it so: -o NAME.tif");
    }
}

void check_row_parameters(const Device& device, const Batch& work) {
  if (std::ranges::any_of(work.pipeline, [](const PipelineStep& step) { return !step.side_inputs.empty(); }))
    return;
  check_with_usual_channels([&](int channels) {
    const Image picture({256, 256, channels});
    ImageRows rows(picture);
    static_cast<void>(RowPipeline(device, work.pipeline, rows));
  });
}

void write_by_rows(const Device& device, const Batch& work, std::size_t index, const ReadOptions& reading,
                   bool replaces, const std::function<void(const fs::path& temporary)>& before_rename,
                   const Progress& progress, FileResult& done) {
  const BatchFile file = work.file(index);
  const Pipeline& steps = work.steps(index);
  ReadOptions options = reading;
  options.accept = [&](const Shape&, std::uint64_t beside) { refuse_large_parts(device, beside); };
  const std::unique_ptr<FileRows> picture = open_rows(file.input, options);
  Picture source;
  source.metadata = picture->metadata();
  source.warnings = picture->warnings();
  const std::size_t known = source.warnings.size();
  if (covers(steps)) drop_revealing_data(source, work.options);
  const Framing framing = framing_of(steps, picture->shape().width, picture->shape().height);
  if (framing.changes()) source = framed(source, framing, work.options);

  const SideRows sides(work, index, options);
  check_side_sizes(steps, sides, file.input, picture->shape());
  const LightOfPicture light = light_of(source.metadata, picture->shape(), steps);
  const auto decode = [&](const ImageView& rows) { return light.curves->decoded(rows); };
  const auto encode = [&](const ImageView& rows) { return light.curves->encoded(rows); };
  const auto linear = light.curves ? converted_rows(*picture, Type::f32, decode) : nullptr;
  RowPipeline pipeline(device, steps, linear ? *linear : *picture, sides.sources);
  pipeline.watch(progress);
  CheckedRows checked(pipeline);
  const auto encoded = light.curves ? converted_rows(checked, light.curves->type(), encode) : nullptr;
  RowSource& result = encoded ? *encoded : checked;

  WriteOptions writing = write_options(file, source, work.options, output_kind(steps));
  writing.overwrite = replaces;
  writing.before_rename = before_rename;
  create_folder_of(file.output);
  check_output(file.output, result.shape(), writing, work.options);
  write_rows(file.output, result, row_options(writing, work.options.pyramid, work.options.threads));
  append(source.warnings, std::span(picture->warnings()).subspan(known));
  done.shape = picture->shape();
  done.output_shape = result.shape();
  done.pages = 1;
  done.warnings = file_warnings(file, source, done.output_shape, writing);
  append(done.warnings, sides.warnings);
  if (!light.warning.empty()) done.warnings.push_back(light.warning);
  append(done.warnings, checked.warnings());
}

void check_output(const fs::path& path, const Shape& shape, const WriteOptions& options,
                  const BatchOptions& batch) {
  const std::uint64_t most = batch.read.limits.pixels;
  if (static_cast<std::uint64_t>(shape.height) > most / static_cast<std::uint64_t>(shape.width))
    throw Error(ErrorKind::usage, "The result of " + std::to_string(shape.width) + " x " +
                                      std::to_string(shape.height) + " is over the limit of " +
                                      std::to_string(most) +
                                      " pixels. Raise it (--max-pixels), or make the result smaller.");
  if (writes_rows(batch))
    check_rows_writable(path, shape, row_options(options, batch.pyramid, batch.threads));
  else
    check_writable(path, shape, options);
}

void write_with_pyramid(const fs::path& path, const ImageView& picture, const WriteOptions& options,
                        int threads) {
  ImageRows rows(picture);
  write_rows(path, rows, row_options(options, true, threads));
}

}  // namespace satin::batch

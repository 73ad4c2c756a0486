#include "satin/batch.h"

#include <oneapi/tbb/concurrent_queue.h>
#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "batch/file_names.h"
#include "batch/file_stamp.h"
#include "batch/filter_chains.h"
#include "batch/in_place.h"
#include "batch/linear_light.h"
#include "batch/manifest.h"
#include "batch/outputs.h"
#include "batch/photographs.h"
#include "batch/picture_memory.h"
#include "batch/preparation.h"
#include "batch/side_inputs.h"
#include "batch/streaming.h"
#include "batch/thumbnail.h"
#include "satin/io.h"
#include "satin/row_files.h"

// A batch. FileWork has the three stages of a file: read, filter, write. The flow graph overlaps files, so
// that others are read and written while one is filtered. The last part of this file runs batches that
// preparation.cpp has prepared.

namespace satin::batch {
namespace {

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
FileResult result_of(const Batch& work, std::size_t index, const BatchFile& file) {
  FileResult result;
  result.input = file.input;
  result.output = file.output;
  if (work.options.series.empty()) return result;
  result.index = index % work.series() + 1;
  result.pipeline = print_pipeline(work.steps(index));
  return result;
}

/// Adds the name of the file to a message that lacks it.
Error with_name(const Error& error, const BatchFile& file) {
  const std::string message = error.what();
  for (const auto& name : {printable(file.input.native()), printable(file.output.native())})
    if (message.find(name) != std::string::npos) return error;
  return {error.kind(), (is_stream(file.input) ? "standard input" : quoted(file.input)) + ": " + message};
}

std::uint64_t elements_of(const Shape& shape) { return byte_size(shape) / size_of(shape.type); }

std::uint64_t bytes_of(const std::vector<std::vector<Image>>& sides) {
  std::uint64_t bytes = 0;
  for (const std::vector<Image>& of_step : sides)
    for (const Image& image : of_step)
      if (!image.empty()) bytes += byte_size(image.shape());
  return bytes;
}

/// Returns the warnings about all pages. A warning that does not concern every page names its page.
std::vector<std::string> warnings_of(const std::vector<PageInFlight>& pages) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < pages.size(); ++i)
    for (const std::string& text : pages[i].warnings) {
      const bool about_all = std::all_of(pages.begin(), pages.end(), [&](const PageInFlight& page) {
        return std::find(page.warnings.begin(), page.warnings.end(), text) != page.warnings.end();
      });
      if (!about_all) all.push_back("page " + std::to_string(i + 1) + ": " + text);
      if (about_all && i == 0) all.push_back(text);
    }
  return all;
}

/// Initial size of the page-locked pool: enough for the pictures being copied and some that wait. Page-
/// locking costs about 10 ms for a picture of 36 MB, one after the other for all threads. On a machine with
/// an H200 and 16 cores, page-locking all of 50 pictures in flight made a batch of 96 slower than on the CPU.
constexpr std::uint64_t first_page_locked = std::uint64_t{512} << 20;

/// Returns options that read into page-locked memory, at most `most` bytes, if a GPU filters several files
/// and the caller has no allocator.
ReadOptions reading_for(std::span<const Device> devices, const Batch& work, std::uint64_t most) {
  ReadOptions options = work.options.read;
  if (options.allocator.allocate || work.size() == 1) return options;
  for (const Device& device : devices) {
    const Allocator page_locked = device.page_locked_memory();
    if (!page_locked.allocate) continue;
    options.allocator = pooled(page_locked, first_page_locked, most);
    break;
  }
  return options;
}

/// Runs the stages of the files of a batch. Errors are stored in the result of the file. read() and write()
/// may run for any number of files at the same time, filter() for one file per chain.
class FileWork {
 public:
  /// All arguments must outlive the object.
  FileWork(std::span<const Device> devices, const Batch& work, const BatchEvents& events,
           PictureMemory& memory)
      : devices_(devices),
        work_(work),
        events_(events),
        memory_(memory),
        reading_(reading_for(devices, work, memory.limit())),
        chains_(devices, work) {
    if (work.manifest) log_.emplace(work);
  }

  /// Returns FilterChains::first().
  [[nodiscard]] std::vector<FilterChain*> first_chains() const { return chains_.first(); }

  /// Throws Error(usage) for parameters that fit no picture.
  void check_parameters() const {
    const FilterChain& chain = *chains_.first().front();
    work_.options.stream ? check_row_parameters(chain.device(), work_) : chain.check_parameters();
  }

  [[nodiscard]] FileInFlight begin(std::size_t index) const {
    FileInFlight flight;
    flight.index = index;
    flight.file = work_.file(index);
    flight.result = result_of(work_, index, flight.file);
    const bool whole = !work_.options.stream && !is_stream(flight.file.input);
    flight.share = work_.options.stream ? 0 : memory_.estimate(whole ? stamp_of(flight.file.input).size : 0);
    return flight;
  }

  void read(FileInFlight& flight) const {
    attempt(flight, Stage::reading, [&] {
      decide_on(flight);
      if (!flight.over() && !work_.options.stream) read_pages(flight);
    });
  }

  /// Returns the chains that are free afterwards, and whether the file must be filtered again.
  FilterChains::Next filter(FileInFlight& flight, FilterChain& chain) {
    FilterChains::Next next{{&chain}, false};
    if (work_.options.stream) {
      attempt(flight, Stage::writing, [&] { work_by_rows(flight, chain); });
      return next;
    }
    if (!flight.over()) {
      attempt(flight, Stage::filtering, [&] { filter_pages(flight, chain); });
      const std::optional<Error>& error = flight.result.error;
      next = chains_.after_run(chain, error && error->kind() == ErrorKind::environment);
    }
    if (next.again) {
      flight.result.status = FileStatus::done;
      flight.result.error.reset();
    } else {
      for (PageInFlight& page : flight.pages) {
        if (!work_.options.series.empty()) break;  // the rest of the series needs them
        page.source->picture.image = Image();
        page.source->own_sides.clear();
      }
    }
    return next;
  }

  void write(FileInFlight& flight) const {
    if (!work_.options.stream) attempt(flight, Stage::writing, [&] { write_pages(flight); });
    if (flight.over()) flight.result.output_shape = Shape{};
    flight.pages.clear();
  }

 private:
  using Sources = std::vector<std::shared_ptr<PageSource>>;

  /// Runs a stage and stores its error in the result of the file.
  template <class Body>
  void attempt(FileInFlight& flight, Stage stage, const Body& body) const {
    if (flight.over()) return;
    if (events_.cancelled && events_.cancelled()) {
      flight.cancelled = true;
      return;
    }
    if (events_.stage) events_.stage(flight.file, stage, true);
    const auto start = std::chrono::steady_clock::now();
    std::optional<Error> error;
    try {
      body();
    } catch (const Error& failure) {
      flight.cancelled = failure.kind() == ErrorKind::cancelled;
      if (!flight.cancelled) error = failure;
    } catch (const std::bad_alloc&) {
      error = Error(ErrorKind::environment, "There is not enough memory.");
    } catch (const std::exception& failure) {
      error = Error(ErrorKind::input, failure.what());
    }
    flight.result.time += std::chrono::steady_clock::now() - start;
    if (error) {
      flight.result.status = FileStatus::failed;
      flight.result.error = with_name(*error, flight.file);
    }
    if (events_.stage) events_.stage(flight.file, stage, false);
  }

  /// Decides whether the file is processed, and how.
  void decide_on(FileInFlight& flight) const {
    const Decision decision = decide(work_, flight.index, flight.file);
    flight.result.status = decision.status;
    flight.result.bytes = decision.record.size;
    flight.result.hash = decision.record.hash;
    if (flight.result.status == FileStatus::repeated)
      flight.result.warnings.push_back("skip " + flight.result.pipeline + ": no larger than " +
                                       quoted(flight.file.output) + ".");
    if (flight.over()) return;
    flight.replaces = decision.replaces;
    if (log_) flight.record = record_now(work_, flight.index, flight.file);
    if (auto problem = reading_problem(flight.file.input)) throw Error(*problem);
  }

  void read_pages(FileInFlight& flight) const {
    std::uint64_t bytes = 0;
    for (std::shared_ptr<PageSource>& source : sources_of(flight)) {
      // Counts the picture, the result and the encoded result.
      constexpr std::uint64_t copies = 3;
      bytes += copies * byte_size(source->picture.image.shape()) + bytes_of(source->own_sides);
      PageInFlight& page = flight.pages.emplace_back(PageInFlight{std::move(source)});
      if (uses_light(page)) bytes += 2 * sizeof(float) * elements_of(page.source->picture.image.shape());
      if (work_.options.picture_from == PictureSource::model_depth)
        flight.result.photo = report_of(depth_of(page.source->picture));
      if (takes_photo(work_.pipeline)) {
        take_photo(flight, page);
      } else if (page.source->picture.reduction > 1) {
        page.own_steps = steps_for_reduced(work_.steps(flight.index), page.source->picture);
      } else if (!work_.options.series.empty()) {
        page.own_steps = work_.steps(flight.index);
      }
    }
    const Picture& picture = flight.pages.front().source->picture;
    const Image& first = picture.image;
    flight.result.shape = first.shape();
    if (picture.reduction > 1) {
      flight.result.reduction = picture.reduction;
      flight.result.shape.width = picture.full_width;
      flight.result.shape.height = picture.full_height;
    }
    flight.result.pages = flight.pages.size();
    if (!work_.options.gallery.empty()) {
      flight.thumbnails = std::make_shared<Thumbnails>();
      flight.result.thumbnails = flight.thumbnails;
      if (!covers(work_.pipeline)) flight.thumbnails->before = thumbnail(first, Thumbnails::side);
    }
    memory_.correct(flight.share, bytes);
  }

  Sources read_sources(const FileInFlight& flight) const {
    Sources sources;
    for (Picture& picture : read_pictures(flight.file.input, reading_of_pictures())) {
      PageSource& source =
          *sources.emplace_back(std::make_shared<PageSource>(PageSource{std::move(picture)}));
      if (covers(work_.pipeline)) drop_revealing_data(source.picture, work_.options);
      drop_unusable_map(source.picture);
      if (work_.model != nullptr) estimate(flight, source.picture);
      source.own_sides =
          read_own_side_inputs(work_, flight.index, source.picture, reading_, source.picture.warnings);
      if (work_.options.keep_depth) make_original(source.picture);
    }
    return sources;
  }

  /// Estimates the picture's depth, or replaces it by what the model makes of it. The runtime has memory and
  /// threads of its own on the CPU, whatever the device.
  void estimate(const FileInFlight& flight, Picture& picture) const {
    const Device& device = devices_.front();
    const EstimateOptions running{device.is_cuda() ? 0 : memory_limit(device), events_.cancelled};
    const std::string& format = work_.options.format;
    use_model(*work_.model, work_.options,
              format.empty() ? flight.file.output : std::filesystem::path(format), running, picture);
  }

  /// Drops a gain map whose light is to be used, but cannot be restored.
  void drop_unusable_map(Picture& picture) const {
    if (!picture.gain_map || restores_light(*picture.gain_map) ||
        gain_map_use_of(work_.pipeline, work_.options) != GainMapUse::use)
      return;
    picture.gain_map.reset();
    picture.warnings.emplace_back(
        "its gain map was left out, as it does not lead from SDR to HDR in the picture's own primaries.");
  }

  /// Returns the pictures of a file. For a series they are read once, and kept until another file is read.
  Sources sources_of(const FileInFlight& flight) const {
    if (work_.options.series.empty()) return read_sources(flight);
    const std::lock_guard lock(series_mutex_);
    if (last_read_.first != flight.file.input) last_read_ = {flight.file.input, read_sources(flight)};
    return last_read_.second;
  }

  /// Refuses a picture by its header if its filters cannot stay below the memory limit, or if everything
  /// together exceeds the free memory. `beside` is the memory that decoding needs.
  void foresee(const Shape& picture, std::uint64_t beside) const {
    const FilterChain::Needs needs = needs_of(picture);
    const std::uint64_t bytes = byte_size(picture) + std::max(beside, needs.workspace + needs.result);
    const std::uint64_t limit = memory_limit(devices_.front());
    const bool limited = limit != 0 && !devices_.front().is_cuda();
    if (limited && beside > limit + needs.result)
      throw Error(ErrorKind::environment, "Decoding the picture needs " + std::to_string(beside) +
                                              " bytes beside it, above the memory limit of " +
                                              std::to_string(limit) + " bytes: raise it.");
    constexpr std::uint64_t always_free = std::uint64_t{64} << 20;
    if (bytes <= always_free) return;
    if (const std::uint64_t free = free_memory(); bytes > free)
      throw Error(ErrorKind::environment,
                  "The picture, its filters and its result need " + std::to_string(bytes) +
                      " bytes, above the " + std::to_string(free) +
                      " bytes that are free. Make the picture smaller, or let filters use "
                      "less by --memory-limit.");
  }

  /// Returns the memory of the pipeline for a picture, or 0 on a GPU, which has its own. Errors other than of
  /// memory are left to the filters. A single picture is planned only once, as plans are slow for some
  /// filters.
  FilterChain::Needs needs_of(const Shape& picture) const {
    if (devices_.front().is_cuda()) return {};
    const std::lock_guard lock(mutex_);
    if (foreseen_ && foreseen_->first == picture) return foreseen_->second;
    FilterChain::Needs needs;
    try {
      if (work_.size() == 1 && !has_own_side_inputs(work_.pipeline, work_.options)) {
        FilterChain& chain = *chains_.first().front();
        chain.plan(work_.file(0).input, picture);
        needs = chain.needs();
      } else {
        needs = FilterChain(devices_.front(), work_).foresee(picture);
      }
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::environment) throw;
    }
    foreseen_.emplace(picture, needs);
    return needs;
  }

  /// Adapts the steps to this photograph.
  void take_photo(FileInFlight& flight, PageInFlight& page) const {
    PhotoPipeline own = pipeline_for(devices_.front(), work_.steps(flight.index), page.source->picture);
    page.own_steps = std::move(own.steps);
    page.photo_warnings = own.report.blur.warnings;
    flight.result.photo = std::move(own.report);
  }

  /// Runs all stages of a file that is streamed. Each device streams one file at a time.
  void work_by_rows(FileInFlight& flight, const FilterChain& chain) const {
    if (log_) log_->begin(flight.file.output);
    write_by_rows(chain.device(), work_, flight.index, reading_, flight.replaces, before_rename(flight),
                  progress_of(flight), flight.result);
    if (!work_.options.in_place) log_done(flight, flight.file.output);
  }

  void filter_pages(FileInFlight& flight, FilterChain& chain) const {
    if (output_kind(work_.pipeline) == OutputKind::json) {
      flight.json = json_of_pages(flight, chain);
      flight.result.warnings = warnings_of(flight.pages);
      return create_folder_of(flight.file.output);
    }
    if (flight.pages.size() > 1)
      check_holds_pages(flight.file.output, options_of(flight, flight.pages.front()));
    for (PageInFlight& page : flight.pages) filter_page(flight, page, chain);
    flight.result.warnings = warnings_of(flight.pages);
    flight.result.output_shape = flight.pages.front().output.shape();
  }

  /// Returns one line for a single page, or an object with the objects of all pages in a list.
  std::string json_of_pages(FileInFlight& flight, FilterChain& chain) const {
    std::string all;
    for (PageInFlight& page : flight.pages) {
      const LinearLight light(page.source->picture, work_.pipeline, reading_.allocator);
      static_cast<void>(
          chain.plan(flight.file.input, light.picture().shape(), page.source->own_sides, page.own_steps));
      std::string text;
      page.warnings = chain.json(flight.file.input, light.picture(), text, progress_of(flight));
      if (flight.pages.size() > 1) text.pop_back();  // removes the end of the line
      all += (all.empty() ? "" : ",\n") + text;
    }
    return flight.pages.size() > 1 ? "{\"pages\": [" + all + "]}\n" : all;
  }

  void filter_page(FileInFlight& flight, PageInFlight& page, FilterChain& chain) const {
    const Picture& source = page.source->picture;
    const LinearLight light(source, work_.pipeline, reading_.allocator);
    const Shape planned = chain.plan(flight.file.input, light.picture().shape(), page.source->own_sides,
                                     page.own_steps, page.source);
    Shape shape = light.encoded(planned);
    check_named_size(flight, shape);
    take_framing(page, chain.device());
    if (writes_light(flight, page)) shape.type = Type::f32;
    const WriteOptions options = options_of(flight, page);
    create_folder_of(flight.file.output);
    check_output(flight.file.output, shape, options, work_.options);
    std::vector<std::string>& warnings = page.warnings;
    warnings = file_warnings(flight.file, page.framed ? *page.framed : source, shape, options);
    warnings.insert(warnings.end(), page.photo_warnings.begin(), page.photo_warnings.end());
    if (!light.warning().empty()) warnings.push_back(light.warning());
    if (std::string text = gain_map_warning(work_.pipeline, work_.options, source);
        !text.empty() && !page.framed)
      warnings.push_back(std::move(text));
    Image output(planned, reading_.allocator);
    for (std::string& warning : chain.run(light.picture(), output.view(), progress_of(flight)))
      warnings.push_back(std::move(warning));
    flight.result.found = chain.found();
    if (flight.result.photo)
      set_blur_at_infinity(*flight.result.photo, flight.result.found, page.after_photo);
    page.output = light.encoded(std::move(output));
    if (source.gain_map && covers(work_.pipeline)) cover_gain_map(flight, page, chain);
    if (uses_light(page)) filter_light(flight, page, chain, light);
    if (writes_light(flight, page) && page.output.shape().type != Type::f32)
      restore(page, chain.device(), light);
  }

  /// Whether the restored light of a picture is filtered beside its base.
  [[nodiscard]] bool uses_light(const PageInFlight& page) const {
    const std::optional<GainMap>& map = page.source->picture.gain_map;
    return map && restores_light(*map) && gain_map_use_of(work_.pipeline, work_.options) == GainMapUse::use;
  }

  /// Whether the output gets restored light in place of the base and a gain map.
  [[nodiscard]] bool writes_light(const FileInFlight& flight, const PageInFlight& page) const {
    const Picture& source = page.source->picture;
    if (!source.gain_map || !restores_light(*source.gain_map)) return false;
    const std::string format =
        output_format(flight.file, work_.options, output_kind(work_.pipeline), source.format);
    return holds_floats_alone(format.empty() ? flight.file.output.extension().string() : format);
  }

  /// Filters the restored light of a picture like its base, whose result is page.output.
  void filter_light(FileInFlight& flight, PageInFlight& page, FilterChain& chain,
                    const LinearLight& base) const {
    const auto run = [&](const ImageView& light) {
      Image output =
          chain.device().allocate(chain.plan(flight.file.input, light.shape, page.source->own_sides,
                                             page.own_steps, page.source, base.picture()));
      static_cast<void>(chain.run(light, output.view(), progress_of(flight)));
      return output;
    };
    FilteredLight filtered =
        batch::filter_light(chain.device(), base, *page.source->picture.gain_map, page.output, run);
    page.gain_map = std::move(filtered.map);
    if (writes_light(flight, page)) page.output = host_picture(chain.device(), std::move(filtered.light));
  }

  /// Restores the light of a result whose gain map was kept.
  static void restore(PageInFlight& page, const Device& device, const LinearLight& base) {
    const Picture& source = page.framed ? *page.framed : page.source->picture;
    Image linear;
    page.output = host_picture(device, restore_light(device, base.decoded(page.output, linear),
                                                     page.gain_map ? *page.gain_map : *source.gain_map));
  }

  static Image host_picture(const Device& device, Image image) {
    return image.memory() == Memory::host ? std::move(image) : device.download(image.view());
  }

  /// Covers the gain map like the picture.
  void cover_gain_map(FileInFlight& flight, PageInFlight& page, FilterChain& chain) const {
    const Picture& source = page.source->picture;
    const Shape& shape = source.image.shape();
    const auto run = [&](const Image& codes) {
      Image output(chain.plan(flight.file.input, codes.shape(), page.source->own_sides, page.own_steps));
      static_cast<void>(chain.run(codes, output.view()));
      return output;
    };
    page.gain_map = covered(chain.device(), *source.gain_map, shape,
                            framing_of(steps_of(page), shape.width, shape.height), run);
  }

  [[nodiscard]] const Pipeline& steps_of(const PageInFlight& page) const {
    return page.own_steps.empty() ? work_.pipeline : page.own_steps;
  }

  /// Throws Error(input) if the name says another size than the first page has.
  void check_named_size(const FileInFlight& flight, const Shape& shape) const {
    const auto sizes = work_.output_sizes.find(flight.file.input);
    if (sizes == work_.output_sizes.end() || flight.pages.front().output.shape().width != 0) return;
    const Shape& named = sizes->second[flight.index % work_.series()];
    if (named.width == shape.width && named.height == shape.height) return;
    throw Error(ErrorKind::input,
                "its size was not known when the outputs were named, or has changed. Drop {width} and "
                "{height}, or run again.");
  }

  /// Adapts what travels with a result of another size.
  void take_framing(PageInFlight& page, const Device& device) const {
    const Picture& source = page.source->picture;
    const Pipeline& steps = steps_of(page);
    if (source.photo) page.after_photo = framing_after_photo(steps, source.image.shape());
    const Framing framing = framing_of(steps, source.image.shape().width, source.image.shape().height);
    if (!framing.changes()) return;
    page.framed = framed(source, framing, work_.options);
    if (!work_.options.keep_depth && work_.options.depth_out.empty()) return;
    page.framed->photo = framed(device, *source.photo, framing);
    if (work_.options.keep_depth) page.framed->photo->original = framed_original(device, source, steps);
  }

  Progress progress_of(const FileInFlight& flight) const {
    return [this, &flight](double done) {
      if (events_.filtering) events_.filtering(flight.file, done);
      return !events_.cancelled || !events_.cancelled();
    };
  }

  ReadOptions reading_of_pictures() const {
    ReadOptions options = reading_;
    options.accept = [this](const Shape& shape, std::uint64_t beside) { foresee(shape, beside); };
    options.photo_depth = (takes_photo(work_.pipeline) && !takes_model(work_.pipeline)) ||
                          work_.options.mask_from != MaskSource::file;
    options.gain_map = work_.options.picture_from == PictureSource::file &&
                       gain_map_use_of(work_.pipeline, work_.options) != GainMapUse::drop &&
                       output_kind(work_.pipeline) == OutputKind::image;
    if (work_.options.fast_decode)
      options.enough = [this](const Shape& picture) { return enough_for(work_, picture); };
    return options;
  }

  WriteOptions options_of(const FileInFlight& flight, const PageInFlight& page) const {
    const Picture& source = page.framed ? *page.framed : page.source->picture;
    WriteOptions options = write_options(flight.file, source, work_.options, output_kind(work_.pipeline));
    options.overwrite = flight.replaces;
    const std::optional<GainMap>& map = page.gain_map ? page.gain_map : source.gain_map;
    if (map && !writes_light(flight, page)) options.gain_map = &*map;
    if (work_.options.keep_depth) {
      options.photo = &*source.photo;
      options.blur = flight.result.photo->blur;
      frame(options.blur, page.after_photo);
    }
    return options;
  }

  void write_pages(FileInFlight& flight) const {
    const std::filesystem::path& output = flight.file.output;
    const OutputKind kind = output_kind(work_.pipeline);
    if (log_) log_->begin(output);
    if (kind == OutputKind::json) {
      write_file(output, std::as_bytes(std::span(flight.json)), flight.replaces);
    } else {
      std::vector<ImageView> images;
      std::vector<WriteOptions> options;
      for (const PageInFlight& page : flight.pages) {
        images.push_back(page.output.view());
        options.push_back(options_of(flight, page));
      }
      options.front().before_rename = before_rename(flight);
      if (work_.options.pyramid)
        write_with_pyramid(output, images.front(), options.front(), work_.options.threads);
      else
        satin::write_pages(output, images, options);
      const PageInFlight& first = flight.pages.front();
      if (flight.result.photo && !work_.options.depth_out.empty())
        write_depth(work_, flight.index, depth_of(first.framed ? *first.framed : first.source->picture),
                    *flight.result.photo);
    }
    if (flight.thumbnails && kind == OutputKind::image)
      flight.thumbnails->after = thumbnail(flight.pages.front().output, Thumbnails::side);
    if (!work_.options.in_place) log_done(flight, output);
  }

  /// Returns what happens when the new file is complete and the input that it replaces still whole.
  std::function<void(const std::filesystem::path&)> before_rename(FileInFlight& flight) const {
    if (!work_.options.in_place) return {};
    return [this, &flight](const std::filesystem::path& complete) {
      if (stamp_of(flight.file.input) != flight.record.input)
        throw Error(ErrorKind::input, "it changed while it was filtered, and stays as it is. Run again.");
      keep_backup(flight.file.input, work_.options);
      log_done(flight, complete);
    };
  }

  /// `file` has the bytes of the output.
  void log_done(FileInFlight& flight, const std::filesystem::path& file) const {
    if (!log_) return;
    const std::filesystem::path& output = flight.file.output;
    flight.record.size = stamp_of(file).size;
    flight.record.hash = hash_of_file(file);
    log_->done(output, flight.record);
    flight.result.bytes = flight.record.size;
    flight.result.hash = flight.record.hash;
  }

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

using Flight = std::shared_ptr<FileInFlight>;

/// Finished files, for the thread that started the batch.
using Arrivals = tbb::concurrent_bounded_queue<Flight>;

/// A file and the chain that filters it.
using Job = std::pair<Flight, FilterChain*>;

/// Pairs files that have been read with free chains. (A join node would do so in a task of its own, behind
/// the writers, and a device would wait for that.)
class Waiting {
 public:
  [[nodiscard]] std::optional<Job> add(const Flight& flight, FilterChain* chain) {
    const std::lock_guard lock(mutex_);
    if (flight) flights_.push_back(flight);
    if (chain != nullptr) chains_.push_back(chain);
    if (flights_.empty() || chains_.empty()) return std::nullopt;
    Job job{std::move(flights_.front()), chains_.back()};
    flights_.pop_front();
    chains_.pop_back();
    return job;
  }

 private:
  std::mutex mutex_;
  std::deque<Flight> flights_;
  std::vector<FilterChain*> chains_;
};

/// The flow graph read -> filter -> write. Threads prefer the last stages: a device without a picture does
/// not wait for a decoder, and finished pictures free memory. The calling thread feeds the graph and never
/// works in it, so it may wait for memory.
class Graph {
 public:
  Graph(FileWork& work, Arrivals& arrivals, int threads)
      // One thread more than requested runs while another waits for the disk. The caller waits too.
      : control_(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads) + 2),
        arena_(threads + 1, 0) {
    arena_.execute([&] { nodes_.emplace(work, arrivals); });
  }
  ~Graph() { nodes_->graph.wait_for_all(); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  void put(const Flight& flight) { nodes_->read.try_put(flight); }

 private:
  template <class Input>
  using Node = tbb::flow::function_node<Input>;

  struct Nodes {
    Nodes(FileWork& work, Arrivals& arrivals)
        : read(graph, tbb::flow::unlimited,
               [this, &work](const Flight& flight) {
                 work.read(*flight);
                 pair(flight, nullptr);
               }),
          filter(
              graph, tbb::flow::unlimited, [this, &work](const Job& job) { run(work, job); },
              tbb::flow::node_priority_t(2)),
          write(
              graph, tbb::flow::unlimited,
              [&work, &arrivals](const Flight& flight) {
                work.write(*flight);
                arrivals.push(flight);
              },
              tbb::flow::node_priority_t(1)) {
      for (FilterChain* chain : work.first_chains()) pair(nullptr, chain);
    }

    void pair(const Flight& flight, FilterChain* chain) {
      if (const std::optional<Job> job = waiting.add(flight, chain)) filter.try_put(*job);
    }

    void run(FileWork& work, const Job& job) {
      const auto& [flight, chain] = job;
      const FilterChains::Next next = work.filter(*flight, *chain);
      next.again ? pair(flight, nullptr) : static_cast<void>(write.try_put(flight));
      for (FilterChain* free : next.free) pair(nullptr, free);
    }

    Waiting waiting;
    tbb::flow::graph graph;
    Node<Flight> read;
    Node<Job> filter;
    Node<Flight> write;
  };

  tbb::global_control control_;
  tbb::task_arena arena_;
  std::optional<Nodes> nodes_;
};

/// Processes the files 0 to count - 1 and reports each in that order, from the calling thread. `tell` returns
/// false to start no more. `threads` threads read and write; 0 means all that the process may use.
void run_overlapped(FileWork& work, PictureMemory& memory, std::size_t count, int threads,
                    const std::function<bool(FileInFlight& flight)>& tell) {
  const int used = threads > 0 ? threads : tbb::info::default_concurrency();
  const std::size_t most_in_flight = 3 * static_cast<std::size_t>(used) + 2;  // some files in every stage
  Arrivals arrivals;
  std::map<std::size_t, Flight> arrived;  // finished, but an earlier file is not
  Graph graph(work, arrivals, used);
  std::size_t begun = 0;
  std::size_t told = 0;
  bool more = true;
  std::optional<FileInFlight> next;
  while (told < begun || (more && begun < count)) {
    while (more && begun < count && begun - told < most_in_flight) {
      if (!next) next = work.begin(begun);
      if (!memory.has_room(next->share)) break;
      memory.take(next->share);
      graph.put(std::make_shared<FileInFlight>(std::move(*next)));
      next.reset();
      ++begun;
    }
    Flight flight;
    arrivals.pop(flight);  // waits
    memory.give_back(flight->share);
    arrived.emplace(flight->index, std::move(flight));
    for (auto first = arrived.begin(); first != arrived.end() && first->first == told;
         first = arrived.erase(first)) {
      more = tell(*first->second) && more;
      ++told;
    }
  }
}

}  // namespace
}  // namespace satin::batch

namespace satin {
namespace {

using Clock = std::chrono::steady_clock;

/// Counts and reports finished files, and decides when to stop.
class ProgressSink {
 public:
  ProgressSink(const Batch& work, const BatchEvents& events) : work_(work), events_(events) {
    result_.total = work.size();
    result_.unread = work.unread;
  }

  /// Returns false to start no more files.
  bool tell(batch::FileInFlight& flight) {
    if (flight.cancelled) {
      result_.cancelled = true;
      return false;
    }
    const FileResult& file = flight.result;
    result_.count(file);
    const bool lost = file.error && file.error->kind() == ErrorKind::environment;
    lost_in_a_row_ = lost ? lost_in_a_row_ + 1 : 0;
    if (events_.finished) events_.finished(file, result_);
    const bool stopped = file.error && work_.options.fail_fast;
    return !stopped && lost_in_a_row_ < 2;
  }

  BatchResult finish() {
    result_.time = Clock::now() - start_;
    return std::move(result_);
  }

 private:
  const Batch& work_;
  const BatchEvents& events_;
  Clock::time_point start_ = Clock::now();
  BatchResult result_;
  int lost_in_a_row_ = 0;
};

/// Returns the problem of an input, as far as it shows without decoding.
std::optional<Error> foreseen_problem(const BatchFile& file, const Batch& work) try {
  if (auto problem = batch::reading_problem(file.input)) return problem;
  const ReadOptions& read = work.options.read;
  if (work.options.stream) {
    static_cast<void>(open_rows(file.input, read));
    return std::nullopt;
  }
  const bool asks = read.page || !read.part.empty() || read.all_pages ||
                    batch::is_extension_of(&FormatInfo::pages, file.input.extension().string());
  const bool regular = std::filesystem::is_regular_file(file.input);  // a pipe can be read only once
  if (!asks || !regular || count_pictures(file.input, read) <= 1) return std::nullopt;
  WriteOptions options;
  options.format = work.options.format;
  if (output_kind(work.pipeline) != OutputKind::json) check_holds_pages(file.output, options);
  return std::nullopt;
} catch (const Error& error) {
  return error;
}

/// Returns the memory for pictures. A model's weights are held beside them all the time.
std::uint64_t memory_of(const Batch& work) {
  const std::uint64_t all = work.options.memory != 0 ? work.options.memory : batch::usual_picture_memory();
  const std::uint64_t held = work.model != nullptr ? work.model->bytes() : 0;
  return held < all ? all - held : 1;
}

BatchResult run_files(batch::FileWork& files, batch::PictureMemory& memory, const Batch& work,
                      const BatchEvents& events) {
  ProgressSink sink(work, events);
  const auto tell = [&](batch::FileInFlight& flight) { return sink.tell(flight); };
  if (work.size() == 1) {
    batch::FileInFlight flight = files.begin(0);
    memory.take(flight.share);
    files.read(flight);
    static_cast<void>(files.filter(flight, *files.first_chains().front()));
    files.write(flight);
    memory.give_back(flight.share);
    tell(flight);
  } else {
    batch::run_overlapped(files, memory, work.size(), work.options.threads, tell);
  }
  return sink.finish();
}

}  // namespace

void BatchResult::count(const FileResult& file) {
  if (file.status == FileStatus::done) ++done;
  if (file.status == FileStatus::exists || file.status == FileStatus::unchanged ||
      file.status == FileStatus::repeated)
    ++skipped;
  if (file.status != FileStatus::failed) return;
  ++failed;
  const ErrorKind kind = file.error ? file.error->kind() : ErrorKind::input;
  if (total == 1 || kind == ErrorKind::environment) failure = kind;
  if (!failure) failure = ErrorKind::input;
}

void foresee_batch(const Batch& work, const std::function<void(const FileResult& result)>& tell) {
  for (std::size_t i = 0; i < work.size(); ++i) {
    const BatchFile file = work.file(i);
    FileResult result = batch::result_of(work, i, file);
    try {
      result.status = batch::decide(work, i, file).status;
      if (result.status == FileStatus::done) result.error = foreseen_problem(file, work);
    } catch (const Error& error) {
      result.error = error;
    }
    if (result.error) result.status = FileStatus::failed;
    tell(result);
  }
}

BatchResult run_batch(const Device& device, const Batch& work, const BatchEvents& events) {
  return run_batch(std::span(&device, 1), work, events);
}

BatchResult run_batch(std::span<const Device> devices, const Batch& work, const BatchEvents& events) {
  if (devices.empty()) throw Error(ErrorKind::usage, "There is no device to run the batch on.");
  std::set<std::filesystem::path> looked_at;
  if (work.manifest) batch::remove_left_over_files(work, looked_at);
  batch::PictureMemory memory(memory_of(work));
  batch::FileWork files(devices, work, events, memory);
  if (work.size() > 1 && !batch::has_own_side_inputs(work.pipeline, work.options)) files.check_parameters();
  return run_files(files, memory, work, events);
}

struct BatchSession::State {
  State(std::vector<Device> given, const Pipeline& pipeline, const BatchOptions& options)
      : devices(std::move(given)),
        work(batch::batch_without_files(pipeline, options, [] { return true; })),
        memory(memory_of(work)) {
    if (devices.empty()) throw Error(ErrorKind::usage, "There is no device to run the batch on.");
    work.folder_output = true;
    batch::read_manifest(work);
    batch::read_shared_sides(work);
    files.emplace(devices, work, events, memory);
    if (!batch::has_own_side_inputs(work.pipeline, work.options)) files->check_parameters();
  }

  std::vector<Device> devices;
  Batch work;
  BatchEvents events;
  batch::PictureMemory memory;
  std::optional<batch::FileWork> files;
  std::set<std::filesystem::path> looked_at;
};

BatchSession::BatchSession(std::vector<Device> devices, const Pipeline& pipeline, const BatchOptions& options)
    : state_(std::make_unique<State>(std::move(devices), pipeline, options)) {}

BatchSession::~BatchSession() = default;

BatchResult BatchSession::run(std::span<const PictureName> files, const BatchEvents& events) {
  State& state = *state_;
  if (files.empty()) return {};
  batch::InputList inputs;
  inputs.many = true;
  for (const PictureName& file : files) {
    inputs.files.below(file.folder);
    inputs.files.add(file.relative.native());
  }
  batch::take_files(state.work, std::move(inputs));
  if (batch::meets_unknown_output(state.work)) batch::read_manifest(state.work);
  batch::check_files(state.work);
  if (state.work.manifest) batch::remove_left_over_files(state.work, state.looked_at);
  state.events = events;
  return run_files(*state.files, state.memory, state.work, state.events);
}

std::filesystem::path BatchSession::manifest_folder() const {
  const auto& manifest = state_->work.manifest;
  return manifest ? manifest->file_for({}).parent_path() : std::filesystem::path();
}

}  // namespace satin

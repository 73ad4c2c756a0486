#include "batch/file_work.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>

#include "batch/file_names.h"
#include "batch/linear_light.h"
#include "batch/outputs.h"
#include "batch/photographs.h"
#include "batch/side_inputs.h"
#include "batch/streaming.h"
#include "batch/thumbnail.h"

namespace satin::batch {
namespace {

/// Adds the name of the file to a message that lacks it.
Error with_name(const Error& error, const BatchFile& file) {
  const std::string message = error.what();
  for (const auto& name : {printable(file.input.native()), printable(file.output.native())})
    if (message.find(name) != std::string::npos) return error;
  return {error.kind(), (is_stream(file.input) ? "standard input" : quoted(file.input)) + ": " + message};
}

/// Reports the begin and the end of a stage.
class StageScope {
 public:
  StageScope(const BatchEvents& events, const BatchFile& file, Stage stage)
      : events_(events), file_(file), stage_(stage) {
    if (events_.stage) events_.stage(file_, stage_, true);
  }
  ~StageScope() {
    if (events_.stage) events_.stage(file_, stage_, false);
  }
  StageScope(const StageScope&) = delete;
  StageScope& operator=(const StageScope&) = delete;

 private:
  const BatchEvents& events_;
  const BatchFile& file_;
  Stage stage_;
};

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

}  // namespace

FileWork::FileWork(std::span<const Device> devices, const Batch& work, const BatchEvents& events,
                   PictureMemory& memory)
    : devices_(devices),
      work_(work),
      events_(events),
      memory_(memory),
      reading_(reading_for(devices, work, memory.limit())),
      chains_(devices, work) {
  if (!work.manifest) return;
  log_ = std::make_unique<ManifestLog>(own_part(work.manifest->file(), work.options));
}

void FileWork::check_parameters() const {
  const FilterChain& chain = *chains_.first().front();
  work_.options.stream ? check_row_parameters(chain.device(), work_) : chain.check_parameters();
}

FileInFlight FileWork::begin(std::size_t index) const {
  FileInFlight flight;
  flight.index = index;
  flight.file = work_.file(index);
  flight.result.input = flight.file.input;
  flight.result.output = flight.file.output;
  set_series_index(work_, index, flight.result);
  const bool whole = !work_.options.stream && !is_stream(flight.file.input);
  flight.share = work_.options.stream ? 0 : memory_.estimate(whole ? stamp_of(flight.file.input).size : 0);
  return flight;
}

template <class Body>
void FileWork::attempt(FileInFlight& flight, Stage stage, const Body& body) const {
  if (flight.over()) return;
  if (events_.cancelled && events_.cancelled()) {
    flight.cancelled = true;
    return;
  }
  const StageScope scope(events_, flight.file, stage);
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
  if (!error) return;
  flight.result.status = FileStatus::failed;
  flight.result.error = with_name(*error, flight.file);
}

void FileWork::read(FileInFlight& flight) const {
  attempt(flight, Stage::reading, [&] {
    decide_on(flight);
    if (!flight.over() && !work_.options.stream) read_pages(flight);
  });
}

/// Decides whether the file is processed, and how.
void FileWork::decide_on(FileInFlight& flight) const {
  const Decision decision = decide(work_, flight.index, flight.file);
  flight.result.status = status_after(decision);
  flight.result.bytes = decision.record.size;
  flight.result.hash = decision.record.hash;
  if (flight.over()) return;
  flight.replaces = decision.action == Decision::Action::replace || work_.options.overwrite;
  if (log_) flight.record = record_now(work_, flight.index, flight.file);
  if (auto problem = reading_problem(flight.file.input)) throw Error(*problem);
}

void FileWork::read_pages(FileInFlight& flight) const {
  std::uint64_t bytes = 0;
  for (std::shared_ptr<PageSource>& source : sources_of(flight)) {
    // Counts the picture, the result and the encoded result.
    constexpr std::uint64_t copies = 3;
    bytes += copies * byte_size(source->picture.image.shape()) + bytes_of(source->own_sides);
    PageInFlight& page = flight.pages.emplace_back(PageInFlight{std::move(source)});
    if (takes_photo(work_.pipeline)) {
      take_photo(flight, page);
    } else if (!work_.options.series.empty()) {
      page.own_steps = work_.steps(flight.index);
    }
  }
  const Image& first = flight.pages.front().source->picture.image;
  flight.result.shape = first.shape();
  flight.result.pages = flight.pages.size();
  if (!work_.options.gallery.empty()) {
    flight.thumbnails = std::make_shared<Thumbnails>();
    flight.result.thumbnails = flight.thumbnails;
    if (!covers(work_.pipeline)) flight.thumbnails->before = thumbnail(first, Thumbnails::side);
  }
  memory_.correct(flight.share, bytes);
}

FileWork::Sources FileWork::read_sources(const FileInFlight& flight) const {
  Sources sources;
  for (Picture& picture : read_pictures(flight.file.input, reading_of_pictures())) {
    PageSource& source = *sources.emplace_back(std::make_shared<PageSource>(PageSource{std::move(picture)}));
    if (covers(work_.pipeline)) drop_revealing_data(source.picture, work_.options);
    source.own_sides =
        read_own_side_inputs(work_, flight.index, source.picture, reading_, source.picture.warnings);
    if (work_.options.keep_depth) make_original(source.picture);
  }
  return sources;
}

/// Returns the pictures of a file. For a series they are read once, and kept until another file is read.
FileWork::Sources FileWork::sources_of(const FileInFlight& flight) const {
  if (work_.options.series.empty()) return read_sources(flight);
  const std::lock_guard lock(series_mutex_);
  if (last_read_.first != flight.file.input) last_read_ = {flight.file.input, read_sources(flight)};
  return last_read_.second;
}

/// Refuses a picture by its header if its filters cannot stay below the memory limit, or if everything
/// together exceeds the free memory. `beside` is the memory that decoding needs.
void FileWork::foresee(const Shape& picture, std::uint64_t beside) const {
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
/// memory are left to the filters. A single picture is planned only once, as plans are slow for some filters.
FilterChain::Needs FileWork::needs_of(const Shape& picture) const {
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
void FileWork::take_photo(FileInFlight& flight, PageInFlight& page) const {
  PhotoPipeline own = pipeline_for(work_.steps(flight.index), page.source->picture);
  page.own_steps = std::move(own.steps);
  page.photo_warnings = own.report.blur.warnings;
  flight.result.photo = std::move(own.report);
}

FilterChains::Next FileWork::filter(FileInFlight& flight, FilterChain& chain) {
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

/// Runs all stages of a file that is streamed. Each device streams one file at a time.
void FileWork::work_by_rows(FileInFlight& flight, const FilterChain& chain) const {
  if (log_) log_->begin(flight.file.output);
  WrittenRows written =
      write_by_rows(chain.device(), work_, flight.index, reading_, flight.replaces, progress_of(flight));
  flight.result.shape = written.picture;
  flight.result.output_shape = written.output;
  flight.result.pages = 1;
  flight.result.warnings = std::move(written.warnings);
  log_done(flight);
}

void FileWork::filter_pages(FileInFlight& flight, FilterChain& chain) const {
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
std::string FileWork::json_of_pages(FileInFlight& flight, FilterChain& chain) const {
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

void FileWork::filter_page(FileInFlight& flight, PageInFlight& page, FilterChain& chain) const {
  const Picture& source = page.source->picture;
  const LinearLight light(source, work_.pipeline, reading_.allocator);
  const Shape planned = chain.plan(flight.file.input, light.picture().shape(), page.source->own_sides,
                                   page.own_steps, page.source);
  const Shape shape = light.encoded(planned);
  const WriteOptions options = options_of(flight, page);
  create_folder_of(flight.file.output);
  check_output(flight.file.output, shape, options, work_.options);
  std::vector<std::string>& warnings = page.warnings;
  warnings = file_warnings(flight.file, source, shape, options);
  warnings.insert(warnings.end(), page.photo_warnings.begin(), page.photo_warnings.end());
  if (!light.warning().empty()) warnings.push_back(light.warning());
  Image output(planned, reading_.allocator);
  for (std::string& warning : chain.run(light.picture(), output.view(), progress_of(flight)))
    warnings.push_back(std::move(warning));
  flight.result.found = chain.found();
  if (flight.result.photo) set_blur_at_infinity(*flight.result.photo, flight.result.found, shape);
  page.output = light.encoded(std::move(output));
}

void FileWork::write(FileInFlight& flight) const {
  if (!work_.options.stream) attempt(flight, Stage::writing, [&] { write_pages(flight); });
  if (flight.over()) flight.result.output_shape = Shape{};
  flight.pages.clear();
}

Progress FileWork::progress_of(const FileInFlight& flight) const {
  return [this, &flight](double done) {
    if (events_.filtering) events_.filtering(flight.file, done);
    return !events_.cancelled || !events_.cancelled();
  };
}

ReadOptions FileWork::reading_of_pictures() const {
  ReadOptions options = reading_;
  options.accept = [this](const Shape& shape, std::uint64_t beside) { foresee(shape, beside); };
  options.photo_depth = takes_photo(work_.pipeline) || work_.options.mask_from != MaskSource::file;
  return options;
}

WriteOptions FileWork::options_of(const FileInFlight& flight, const PageInFlight& page) const {
  WriteOptions options =
      write_options(flight.file, page.source->picture, work_.options, output_kind(work_.pipeline));
  options.overwrite = flight.replaces;
  if (work_.options.keep_depth) {
    options.photo = &*page.source->picture.photo;
    options.blur = flight.result.photo->blur;
  }
  return options;
}

void FileWork::write_pages(FileInFlight& flight) const {
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
    if (work_.options.pyramid)
      write_with_pyramid(output, images.front(), options.front(), work_.options.threads);
    else
      satin::write_pages(output, images, options);
    if (flight.result.photo)
      write_depth(work_, flight.index, depth_of(flight.pages.front().source->picture), *flight.result.photo);
  }
  if (flight.thumbnails && kind == OutputKind::image)
    flight.thumbnails->after = thumbnail(flight.pages.front().output, Thumbnails::side);
  log_done(flight);
}

void FileWork::log_done(FileInFlight& flight) const {
  if (!log_) return;
  const std::filesystem::path& output = flight.file.output;
  flight.record.size = stamp_of(output).size;
  flight.record.hash = hash_of_file(output);
  log_->done(output, flight.record);
  flight.result.bytes = flight.record.size;
  flight.result.hash = flight.record.hash;
}

}  // namespace satin::batch

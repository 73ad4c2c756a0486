#include "batch/file_work.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>

#include "batch/file_names.h"
#include "batch/file_stamp.h"
#include "batch/filtered_light.h"
#include "batch/gain_maps.h"
#include "batch/in_place.h"
#include "batch/outputs.h"
#include "batch/photographs.h"
#include "batch/preparation.h"
#include "batch/side_inputs.h"
#include "batch/streaming.h"
#include "batch/thumbnail.h"
#include "satin/row_files.h"

namespace satin::batch {
namespace {

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

}  // namespace

FileResult result_of(const Batch& work, std::size_t index, const BatchFile& file) {
  FileResult result;
  result.input = file.input;
  result.output = file.output;
  if (work.options.series.empty()) return result;
  result.index = index % work.series() + 1;
  result.pipeline = print_pipeline(work.steps(index));
  return result;
}

FileWork::FileWork(std::span<const Device> devices, const Batch& work, const BatchEvents& events,
                   PictureMemory& memory)
    : devices_(devices),
      work_(work),
      events_(events),
      memory_(memory),
      reading_(reading_for(devices, work, memory.limit())),
      chains_(devices, work) {
  if (work.manifest) log_.emplace(work);
}

void FileWork::check_parameters() const {
  const FilterChain& chain = *chains_.first().front();
  work_.options.stream ? check_row_parameters(chain.device(), work_) : chain.check_parameters();
}

FileInFlight FileWork::begin(std::size_t index) const {
  FileInFlight flight;
  flight.index = index;
  flight.file = work_.file(index);
  flight.result = result_of(work_, index, flight.file);
  const bool whole = !work_.options.stream && !is_stream(flight.file.input);
  flight.share = work_.options.stream ? 0 : memory_.estimate(whole ? stamp_of(flight.file.input).size : 0);
  return flight;
}

void FileWork::read(FileInFlight& flight) const {
  attempt(flight, Stage::reading, [&] {
    decide_on(flight);
    if (!flight.over() && !work_.options.stream) read_pages(flight);
  });
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

void FileWork::write(FileInFlight& flight) const {
  if (!work_.options.stream) attempt(flight, Stage::writing, [&] { write_pages(flight); });
  if (flight.over()) flight.result.output_shape = Shape{};
  flight.pages.clear();
}

template <class Body>
void FileWork::attempt(FileInFlight& flight, Stage stage, const Body& body) const {
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

void FileWork::decide_on(FileInFlight& flight) const {
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

void FileWork::read_pages(FileInFlight& flight) const {
  std::uint64_t bytes = 0;
  for (std::shared_ptr<PageSource>& source : sources_of(flight)) {
    // Counts the picture, the result and the encoded result.
    constexpr std::uint64_t copies = 3;
    bytes += copies * byte_size(source->picture.image.shape()) + bytes_of(source->own_sides);
    PageInFlight& page = flight.pages.emplace_back(PageInFlight{std::move(source)});
    if (uses_light(page.source->picture, work_.pipeline, work_.options))
      bytes += 2 * sizeof(float) * elements_of(page.source->picture.image.shape());
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

FileWork::Sources FileWork::read_sources(const FileInFlight& flight) const {
  Sources sources;
  for (Picture& picture : read_pictures(flight.file.input, reading_of_pictures())) {
    PageSource& source = *sources.emplace_back(std::make_shared<PageSource>(PageSource{std::move(picture)}));
    if (covers(work_.pipeline)) drop_revealing_data(source.picture, work_.options);
    drop_unusable_map(source.picture, work_.pipeline, work_.options);
    if (work_.model != nullptr) estimate(flight, source.picture);
    source.own_sides =
        read_own_side_inputs(work_, flight.index, source.picture, reading_, source.picture.warnings);
    if (work_.options.keep_depth) make_original(source.picture);
  }
  return sources;
}

void FileWork::estimate(const FileInFlight& flight, Picture& picture) const {
  const Device& device = devices_.front();
  const EstimateOptions running{device.is_cuda() ? 0 : memory_limit(device), events_.cancelled};
  const std::string& format = work_.options.format;
  use_model(*work_.model, work_.options, format.empty() ? flight.file.output : std::filesystem::path(format),
            running, picture);
}

FileWork::Sources FileWork::sources_of(const FileInFlight& flight) const {
  if (work_.options.series.empty()) return read_sources(flight);
  const std::lock_guard lock(series_mutex_);
  if (last_read_.first != flight.file.input) last_read_ = {flight.file.input, read_sources(flight)};
  return last_read_.second;
}

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

FilterChain::Needs FileWork::needs_of(const Shape& picture) const {
  if (devices_.front().is_cuda()) return {};
  const std::lock_guard lock(mutex_);
  if (foreseen_ && foreseen_->first == picture) return foreseen_->second;
  FilterChain::Needs needs;
  try {
    if (work_.size() == 1 && !has_own_side_inputs(work_.pipeline, work_.options)) {
      FilterChain& chain = *chains_.first().front();
      chain.plan({work_.file(0).input}, picture);
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

void FileWork::take_photo(FileInFlight& flight, PageInFlight& page) const {
  PhotoPipeline own = pipeline_for(devices_.front(), work_.steps(flight.index), page.source->picture);
  page.own_steps = std::move(own.steps);
  page.photo_warnings = own.report.blur.warnings;
  flight.result.photo = std::move(own.report);
}

void FileWork::work_by_rows(FileInFlight& flight, const FilterChain& chain) const {
  if (log_) log_->begin(flight.file.output);
  write_by_rows(chain.device(), work_, flight.index, reading_, flight.replaces, before_rename(flight),
                progress_of(flight), flight.result);
  if (!work_.options.in_place) log_done(flight, flight.file.output);
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

std::string FileWork::json_of_pages(FileInFlight& flight, FilterChain& chain) const {
  std::string all;
  for (PageInFlight& page : flight.pages) {
    const LinearLight light(page.source->picture, work_.pipeline, reading_.allocator);
    static_cast<void>(chain.plan(input_of(flight, page), light.picture().shape()));
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
  const Shape planned = chain.plan(input_of(flight, page), light.picture().shape());
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
  if (drops_profile(flight, page) && !work_.options.strip)
    warnings.emplace_back(
        "its colour profile was left out: the output is the linear light of its gain map, in the same "
        "primaries.");
  if (std::string text = gain_map_warning(work_.pipeline, work_.options, source);
      !text.empty() && !page.framed)
    warnings.push_back(std::move(text));
  Image output(planned, reading_.allocator);
  for (std::string& warning : chain.run(light.picture(), output.view(), progress_of(flight)))
    warnings.push_back(std::move(warning));
  flight.result.found = chain.found();
  if (flight.result.photo) set_blur_at_infinity(*flight.result.photo, flight.result.found, page.after_photo);
  page.output = light.encoded(std::move(output));
  if (source.gain_map) follow_gain_map(flight, page, chain, light);
}

void FileWork::follow_gain_map(FileInFlight& flight, PageInFlight& page, FilterChain& chain,
                               const LinearLight& light) const {
  const Picture& source = page.source->picture;
  const bool writes = writes_light(flight, page);
  if (covers(work_.pipeline)) cover_gain_map(flight, page, chain);
  if (uses_light(source, work_.pipeline, work_.options)) {
    if (!writes && !holds_gain_map(extension_of(flight, page))) return;
    FilteredLight filtered = filter_light(chain, input_of(flight, page), light, *source.gain_map, page.output,
                                          writes, progress_of(flight));
    page.gain_map = std::move(filtered.map);
    if (writes) page.output = std::move(filtered.light);
  } else if (writes) {
    const GainMap& kept = page.framed ? *page.framed->gain_map : *source.gain_map;
    page.output = light_of_result(chain.device(), light, page.output, page.gain_map ? *page.gain_map : kept);
  }
}

std::string FileWork::extension_of(const FileInFlight& flight, const PageInFlight& page) const {
  std::string format =
      output_format(flight.file, work_.options, output_kind(work_.pipeline), page.source->picture.format);
  return lower(format.empty() ? flight.file.output.extension().string() : std::move(format));
}

bool FileWork::writes_light(const FileInFlight& flight, const PageInFlight& page) const {
  return batch::writes_light(page.source->picture, work_.options, extension_of(flight, page));
}

bool FileWork::drops_profile(const FileInFlight& flight, const PageInFlight& page) const {
  Metadata profile;
  profile.icc = page.source->picture.metadata.icc;
  return !profile.icc.empty() && writes_light(flight, page) &&
         what_is_lost(extension_of(flight, page), profile).empty();
}

void FileWork::cover_gain_map(const FileInFlight& flight, PageInFlight& page, FilterChain& chain) const {
  const Picture& source = page.source->picture;
  const Shape& shape = source.image.shape();
  const auto run = [&](const Image& codes) {
    Image output(chain.plan(input_of(flight, page), codes.shape()));
    static_cast<void>(chain.run(codes, output.view()));
    return output;
  };
  page.gain_map = covered(chain.device(), *source.gain_map, shape,
                          framing_of(steps_of(page), shape.width, shape.height), run);
}

ChainInput FileWork::input_of(const FileInFlight& flight, const PageInFlight& page) {
  return {flight.file.input, page.source->own_sides, &page.own_steps, page.source};
}

const Pipeline& FileWork::steps_of(const PageInFlight& page) const {
  return page.own_steps.empty() ? work_.pipeline : page.own_steps;
}

void FileWork::check_named_size(const FileInFlight& flight, const Shape& shape) const {
  const auto sizes = work_.output_sizes.find(flight.file.input);
  if (sizes == work_.output_sizes.end() || flight.pages.front().output.shape().width != 0) return;
  const Shape& named = sizes->second[flight.index % work_.series()];
  if (named.width == shape.width && named.height == shape.height) return;
  throw Error(ErrorKind::input,
              "its size was not known when the outputs were named, or has changed. Drop {width} and "
              "{height}, or run again.");
}

void FileWork::take_framing(PageInFlight& page, const Device& device) const {
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

Progress FileWork::progress_of(const FileInFlight& flight) const {
  return [this, &flight](double done) {
    if (events_.filtering) events_.filtering(flight.file, done);
    return !events_.cancelled || !events_.cancelled();
  };
}

ReadOptions FileWork::reading_of_pictures() const {
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

WriteOptions FileWork::options_of(const FileInFlight& flight, const PageInFlight& page) const {
  const Picture& source = page.framed ? *page.framed : page.source->picture;
  WriteOptions options = write_options(flight.file, source, work_.options, output_kind(work_.pipeline));
  options.overwrite = flight.replaces;
  const std::optional<GainMap>& map = page.gain_map ? page.gain_map : source.gain_map;
  if (map && !writes_light(flight, page)) options.gain_map = &*map;
  if (drops_profile(flight, page)) options.metadata.icc.clear();
  if (work_.options.keep_depth) {
    options.photo = &*source.photo;
    options.blur = flight.result.photo->blur;
    frame(options.blur, page.after_photo);
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

std::function<void(const std::filesystem::path&)> FileWork::before_rename(FileInFlight& flight) const {
  if (!work_.options.in_place) return {};
  return [this, &flight](const std::filesystem::path& complete) {
    if (stamp_of(flight.file.input) != flight.record.input)
      throw Error(ErrorKind::input, "it changed while it was filtered, and stays as it is. Run again.");
    keep_backup(flight.file.input, work_.options);
    log_done(flight, complete);
  };
}

void FileWork::log_done(FileInFlight& flight, const std::filesystem::path& file) const {
  if (!log_) return;
  const std::filesystem::path& output = flight.file.output;
  flight.record.size = stamp_of(file).size;
  flight.record.hash = hash_of_file(file);
  log_->done(output, flight.record);
  flight.result.bytes = flight.record.size;
  flight.result.hash = flight.record.hash;
}

}  // namespace satin::batch

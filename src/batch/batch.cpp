#include "satin/batch.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "batch/by_rows.h"
#include "batch/checks.h"
#include "batch/file_stamp.h"
#include "batch/file_work.h"
#include "batch/inputs.h"
#include "batch/manifest.h"
#include "batch/outputs.h"
#include "batch/overlap.h"
#include "batch/photographs.h"
#include "batch/side_inputs.h"
#include "satin/row_files.h"

namespace satin {
namespace {

using Clock = std::chrono::steady_clock;

void check_options(const BatchOptions& options) {
  if (options.skip_existing && (options.overwrite || options.resume))
    throw Error(ErrorKind::usage, std::string("--skip-existing leaves outputs as they are: drop it or ") +
                                      (options.overwrite ? "--overwrite." : "--resume."));
  const Shard& shard = options.shard;
  if (shard.count < 1 || shard.index < 1 || shard.index > shard.count)
    throw Error(ErrorKind::usage, "The shard " + std::to_string(shard.index) + "/" +
                                      std::to_string(shard.count) + " is not one of 1/N to N/N.");
}

void keep_shard(PictureList& files, const Shard& shard) {
  if (shard.count == 1) return;
  const auto count = static_cast<std::uint64_t>(shard.count);
  const auto wanted = static_cast<std::uint64_t>(shard.index - 1);
  files.filter([&](std::string_view name) { return batch::Hash().add(name).value() % count == wanted; });
}

/// Counts, tells, and decides when to stop.
class ProgressSink {
 public:
  ProgressSink(const Batch& work, const BatchEvents& events) : work_(work), events_(events) {
    result_.total = work.size();
    result_.unread = work.unread;
  }

  /// False: begin no more.
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

/// The problem of an input, as far as it can be told without decoding.
std::optional<Error> foreseen_problem(const BatchFile& file, const Batch& work) try {
  if (auto problem = batch::reading_problem(file.input)) return problem;
  const ReadOptions& read = work.options.read;
  if (work.options.stream) {
    static_cast<void>(open_rows(file.input, read));
    return std::nullopt;
  }
  const bool asks = read.page || !read.part.empty() || read.all_pages ||
                    batch::is_extension_of(&FormatInfo::pages, file.input.extension().string());
  const bool regular = std::filesystem::is_regular_file(file.input);  // a pipe can be read once only
  if (!asks || !regular || count_pictures(file.input, read) <= 1) return std::nullopt;
  WriteOptions options;
  options.format = work.options.format;
  if (output_kind(work.pipeline) != OutputKind::json) check_holds_pages(file.output, options);
  return std::nullopt;
} catch (const Error& error) {
  return error;
}

/// `finds_many` looks for the inputs, and tells whether there may be several.
Batch batch_without_files(const Pipeline& pipeline, const BatchOptions& options,
                          const std::function<bool()>& finds_many) {
  if (pipeline.empty()) throw Error(ErrorKind::usage, "There is no filter to run.");
  check_options(options);
  batch::check_row_options(pipeline, options);
  batch::check_side_inputs(pipeline, options);
  batch::check_photo_options(pipeline, options, finds_many());
  Batch work;
  work.options = options;
  work.options.read.filterable = true;
  work.options.list = std::string();  // gives their memory back
  work.options.inputs = std::vector<std::filesystem::path>();
  work.pipeline = pipeline;
  return work;
}

/// Names the outputs of these inputs; they are all different.
void take_files(Batch& work, batch::InputList inputs) {
  const OutputKind kind = output_kind(work.pipeline);
  batch::check_output_name(inputs, work.options, kind);
  work.folder_output = batch::output_is_folder(inputs, work.options);
  work.files = std::move(inputs.files);
  work.unread = std::move(inputs.unread);
  batch::find_stand_ins(work);
  if (const BatchFile first = work.file(0); !batch::is_stream(first.input))
    static_cast<void>(batch::output_format(first, work.options, kind));
  batch::check_distinct(work);
  batch::check_row_outputs(work);
}

void read_manifest(Batch& work) {
  if (!work.options.resume) return;
  work.manifest = std::make_shared<batch::Manifest>(batch::manifest_file(work.options, work.folder_output));
}

void check_files(const Batch& work) {
  batch::check_outputs(work);
  batch::check_depth_out(work);
}

void read_shared_sides(Batch& work) {
  for (const PipelineStep& step : work.pipeline)
    if (work.options.stream) {
      batch::check_side_rows(step, work.options.read);
      work.side_images.emplace_back(step.parameters.filter().inputs.size());
    } else {
      work.side_images.push_back(batch::read_side_inputs(step, work.options.read, work.side_warnings));
    }
}

std::uint64_t memory_of(const Batch& work) {
  return work.options.memory != 0 ? work.options.memory : batch::usual_picture_memory();
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

/// True if an output exists that a manifest should know and does not.
bool meets_unknown_output(const Batch& work) {
  if (!work.manifest) return false;
  for (std::size_t i = 0; i < work.size(); ++i) {
    const std::filesystem::path output = work.file(i).output;
    std::error_code ignored;
    if (std::filesystem::exists(output, ignored) && !work.manifest->knows(output)) return true;
  }
  return false;
}

}  // namespace

void BatchResult::count(const FileResult& file) {
  if (file.status == FileStatus::done) ++done;
  if (file.status == FileStatus::exists || file.status == FileStatus::unchanged) ++skipped;
  if (file.status != FileStatus::failed) return;
  ++failed;
  const ErrorKind kind = file.error ? file.error->kind() : ErrorKind::input;
  if (total == 1 || kind == ErrorKind::environment) failure = kind;
  if (!failure) failure = ErrorKind::input;
}

Batch prepare_batch(const Pipeline& pipeline, const BatchOptions& options) {
  batch::InputList inputs;
  Batch work = batch_without_files(pipeline, options, [&] {
    inputs = batch::find_inputs(options);
    return inputs.many;
  });
  take_files(work, std::move(inputs));
  keep_shard(work.files, options.shard);
  read_manifest(work);
  check_files(work);
  read_shared_sides(work);
  return work;
}

void foresee_batch(const Batch& work, const std::function<void(const FileResult& result)>& tell) {
  for (std::size_t i = 0; i < work.size(); ++i) {
    const BatchFile file = work.file(i);
    FileResult result;
    result.input = file.input;
    result.output = file.output;
    batch::tell_place_in_series(work, i, result);
    result.status = batch::status_after(batch::decide(work, i, file));
    if (result.status == FileStatus::done) result.error = foreseen_problem(file, work);
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
        work(batch_without_files(pipeline, options, [] { return true; })),
        memory(memory_of(work)) {
    if (devices.empty()) throw Error(ErrorKind::usage, "There is no device to run the batch on.");
    work.folder_output = true;
    read_manifest(work);
    read_shared_sides(work);
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
  take_files(state.work, std::move(inputs));
  if (meets_unknown_output(state.work)) read_manifest(state.work);
  check_files(state.work);
  if (state.work.manifest) batch::remove_left_over_files(state.work, state.looked_at);
  state.events = events;
  return run_files(*state.files, state.memory, state.work, state.events);
}

std::filesystem::path BatchSession::manifest_folder() const {
  const auto& manifest = state_->work.manifest;
  return manifest ? manifest->file().parent_path() : std::filesystem::path();
}

}  // namespace satin

#include "satin/batch.h"

#include <algorithm>

#include "batch/checks.h"
#include "batch/file_stamp.h"
#include "batch/file_work.h"
#include "batch/inputs.h"
#include "batch/manifest.h"
#include "batch/outputs.h"
#include "batch/overlap.h"
#include "batch/photographs.h"
#include "batch/side_inputs.h"

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

FileStatus foreseen(batch::Decision decision) {
  if (decision == batch::Decision::leave_existing) return FileStatus::exists;
  return decision == batch::Decision::leave_unchanged ? FileStatus::unchanged : FileStatus::done;
}

/// The problem of an input, as far as it can be told without decoding.
std::optional<Error> foreseen_problem(const BatchFile& file, const Batch& work) try {
  if (auto problem = batch::reading_problem(file.input)) return problem;
  const ReadOptions& read = work.options.read;
  const bool asks = read.page || !read.part.empty() ||
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
  if (pipeline.empty()) throw Error(ErrorKind::usage, "There is no filter to run.");
  check_options(options);
  batch::check_side_inputs(pipeline, options);
  batch::InputList inputs = batch::find_inputs(options);
  batch::check_photo_options(pipeline, options, inputs.many);
  batch::check_output_name(inputs, options, output_kind(pipeline));
  Batch work;
  work.options = options;
  work.options.list = std::string();  // gives their memory back
  work.options.inputs = std::vector<std::filesystem::path>();
  work.pipeline = pipeline;
  work.folder_output = batch::output_is_folder(inputs, options);
  work.files = std::move(inputs.files);
  work.unread = std::move(inputs.unread);
  batch::find_stand_ins(work);
  if (const BatchFile first = work.file(0); !batch::is_stream(first.input))
    static_cast<void>(batch::output_format(first, options, output_kind(pipeline)));
  batch::check_distinct(work);
  keep_shard(work.files, options.shard);
  if (options.resume)
    work.manifest = std::make_shared<batch::Manifest>(batch::manifest_file(options, work.folder_output));
  batch::check_outputs(work);
  batch::check_depth_out(work);
  for (const PipelineStep& step : pipeline)
    work.side_images.push_back(batch::read_side_inputs(step, options.read));
  return work;
}

void foresee_batch(const Batch& work, const std::function<void(const FileResult& result)>& tell) {
  for (std::size_t i = 0; i < work.size(); ++i) {
    const BatchFile file = work.file(i);
    FileResult result;
    result.input = file.input;
    result.output = file.output;
    batch::tell_place_in_series(work, i, result);
    result.status = foreseen(batch::decide(work, i, file));
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
  ProgressSink sink(work, events);
  batch::PictureMemory memory(work.options.memory != 0 ? work.options.memory : batch::usual_picture_memory());
  batch::FileWork files(devices, work, events, memory);
  if (work.size() > 1 && !batch::has_own_side_inputs(work.pipeline, work.options)) files.check_parameters();
  const auto tell = [&](batch::FileInFlight& flight) { return sink.tell(flight); };
  if (work.size() == 1) {
    batch::FileInFlight flight = files.begin(0);
    files.read(flight);
    static_cast<void>(files.filter(flight, *files.first_chains().front()));
    files.write(flight);
    tell(flight);
  } else {
    batch::run_overlapped(files, memory, work.size(), work.options.threads, tell);
  }
  return sink.finish();
}

}  // namespace satin

#include "batch/preparation.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "batch/file_stamp.h"
#include "batch/in_place.h"
#include "batch/manifest.h"
#include "batch/outputs.h"
#include "batch/photographs.h"
#include "batch/side_inputs.h"
#include "batch/streaming.h"
#include "satin/error.h"
#include "satin/param.h"

namespace satin::batch {
namespace {

void check_options(const BatchOptions& options) {
  if (options.skip_existing && (options.overwrite || options.resume))
    throw Error(ErrorKind::usage, std::string("--skip-existing leaves outputs as they are: drop it or ") +
                                      (options.overwrite ? "--overwrite." : "--resume."));
  const Shard& shard = options.shard;
  if (shard.count < 1 || shard.index < 1 || shard.index > shard.count)
    throw Error(ErrorKind::usage, "The shard " + std::to_string(shard.index) + "/" +
                                      std::to_string(shard.count) + " is not one of 1/N to N/N.");
}

/// Throws unless reduced pictures are enough: nothing else is read in the full size.
void check_fast_decode(const Pipeline& pipeline, const BatchOptions& options) {
  if (!options.fast_decode) return;
  if (pipeline.front().parameters.filter().fit_reduced == nullptr)
    throw Error(ErrorKind::usage, "--fast-decode needs resize as the first filter. Drop it.");
  const bool reads_others =
      std::ranges::any_of(pipeline, [](const PipelineStep& step) { return !step.side_inputs.empty(); });
  if (reads_others || has_own_side_inputs(pipeline, options))
    throw Error(ErrorKind::usage,
                "--fast-decode does not work with masks, maps and depth, which have the full size. Drop it.");
}

void keep_shard(PictureList& files, const Shard& shard) {
  if (shard.count == 1) return;
  const auto count = static_cast<std::uint64_t>(shard.count);
  const auto wanted = static_cast<std::uint64_t>(shard.index - 1);
  files.filter([&](std::string_view name) { return Hash().add(name).value() % count == wanted; });
}

}  // namespace

Batch batch_without_files(const Pipeline& pipeline, const BatchOptions& options,
                          const std::function<bool()>& finds_many) {
  if (pipeline.empty()) throw Error(ErrorKind::usage, "There is no filter to run.");
  check_options(options);
  check_in_place_options(pipeline, options);
  check_row_options(pipeline, options);
  check_side_inputs(pipeline, options);
  check_fast_decode(pipeline, options);
  check_photo_options(pipeline, options, finds_many());
  Batch work;
  work.options = options;
  work.options.read.filterable = true;
  work.options.list = std::string();  // frees their memory
  work.options.inputs = std::vector<std::filesystem::path>();
  work.pipeline = pipeline;
  work.model = model_of(pipeline, options);
  if (work.model != nullptr && !work.model->notice().empty())
    work.side_warnings.push_back(work.model->notice());
  return work;
}

void take_files(Batch& work, InputList inputs) {
  check_output_name(inputs, work.pipeline, work.options);
  work.folder_output = output_is_folder(inputs, work.options);
  work.files = std::move(inputs.files);
  work.unread = std::move(inputs.unread);
  if (work.options.in_place) check_in_place_formats(work);
  choose_stand_ins(work);
  find_sizes(work);
  if (const BatchFile first = work.file(0); !is_stream(first.input))
    static_cast<void>(output_format(first, work.options, output_kind(work.pipeline)));
  check_distinct(work);
  check_row_outputs(work);
}

void read_manifest(Batch& work) {
  if (work.options.in_place) {
    std::set<std::filesystem::path> folders;
    for (std::size_t i = 0; i < work.size(); ++i) folders.insert(folder_of(work.files.path(i)));
    work.manifest = std::make_shared<Manifest>(folders);
    return;
  }
  if (!work.options.resume) return;
  work.manifest = std::make_shared<Manifest>(manifest_file(work.options, work.folder_output));
}

void check_files(const Batch& work) {
  check_outputs(work);
  if (work.options.in_place) check_in_place(work);
  check_depth_out(work);
}

void read_shared_sides(Batch& work) {
  for (const PipelineStep& step : work.pipeline)
    if (work.options.stream) {
      check_side_rows(step, work.options.read);
      work.side_images.emplace_back(step.parameters.filter().inputs.size());
    } else {
      work.side_images.push_back(
          read_side_inputs(step, work.options.read, work.options.invert_mask, work.side_warnings));
    }
}

bool meets_unknown_output(const Batch& work) {
  if (!work.manifest) return false;
  for (std::size_t i = 0; i < work.size(); ++i) {
    const std::filesystem::path output = work.file(i).output;
    std::error_code ignored;
    if (std::filesystem::exists(output, ignored) && !work.manifest->knows(output)) return true;
  }
  return false;
}

}  // namespace satin::batch

namespace satin {
namespace {

// The shard of this process, given by the user or by the program that started the process.

constexpr long most_shards = 1'000'000;

/// The shard of this process according to one environment.
struct EnvironmentShard {
  std::string variable;        ///< variable with the index
  Shard shard{};               ///< index from 1; a count of 0 is unknown
  std::string how_to_count{};  ///< advice if the count is unknown
};

std::optional<long> number_in(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return std::nullopt;
  return parse_integer(variable, text, 0, 1L << 40);
}

Shard shard_of(const std::string& variable, long index, long count) {
  if (count > most_shards || index < 1 || (count != 0 && index > count))
    throw Error(ErrorKind::usage, "--shard auto: " + variable + " says the shard " + std::to_string(index) +
                                      " of " + std::to_string(count) + ". Use --shard I/N.");
  return {static_cast<int>(index), static_cast<int>(count)};
}

/// Reads an array job of SLURM: indices MIN, MIN + STEP, ..., MAX (sbatch, --array).
std::optional<EnvironmentShard> slurm() {
  const std::optional<long> id = number_in("SLURM_ARRAY_TASK_ID");
  if (!id) return std::nullopt;
  const long first = number_in("SLURM_ARRAY_TASK_MIN").value_or(0);
  const long last = number_in("SLURM_ARRAY_TASK_MAX").value_or(*id);
  const long step = number_in("SLURM_ARRAY_TASK_STEP").value_or(1);
  const long count = number_in("SLURM_ARRAY_TASK_COUNT").value_or(0);
  if (step < 1 || (*id - first) % step != 0 || (last - first) / step + 1 != count)
    throw Error(
        ErrorKind::usage,
        "--shard auto: the tasks of this array of SLURM are not a plain range, so the shard of task " +
            std::to_string(*id) + " is not known. Submit --array=1-N, or use --shard I/N.");
  return EnvironmentShard{"SLURM_ARRAY_TASK_ID",
                          shard_of("SLURM_ARRAY_TASK_ID", (*id - first) / step + 1, count)};
}

/// Reads an indexed job of Kubernetes. Its pods know their index, from 0, but not how many there are.
std::optional<EnvironmentShard> kubernetes() {
  const std::optional<long> index = number_in("JOB_COMPLETION_INDEX");
  if (!index) return std::nullopt;
  const long count = number_in("JOB_COMPLETIONS").value_or(0);
  return EnvironmentShard{
      "JOB_COMPLETION_INDEX", shard_of("JOB_COMPLETION_INDEX", *index + 1, count),
      "use --shard auto/N with the completions of the job, or set JOB_COMPLETIONS in its pods"};
}

/// Reads a job of GNU parallel, which counts from 1. (The number of its slot is not that of a job.)
std::optional<EnvironmentShard> gnu_parallel() {
  const std::optional<long> sequence = number_in("PARALLEL_SEQ");
  if (!sequence) return std::nullopt;
  return EnvironmentShard{"PARALLEL_SEQ", shard_of("PARALLEL_SEQ", *sequence, 0),
                          "use --shard auto/N with the number of jobs, or --shard {#}/{##}"};
}

EnvironmentShard shard_of_environment() {
  std::vector<EnvironmentShard> all;
  for (const std::optional<EnvironmentShard>& told : {slurm(), kubernetes(), gnu_parallel()})
    if (told) all.push_back(*told);
  if (all.empty())
    throw Error(ErrorKind::usage,
                "--shard auto: this is not a task of a SLURM array, a pod of an indexed Kubernetes job, "
                "or a job of GNU parallel.\nUse --shard I/N.");
  if (all.size() > 1)
    throw Error(ErrorKind::usage, "--shard auto: " + all[0].variable + " and " + all[1].variable +
                                      " both name a shard. Use --shard I/N.");
  return all.front();
}

Shard automatic(std::optional<long> count) {
  const EnvironmentShard told = shard_of_environment();
  if (!count && told.shard.count == 0)
    throw Error(ErrorKind::usage, "--shard auto: " + told.variable + " names shard " +
                                      std::to_string(told.shard.index) +
                                      ", but not of how many: " + told.how_to_count + ".");
  if (count && told.shard.count != 0 && *count != told.shard.count)
    throw Error(ErrorKind::usage, "--shard auto/" + std::to_string(*count) + ": there are " +
                                      std::to_string(told.shard.count) + " shards by the environment.");
  return count ? shard_of(told.variable, told.shard.index, *count) : told.shard;
}

}  // namespace

Shard parse_shard(const std::string& text) {
  const std::size_t slash = text.find('/');
  const std::string index = text.substr(0, slash);
  if (slash == std::string::npos && index != "auto")
    throw Error(ErrorKind::usage, "--shard '" + text + "': give a part such as 2/8, or auto.");
  std::optional<long> count;
  if (slash != std::string::npos) count = parse_integer("--shard", text.substr(slash + 1), 1, most_shards);
  if (index == "auto") return automatic(count);
  return {static_cast<int>(parse_integer("--shard", index, 1, *count)), static_cast<int>(*count)};
}

Batch prepare_batch(const Pipeline& pipeline, const BatchOptions& options) {
  batch::InputList inputs;
  Batch work = batch::batch_without_files(pipeline, options, [&] {
    inputs = batch::find_inputs(options);
    return inputs.many;
  });
  batch::take_files(work, std::move(inputs));
  batch::keep_shard(work.files, options.shard);
  batch::read_manifest(work);
  batch::check_files(work);
  batch::read_shared_sides(work);
  return work;
}

}  // namespace satin

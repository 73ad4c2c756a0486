// The shard of a batch that this process works on, given by the user or by the program that started the
// process.

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "satin/batch.h"
#include "satin/error.h"
#include "satin/param.h"

namespace satin {
namespace {

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

}  // namespace satin

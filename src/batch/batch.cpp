#include "satin/batch.h"

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/task_arena.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "batch/file_names.h"
#include "batch/file_stamp.h"
#include "batch/file_work.h"
#include "batch/manifest.h"
#include "batch/outputs.h"
#include "batch/photographs.h"
#include "batch/side_inputs.h"
#include "batch/streaming.h"
#include "satin/row_files.h"

// A batch: its files overlap, so that others are read and written while one is filtered. The first half of
// this file is the flow graph that does so; the second half prepares and runs a batch.

namespace satin::batch {
namespace {

using Flight = std::shared_ptr<FileInFlight>;

/// Queue of finished files for the thread that started the batch.
class Arrivals {
 public:
  void put(Flight flight) {
    {
      const std::lock_guard lock(mutex_);
      flights_.push_back(std::move(flight));
    }
    changed_.notify_one();
  }

  /// Waits for at least one file.
  std::vector<Flight> take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !flights_.empty(); });
    return std::exchange(flights_, {});
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Flight> flights_;
};

/// A file and the chain that filters it.
using Job = std::pair<Flight, FilterChain*>;

/// Pairs files that have been read with free chains.
class Waiting {
 public:
  [[nodiscard]] std::optional<Job> add(Flight flight) {
    const std::lock_guard lock(mutex_);
    flights_.push_back(std::move(flight));
    return take();
  }

  [[nodiscard]] std::optional<Job> add(FilterChain& chain) {
    const std::lock_guard lock(mutex_);
    chains_.push_back(&chain);
    return take();
  }

 private:
  std::optional<Job> take() {
    if (flights_.empty() || chains_.empty()) return std::nullopt;
    Job job{std::move(flights_.front()), chains_.back()};
    flights_.pop_front();
    chains_.pop_back();
    return job;
  }

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
                 begin(waiting.add(flight));
               }),
          filter(
              graph, tbb::flow::unlimited, [this, &work](const Job& job) { run(work, job); },
              tbb::flow::node_priority_t(2)),
          write(
              graph, tbb::flow::unlimited,
              [&work, &arrivals](const Flight& flight) {
                work.write(*flight);
                arrivals.put(flight);
              },
              tbb::flow::node_priority_t(1)) {
      for (FilterChain* chain : work.first_chains()) begin(waiting.add(*chain));
    }

    void begin(const std::optional<Job>& job) {
      if (job) filter.try_put(*job);
    }

    void run(FileWork& work, const Job& job) {
      const auto& [flight, chain] = job;
      const FilterChains::Next next = work.filter(*flight, *chain);
      if (next.again)
        begin(waiting.add(flight));
      else
        write.try_put(flight);
      for (FilterChain* free : next.free) begin(waiting.add(*free));
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
    for (Flight& flight : arrivals.take()) {
      memory.give_back(flight->share);
      arrived.emplace(flight->index, std::move(flight));
    }
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

/// `finds_many` searches for the inputs and returns whether there may be several.
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
  work.options.list = std::string();  // frees their memory
  work.options.inputs = std::vector<std::filesystem::path>();
  work.pipeline = pipeline;
  return work;
}

/// Names the outputs of these inputs and checks that they differ.
void take_files(Batch& work, batch::InputList inputs) {
  const OutputKind kind = output_kind(work.pipeline);
  batch::check_output_name(inputs, work.options, kind);
  work.folder_output = batch::output_is_folder(inputs, work.options);
  work.files = std::move(inputs.files);
  work.unread = std::move(inputs.unread);
  batch::choose_stand_ins(work);
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

/// Whether an output exists that the manifest should know and does not.
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
    batch::set_series_index(work, i, result);
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

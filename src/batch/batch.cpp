#include "satin/batch.h"

#include <oneapi/tbb/concurrent_queue.h>
#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/task_arena.h>

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "batch/file_names.h"
#include "batch/file_work.h"
#include "batch/filter_chains.h"
#include "batch/picture_memory.h"
#include "batch/preparation.h"
#include "batch/side_inputs.h"
#include "satin/io.h"
#include "satin/row_files.h"

// Runs batches that preparation.cpp has prepared. A flow graph overlaps the stages of files (file_work.h), so
// that others are read and written while one is filtered.

namespace satin::batch {
namespace {

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

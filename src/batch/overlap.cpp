#include "batch/overlap.h"

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/task_arena.h>

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace satin::batch {
namespace {

using Flight = std::shared_ptr<FileInFlight>;

/// Files that are done, on their way to the thread that waits for them.
class Arrivals {
 public:
  void put(Flight flight) {
    {
      const std::lock_guard lock(mutex_);
      flights_.push_back(std::move(flight));
    }
    changed_.notify_one();
  }

  /// Waits for one at least.
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

/// A picture and the chain that filters it.
using Job = std::pair<Flight, FilterChain*>;

/// Pictures that are read and chains that are free, until one of each is there.
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

/// read -> filter -> write as a flow graph. Threads prefer what comes last: a device that has no picture does
/// not wait for a decoder, and pictures that are done make room. The calling thread feeds the graph and never
/// works in it, so it may wait for room.
class Graph {
 public:
  Graph(FileWork& work, Arrivals& arrivals, int threads)
      // One thread more than there are cores to run on while another waits for the disk; the caller waits
      // too.
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

}  // namespace

void run_overlapped(FileWork& work, PictureMemory& memory, std::size_t count, int threads,
                    const std::function<bool(FileInFlight& flight)>& tell) {
  const int used = threads > 0 ? threads : tbb::info::default_concurrency();
  const std::size_t most_in_flight = 3 * static_cast<std::size_t>(used) + 2;  // some in every stage
  Arrivals arrivals;
  std::map<std::size_t, Flight> arrived;  // and not yet told of, because one before is not there
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

}  // namespace satin::batch

#include "batch/overlap.h"

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/task_arena.h>

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
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

/// read -> filter -> write as a flow graph. A picture waits to be filtered until a chain is free. The calling
/// thread feeds the graph and never works in it, so it may wait for room.
class Lanes {
 public:
  Lanes(FileWork& work, Arrivals& arrivals, int threads)
      // One thread more than there are cores to run on while another waits for the disk; the caller waits
      // too.
      : control_(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads) + 2),
        arena_(threads + 1, 0) {
    arena_.execute([&] { graph_.emplace(work, arrivals); });
  }
  ~Lanes() { graph_->graph.wait_for_all(); }
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  void put(Flight flight) { graph_->read.try_put(std::move(flight)); }

 private:
  using Filtered = std::tuple<Flight, FilterChain*>;

  struct Graph {
    Graph(FileWork& work, Arrivals& arrivals)
        : read(graph, tbb::flow::unlimited,
               [&work](const Flight& flight) {
                 work.read(*flight);
                 return flight;
               }),
          pictures(graph),
          chains(graph),
          pairs(graph),
          filter(graph, tbb::flow::unlimited, [this, &work](const Filtered& pair) { run(work, pair); }),
          write(graph, tbb::flow::unlimited, [&work, &arrivals](const Flight& flight) {
            work.write(*flight);
            arrivals.put(flight);
          }) {
      tbb::flow::make_edge(read, pictures);
      tbb::flow::make_edge(pictures, tbb::flow::input_port<0>(pairs));
      tbb::flow::make_edge(chains, tbb::flow::input_port<1>(pairs));
      tbb::flow::make_edge(pairs, filter);
      for (FilterChain* chain : work.first_chains()) chains.try_put(chain);
    }

    void run(FileWork& work, const Filtered& pair) {
      const auto& [flight, chain] = pair;
      const FilterChains::Next next = work.filter(*flight, *chain);
      for (FilterChain* free : next.free) chains.try_put(free);
      if (next.again)
        pictures.try_put(flight);
      else
        write.try_put(flight);
    }

    tbb::flow::graph graph;
    tbb::flow::function_node<Flight, Flight> read;
    tbb::flow::queue_node<Flight> pictures;       ///< that are read
    tbb::flow::buffer_node<FilterChain*> chains;  ///< that are free
    tbb::flow::join_node<Filtered, tbb::flow::reserving> pairs;
    tbb::flow::function_node<Filtered> filter;
    tbb::flow::function_node<Flight> write;
  };

  tbb::global_control control_;
  tbb::task_arena arena_;
  std::optional<Graph> graph_;
};

}  // namespace

void run_overlapped(FileWork& work, PictureMemory& memory, std::size_t count, int threads,
                    const std::function<bool(FileInFlight& flight)>& tell) {
  const int used = threads > 0 ? threads : tbb::info::default_concurrency();
  const std::size_t most_in_flight = 3 * static_cast<std::size_t>(used) + 2;  // some in every stage
  Arrivals arrivals;
  std::map<std::size_t, Flight> arrived;  // and not yet told of, because one before is not there
  Lanes lanes(work, arrivals, used);
  std::size_t begun = 0;
  std::size_t told = 0;
  bool more = true;
  std::optional<FileInFlight> next;
  while (told < begun || (more && begun < count)) {
    while (more && begun < count && begun - told < most_in_flight) {
      if (!next) next = work.begin(begun);
      if (!memory.has_room(next->share)) break;
      memory.take(next->share);
      lanes.put(std::make_shared<FileInFlight>(std::move(*next)));
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

#include "measure.h"

#include <chrono>
#include <cstring>

#include "inputs.h"
#include "satin/scan.h"
#include "study.h"
#include "table.h"

namespace study {

namespace {

constexpr std::uint32_t seed = 1;
constexpr Index counted_up_to = 1 << 20;  // larger sizes use the formulas, which the check proves equal

/// Returns the fastest of up to ten runs within 50 ms: other programs can only add to a time.
template <class Prepare, class Run>
double least_milliseconds(Prepare prepare, Run run) {
  double least = 1e300;
  double sum = 0;
  for (int runs = 0; runs == 0 || (sum < 50 && runs < 10); ++runs) {
    prepare();
    const auto start = std::chrono::steady_clock::now();
    run();
    const double time =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    least = std::min(least, time);
    sum += time;
  }
  return least;
}

Cost cost_of(const Algorithm& algorithm, Index n) {
  if (n > std::min(counted_up_to, algorithm.largest)) return algorithm.formula(n);
  const auto study = algorithm.make(n, seed);
  Counting counting;
  study->prepare();
  study->run(counting);
  return counting.cost();
}

double time_of(const Algorithm& algorithm, Index n) {
  const auto study = algorithm.make(n, seed);
  Bare bare;
  return least_milliseconds([&] { study->prepare(); }, [&] { study->run(bare); });
}

/// A copy: the bound for everything that reads n words and writes n words.
double time_of_copy(Index n) {
  const std::vector<std::uint32_t> from = random_words(n, seed);
  std::vector<std::uint32_t> to(from.size());
  return least_milliseconds([] {},
                            [&] { std::memcpy(to.data(), from.data(), from.size() * sizeof from[0]); });
}

/// The library's scan, on all cores.
double time_of_library(Index n) {
  const satin::Device device = satin::Device::open("cpu");
  const std::vector<std::uint32_t> values = random_words(n, seed);
  std::vector<std::uint32_t> result(values.size());
  return least_milliseconds([] {}, [&] { satin::inclusive_scan(device, values, result); });
}

/// Runs all in turns, three times, so that they see the same machine.
std::vector<Measurement> measure_size(Index n) {
  constexpr int rounds = 3;
  const Cost uncounted{0, 0, 8 * n};
  std::vector<Measurement> rows{{"copy", n, uncounted, 1e300}, {"library", n, uncounted, 1e300}};
  std::vector<std::function<double()>> times{[n] { return time_of_copy(n); },
                                             [n] { return time_of_library(n); }};
  for (const Algorithm& algorithm : algorithms()) {
    if (n > algorithm.largest) continue;
    rows.push_back({algorithm.name, n, cost_of(algorithm, n), 1e300});
    times.emplace_back([&algorithm, n] { return time_of(algorithm, n); });
  }
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < rows.size(); ++i)
      rows[i].milliseconds = std::min(rows[i].milliseconds, times[i]());
  return rows;
}

/// Returns an empty text for runs that do not count operations.
std::string count_or_dash(const Measurement& row, Index count) {
  return row.cost.operations > 0 ? std::to_string(count) : "-";
}

}  // namespace

std::vector<Measurement> measure(Index max_n) {
  std::vector<Measurement> rows;
  for (Index n = 1000; n <= max_n; n *= 10) {
    std::vector<Measurement> more = measure_size(n);
    rows.insert(rows.end(), more.begin(), more.end());
  }
  return rows;
}

void print_table(std::ostream& out, const std::vector<Measurement>& rows) {
  Table table({"algorithm", "n", "operations", "depth", "bytes", "operations / byte", "ms", "ns / value"});
  for (const Measurement& row : rows)
    table.add({row.name, std::to_string(row.n), count_or_dash(row, row.cost.operations),
               count_or_dash(row, row.cost.depth), std::to_string(row.cost.bytes), fixed(row.intensity(), 3),
               fixed(row.milliseconds, 4), fixed(row.nanoseconds_per_value(), 2)});
  table.print(out);
}

void print_table(std::ostream& out, const std::vector<GpuTime>& rows) {
  Table table({"kernel", "n", "ms", "ns / value", "copy ms", "copy / kernel", "CUB ms", "CUB / kernel"});
  for (const GpuTime& row : rows) {
    const bool peer = row.peer_milliseconds > 0;
    table.add({row.name, std::to_string(row.n), fixed(row.milliseconds, 4),
               fixed(row.milliseconds * 1e6 / static_cast<double>(row.n), 4), fixed(row.copy_milliseconds, 4),
               fixed(row.copy_milliseconds / row.milliseconds, 2),
               peer ? fixed(row.peer_milliseconds, 4) : "-",
               peer ? fixed(row.peer_milliseconds / row.milliseconds, 2) : "-"});
  }
  table.print(out);
}

void print_costs(std::ostream& out) {
  Table table({"algorithm", "n", "operations", "depth", "bytes", "operations / byte"});
  for (const Index n : {Index{1024}, Index{1} << 20})
    for (const Algorithm& algorithm : algorithms()) {
      const Measurement row{algorithm.name, n, cost_of(algorithm, n), 0};
      table.add({row.name, std::to_string(n), std::to_string(row.cost.operations),
                 std::to_string(row.cost.depth), std::to_string(row.cost.bytes), fixed(row.intensity(), 3)});
    }
  table.print(out);
}

void print_json(std::ostream& out, const std::vector<Measurement>& rows,
                const std::vector<GpuTime>& gpu_rows) {
  out << "{\"cpu\": [";
  const char* separator = "\n  ";
  for (const Measurement& row : rows) {
    out << separator << "{\"algorithm\": \"" << row.name << "\", \"n\": " << row.n
        << ", \"operations\": " << row.cost.operations << ", \"depth\": " << row.cost.depth
        << ", \"bytes\": " << row.cost.bytes << ", \"milliseconds\": " << row.milliseconds << '}';
    separator = ",\n  ";
  }
  out << "],\n\"gpu_name\": \"" << gpu_name() << "\",\n\"gpu\": [";
  separator = "\n  ";
  for (const GpuTime& row : gpu_rows) {
    out << separator << "{\"kernel\": \"" << row.name << "\", \"n\": " << row.n
        << ", \"milliseconds\": " << row.milliseconds << ", \"copy_milliseconds\": " << row.copy_milliseconds
        << ", \"cub_milliseconds\": ";
    if (row.peer_milliseconds > 0)
      out << row.peer_milliseconds << '}';
    else
      out << "null}";
    separator = ",\n  ";
  }
  out << "]}\n";
}

}  // namespace study

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
constexpr Index counted_up_to = 1'000'000;  // from there on the formulas, which the check proves equal

/// The fastest of several runs, as other programs only ever add to a time: at least three, more while they
/// take less than 0.2 s together.
template <class Prepare, class Run>
double least_milliseconds(Prepare prepare, Run run) {
  double least = 1e300;
  double sum = 0;
  for (int runs = 0; runs < 3 || (sum < 200 && runs < 51); ++runs) {
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

Measurement measure(const Algorithm& algorithm, Index n) {
  const auto study = algorithm.make(n, seed);
  Measurement row{algorithm.name, n, algorithm.formula(n), 0};
  if (n <= counted_up_to) {
    Counting counting;
    study->prepare();
    study->run(counting);
    row.cost = counting.cost();
  }
  Bare bare;
  row.milliseconds = least_milliseconds([&] { study->prepare(); }, [&] { study->run(bare); });
  return row;
}

/// What nothing can beat that reads n words and writes n words.
Measurement measure_copy(Index n) {
  const std::vector<std::uint32_t> from = random_words(n, seed);
  std::vector<std::uint32_t> to(from.size());
  return {
      "copy",
      n,
      {0, 0, 8 * n},
      least_milliseconds([] {}, [&] { std::memcpy(to.data(), from.data(), from.size() * sizeof from[0]); })};
}

/// The library's scan, which takes all cores.
Measurement measure_library(Index n) {
  const satin::Device device = satin::Device::open("cpu");
  const std::vector<std::uint32_t> values = random_words(n, seed);
  std::vector<std::uint32_t> result(values.size());
  return {"library",
          n,
          {0, 0, 8 * n},
          least_milliseconds([] {}, [&] { satin::inclusive_scan(device, values, result); })};
}

/// Nothing for what does not count its operations.
std::string count_or_dash(const Measurement& row, Index count) {
  return row.cost.operations > 0 ? std::to_string(count) : "-";
}

}  // namespace

std::vector<Measurement> measure(Index max_n) {
  std::vector<Measurement> rows;
  for (Index n = 1000; n <= max_n; n *= 10) {
    rows.push_back(measure_copy(n));
    rows.push_back(measure_library(n));
    for (const Algorithm& algorithm : algorithms())
      if (n <= algorithm.largest) rows.push_back(measure(algorithm, n));
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
      const auto study = algorithm.make(n, seed);
      Counting counting;
      study->prepare();
      study->run(counting);
      const Measurement row{algorithm.name, n, counting.cost(), 0};
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

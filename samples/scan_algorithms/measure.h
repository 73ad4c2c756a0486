#pragma once
// Tables of the costs and times of the algorithms.

#include <ostream>
#include <string>
#include <vector>

#include "gpu.h"
#include "machine.h"

namespace study {

struct Measurement {
  std::string name;
  Index n = 0;
  Cost cost;
  double milliseconds = 0;

  [[nodiscard]] double intensity() const {
    return static_cast<double>(cost.operations) / static_cast<double>(cost.bytes);
  }
  [[nodiscard]] double nanoseconds_per_value() const { return milliseconds * 1e6 / static_cast<double>(n); }
};

/// Measures every algorithm, a copy and the library for n = 1000, 10000, ..., max_n.
std::vector<Measurement> measure(Index max_n);

void print_table(std::ostream& out, const std::vector<Measurement>& rows);
void print_table(std::ostream& out, const std::vector<GpuTime>& rows);
void print_json(std::ostream& out, const std::vector<Measurement>& rows,
                const std::vector<GpuTime>& gpu_rows);

/// Prints counted costs without times, which are equal on every machine.
void print_costs(std::ostream& out);

}  // namespace study

#pragma once
// The tables: what the algorithms cost, and how long they take.

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

/// Every algorithm for n = 1000, 10000 ... max_n, and a copy and the library beside them.
std::vector<Measurement> measure(Index max_n);

void print_table(std::ostream& out, const std::vector<Measurement>& rows);
void print_table(std::ostream& out, const std::vector<GpuTime>& rows);
void print_json(std::ostream& out, const std::vector<Measurement>& rows,
                const std::vector<GpuTime>& gpu_rows);

/// Counted costs without times: the same on every machine.
void print_costs(std::ostream& out);

}  // namespace study

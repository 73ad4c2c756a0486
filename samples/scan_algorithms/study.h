#pragma once
// The algorithms of the study, each of which is counted, timed, checked and traced.

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "machine.h"

namespace study {

/// Sizes on the machine. A block has the size that GPUs use; a tile of the chained scan fits the fastest
/// cache.
constexpr Index block_size = 1024;
constexpr Index tile_size = 4096;
constexpr Index resident_tiles = 1024;
constexpr Index bin_count = 8;
constexpr int pixel_bits = 8;

/// An algorithm with its arrays, at one size.
class Study {
 public:
  Study() = default;
  Study(const Study&) = delete;
  Study& operator=(const Study&) = delete;
  virtual ~Study() = default;

  virtual void prepare() = 0;               ///< resets the inputs and poisons the outputs
  virtual void run(Bare& machine) = 0;      ///< after prepare()
  virtual void run(Counting& machine) = 0;  ///< after prepare()
  [[nodiscard]] virtual std::string difference()
      const = 0;  ///< difference from the library's result; empty if none
};

struct Algorithm {
  std::string name;
  std::string title;
  Index largest = 100'000'000;  ///< sizes above are neither measured nor checked
  std::function<std::unique_ptr<Study>(Index n, std::uint32_t seed)> make;
  std::function<Cost(Index n)> formula;  ///< closed form of the cost that Counting counts
  std::function<void(std::ostream&)> trace;
};

const std::vector<Algorithm>& algorithms();

/// Throws std::invalid_argument with the names of all algorithms for an unknown one.
const Algorithm& algorithm_named(const std::string& name);

/// Checks every algorithm against the library or std::nth_element, and every count against its formula.
/// Prints all errors and a summary. Returns whether there are no errors.
bool check(std::ostream& out);

// Traces: the steps of each algorithm on eight elements, as printed on the page.

void trace_sequential(std::ostream& out);
void trace_hillis_steele(std::ostream& out);
void trace_blelloch(std::ostream& out);
void trace_hillis_steele_blocks(std::ostream& out);
void trace_blelloch_blocks(std::ostream& out);
void trace_chained(std::ostream& out);
void trace_segmented(std::ostream& out);
void trace_moving_average(std::ostream& out);
void trace_bins(std::ostream& out);
void trace_split_sort(std::ostream& out);
void trace_wavelet_matrix(std::ostream& out);
void trace_window_medians(std::ostream& out);

}  // namespace study

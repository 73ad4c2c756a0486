#pragma once
// The list of algorithms, and how one is run: counted, timed, checked, traced.

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "machine.h"

namespace study {

/// Sizes on the machine. Blocks are what GPUs have; a tile of the chained scan is as many values as stay in
/// the fastest cache.
constexpr Index block_size = 1024;
constexpr Index tile_size = 4096;
constexpr Index resident_tiles = 1024;
constexpr Index bin_count = 8;
constexpr int pixel_bits = 8;

/// One algorithm with its arrays, at one size.
class Study {
 public:
  Study() = default;
  Study(const Study&) = delete;
  Study& operator=(const Study&) = delete;
  virtual ~Study() = default;

  virtual void prepare() = 0;                                ///< inputs as at first, outputs poisoned
  virtual void run(Bare& machine) = 0;                       ///< after prepare()
  virtual void run(Counting& machine) = 0;                   ///< after prepare()
  [[nodiscard]] virtual std::string difference() const = 0;  ///< from the library's result; empty if none
};

struct Algorithm {
  std::string name;
  std::string title;
  Index largest = 100'000'000;  ///< sizes above are neither measured nor checked
  std::function<std::unique_ptr<Study>(Index n, std::uint32_t seed)> make;
  std::function<Cost(Index n)> formula;  ///< what Counting must count, in closed form
  std::function<void(std::ostream&)> trace;
};

const std::vector<Algorithm>& algorithms();

/// Throws std::invalid_argument naming the algorithms that there are.
const Algorithm& algorithm_named(const std::string& name);

}  // namespace study

// The list of algorithms, each with its arrays.

#include <algorithm>
#include <bit>
#include <limits>
#include <stdexcept>
#include <thread>

#include "bins.h"
#include "blelloch.h"
#include "blocks.h"
#include "chained.h"
#include "expected.h"
#include "formulas.h"
#include "hillis_steele.h"
#include "inputs.h"
#include "sequential.h"
#include "split_sort.h"
#include "study.h"
#include "wavelet_matrix.h"

namespace study {

namespace {

using Words = std::vector<std::uint32_t>;
constexpr std::uint32_t poison = 0xDEADBEEF;

/// Runs the template `run_on` of an algorithm on either machine.
template <class Self>
class RunsOn : public Study {
 public:
  void run(Bare& machine) override { static_cast<Self*>(this)->run_on(machine); }
  void run(Counting& machine) override { static_cast<Self*>(this)->run_on(machine); }
};

/// Algorithms that sum words.
class Sums {
 public:
  Sums(Index n, std::uint32_t seed) : n_(n), input_(random_words(n, seed)) {}

 protected:
  Index n_;
  Words input_;
};

class Sequential final : Sums, public RunsOn<Sequential> {
 public:
  using Sums::Sums;
  void prepare() override { result_.assign(input_.size(), poison); }
  template <class Machine>
  void run_on(Machine& m) {
    sequential(m, m.memory(std::span<const std::uint32_t>(input_)), m.memory(std::span(result_)), n_, Sum{});
  }
  [[nodiscard]] std::string difference() const override {
    return study::difference(result_, inclusive_sums(input_));
  }

 private:
  Words result_;
};

class HillisSteele final : Sums, public RunsOn<HillisSteele> {
 public:
  using Sums::Sums;
  void prepare() override {
    x_ = input_;
    y_.assign(input_.size(), poison);
  }
  template <class Machine>
  void run_on(Machine& m) {
    hillis_steele(m, m.memory(std::span(x_)), m.memory(std::span(y_)), n_, Sum{});
  }
  [[nodiscard]] std::string difference() const override {
    const bool odd_steps = std::bit_width(static_cast<std::uint64_t>(n_ - 1)) % 2 == 1;
    return study::difference(odd_steps ? y_ : x_, inclusive_sums(input_));
  }

 private:
  Words x_, y_;
};

class Blelloch final : Sums, public RunsOn<Blelloch> {
 public:
  using Sums::Sums;
  void prepare() override {
    x_ = input_;
    x_.resize(std::bit_ceil(input_.size()), Sum::identity());
  }
  template <class Machine>
  void run_on(Machine& m) {
    blelloch(m, m.memory(std::span(x_)), std::ssize(x_), Sum{});
  }
  [[nodiscard]] std::string difference() const override {
    return study::difference(std::span(x_).first(input_.size()), exclusive_sums(input_));
  }

 private:
  Words x_;
};

template <class InBlock>
class Blocks final : Sums, public RunsOn<Blocks<InBlock>> {
 public:
  using Sums::Sums;
  void prepare() override { result_.assign(input_.size(), poison); }
  template <class Machine>
  void run_on(Machine& m) {
    scan_blocks(m, m.memory(std::span<const std::uint32_t>(input_)), m.memory(std::span(result_)), n_,
                block_size, Sum{}, InBlock{});
  }
  [[nodiscard]] std::string difference() const override {
    return study::difference(result_, exclusive_sums(input_));
  }

 private:
  Words result_;
};

/// The chained scan: counted in lock step, timed with threads.
template <class Load, class Store, class Op>
void run_chained(Counting& m, Index n, Load load, Store store, Op op) {
  chained(m, n, tile_size, resident_tiles, load, store, op);
}
template <class Load, class Store, class Op>
void run_chained(Bare&, Index n, Load load, Store store, Op op) {
  const int threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  chained_by_threads(n, tile_size, threads, load, store, op);
}

class Chained final : Sums, public RunsOn<Chained> {
 public:
  using Sums::Sums;
  void prepare() override { result_.assign(input_.size(), poison); }
  template <class Machine>
  void run_on(Machine& m) {
    const auto x = m.memory(std::span<const std::uint32_t>(input_));
    const auto y = m.memory(std::span(result_));
    run_chained(
        m, n_, [x](Index i) -> std::uint32_t { return x[i]; },
        [y](Index i, std::uint32_t sum) { y[i] = sum; }, Sum{});
  }
  [[nodiscard]] std::string difference() const override {
    return study::difference(result_, inclusive_sums(input_));
  }

 private:
  Words result_;
};

class Segmented final : Sums, public RunsOn<Segmented> {
 public:
  Segmented(Index n, std::uint32_t seed) : Sums(n, seed), heads_(random_heads(n, seed)) {}
  void prepare() override { result_.assign(input_.size(), poison); }
  template <class Machine>
  void run_on(Machine& m) {
    const auto x = m.memory(std::span<const std::uint32_t>(input_));
    const auto heads = m.memory(std::span<const std::uint8_t>(heads_));
    const auto y = m.memory(std::span(result_));
    run_chained(
        m, n_,
        [x, heads](Index i) {
          return Flagged{heads[i], x[i]};
        },
        [y](Index i, const Flagged& state) { y[i] = state.value; }, FlaggedSum{});
  }
  [[nodiscard]] std::string difference() const override {
    return study::difference(result_, segmented_sums(input_, heads_));
  }

 private:
  std::vector<std::uint8_t> heads_;
  Words result_;
};

class SplitSort final : Sums, public RunsOn<SplitSort> {
 public:
  using Sums::Sums;
  void prepare() override {
    keys_ = input_;
    keys_.resize(std::max<std::size_t>(block_size, std::bit_ceil(keys_.size())),
                 std::numeric_limits<std::uint32_t>::max());
  }
  template <class Machine>
  void run_on(Machine& m) {
    split_sort(m, m.memory(std::span(keys_)), std::ssize(keys_), block_size);
  }
  [[nodiscard]] std::string difference() const override {
    return study::difference(std::span(keys_).first(input_.size()), sorted_keys(input_));
  }

 private:
  Words keys_;
};

class BinExtraction final : public RunsOn<BinExtraction> {
 public:
  BinExtraction(Index n, std::uint32_t seed) : n_(n), input_(random_floats(n, seed)) {}
  void prepare() override {
    result_.assign(input_.size(), -1e30F);
    offsets_.assign(input_.size(), poison);
    counts_.clear();
  }
  template <class Machine>
  void run_on(Machine& m) {
    counts_ = extract_bins(m, m.memory(std::span<const float>(input_)), m.memory(std::span(result_)),
                           m.memory(std::span(offsets_)), n_, bin_count, block_size);
  }
  [[nodiscard]] std::string difference() const override {
    const BinnedValues expected = binned_values(input_, bin_count);
    if (counts_ != expected.counts) return "other counts of bins";
    return study::difference(result_, expected.values, 0);
  }

 private:
  Index n_;
  std::vector<float> input_, result_;
  Words offsets_;
  std::vector<Index> counts_;
};

class MovingAverage final : public RunsOn<MovingAverage> {
 public:
  MovingAverage(Index n, std::uint32_t seed) : n_(n), input_(random_floats(n, seed)) {}
  void prepare() override { result_.assign(input_.size(), -1e30F); }
  template <class Machine>
  void run_on(Machine& m) {
    const auto x = m.memory(std::span<const float>(input_));
    const auto y = m.memory(std::span(result_));
    run_chained(
        m, n_, [x](Index i) { return Smoothing::of(static_cast<double>(static_cast<float>(x[i]))); },
        [y](Index i, const Smoothed& state) { y[i] = static_cast<float>(state.value); }, Smoothing{});
  }
  [[nodiscard]] std::string difference() const override {
    return study::difference(result_, moving_averages(input_), 1e-6);
  }

 private:
  Index n_;
  std::vector<float> input_, result_;
};

class RangeMedians final : public RunsOn<RangeMedians> {
 public:
  RangeMedians(Index n, std::uint32_t seed)
      : n_(n), input_(random_values(n, pixel_bits, seed)), matrix_(n, pixel_bits) {}
  void prepare() override {
    to_.assign(input_.size(), poison);
    spare_ = result_ = to_;
    matrix_ = WaveletMatrix(n_, pixel_bits);
  }
  template <class Machine>
  void run_on(Machine& m) {
    build_wavelet_matrix(m, m.memory(std::span(input_)), m.memory(std::span(to_)),
                         m.memory(std::span(spare_)), matrix_, block_size, word_itself);
    const auto result = m.memory(std::span(result_));
    m.together(n_, [&](Index i) {
      const Range range = range_around(i, n_, random_reach(i));
      result[i] = kth_smallest(m, matrix_, range, median_rank(range.size()));
    });
  }
  [[nodiscard]] std::string difference() const override {
    return study::difference(result_, window_medians(input_, n_));
  }

 private:
  Index n_;
  Words input_, to_, spare_, result_;
  WaveletMatrix matrix_;
};

class WindowMedians final : public RunsOn<WindowMedians> {
 public:
  WindowMedians(Index n, std::uint32_t seed)
      : width_(picture_width(n)),
        height_(picture_height(n)),
        input_(random_values(width_ * height_, pixel_bits, seed)),
        orders_(input_, width_),
        matrix_(width_, height_, pixel_bits) {}
  void prepare() override {
    orders_ = PixelOrders(input_, width_);
    matrix_ = PictureMatrix(width_, height_, pixel_bits);
    result_.assign(input_.size(), poison);
  }
  template <class Machine>
  void run_on(Machine& m) {
    build_picture_matrix(m, orders_, matrix_, block_size);
    const auto result = m.memory(std::span(result_));
    m.together(width_ * height_, [&](Index i) {
      const Window window = window_around(i, width_, height_, random_reach(i));
      result[i] = kth_smallest_in_window(m, matrix_, window, median_rank(window.size()));
    });
  }
  [[nodiscard]] std::string difference() const override {
    return study::difference(result_, window_medians(input_, width_));
  }

 private:
  Index width_, height_;
  Words input_, result_;
  PixelOrders orders_;
  PictureMatrix matrix_;
};

template <class S>
std::unique_ptr<Study> make(Index n, std::uint32_t seed) {
  return std::make_unique<S>(n, seed);
}

Cost chained_cost(Index n, const Traffic& traffic) {
  return cost_of_chained(n, tile_size, resident_tiles, traffic);
}

std::vector<Algorithm> make_list() {
  constexpr Index all = 100'000'000;
  return {
      {"sequential", "one processor", all, make<Sequential>, cost_of_sequential, trace_sequential},
      {"hillis_steele", "Hillis-Steele", all, make<HillisSteele>, cost_of_hillis_steele, trace_hillis_steele},
      {"blelloch", "Blelloch, in memory", all, make<Blelloch>, cost_of_blelloch, trace_blelloch},
      {"hillis_steele_blocks", "Hillis-Steele in blocks", all, make<Blocks<HillisSteeleInBlock>>,
       [](Index n) { return cost_of_hillis_steele_blocks(n, block_size); }, trace_hillis_steele_blocks},
      {"blelloch_blocks", "Blelloch in blocks", all, make<Blocks<BlellochInBlock>>,
       [](Index n) { return cost_of_blelloch_blocks(n, block_size); }, trace_blelloch_blocks},
      {"chained", "chained, look-back", all, make<Chained>, [](Index n) { return chained_cost(n, {}); },
       trace_chained},
      {"segmented", "segmented, chained", all, make<Segmented>,
       [](Index n) { return chained_cost(n, {.in = 5, .out = 4, .state = sizeof(Flagged)}); },
       trace_segmented},
      {"moving_average", "moving average, chained", all, make<MovingAverage>,
       [](Index n) { return chained_cost(n, {.in = 4, .out = 4, .state = sizeof(Smoothed)}); },
       trace_moving_average},
      {"bins", "extraction of 8 bins", 10'000'000, make<BinExtraction>,
       [](Index n) { return cost_of_bins(n, bin_count, block_size); }, trace_bins},
      {"split_sort", "split sort, bitonic merge", 2'000'000, make<SplitSort>,
       [](Index n) { return cost_of_split_sort(n, block_size); }, trace_split_sort},
      {"wavelet_matrix", "medians of ranges, wavelet matrix", 2'000'000, make<RangeMedians>,
       [](Index n) { return cost_of_wavelet_matrix(n, pixel_bits, block_size); }, trace_wavelet_matrix},
      {"window_medians", "medians of windows, wavelet matrix", 100'000, make<WindowMedians>,
       [](Index n) {
         return cost_of_window_medians(picture_width(n), picture_height(n), pixel_bits, block_size);
       },
       trace_window_medians},
  };
}

}  // namespace

const std::vector<Algorithm>& algorithms() {
  static const std::vector<Algorithm> list = make_list();
  return list;
}

const Algorithm& algorithm_named(const std::string& name) {
  std::string names;
  for (const Algorithm& algorithm : algorithms()) {
    if (algorithm.name == name) return algorithm;
    names += ' ' + algorithm.name;
  }
  throw std::invalid_argument("There is no algorithm '" + name + "'; there are:" + names + '.');
}

}  // namespace study

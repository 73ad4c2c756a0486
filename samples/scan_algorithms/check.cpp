#include "study.h"

#include <bit>
#include <sstream>

#include "bins.h"
#include "blocks.h"
#include "chained.h"
#include "expected.h"
#include "formulas.h"
#include "gpu.h"
#include "inputs.h"
#include "wavelet_matrix.h"

namespace study {

namespace {

constexpr Index sizes[] = {1, 2, 3, 8, 31, 32, 33, 1000, 1023, 1024, 1025, 4096, 4097, 33'333};
constexpr Index large_sizes[] = {(1 << 20) - 1, 1 << 20, (1 << 20) + 1};
constexpr std::uint32_t seed = 20;

std::string text_of_cost(const Cost& cost) {
  return std::to_string(cost.operations) + " operations, depth " + std::to_string(cost.depth) + ", " +
         std::to_string(cost.bytes) + " bytes";
}

/// Collects errors.
class Report {
 public:
  explicit Report(std::ostream& out) : out_(out) {}

  void expect_none(const std::string& what, Index n, const std::string& difference) {
    ++checks_;
    if (difference.empty()) return;
    ++failures_;
    out_ << "WRONG: " << what << ", n = " << n << ": " << difference << '\n';
  }
  void expect_cost(const std::string& what, Index n, const Cost& counted, const Cost& formula) {
    expect_none(what, n,
                counted == formula ? "" : text_of_cost(counted) + " instead of " + text_of_cost(formula));
  }
  bool finish() {
    out_ << checks_ << " checks, " << failures_ << " wrong\n";
    return failures_ == 0;
  }

 private:
  std::ostream& out_;
  int checks_ = 0;
  int failures_ = 0;
};

void check_algorithm(const Algorithm& algorithm, Report& report) {
  for (const Index n : sizes) {
    const auto study = algorithm.make(n, seed + static_cast<std::uint32_t>(n));
    for (const Order order : {Order::ascending, Order::descending}) {
      Counting counting(order);
      study->prepare();
      study->run(counting);
      report.expect_none(algorithm.name, n, study->difference());
      const bool any_order_costs_the_same = n <= 2 * tile_size;  // a look-back over three tiles does not
      if (order == Order::descending || any_order_costs_the_same)
        report.expect_cost(algorithm.name, n, counting.cost(), algorithm.formula(n));
    }
    Bare bare;
    study->prepare();
    study->run(bare);
    report.expect_none(algorithm.name + ", bare", n, study->difference());
  }
  for (const Index n : large_sizes) {
    if (n > algorithm.largest) continue;
    Bare bare;
    const auto study = algorithm.make(n, seed);
    study->prepare();
    study->run(bare);
    report.expect_none(algorithm.name + ", bare", n, study->difference());
  }
}

/// Many tiles and several waves. Flagged detects operands in the wrong order.
void check_chained_shapes(Report& report) {
  for (const Index n : {1, 2, 7, 100, 1001})
    for (const Index tile : {1, 3, 8})
      for (const Index resident : {1, 2, 5, 2000}) {
        const std::vector<std::uint32_t> input = random_words(n, seed);
        const std::vector<std::uint8_t> heads = random_heads(n, seed);
        const auto expected = segmented_sums(input, heads);
        for (const Order order : {Order::ascending, Order::descending}) {
          std::vector<std::uint32_t> result(input.size(), 0xDEADBEEF);
          Counting m(order);
          const auto x = m.memory(std::span(input));
          const auto flags = m.memory(std::span(heads));
          const auto y = m.memory(std::span(result));
          chained(
              m, n, tile, resident,
              [=](Index i) {
                return Flagged{flags[i], x[i]};
              },
              [=](Index i, const Flagged& state) { y[i] = state.value; }, FlaggedSum{});
          report.expect_none("chained in small tiles", n, difference(result, expected));
          if (order == Order::descending)
            report.expect_cost("chained in small tiles", n, m.cost(),
                               cost_of_chained(n, tile, resident, {.in = 5, .out = 4, .state = 8}));
        }
        std::vector<std::uint32_t> result(input.size(), 0xDEADBEEF);
        chained_by_threads(
            n, tile, 4,
            [&](Index i) {
              const auto at = static_cast<std::size_t>(i);
              return Flagged{heads[at], input[at]};
            },
            [&](Index i, const Flagged& state) { result[static_cast<std::size_t>(i)] = state.value; },
            FlaggedSum{});
        report.expect_none("chained by threads in small tiles", n, difference(result, expected));
      }
}

/// Checks a scan with the segmented operator, which does not commute and so detects swapped operands. `scan`
/// is an exclusive scan of the states in place.
template <class Scan>
void check_operands(const std::string& name, Index n, Scan scan, Report& report) {
  const std::vector<std::uint32_t> input = random_words(n, seed);
  const std::vector<std::uint8_t> heads = random_heads(n, seed);
  std::vector<Flagged> states(std::bit_ceil(input.size()), FlaggedSum::identity());
  for (std::size_t i = 0; i < input.size(); ++i) states[i] = {heads[i], input[i]};
  Counting m;
  scan(m, m.memory(std::span(states)), std::ssize(states));
  std::vector<std::uint32_t> result;
  for (std::size_t i = 0; i < input.size(); ++i)
    result.push_back(FlaggedSum{}(states[i], {heads[i], input[i]}).value);
  report.expect_none(name + " of segments", n, difference(result, segmented_sums(input, heads)));
}

void check_order_of_operands(Report& report) {
  for (const Index n : {2, 5, 32, 1000}) {
    const auto in_memory = [](Counting& m, auto x, Index size) { blelloch(m, x, size, FlaggedSum{}); };
    const auto in_blocks = [](Counting& m, auto x, Index size) {
      scan_blocks(m, x, x, size, 8, FlaggedSum{}, BlellochInBlock{});
    };
    const auto in_wide_blocks = [](Counting& m, auto x, Index size) {
      scan_blocks(m, x, x, size, 64, FlaggedSum{}, HillisSteeleInBlock{});
    };
    check_operands("blelloch", n, in_memory, report);
    check_operands("blelloch_blocks", n, in_blocks, report);
    check_operands("hillis_steele_blocks", n, in_wide_blocks, report);
  }
}

/// Checks many levels of blocks.
void check_small_blocks(Report& report) {
  for (const Index n : {1, 2, 3, 17, 64, 65, 1000}) {
    const std::vector<std::uint32_t> input = random_words(n, seed);
    std::vector<std::uint32_t> result(input.size(), 0xDEADBEEF);
    Counting m;
    scan_blocks(m, m.memory(std::span(input)), m.memory(std::span(result)), n, 2, Sum{}, BlellochInBlock{});
    report.expect_none("blocks of two", n, difference(result, exclusive_sums(input)));
    report.expect_cost("blocks of two", n, m.cost(), cost_of_blelloch_blocks(n, 2));
  }
}

std::vector<Range> all_ranges(Index n) {
  std::vector<Range> ranges;
  for (Index first = 0; first < n; ++first)
    for (Index end = first + 1; end <= n; ++end) ranges.push_back({first, end});
  return ranges;
}

/// Checks every rank of every window of a picture.
std::string first_wrong_window(const PictureMatrix& matrix, std::span<const std::uint32_t> picture,
                               Index height) {
  Bare bare;
  for (const Range& columns : all_ranges(matrix.width))
    for (const Range& rows : all_ranges(height)) {
      const Window window{columns, rows};
      for (Index rank = 1; rank <= window.size(); ++rank)
        if (kth_smallest_in_window(bare, matrix, window, rank) !=
            nth_in_window(picture, matrix.width, window, rank))
          return "rank " + std::to_string(rank) + " of " + std::to_string(columns.size()) + " columns from " +
                 std::to_string(columns.first) + " on and " + std::to_string(rows.size()) + " rows from " +
                 std::to_string(rows.first) + " on";
    }
  return {};
}

/// Checks widths around powers of two, and values of few and of many bits.
void check_windows(Report& report) {
  for (const Index width : {1, 2, 3, 7, 8, 9})
    for (const Index height : {1, 2, 7})
      for (const int bits : {1, 3, 16}) {
        const std::vector<std::uint32_t> picture = random_values(width * height, bits, seed);
        PixelOrders orders(picture, width);
        PictureMatrix matrix(width, height, bits);
        Counting m;
        build_picture_matrix(m, orders, matrix, 8);
        const Index scans = scans_of_picture_matrix(width, bits);
        report.expect_none(
            "scans of a picture", width * height,
            m.scans() == scans ? "" : std::to_string(m.scans()) + " instead of " + std::to_string(scans));
        report.expect_none("windows", width * height, first_wrong_window(matrix, picture, height));
      }
}

/// Checks the counts of the literature, for powers of two.
void check_published_counts(Report& report) {
  for (Index log2 = 1; log2 <= 12; ++log2) {
    const Index n = Index{1} << log2;
    report.expect_none("Hillis-Steele adds n log2 n - n + 1 times", n,
                       cost_of_hillis_steele(n).operations == n * log2 - n + 1 ? "" : "another formula");
    report.expect_none("Blelloch adds 2 (n - 1) times", n,
                       cost_of_blelloch(n).operations == 2 * (n - 1) ? "" : "another formula");
  }
}

/// Checks results that the sources of the page state.
void check_worked_examples(Report& report) {
  const std::vector<std::uint32_t> x{3, 1, 7, 0, 4, 1, 6, 3};
  report.expect_none("the example", 8,
                     difference(inclusive_sums(x), std::vector<std::uint32_t>{3, 4, 11, 11, 15, 16, 22, 25}));
  report.expect_none("the example", 8,
                     difference(exclusive_sums(x), std::vector<std::uint32_t>{0, 3, 4, 11, 11, 15, 16, 22}));
  const std::vector<float> values{3, 1, 4, 1, 5, 9, 2, 6};
  const std::vector<float> smooth{.6F, .68F, 1.344F, 1.2752F, 2.02016F, 3.416128F, 3.1329024F, 3.70632192F};
  report.expect_none("the moving average", 8, difference(moving_averages(values), smooth, 1e-6));
  const std::vector<Index> counts{26, 24, 26, 22, 13, 12, 5, 0};
  report.expect_none("the bins", 128,
                     binned_values(bin_puzzle(), 8).counts == counts ? "" : "other counts than the puzzle's");
  const std::vector<float> ends{1.0F, 0.999F, -0.001F, 0.0F, 2.0F};
  const std::vector<Index> at_ends{2, 0, 0, 0, 0, 0, 0, 3};
  report.expect_none("the bins", 5,
                     binned_values(ends, 8).counts == at_ends ? "" : "other counts at the ends");
}

}  // namespace

bool check(std::ostream& out) {
  Report report(out);
  check_worked_examples(report);
  check_published_counts(report);
  for (const Algorithm& algorithm : algorithms()) check_algorithm(algorithm, report);
  check_small_blocks(report);
  check_windows(report);
  check_order_of_operands(report);
  check_chained_shapes(report);
  check_gpu([&](const std::string& what, Index n, const std::string& difference) {
    report.expect_none(what, n, difference);
  });
  out << gpu_name() << '\n';
  return report.finish();
}

}  // namespace study

#include "study.h"

#include "bins.h"
#include "blelloch.h"
#include "blocks.h"
#include "chained.h"
#include "hillis_steele.h"
#include "inputs.h"
#include "sequential.h"
#include "split_sort.h"
#include "wavelet_matrix.h"

namespace study {

namespace {

using Words = std::vector<std::uint32_t>;

const Words example{3, 1, 7, 0, 4, 1, 6, 3};

void print_cost(std::ostream& out, const Counting& m) {
  out << m.cost().operations << " operations, depth " << m.cost().depth << ", " << m.cost().bytes
      << " bytes\n";
}

void print_scans_and_cost(std::ostream& out, const Counting& m) {
  out << m.scans() << " scans, ";
  print_cost(out, m);
}

/// Prints the names of columns above the rows of a trace.
void print_head(std::ostream& out, int width, std::initializer_list<const char*> names) {
  out << std::string(14, ' ');
  for (const char* name : names) out << ' ' << std::setw(width) << name;
  out << '\n';
}

/// Prints the example, lets `run` work on it in place, and prints the result.
template <class Run>
void trace_in_place(std::ostream& out, Words values, int width, Run run) {
  Counting m(Order::descending, {&out, width});
  const auto x = m.memory(std::span(values));
  m.show("x", -1, x, std::ssize(values));
  run(m, x, std::ssize(values));
  print_cost(out, m);
}

/// Inclusive Hillis-Steele scan of states.
template <class State, class Op>
void trace_states(std::ostream& out, std::vector<State> states, int width, Op op) {
  const Index n = std::ssize(states);
  std::vector<State> spare(states.size());
  Counting m(Order::descending, {&out, width});
  m.show("states", -1, m.memory(std::span(states)), n);
  const auto result = hillis_steele(m, m.memory(std::span(states)), m.memory(std::span(spare)), n, op);
  out << "values        ";
  for (Index i = 0; i < n; ++i) out << ' ' << text_of(result.peek(i).value);
  out << '\n';
  print_cost(out, m);
}

}  // namespace

void trace_sequential(std::ostream& out) {
  trace_in_place(out, example, 2, [](Counting& m, auto x, Index n) {
    sequential(m, x, x, n, Sum{});
    m.show("inclusive", -1, x, n);
  });
}

void trace_hillis_steele(std::ostream& out) {
  Words spare(example.size());
  trace_in_place(out, example, 2, [&](Counting& m, auto x, Index n) {
    hillis_steele(m, x, m.memory(std::span(spare)), n, Sum{});
  });
}

void trace_blelloch(std::ostream& out) {
  trace_in_place(out, example, 2, [](Counting& m, auto x, Index n) { blelloch(m, x, n, Sum{}); });
}

void trace_hillis_steele_blocks(std::ostream& out) {
  trace_in_place(out, example, 2, [](Counting& m, auto x, Index n) {
    scan_blocks(m, x, x, n, 4, Sum{}, HillisSteeleInBlock{});
  });
}

void trace_blelloch_blocks(std::ostream& out) {
  trace_in_place(out, example, 2,
                 [](Counting& m, auto x, Index n) { scan_blocks(m, x, x, n, 4, Sum{}, BlellochInBlock{}); });
}

void trace_chained(std::ostream& out) {
  trace_in_place(out, example, 2, [](Counting& m, auto x, Index n) {
    chained(
        m, n, 2, 4, [x](Index i) -> std::uint32_t { return x[i]; },
        [x](Index i, std::uint32_t sum) { x[i] = sum; }, Sum{});
    m.show("inclusive", -1, x, n);
  });
}

void trace_segmented(std::ostream& out) {
  std::vector<Flagged> states;
  for (std::size_t i = 0; i < example.size(); ++i) states.push_back({i == 0 || i == 3 || i == 5, example[i]});
  trace_states(out, states, 4, FlaggedSum{});
}

void trace_moving_average(std::ostream& out) {
  std::vector<Smoothed> states;
  for (const int x : {3, 1, 4, 1, 5, 9, 2, 6}) states.push_back(Smoothing::of(x));
  trace_states(out, states, 7, Smoothing{});
}

void trace_bins(std::ostream& out) {
  const std::vector<float> values{0.3F, 0.9F, 0.1F, 1.0F, 0.4F, -0.1F, 0.2F, 0.6F};
  const Index n = std::ssize(values);
  std::vector<float> result(values.size());
  Words offsets(values.size());
  Counting m(Order::descending, {&out, 4});
  const auto x = m.memory(std::span(values));
  m.show("x", -1, x, n);
  extract_bins(m, x, m.memory(std::span(result)), m.memory(std::span(offsets)), n, 2, 8);
  print_cost(out, m);

  const std::vector<float> puzzle = bin_puzzle();
  std::vector<float> sorted(puzzle.size());
  Words places(puzzle.size());
  Counting quiet;
  out << "128 elements (i mod 80) / 100, 8 bins:";
  for (const Index count :
       extract_bins(quiet, quiet.memory(std::span(puzzle)), quiet.memory(std::span(sorted)),
                    quiet.memory(std::span(places)), std::ssize(puzzle), 8, 128))
    out << ' ' << count;
  out << '\n';
}

void trace_split_sort(std::ostream& out) {
  Words spare(example.size());
  Words zeros(example.size());
  out << "A tile, sorted by the bits 0, 1 and 2:\n";
  trace_in_place(out, example, 2, [&](Counting& m, auto x, Index n) {
    const auto y = m.memory(std::span(spare));
    const auto workspace = m.memory(std::span(zeros));
    split(m, x, y, workspace, n, 0);
    split(m, y, x, workspace, n, 1);
    split(m, x, y, workspace, n, 2);
  });
  out << "\nTwo sorted tiles of four, merged:\n";
  trace_in_place(out, {0, 1, 3, 7, 1, 3, 4, 6}, 2,
                 [](Counting& m, auto x, Index n) { merge_runs(m, x, n, n, 2); });
}

void trace_wavelet_matrix(std::ostream& out) {
  Words values = example;
  Words to(values.size());
  Words spare(values.size());
  const Index n = std::ssize(values);
  WaveletMatrix matrix(n, 3);
  out << "The matrix:\n";
  Counting building(Order::descending, {&out, 2});
  const auto x = building.memory(std::span(values));
  building.show("x", -1, x, n);
  build_wavelet_matrix(building, x, building.memory(std::span(to)), building.memory(std::span(spare)), matrix,
                       16, word_itself);
  print_scans_and_cost(out, building);

  out << "\nThe third smallest of the elements from place 2 up to 7, which are 7 0 4 1 6:\n";
  constexpr int width = 5;
  print_head(out, width, {"first", "end", "zeros", "rank", "bit"});
  Counting asking(Order::descending, {&out, width});
  const std::uint32_t value = kth_smallest(asking, matrix, {2, 7}, 3);
  out << "value          " << value << '\n';
  print_cost(out, asking);
}

void trace_window_medians(std::ostream& out) {
  constexpr Index columns = 5;
  constexpr Index rows = 4;
  Words picture{5, 2, 7, 1, 3,  //
                4, 0, 6, 2, 5,  //
                1, 7, 3, 6, 2,  //
                6, 2, 5, 0, 4};
  PixelOrders orders(picture, columns);
  PictureMatrix matrix(columns, rows, 3);

  out << "A picture of 5 columns and 4 rows:\n";
  Counting building(Order::descending, {&out, 3});
  for (Index row = 0; row < rows; ++row) {
    const auto first = std::span(picture).subspan(static_cast<std::size_t>(row * columns), columns);
    building.show("row ", row, building.memory(first), columns);
  }
  out << "\nIts matrix, pixels as value|column:\n";
  building.show("pixels", -1, building.memory(std::span(orders.pixels)), columns * rows);
  build_picture_matrix(building, orders, matrix, 32);
  print_scans_and_cost(out, building);

  out << "\nThe median of the window of 3 by 3 around column 2 of row 2:\n";
  constexpr int width = 6;
  print_head(out, width, {"first", "end", "left", "right", "zeros", "rank", "bit"});
  Counting asking(Order::descending, {&out, width});
  const Window window = window_around(2 * columns + 2, columns, rows, 1);
  const std::uint32_t median = kth_smallest_in_window(asking, matrix, window, median_rank(window.size()));
  out << "median         " << median << '\n';
  print_cost(out, asking);
}

}  // namespace study

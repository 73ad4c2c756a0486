#pragma once
// Successive boxes whose windows reach a few pixels: small_box.cu. The first reads bytes, the last writes
// bytes, and split rows lie between.
//
// Split rows: of each row of a picture the channels one after the other, each in units of eight values of 16
// bits, low and high bytes of four and then of the other four. The first unit of a channel and those behind
// the picture are zero.

#include <cstddef>
#include <cstdint>

#include "kernels/means/launch.h"

namespace satin::kernels {

/// One box of a chain. Borders shrink; 1 or 3 channels without alpha.
struct SmallBoxJob {
  int width = 0;
  int height = 0;
  int channels = 1;
  bool first = false;  ///< reads bytes
  bool last = false;   ///< writes bytes: what unsharp makes of its means
  int more_bits = 0;   ///< as RunningMeanJob has it
  RunningWindow x;
  RunningWindow y;
  ScaledDivisor whole;  ///< exact, or unused

  /// How far windows may see: 16 values and what is around them are the 32 of a row of a matrix.
  static constexpr int largest_reach = 8;

  [[nodiscard]] SATIN_HD bool fractional() const { return x.outer != 0 || y.outer != 0; }
};

struct SmallBoxTiles {
  int strips = 0;    ///< of columns
  int rows = 0;      ///< of tiles: the heights of any two differ by at most one
  int together = 1;  ///< tiles of a block
  std::size_t shared_bytes = 0;
};

struct SmallBoxArguments {
  SmallBoxJob job;
  SmallBoxTiles tiles;
  Source source;  ///< bytes, or split rows
  Target output;
  // What unsharp asks for:
  Source picture;
  UnsharpResidualRule rule;
  bool exact_in_float = false;
};

/// Bytes of a split row.
[[nodiscard]] std::size_t split_row_bytes(int width, int channels);

[[nodiscard]] SmallBoxTiles tiles_of(const SmallBoxJob& job, int multiprocessors, std::size_t shared_limit);
[[nodiscard]] int prepare_mean(const SmallBoxArguments& arguments);
void launch_mean(const SmallBoxArguments& arguments, StreamHandle stream);

}  // namespace satin::kernels

#pragma once
// What the host side sees of the kernels: plain functions that put work into a stream. None of them waits,
// allocates or reports; errors of a launch stay in cudaGetLastError().
//
// All pointers but those of the argument structs themselves are device memory. Rows are distances in bytes,
// of any sign, multiples of the element's size. Pixels are interleaved unless strides say otherwise.

#include <cstddef>
#include <cstdint>

#include "core/maths/fixed_point.h"
#include "core/maths/mean.h"
#include "core/maths/pixel.h"
#include "core/operations/box_mean.h"
#include "core/operations/measure.h"
#include "core/operations/pixels.h"

struct CUstream_st;

namespace satin::kernels {

using StreamHandle = CUstream_st*;

/// Interleaved pixels to read, and to write. Null data where a job has no such picture.
struct Source {
  const std::byte* data = nullptr;
  std::int64_t row = 0;
};
struct Target {
  std::byte* data = nullptr;
  std::int64_t row = 0;
};

/// The code of a cudaError_t: 0 if the current device can run the kernels of this build.
[[nodiscard]] int probe();

// --- Summed-area table ---

enum class TableMethod : std::uint8_t {
  two_readings,  ///< any picture: sums of tiles, their scan, the table
  single_pass    ///< one launch; u8 and u16 as stored, squares of u8
};

/// How a picture is cut into tiles: one warp each, one block each in a single pass.
struct TableTiles {
  TableMethod method = TableMethod::two_readings;
  int kind = 0;  ///< of a single pass: of tiles and pictures
  std::int64_t width = 0;
  std::int64_t height = 0;
  int channels = 1;
  Accumulator accumulator = Accumulator::u32;
  int tile_width = 0;
  int tile_height = 0;
  std::int64_t tile_columns = 0;
  std::int64_t tile_rows = 0;
};

/// Chooses the fastest method for the job.
[[nodiscard]] TableTiles table_tiles(std::int64_t width, std::int64_t height, const PixelRead& read,
                                     bool squared, Accumulator accumulator, int multiprocessors);

/// Bytes of what tiles tell each other. They are to be cleared before the first run, and runs that share them
/// must follow each other.
[[nodiscard]] std::size_t table_workspace_bytes(const TableTiles& tiles);

struct TableArguments {
  TableTiles tiles;
  PixelRead read;
  bool squared = false;
  TransferView transfer;               ///< of the type that is read
  const Measured* measured = nullptr;  ///< floats
  Source picture;
  Target table;               ///< u32 or u64, by the accumulator
  void* workspace = nullptr;  ///< 16-byte aligned
};

void build_table(const TableArguments& arguments, StreamHandle stream);

/// In place: signed 64-bit fixed point -> double.
struct ToDoubleArguments {
  std::int64_t width = 0;
  std::int64_t height = 0;
  PixelRead read;
  bool squared = false;
  const Measured* measured = nullptr;
  Target table;
};

void to_double(const ToDoubleArguments& arguments, StreamHandle stream);

// --- Mean over boxes ---

struct BoxMeanArguments {
  std::int64_t width = 0;
  std::int64_t height = 0;
  PixelRead read;  ///< of the source
  TransferView read_transfer;
  Type output_type = Type::u8;
  RadiusField radius;
  Border border = Border::shrink;
  double border_number = 0;
  Accumulator accumulator = Accumulator::u32;
  MeanRule rule;
  bool narrow =
      false;  ///< every weighted sum, all its weights included, is below 2^63, and the picture is no float
  bool frame_only = false;  ///< pixels whose boxes stay in the picture are done already
  const Measured* measured = nullptr;
  const void* table = nullptr;   ///< of the source; 16-byte aligned
  std::int64_t table_row = 0;    ///< bytes, a multiple of 16
  const void* counts = nullptr;  ///< table (u32) of the pixels that count; null if all do
  std::int64_t counts_row = 0;   ///< bytes
  Source source;
  Source original;
  Source radius_map;
  Source mask;
  Target output;
};

void box_mean(const BoxMeanArguments& arguments, StreamHandle stream);

// --- Copy ---

/// Pixels between any strides, all in bytes.
struct CopyArguments {
  std::int64_t width = 0;
  std::int64_t height = 0;
  int channels = 1;
  int element_size = 1;  ///< 1, 2, 4, 8, 16
  const std::byte* source = nullptr;
  std::byte* target = nullptr;
  std::int64_t source_pixel = 0, source_row = 0, source_channel = 0;
  std::int64_t target_pixel = 0, target_row = 0, target_channel = 0;
};

void copy(const CopyArguments& arguments, StreamHandle stream);

// --- Measure ---

void clear_measured(Measured* result, StreamHandle stream);
void measure(const MeasureJob& job, const Source& picture, Measured* result, StreamHandle stream);
void check_map(std::int64_t width, std::int64_t height, const Source& map, Measured* result,
               StreamHandle stream);

}  // namespace satin::kernels

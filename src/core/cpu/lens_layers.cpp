#include "core/operations/lens_layers.h"

#include <algorithm>
#include <vector>

#include "core/cpu/backend.h"
#include "core/cpu/depth_ramp_simd.h"
#include "core/lens_memory.h"
#include "core/maths/lens_debug.h"
#include "core/maths/lens_layers_steps.h"
#include "core/operations/with_type.h"
#include "core/transfer.h"

namespace satin::cpu {
namespace {

/// Hidden samples are made by tiles whose tables stay in the L2 cache: 192 x 192 x 24 bytes with the reach of
/// the windows around them. Tiles that hold nothing to fill in, or nothing to fill in from, cost nothing.
constexpr int tile_side = 128;
constexpr int table_side = tile_side + 2 * fill_reach;

struct Range {
  int first;
  int last;

  [[nodiscard]] Range with_reach(int size) const {
    return {std::max(0, first - fill_reach), std::min(size, last + fill_reach)};
  }
  [[nodiscard]] Range both(Range other) const {
    return {std::max(first, other.first), std::min(last, other.last)};
  }
};

struct Area {
  Range columns;
  Range rows;

  [[nodiscard]] bool empty() const { return columns.first >= columns.last || rows.first >= rows.last; }
};

/// The smallest area that holds what `holds` is true of, of the groups in `area`.
template <class Holds>
Area bounds_of(const LensPlanes& planes, const Area& area, const Holds& holds) {
  Area result{{area.columns.last, area.columns.first}, {area.rows.last, area.rows.first}};
  for (int y = area.rows.first; y < area.rows.last; ++y) {
    const std::uint8_t* groups = planes.groups + planes.place(0, y);
    int left = area.columns.first;
    while (left < area.columns.last && !holds(groups[left])) ++left;
    if (left == area.columns.last) continue;
    int right = area.columns.last;
    while (!holds(groups[right - 1])) --right;
    result.columns = {std::min(result.columns.first, left), std::max(result.columns.last, right)};
    result.rows = {std::min(result.rows.first, y), y + 1};
  }
  return result;
}

/// One bit a group, of the groups that tiles hold.
class TileGroups {
 public:
  explicit TileGroups(const LensPlanes& planes)
      : columns((planes.width + tile_side - 1) / tile_side),
        rows((planes.height + tile_side - 1) / tile_side),
        bits_(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows)) {}

  void find(CpuBackend& backend, const LensPlanes& planes) {
    parallel_rows(backend, rows, 1, [&](std::int64_t first, std::int64_t last) {
      for (auto row = static_cast<int>(first); row < last; ++row)
        for (int column = 0; column < columns; ++column) at(column, row) = bits_of_tile(planes, column, row);
    });
  }
  [[nodiscard]] bool holds_nearer(int column, int row, int group) const {
    return (at(column, row) & ((1U << group) - 1U)) != 0;
  }
  /// In the tile or those around it.
  [[nodiscard]] bool holds_around(int column, int row, int group) const {
    for (int v = std::max(0, row - 1); v <= std::min(rows - 1, row + 1); ++v)
      for (int u = std::max(0, column - 1); u <= std::min(columns - 1, column + 1); ++u)
        if ((at(u, v) >> group & 1U) != 0) return true;
    return false;
  }

  const int columns;
  const int rows;

 private:
  [[nodiscard]] std::uint8_t& at(int column, int row) {
    return bits_[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) +
                 static_cast<std::size_t>(column)];
  }
  [[nodiscard]] std::uint8_t at(int column, int row) const {
    return bits_[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) +
                 static_cast<std::size_t>(column)];
  }
  static std::uint8_t bits_of_tile(const LensPlanes& planes, int column, int row) {
    unsigned bits = 0;
    const int left = column * tile_side;
    const int right = std::min(planes.width, left + tile_side);
    for (int y = row * tile_side; y < std::min(planes.height, (row + 1) * tile_side); ++y) {
      const std::uint8_t* groups = planes.groups + planes.place(0, y);
      for (int x = left; x < right; ++x)
        if (x == left || groups[x] != groups[x - 1]) bits |= 1U << groups[x];
    }
    return static_cast<std::uint8_t>(bits);
  }

  std::vector<std::uint8_t> bits_;
};

/// Tables of one tile, of one thread.
class TileTables {
 public:
  TileTables()
      : colours_(static_cast<std::size_t>(table_side) * table_side),
        others_(static_cast<std::size_t>(table_side) * table_side) {}

  FillTables build(const FillEntry& entry, Range columns, Range rows) {
    for (int y = rows.first; y < rows.last; ++y) {
      FillColours* colours = colours_.data() + std::ptrdiff_t{table_side} * (y - rows.first);
      FillOthers* others = others_.data() + std::ptrdiff_t{table_side} * (y - rows.first);
      FillColours colour_sum;
      FillOthers other_sum;
      for (int x = columns.first; x < columns.last; ++x, ++colours, ++others) {
        FillColours colour;
        FillOthers other;
        entry(x, y, colour, other);
        add(colour_sum, colour);
        add(other_sum, other);
        *colours = colour_sum;
        *others = other_sum;
        if (y == rows.first) continue;
        add(*colours, *(colours - table_side));
        add(*others, *(others - table_side));
      }
    }
    return {colours_.data(), others_.data(), table_side, columns.first, rows.first};
  }

  [[nodiscard]] std::size_t bytes() const noexcept {
    return colours_.size() * sizeof(FillColours) + others_.size() * sizeof(FillOthers);
  }

 private:
  static void add(FillColours& sum, const FillColours& other) {
    for (int c = 0; c < fill_colours; ++c) sum.value[c] += other.value[c];
  }
  static void add(FillOthers& sum, const FillOthers& other) {
    sum.radius += other.radius;
    sum.counts += other.counts;
  }

  std::vector<FillColours> colours_;
  std::vector<FillOthers> others_;
};

/// launch(width, height, step) calls step(x, y) for every place, on all threads; steps that look at every
/// pixel have rows of their own.
struct EachPlace {
  CpuBackend& backend;

  template <class Step>
  void operator()(int width, int height, const Step& step) const {
    each_row(height, [&](int y) {
      for (int x = 0; x < width; ++x) step(x, y);
    });
  }
  void operator()(int /*width*/, int height, const SharpenRamp& step) const {
    each_row(height, [&](int y) { sharpen_ramps(step.planes, y); });
  }
  void operator()(int /*width*/, int height, const FindSilhouette& step) const {
    each_row(height, [&](int y) { find_silhouettes(step.planes, y); });
  }

 private:
  template <class Row>
  void each_row(int height, const Row& row) const {
    parallel_rows(backend, height, 16, [&](std::int64_t first, std::int64_t last) {
      for (auto y = static_cast<int>(first); y < last; ++y) row(y);
    });
  }
};

class LensLayers final : public LensLayersOperation {
 public:
  LensLayers(CpuBackend& backend, const LensLayersJob& job)
      : backend_(backend),
        job_(job),
        memory_(backend, job),
        transfer_(host_transfer(job.type, job.transfer == Transfer::srgb)),
        tile_groups_(memory_.planes()),
        tables_(static_cast<std::size_t>(backend.threads.count())) {}

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return memory_.bytes() + tables_.size() * tables_.front().bytes();
  }
  [[nodiscard]] const LensPlanes& planes() const noexcept override { return memory_.planes(); }
  [[nodiscard]] const LensList& list() const noexcept override { return memory_.list(); }
  [[nodiscard]] const LensUnit* unit() const noexcept override { return memory_.unit(); }
  [[nodiscard]] const DepthGroups* groups() const noexcept override { return &memory_.work()->groups; }

  void run(const ImageView& picture, const Measured* measured, Stream) override {
    if (job_.type == Type::u8) return make<std::uint8_t>(picture, measured);
    if (job_.type == Type::u16) return make<std::uint16_t>(picture, measured);
    make<float>(picture, measured);
  }

  void show(const LensShow& shown, Stream) override {
    const EachPlace launch{backend_};
    const ShadeUnit shade{memory_.unit(), shown.opacity, job_.weighted && job_.type == Type::f32};
    if (shown.what == LensDebug::hidden)
      return show_hidden(launch, planes(), shade, list(), job_.most_groups, shown.values);
    launch(planes().width, planes().height,
           ShowShades{planes(), shade, shown.what == LensDebug::groups, shown.order == Order::bgr,
                      shown.largest_radius, shown.values});
  }

 private:
  template <class T>
  void make(const ImageView& picture, const Measured* measured) {
    const EachPlace launch{backend_};
    const auto stored = lens_picture<T>(job_, picture, transfer_);
    with_channels(job_.channels, [&]<int Channels>() {
      make_visible_samples<Channels>(launch, planes(), stored, measured, memory_.unit(), memory_.work(),
                                     list(), job_.most_groups);
    });
    tile_groups_.find(backend_, planes());
    for (int group = 1; group < memory_.work()->groups.count; ++group) {
      fill_group(group);
      list().complete();
    }
  }

  void fill_group(int group) {
    const int tiles = tile_groups_.columns * tile_groups_.rows;
    backend_.threads.for_rows(tiles, 1, [&](std::int64_t first, std::int64_t last, int slot) {
      for (auto tile = static_cast<int>(first); tile < last; ++tile) {
        const int column = tile % tile_groups_.columns;
        const int row = tile / tile_groups_.columns;
        if (tile_groups_.holds_nearer(column, row, group) && tile_groups_.holds_around(column, row, group))
          fill_tile(column, row, group, tables_[static_cast<std::size_t>(slot)]);
      }
    });
  }

  void fill_tile(int column, int row, int group, TileTables& tables) {
    const Area tile{Range{column * tile_side, (column + 1) * tile_side}.both({0, job_width()}),
                    Range{row * tile_side, (row + 1) * tile_side}.both({0, job_height()})};
    const Area around{tile.columns.with_reach(job_width()), tile.rows.with_reach(job_height())};
    const Area nearer = bounds_of(planes(), tile, [&](int own) { return own < group; });
    const Area behind = bounds_of(planes(), around, [&](int own) { return own == group; });
    if (nearer.empty() || behind.empty()) return;
    const Area filled{nearer.columns.both(behind.columns.with_reach(job_width())),
                      nearer.rows.both(behind.rows.with_reach(job_height()))};
    if (filled.empty()) return;
    // blocks begin at even places, a reach further at most by the odd pixel of either side
    const Range columns{filled.columns.first / 2 * 2,
                        std::min(job_width(), (filled.columns.last + 1) / 2 * 2)};
    const Range rows{filled.rows.first / 2 * 2, std::min(job_height(), (filled.rows.last + 1) / 2 * 2)};
    const FillTables sums = tables.build({planes(), memory_.unit(), group}, columns.with_reach(job_width()),
                                         rows.with_reach(job_height()));
    with_channels(job_.channels, [&]<int Channels>() {
      const FillHidden<Channels> fill{planes(), sums, memory_.unit(), group, list()};
      for (int y = rows.first / 2; y < (rows.last + 1) / 2; ++y)
        for (int x = columns.first / 2; x < (columns.last + 1) / 2; ++x) fill(x, y);
    });
  }

  [[nodiscard]] int job_width() const noexcept { return planes().width; }
  [[nodiscard]] int job_height() const noexcept { return planes().height; }

  CpuBackend& backend_;
  LensLayersJob job_;
  LensMemory memory_;
  TransferView transfer_;
  TileGroups tile_groups_;
  std::vector<TileTables> tables_;
};

}  // namespace

std::unique_ptr<LensLayersOperation> prepare_lens_layers(Backend& backend, const LensLayersJob& job) {
  return std::make_unique<LensLayers>(as_cpu(backend), job);
}

}  // namespace satin::cpu

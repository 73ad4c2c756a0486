// The scan family against the standard library on the CPU and CUB on a GPU (gpu.cu).

#include <algorithm>
#include <execution>
#include <numeric>

#include "satin/host/scan.h"
#include "satin/scan.h"
#include "tests/bench/bench.h"

namespace satin::bench {
namespace {

using U32 = std::uint32_t;

constexpr int bin_count = 256;

/// A kind of case. `read` and `written` are the bytes for each value that no implementation can avoid.
struct Kind {
  const char* name;
  Type type;
  Type result_type;
  double read;
  double written;
  std::function<void(const Device&, const Arrays&, int i, Stream)> run;
  std::size_t beside = 0;  ///< bytes for each value of a second array: flags, or the values of keys
};

MutableArrayView array(const Device& device, const Rotation& rotation, int i, std::int64_t count, Type type) {
  return {rotation[i], count, type, device.backend().memory()};
}

ArrayView from(const Device& device, const Arrays& arrays, int i) {
  return array(device, arrays.in, i, arrays.count, arrays.type);
}

MutableArrayView to(const Device& device, const Arrays& arrays, int i) {
  return array(device, arrays.out, i, arrays.count, arrays.result_type);
}

/// Returns a run of a function of satin/scan.h with an input, a result and further arguments.
template <class Function, class... More>
auto into(Function function, More... more) {
  return [=](const Device& device, const Arrays& arrays, int i, Stream stream) {
    function(device, from(device, arrays, i), to(device, arrays, i), more..., stream);
  };
}

using Scan = void (*)(const Device&, ArrayView, MutableArrayView, Operator, Stream);
constexpr Scan inclusive = inclusive_scan;
constexpr Scan exclusive = exclusive_scan;
constexpr void (*sort)(const Device&, ArrayView, MutableArrayView, Stream) = radix_sort;

void run_reduce(const Device& device, const Arrays& arrays, int i, Stream stream) {
  reduce(device, from(device, arrays, i), Operator::sum, array(device, arrays.out, i, 1, arrays.result_type),
         stream);
}

/// Flags are random bytes, so that only one value in 256 continues the segment before it.
void run_segmented(const Device& device, const Arrays& arrays, int i, Stream stream) {
  const ArrayView flags = array(device, arrays.values, i, arrays.count, Type::u8);
  segmented_inclusive_scan(device, from(device, arrays, i), Segments::by_flags(flags), to(device, arrays, i),
                           Operator::sum, stream);
}

void run_compact(const Device& device, const Arrays& arrays, int i, Stream stream) {
  compact(device, from(device, arrays, i), Predicate{Comparison::greater_equal, 0x80000000U},
          to(device, arrays, i), stream);
}

void run_partition(const Device& device, const Arrays& arrays, int i, Stream stream) {
  partition(device, from(device, arrays, i), Predicate{Comparison::greater_equal, 0x80000000U},
            to(device, arrays, i), stream);
}

void run_histogram(const Device& device, const Arrays& arrays, int i, Stream stream) {
  const Bins bins = Bins::even(0, arrays.type == Type::f32 ? 1 : bin_count, bin_count);
  histogram(device, from(device, arrays, i), bins, array(device, arrays.out, i, bin_count, Type::u32),
            stream);
}

void run_pairs(const Device& device, const Arrays& arrays, int i, Stream stream) {
  radix_sort_pairs(device, from(device, arrays, i), array(device, arrays.values, i, arrays.count, Type::u32),
                   to(device, arrays, i), array(device, arrays.sorted_values, i, arrays.count, Type::u32),
                   stream);
}

void run_own_operator(const Device& device, const Arrays& arrays, int i, Stream) {
  host::inclusive_scan(device, reinterpret_cast<const float*>(arrays.in[i]),
                       reinterpret_cast<float*>(arrays.out[i]), arrays.count, std::plus<float>(), 0.0F);
}

std::vector<Kind> kinds(bool on_gpu) {
  constexpr Type u8 = Type::u8, u32 = Type::u32, f32 = Type::f32;
  std::vector<Kind> all = {
      {"inclusive scan", u32, u32, 4, 4, into(inclusive, Operator::sum)},
      {"inclusive scan", f32, f32, 4, 4, into(inclusive, Operator::sum)},
      {"inclusive scan", u8, u32, 1, 4, into(inclusive, Operator::sum)},
      {"exclusive scan", u32, u32, 4, 4, into(exclusive, Operator::sum)},
      {"running maximum", f32, f32, 4, 4, into(inclusive, Operator::max)},
      {"segmented scan", u32, u32, 5, 4, run_segmented, 1},
      {"reduce", u32, u32, 4, 0, run_reduce},
      {"reduce", u8, Type::u64, 1, 0, run_reduce},
      {"compact", u32, u32, 4, 2, run_compact},
      {"partition", u32, u32, 8, 4, run_partition},
      {"histogram", u8, u32, 1, 0, run_histogram},
      {"histogram", f32, u32, 4, 0, run_histogram},
      {"radix sort", u32, u32, 4, 4, into(sort)},
      {"radix sort", f32, f32, 4, 4, into(sort)},
      {"radix sort of pairs", u32, u32, 8, 8, run_pairs, 4},
      {"radix sort of pairs", f32, f32, 8, 8, run_pairs, 4},
      {"counting sort", u8, u8, 1, 1,
       [](const Device& device, const Arrays& arrays, int i, Stream stream) {
         counting_sort(device, from(device, arrays, i), bin_count, to(device, arrays, i), stream);
       }},
  };
  if (!on_gpu) all.push_back({"scan by an own operator", f32, f32, 4, 4, run_own_operator});
  return all;
}

/// The standard library on values of one type.
template <class T, class R>
std::vector<Peer> standard_peers(const std::shared_ptr<Arrays>& arrays) {
  const auto first = [arrays](int i) { return reinterpret_cast<const T*>(arrays->in[i]); };
  const auto last = [arrays, first](int i) { return first(i) + arrays->count; };
  const auto result = [arrays](int i) { return reinterpret_cast<R*>(arrays->out[i]); };
  const auto upper = [](T value) { return value >= static_cast<T>(0x80000000U); };
  const std::string& name = arrays->name;
  if (name == "inclusive scan")
    return {{"std::inclusive_scan",
             [=](int i) { std::inclusive_scan(first(i), last(i), result(i), std::plus<R>(), R{}); }}};
  if (name == "exclusive scan")
    return {{"std::exclusive_scan", [=](int i) { std::exclusive_scan(first(i), last(i), result(i), R{}); }}};
  if (name == "reduce")
    return {{"std::reduce", [=](int i) { *result(i) = std::reduce(first(i), last(i), R{}); }}};
  if (name == "compact")
    return {{"std::copy_if", [=](int i) { std::copy_if(first(i), last(i), result(i), upper); }}};
  if (name == "partition")
    return {{"std::partition_copy", [=](int i) {
               std::partition_copy(first(i), last(i), result(i),
                                   std::make_reverse_iterator(result(i) + arrays->count), upper);
             }}};
  if (name == "radix sort")
    return {{"std::sort", [=](int i) { std::sort(result(i), std::copy(first(i), last(i), result(i))); }},
            {"std::sort(par)", [=](int i) {
               std::sort(std::execution::par, result(i), std::copy(first(i), last(i), result(i)));
             }}};
  return {};
}

std::vector<Peer> histogram_peers(const std::shared_ptr<Arrays>& arrays) {
  return {{"a loop", [arrays](int i) {
             auto* counts = reinterpret_cast<U32*>(arrays->out[i]);
             std::fill_n(counts, bin_count, 0U);
             const std::byte* const bytes = arrays->in[i];
             const auto* floats = reinterpret_cast<const float*>(bytes);
             for (std::int64_t k = 0; k < arrays->count; ++k)
               ++counts[arrays->type == Type::u8 ? static_cast<std::size_t>(bytes[k])
                                                 : static_cast<std::size_t>(floats[k] * bin_count)];
           }}};
}

std::vector<Peer> peers_of(const std::shared_ptr<Arrays>& arrays, const Bench& bench) {
  if (bench.device().is_cuda()) return scan_peers(arrays, bench.stream());
  if (arrays->name == "histogram") return histogram_peers(arrays);
  if (arrays->type == Type::f32) return standard_peers<float, float>(arrays);
  if (arrays->type == Type::u32) return standard_peers<U32, U32>(arrays);
  if (arrays->result_type == Type::u64) return standard_peers<std::uint8_t, std::uint64_t>(arrays);
  return arrays->result_type == Type::u32 ? standard_peers<std::uint8_t, U32>(arrays) : std::vector<Peer>{};
}

Result measure(const Kind& kind, std::int64_t count, Bench& bench) {
  const auto values = static_cast<std::size_t>(count);
  const auto moved = [count](double each) {
    return static_cast<std::size_t>(static_cast<double>(count) * each);
  };
  const std::size_t read = values * size_of(kind.type);
  const std::size_t written = std::max(values * size_of(kind.result_type), bin_count * sizeof(U32));
  const std::size_t beside = values * kind.beside;
  const Device& device = bench.device();
  const auto rotation = [&](Type type, std::size_t bytes) {
    return Rotation(device, type, bytes, read + written + 2 * beside);
  };
  const std::shared_ptr<Arrays> arrays(new Arrays{
      kind.name, kind.type, kind.result_type, count, rotation(kind.type, read),
      rotation(kind.result_type, written), rotation(Type::u32, beside), rotation(Type::u32, beside)});
  const Call run = [&](int i) { kind.run(device, *arrays, i, bench.stream()); };
  return bench.measure({run, moved(kind.read), moved(kind.written), peers_of(arrays, bench)});
}

}  // namespace

std::vector<Case> scan_cases(bool on_gpu) {
  std::vector<std::int64_t> counts = {10'000'000};
  if (on_gpu) counts = {1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26, 1 << 28};
  std::vector<Case> cases;
  for (const Kind& kind : kinds(on_gpu))
    for (const std::int64_t count : counts)
      cases.push_back({kind.name,
                       {{"type", name_of(kind.type)},
                        {"result", name_of(kind.result_type)},
                        {"values", std::to_string(count)}},
                       [kind, count](Bench& bench) { return measure(kind, count, bench); }});
  return cases;
}

}  // namespace satin::bench

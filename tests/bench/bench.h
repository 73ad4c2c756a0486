#pragma once
// A case of satin_bench, the device and clock that measure it, and the memory it runs on.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/backend.h"
#include "satin/array.h"
#include "satin/device.h"
#include "satin/image.h"
#include "satin/plan.h"

namespace satin::bench {

/// A run that is timed. `i` counts up, so that runs can rotate over several buffers.
using Call = std::function<void(int i)>;

/// Another program that computes the same result.
struct Peer {
  std::string name;
  Call run;
};

/// A run to measure, with the traffic it cannot avoid and its peers.
struct Work {
  Call run;
  std::size_t read = 0;     ///< bytes that must be read at least
  std::size_t written = 0;  ///< bytes that must be written at least
  std::vector<Peer> peers{};
};

using Numbers = std::vector<std::pair<std::string, double>>;

/// Medians in seconds.
struct Result {
  double seconds = 0;
  int runs = 0;
  std::size_t bytes = 0;    ///< read and written
  double copy_seconds = 0;  ///< time of a copy that moves these bytes
  Numbers peers{};          ///< name and seconds
  Numbers figures{};        ///< further numbers, by their keys
};

/// A device and its clock.
class Bench {
 public:
  Bench(Device device, int runs) : device_(std::move(device)), runs_(runs) {}
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
  virtual ~Bench() = default;

  [[nodiscard]] const Device& device() const noexcept { return device_; }
  [[nodiscard]] virtual Stream stream() const { return {}; }

  /// Alternates runs, peers and copies of the same bytes, so that all see the same machine.
  [[nodiscard]] Result measure(const Work& work);

 protected:
  virtual double seconds_of(const Call& call, int i) = 0;
  /// Returns copies that read and write this many bytes. A case is compared with the fastest one.
  virtual std::vector<Call> copies(std::size_t read, std::size_t written) = 0;

 private:
  Device device_;
  int runs_;
};

/// A case. Its name and parameters identify what it measures.
struct Case {
  std::string name;
  std::vector<std::pair<std::string, std::string>> parameters;
  std::function<Result(Bench& bench)> measure;
};

/// Options of the case "batch".
struct BatchCase {
  std::string folder;
  std::string pipeline = "blur radius=8";
  std::string devices;
  int threads = 0;
  std::string trace;  ///< file for Chrome's trace of all stages; empty: none
};

[[nodiscard]] std::vector<Case> scan_cases(bool on_gpu);
[[nodiscard]] std::vector<Case> picture_cases(bool on_gpu);
[[nodiscard]] Case batch_case(const BatchCase& options);

/// Buffers in the device's memory, so many that a run does not find its own in a cache.
class Rotation {
 public:
  /// `bytes_of_set`: total size of the buffers that one run uses.
  Rotation(const Device& device, Type noise, std::size_t bytes, std::size_t bytes_of_set);

  [[nodiscard]] std::byte* operator[](int i) const {
    return buffers_[static_cast<std::size_t>(i) % buffers_.size()].get();
  }

 private:
  std::vector<Buffer> buffers_;
};

/// Returns random bytes; for f32, random floats in [0, 1).
[[nodiscard]] std::vector<std::byte> noise(Type type, std::size_t bytes);

/// Pictures of noise and outputs in the device's memory.
struct Pictures {
  Shape shape;
  Shape output_shape;
  Rotation in;
  Rotation out;

  Pictures(const Device& device, const Shape& picture, const Shape& output)
      : shape(picture),
        output_shape(output),
        in(device, picture.type, byte_size(picture), byte_size(picture) + byte_size(output)),
        out(device, Type::u8, byte_size(output), byte_size(picture) + byte_size(output)),
        memory_(device.backend().memory()) {}

  [[nodiscard]] ImageView input(int i) const { return view_of(in[i], shape, memory_); }
  [[nodiscard]] MutableImageView output(int i) const {
    return mutable_view_of(out[i], output_shape, memory_);
  }

 private:
  Memory memory_;
};

/// Arrays of a scan in the device's memory. Only pairs use `values` and `sorted_values`.
struct Arrays {
  std::string name;
  Type type;
  Type result_type;
  std::int64_t count;
  Rotation in, out, values, sorted_values;
};

// Defined in gpu.cu. Without CUDA there are no such peers.
#ifdef SATIN_BENCH_CUDA
[[nodiscard]] std::unique_ptr<Bench> cuda_bench(const Device& device, int runs);
[[nodiscard]] std::vector<Peer> scan_peers(const std::shared_ptr<Arrays>& arrays, Stream stream);
[[nodiscard]] std::vector<Peer> table_peers(const std::shared_ptr<Pictures>& pictures, Stream stream);
[[nodiscard]] std::vector<Peer> mean_peers(const std::shared_ptr<Pictures>& pictures, int radius,
                                           Stream stream);
#else
inline std::vector<Peer> scan_peers(const std::shared_ptr<Arrays>&, Stream) { return {}; }
inline std::vector<Peer> table_peers(const std::shared_ptr<Pictures>&, Stream) { return {}; }
inline std::vector<Peer> mean_peers(const std::shared_ptr<Pictures>&, int, Stream) { return {}; }
#endif

}  // namespace satin::bench

#pragma once
// JPEG files decoded on a GPU by NVIDIA's nvJPEG, for those who choose it (ReadOptions::nvjpeg).

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace [[gnu::visibility("default")]] satin {

/// What reads the codes of a JPEG file for nvJPEG, which always has the GPU do the rest.
enum class NvjpegEngine {
  automatic,  ///< the GPU for large pictures without progression, the CPU for others
  gpu,        ///< may refuse progressive files
  cpu,        ///< takes every file that nvJPEG takes
  hardware    ///< the GPU's JPEG engine; refuses progressive files
};

/// nvJPEG on one GPU. It takes JPEG files of 8 bits, grey or YCbCr, with Huffman codes, whose markers are
/// whole and in order; libjpeg decodes all others. The two do not give the same bytes: their arithmetic
/// rounds differently. Before nvJPEG sees a file that is not progressive, the CPU reads its codes, so that it
/// decodes none that libjpeg would refuse; of progressive files nvJPEG alone looks at the codes.
///
/// May be used by any number of threads at once. Every decode at the same time has a stream and memory of its
/// own, which is kept for later ones: on the GPU several times the picture, and page-locked memory of the
/// host. It waits for its own stream alone.
class NvjpegDecoder {
 public:
  /// Throws Error(environment) with the reason if this build has no nvJPEG, or its library is not installed.
  static void require();

  /// On the GPU cuda:`device`. Throws as require(); Error(environment) if the GPU cannot be used or has not
  /// got the engine.
  [[nodiscard]] static std::shared_ptr<const NvjpegDecoder> open(
      int device, NvjpegEngine engine = NvjpegEngine::automatic);

  /// Gives everything back, once no picture refers to it.
  ~NvjpegDecoder();
  NvjpegDecoder(const NvjpegDecoder&) = delete;
  NvjpegDecoder& operator=(const NvjpegDecoder&) = delete;

  /// Number of pictures that it has decoded; the others were left to libjpeg.
  [[nodiscard]] std::uint64_t decoded() const noexcept;

  /// What has become of a file.
  enum class Result {
    decoded,
    refused,   ///< it is not one that nvJPEG takes
    passed_on  ///< nvJPEG takes it but could not decode it, for want of memory for instance
  };

  /// For the library's own parts: decodes a file whose markers are known to be in order into densely packed
  /// host memory of width x height x channels (1: grey, 3: RGB) bytes, which hold anything unless it is
  /// decoded. `reason` is set if it is passed on. Throws Error(environment) if the GPU is lost.
  [[nodiscard]] Result decode(std::span<const std::byte> file, int width, int height, int channels,
                              std::byte* pixels, std::string& reason) const;

 private:
  struct Opened;

  explicit NvjpegDecoder(std::unique_ptr<Opened> opened);

  std::unique_ptr<Opened> opened_;
};

}  // namespace satin

// The public class over the module.

#include "satin/nvjpeg_decoder.h"

#include <atomic>
#include <utility>

#include "io/module.h"
#include "io/nvjpeg_interface.h"
#include "satin/error.h"

namespace satin {
namespace {

const SatinNvjpeg& nvjpeg() {
#ifdef SATIN_IO_NVJPEG
  static const io::Module<SatinNvjpeg> module("satin_io_nvjpeg.so", io::nvjpeg_entry_name,
                                              io::nvjpeg_interface_version);
  if (module.functions == nullptr)
    throw Error(
        ErrorKind::environment,
        "JPEG files cannot be decoded by nvJPEG: Satin's module for it could not be loaded (" + module.error +
            ").\nInstall libnvjpeg (CUDA toolkit, or pip install nvidia-nvjpeg) and name its folder in "
            "LD_LIBRARY_PATH, or let libjpeg decode them.");
  return *module.functions;
#else
  throw Error(ErrorKind::environment,
              "JPEG files cannot be decoded by nvJPEG: this build has none. Build with -DSATIN_NVJPEG=ON, or "
              "let libjpeg decode them.");
#endif
}

/// Both list the engines in one order.
SatinNvjpegEngine code_of(NvjpegEngine engine) { return static_cast<SatinNvjpegEngine>(engine); }
static_assert(static_cast<int>(NvjpegEngine::hardware) == satin_nvjpeg_hardware);

struct Close {
  void operator()(SatinNvjpegDecoder* decoder) const noexcept { nvjpeg().close(decoder); }
};

}  // namespace

struct [[gnu::visibility("hidden")]] NvjpegDecoder::Opened {
  std::string device;
  std::unique_ptr<SatinNvjpegDecoder, Close> decoder;
  std::atomic<std::uint64_t> decoded{0};
};

void NvjpegDecoder::require() { static_cast<void>(nvjpeg()); }

std::shared_ptr<const NvjpegDecoder> NvjpegDecoder::open(int device, NvjpegEngine engine) {
  auto opened = std::make_unique<Opened>();
  opened->device = "cuda:" + std::to_string(device);
  SatinNvjpegMessage message{};
  opened->decoder.reset(nvjpeg().open(device, code_of(engine), &message));
  if (opened->decoder == nullptr)
    throw Error(ErrorKind::environment, "nvJPEG cannot be used on " + opened->device + ": " + message.text +
                                            ". Let libjpeg decode instead.");
  return std::shared_ptr<const NvjpegDecoder>(new NvjpegDecoder(std::move(opened)));
}

NvjpegDecoder::NvjpegDecoder(std::unique_ptr<Opened> opened) : opened_(std::move(opened)) {}

NvjpegDecoder::~NvjpegDecoder() = default;

std::uint64_t NvjpegDecoder::decoded() const noexcept { return opened_->decoded; }

NvjpegDecoder::Result NvjpegDecoder::decode(std::span<const std::byte> file, int width, int height,
                                            int channels, std::byte* pixels, std::string& reason) const {
  const SatinNvjpegJob job{reinterpret_cast<const unsigned char*>(file.data()),
                           file.size(),
                           width,
                           height,
                           channels,
                           reinterpret_cast<unsigned char*>(pixels)};
  SatinNvjpegMessage message{};
  switch (nvjpeg().decode(opened_->decoder.get(), &job, &message)) {
    case satin_nvjpeg_good:
      ++opened_->decoded;
      return Result::decoded;
    case satin_nvjpeg_refused:
      return Result::refused;
    case satin_nvjpeg_passed_on:
      reason = message.text;
      return Result::passed_on;
    case satin_nvjpeg_lost:
      break;
  }
  throw Error(ErrorKind::environment, "nvJPEG failed on " + opened_->device + ": " + message.text + ".");
}

}  // namespace satin

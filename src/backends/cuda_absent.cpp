// The CUDA backend of a build that has none.

#include "core/backend.h"
#include "satin/error.h"

namespace satin {
namespace {
constexpr const char* reason =
    "this build has no CUDA kernels; build with -DSATIN_CUDA=ON where nvcc is installed";
}

std::vector<DeviceInfo> describe_cuda() {
  DeviceInfo info;
  info.id = "cuda";
  info.name = "NVIDIA GPU";
  info.reason = reason;
  return {info};
}

std::shared_ptr<Backend> open_cuda(int ordinal) {
  throw Error(ErrorKind::environment,
              "Device cuda:" + std::to_string(ordinal) + " cannot be opened: " + reason + ".");
}

}  // namespace satin

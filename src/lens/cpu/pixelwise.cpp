// Pixelwise operations of the lens, compiled for every SIMD target.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lens/cpu/pixelwise.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <memory>

#include "lens/lamps.h"
#include "lens/layers.h"
#include "pixels/cpu/pixelwise-inl.h"
#include "pixels/cpu/pixelwise.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {

inline std::unique_ptr<LampsJob::Operation> PrepareLamps(Backend& backend, const LampsJob& job) {
  return prepare_pixelwise<EachRow>(backend, job);
}
inline std::unique_ptr<LensStoreJob::Operation> PrepareLensStore(Backend& backend, const LensStoreJob& job) {
  return prepare_pixelwise<EachRow>(backend, job);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(PrepareLamps);
HWY_EXPORT(PrepareLensStore);

std::unique_ptr<LampsJob::Operation> prepare_lamps(Backend& backend, const LampsJob& job) {
  return HWY_DYNAMIC_DISPATCH(PrepareLamps)(backend, job);
}
std::unique_ptr<LensStoreJob::Operation> prepare_lens_store(Backend& backend, const LensStoreJob& job) {
  return HWY_DYNAMIC_DISPATCH(PrepareLensStore)(backend, job);
}

}  // namespace satin::cpu
#endif

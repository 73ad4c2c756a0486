// The entry points of a frei0r library.

#include "hosts/frei0r/instance.h"
#include "hosts/frei0r/name.h"

// frei0r.h of version 1.8 declares its functions neither as C nor as visible.
#pragma GCC visibility push(default)
extern "C" {
#include <frei0r.h>
}
#pragma GCC visibility pop

#include <dlfcn.h>

#include <filesystem>
#include <iostream>
#include <new>
#include <string>

namespace {

using satin::frei0r::Instance;
using satin::frei0r::library_is_mixer;

const satin::frei0r::Plugin& plugin() {
  static const satin::frei0r::Plugin made(satin::frei0r::filter_of_library, library_is_mixer);
  return made;
}

/// Returns why frames of this width are refused, or nothing. Rows of frames are to follow each other, and
/// frei0r has no way to say that they do not. ffmpeg's begin at multiples of up to 64 bytes, as its SIMD code
/// likes them.
std::string refusal_of(unsigned width, const void* caller) {
  Dl_info object;
  if (width % 16 == 0 || dladdr(caller, &object) == 0) return {};
  const std::string file = std::filesystem::path(object.dli_fname).filename();
  if (file.find("avfilter") == std::string::npos && file.find("ffmpeg") == std::string::npos) return {};
  return "width " + std::to_string(width) +
         ": must be a multiple of 16 in ffmpeg. Pad the frames before: pad=ceil(iw/16)*16:ih";
}

/// Calls `call` with the instance, unless construction was refused.
template <class Call>
void with(f0r_instance_t instance, const Call& call) {
  if (instance != nullptr) call(*static_cast<Instance*>(instance));
}

}  // namespace

int f0r_init() { return 1; }
void f0r_deinit() {}

void f0r_get_plugin_info(f0r_plugin_info_t* info) {
  constexpr int major = 0, minor = 2;
  *info = {plugin().title().c_str(),
           "Satin",
           library_is_mixer ? F0R_PLUGIN_TYPE_MIXER2 : F0R_PLUGIN_TYPE_FILTER,
           F0R_COLOR_MODEL_RGBA8888,
           FREI0R_MAJOR_VERSION,
           major,
           minor,
           static_cast<int>(plugin().controls().size()),
           plugin().filter().help.c_str()};
}

void f0r_get_param_info(f0r_param_info_t* info, int index) {
  const satin::frei0r::Control& control = plugin().controls().at(static_cast<std::size_t>(index));
  *info = {control.name.c_str(), static_cast<int>(control.kind), control.explanation.c_str()};
}

f0r_instance_t f0r_construct(unsigned int width, unsigned int height) {
  const std::string sentence = refusal_of(width, __builtin_return_address(0));
  if (sentence.empty()) return new (std::nothrow) Instance(plugin(), width, height);
  std::cerr << plugin().name() + ": " + sentence + "\n";
  return nullptr;
}

void f0r_destruct(f0r_instance_t instance) { delete static_cast<Instance*>(instance); }

void f0r_set_param_value(f0r_instance_t instance, f0r_param_t value, int index) {
  with(instance, [&](Instance& self) { self.set(static_cast<std::size_t>(index), value); });
}

void f0r_get_param_value(f0r_instance_t instance, f0r_param_t value, int index) {
  with(instance, [&](Instance& self) { self.get(static_cast<std::size_t>(index), value); });
}

void f0r_update(f0r_instance_t instance, double, const std::uint32_t* frame, std::uint32_t* output) {
  with(instance, [&](Instance& self) { self.run(frame, nullptr, output); });
}

void f0r_update2(f0r_instance_t instance, double, const std::uint32_t* first, const std::uint32_t* second,
                 const std::uint32_t*, std::uint32_t* output) {
  with(instance, [&](Instance& self) { self.run(first, library_is_mixer ? second : nullptr, output); });
}

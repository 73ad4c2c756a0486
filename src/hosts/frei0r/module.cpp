// The entry points of a frei0r library. A library holds one plug-in, so this file is compiled once for each:
// SATIN_FILTER is the name of its filter, and SATIN_MIXER is defined for mixers.

#include "hosts/frei0r/instance.h"

// frei0r.h of version 1.8 declares its functions neither as C nor as visible.
#pragma GCC visibility push(default)
extern "C" {
#include <frei0r.h>
}
#pragma GCC visibility pop

#include <algorithm>
#include <exception>
#include <iostream>

namespace {

#ifdef SATIN_MIXER
constexpr bool is_mixer = true;
#else
constexpr bool is_mixer = false;
#endif

using satin::frei0r::Instance;
using satin::frei0r::Kind;

const satin::frei0r::Plugin& plugin() {
  static const satin::frei0r::Plugin made(SATIN_FILTER, is_mixer);
  return made;
}

int type_of(Kind kind) {
  switch (kind) {
    case Kind::flag:
      return F0R_PARAM_BOOL;
    case Kind::number:
      return F0R_PARAM_DOUBLE;
    case Kind::text:
      break;
  }
  return F0R_PARAM_STRING;
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
           is_mixer ? F0R_PLUGIN_TYPE_MIXER2 : F0R_PLUGIN_TYPE_FILTER,
           F0R_COLOR_MODEL_RGBA8888,
           FREI0R_MAJOR_VERSION,
           major,
           minor,
           static_cast<int>(plugin().controls().size()),
           plugin().filter().help.c_str()};
}

void f0r_get_param_info(f0r_param_info_t* info, int index) {
  const satin::frei0r::Control& control = plugin().controls().at(static_cast<std::size_t>(index));
  *info = {control.name.c_str(), type_of(control.kind), control.explanation.c_str()};
}

f0r_instance_t f0r_construct(unsigned int width, unsigned int height) {
  try {
    return new Instance(plugin(), width, height);
  } catch (const std::exception& error) {
    std::cerr << plugin().name() << ": " << error.what() << '\n';
    return nullptr;
  }
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
  with(instance, [&](Instance& self) { self.run(first, is_mixer ? second : nullptr, output); });
}

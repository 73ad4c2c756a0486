#include "hosts/frei0r/instance.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iostream>
#include <string_view>

#include "satin/error.h"
#include "satin/metadata.h"

namespace satin::frei0r {
namespace {

constexpr int channels = 4, green = 1, alpha = 3;
static_assert(std::endian::native == std::endian::little, "alpha is the last byte of a pixel");
constexpr std::uint32_t alpha_bits = 0xff000000, grey_bits = 0x010101;

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::usage, what); }

bool is_opaque(std::span<const std::uint32_t> frame) {
  std::uint32_t all = alpha_bits;
  for (const std::uint32_t pixel : frame) all &= pixel;
  return all == alpha_bits;
}

/// Returns the curves of ITU-R BT.709, which PNG files name by code points of ITU-T H.273.
ToneCurves curves_of_bt709(const Shape& shape) {
  Metadata metadata;
  metadata.png.code_points = {1, 1, 0, 1};
  return ToneCurves::of(metadata, shape).value();
}

/// Texts by the names of their controls or parameters.
using Texts = std::map<std::string, std::string, std::less<>>;

/// Adds the settings of a text such as "radius:12 border=clamp invert". melt splits its arguments at '=', so
/// ':' does as well.
void add_several(Texts& texts, std::string_view text, const Plugin& plugin) {
  constexpr std::string_view blanks = " \t\n";
  const auto is_flag = [&](std::string_view name) {
    const ParameterRecord* record = plugin.filter().find_parameter(name);
    return record != nullptr && record->kind == ParameterKind::flag;
  };
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
    if (text.empty()) return;
    const std::string_view word = text.substr(0, text.find_first_of(blanks));
    const std::string_view name = word.substr(0, word.find_first_of("=:"));
    if (name == word && !is_flag(name))
      refuse("settings '" + printable(word) + "': write NAME:VALUE, such as " + plugin.controls().at(1).name +
             ":VALUE.");
    texts.insert_or_assign(std::string(name),
                           name == word ? "true" : std::string(word.substr(name.size() + 1)));
    text.remove_prefix(word.size());
  }
}

/// Whether the texts set this parameter, or one that it excludes.
bool is_given(const Texts& texts, const ParameterRecord& number, const FilterRecord& filter) {
  if (texts.contains(number.name) || texts.contains(number.instead_of)) return true;
  return std::ranges::any_of(filter.parameters, [&](const ParameterRecord& record) {
    return record.instead_of == number.name && texts.contains(record.name);
  });
}

}  // namespace

Instance::Instance(const Plugin& plugin, unsigned width, unsigned height)
    : plugin_(plugin),
      frame_{width, height, channels, Type::u8, Alpha::straight},
      texts_(plugin.controls().size()),
      runner_(plugin.filter()) {
  for (const Control& control : plugin.controls()) numbers_.push_back(control.initial);
}

void Instance::set(std::size_t control, const void* value) {
  const std::lock_guard lock(mutex_);
  const auto store = [&](auto& old, const auto& given) {
    if (old == given) return;
    old = given;
    has_changed_ = true;
  };
  if (plugin_.controls().at(control).kind == Kind::text)
    store(texts_[control], std::string_view(*static_cast<const char* const*>(value)));
  else
    store(numbers_[control], *static_cast<const double*>(value));
}

void Instance::get(std::size_t control, void* value) {
  const std::lock_guard lock(mutex_);
  if (plugin_.controls().at(control).kind == Kind::text)
    *static_cast<const char**>(value) = texts_[control].c_str();
  else
    *static_cast<double*>(value) = numbers_[control];
}

void Instance::apply() {
  Texts texts;
  add_several(texts, texts_.front(), plugin_);
  for (std::size_t i = 1; i < texts_.size(); ++i) {
    const Control& control = plugin_.controls()[i];
    const bool is_moved = numbers_[i] != control.initial;
    if (control.kind == Kind::text && !texts_[i].empty()) texts.insert_or_assign(control.name, texts_[i]);
    if (control.kind == Kind::flag && is_moved)
      texts.insert_or_assign(control.name, numbers_[i] >= 0.5 ? "true" : "false");
    if (control.kind == Kind::number && is_moved && !is_given(texts, *control.record, plugin_.filter()))
      texts.insert_or_assign(control.record->name, print_real(control.record->slider_value(numbers_[i])));
  }

  for (const Control& control : plugin_.controls())
    if (!control.choices.empty()) {
      const auto found = texts.extract(control.name);
      const std::size_t choice = found ? parse_choice(control.name, found.mapped(), control.choices) : 0;
      own_[control.name] = control.choices[choice];
    }
  // Values of linear light are filtered as they are stored.
  const ParameterRecord* space = plugin_.filter().find_parameter(ParameterRole::space);
  if (own_["transfer"] == "linear" && space != nullptr) texts.emplace(space->name, "encoded");
  for (const ParameterRecord& record : plugin_.filter().parameters) texts.emplace(record.name, "");
  for (const auto& [name, text] : texts)
    if (const std::string sentence = runner_.set(name, text); !sentence.empty()) refuse(sentence);
}

void Instance::run(const std::uint32_t* first, const std::uint32_t* second, std::uint32_t* output) {
  const std::lock_guard lock(mutex_);
  const std::span frame(first, static_cast<std::size_t>(frame_.width * frame_.height));
  std::string sentence;
  if (has_changed_) {
    has_changed_ = has_spoken_ = false;
    sentence = host::sentence_of([&] { apply(); });
    is_refused_ = !sentence.empty();
  }
  if (!is_refused_) sentence = host::sentence_of([&] { filter(frame, second, output); });
  if (!is_refused_ && sentence.empty()) return;
  if (!has_spoken_) std::cerr << plugin_.name() + ": " + sentence + " Frames stay as they are.\n";
  has_spoken_ = true;
  std::ranges::copy(frame, output);
}

void Instance::filter(std::span<const std::uint32_t> first, const std::uint32_t* second,
                      std::uint32_t* output) {
  const bool is_grey = plugin_.filter().shape == OutputShape::grey;
  const bool has_opacity = own_["alpha"] == "opacity" && !is_grey && !is_opaque(first);
  const ImageView frame = view_of(first.data(), frame_);
  std::vector<ImageView> inputs{has_opacity ? frame : host::channels_of(frame, 0, 3)};
  bool alpha_is_side = false;
  for (const InputRecord& input : plugin_.filter().inputs) {
    ImageView& side = inputs.emplace_back();
    if (own_["alpha"] == input.name) {
      if (input.role == Role::depth && is_opaque(first))
        refuse("Alpha is to be the depth, and is 255 everywhere: merge a picture of depth into it.");
      side = host::channels_of(frame, alpha, 1);
      alpha_is_side = true;
    } else if (second != nullptr && own_["second"] == input.name) {
      const ImageView clip = view_of(second, frame_);
      side = input.role == Role::guide ? host::channels_of(clip, 0, 3) : host::channels_of(clip, green, 1);
    }
  }

  const ParameterRecord* space = plugin_.filter().find_parameter(ParameterRole::space);
  const bool is_linear = space != nullptr && runner_.parameters().get(space->name) == "linear";
  MutableImageView result = mutable_view_of(output, frame_);
  if (is_linear && own_["transfer"] == "bt709")
    run_in_bt709(inputs, frame, output);
  else
    run_plan(inputs, has_opacity ? result : host::channels_of(result, 0, is_grey ? 1 : 3));

  if (has_opacity) return;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const std::uint32_t pixel = is_grey ? (output[i] & 0xff) * grey_bits : output[i];
    output[i] = (pixel & ~alpha_bits) | (alpha_is_side ? alpha_bits : first[i] & alpha_bits);
  }
}

void Instance::run_in_bt709(std::vector<ImageView> inputs, const ImageView& frame, std::uint32_t* output) {
  if (!bt709_) bt709_ = curves_of_bt709(frame_);
  const Image light = bt709_->decoded(frame);
  Image result(light.shape());
  std::memset(result.data(), 0, byte_size(result.shape()));  // alpha that is not filtered
  const Shape& shape = inputs.front().shape;
  inputs.front() = host::channels_of(light.view(), 0, shape.channels, shape.alpha);
  run_plan(inputs, host::channels_of(result.view(), 0, shape.channels, shape.alpha));
  std::memcpy(output, bt709_->encoded(result).data(), byte_size(frame_));
}

void Instance::run_plan(std::span<const ImageView> inputs, const MutableImageView& output) {
  const std::string sentence = runner_.run(inputs, output);
  if (!sentence.empty()) refuse(sentence);
}

}  // namespace satin::frei0r

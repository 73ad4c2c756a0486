// A module of GEGL: an operation satin:NAME for every filter that makes a picture of the picture's size. Its
// properties are the filter's parameters; its pads aux and aux2 are the first side inputs.
//
// An operation computes the whole picture at once, which GEGL then keeps, because many filters depend on all
// of it.

extern "C" {
#include <gegl-plugin.h>
}

#include <array>
#include <map>
#include <mutex>
#include <vector>

#include "hosts/gegl/pixels.h"
#include "hosts/gegl/properties.h"
#include "hosts/host.h"
#include "satin/error.h"
#include "satin/pipeline.h"

namespace satin::host {
namespace {

constexpr std::array<const char*, 2> side_pads = {"aux", "aux2"};

/// A filter as a class of operations.
struct OperationRecord {
  const FilterRecord* filter = nullptr;
  std::string name;                       ///< "satin:blur"
  std::string title;                      ///< "Satin blur"
  std::string description;                ///< help of the filter, and what its pads are
  std::vector<Parameter> parameters;      ///< property i + 1 is parameter i
  std::vector<const InputRecord*> sides;  ///< the side inputs of the pads aux and aux2
  GObjectClass* parent = nullptr;
};

/// The settings of an operation in a graph, and what it keeps between runs.
struct OperationState {
  const OperationRecord* record;
  std::vector<GValue> values;  ///< values of the properties
  std::mutex running;
  Runner runner;
  const Babl* curves_format = nullptr;  ///< format that `curves` are for
  std::optional<ToneCurves> curves{};
};

/// Every base class of operations has this layout, so one struct serves all.
struct Operation {
  GeglOperation parent;
  OperationState* state;
};
static_assert(sizeof(GeglOperationFilter) == sizeof(GeglOperation));
static_assert(sizeof(GeglOperationComposer) == sizeof(GeglOperation));
static_assert(sizeof(GeglOperationComposer3) == sizeof(GeglOperation));

/// Returns the records of the classes that were made.
std::map<GType, const OperationRecord*>& records() {
  static std::map<GType, const OperationRecord*> map;
  return map;
}

OperationState& state_of(gpointer operation) { return *static_cast<Operation*>(operation)->state; }

// --- Properties ---

/// Gives all settings to the runner. Throws Error(usage) for an invalid one.
void apply_settings(OperationState& state) {
  for (std::size_t i = 0; i < state.values.size(); ++i) {
    const Parameter& parameter = state.record->parameters[i];
    const std::string refusal = state.runner.set(parameter.record->name, text_of(parameter, state.values[i]));
    if (!refusal.empty()) throw Error(ErrorKind::usage, refusal);
  }
}

/// Whether the filter works in linear light, by its parameter for that.
bool in_linear_light(const OperationState& state) {
  for (std::size_t i = 0; i < state.values.size(); ++i) {
    const Parameter& parameter = state.record->parameters[i];
    if (parameter.record->role == ParameterRole::space)
      return text_of(parameter, state.values[i]) == "linear";
  }
  return false;
}

void set_property(GObject* object, guint id, const GValue* value, GParamSpec* /*property*/) {
  g_value_copy(value, &state_of(object).values[id - 1]);
}

void get_property(GObject* object, guint id, GValue* value, GParamSpec* /*property*/) {
  g_value_copy(&state_of(object).values[id - 1], value);
}

// --- Formats and rectangles ---

Reading reading_of(const InputRecord& side) {
  if (side.role == Role::guide) return Reading::stored;
  return side.role == Role::mask || side.role == Role::subject ? Reading::mask : Reading::map;
}

/// Returns the rectangle of a pad's picture, empty if nothing is connected.
GeglRectangle box_of(GeglOperation* operation, const char* pad) {
  const GeglRectangle* const box = gegl_operation_source_get_bounding_box(operation, pad);
  return box == nullptr ? GeglRectangle{0, 0, 0, 0} : *box;
}

void prepare(GeglOperation* operation) {
  const OperationState& state = state_of(operation);
  const auto source = [&](const char* pad) { return gegl_operation_get_source_format(operation, pad); };
  const Babl* const format =
      format_for(source("input"), in_linear_light(state) ? Reading::light : Reading::stored);
  gegl_operation_set_format(operation, "input", format);
  const bool is_grey = state.record->filter->shape == OutputShape::grey;
  gegl_operation_set_format(operation, "output", is_grey ? babl_format("Y' u8") : format);
  for (std::size_t i = 0; i < state.record->sides.size(); ++i)
    gegl_operation_set_format(operation, side_pads[i],
                              format_for(source(side_pads[i]), reading_of(*state.record->sides[i])));
}

GeglRectangle get_bounding_box(GeglOperation* operation) { return box_of(operation, "input"); }

/// Returns the whole rectangle of a pad, which an operation needs and makes; for a picture without an end,
/// which it refuses, only the one that is asked for.
GeglRectangle whole(GeglOperation* operation, const gchar* pad, const GeglRectangle* asked) {
  const GeglRectangle box = box_of(operation, pad);
  return gegl_rectangle_is_infinite_plane(&box) != FALSE ? *asked : box;
}

GeglRectangle get_cached_region(GeglOperation* operation, const GeglRectangle* result) {
  return whole(operation, "input", result);
}

GeglRectangle get_invalidated_by_change(GeglOperation* operation, const gchar* /*pad*/,
                                        const GeglRectangle* /*changed*/) {
  return box_of(operation, "input");
}

// --- Filtering ---

Image read(GeglBuffer* buffer, const GeglRectangle& box, const Babl* format) {
  Image image(shape_of(box, format));
  gegl_buffer_get(buffer, &box, 1.0, format, image.data(), GEGL_AUTO_ROWSTRIDE, GEGL_ABYSS_NONE);
  return image;
}

/// Returns the rectangle of a side input that belongs to the picture: the picture's own, or all of a map in
/// another scale.
GeglRectangle side_box(const InputRecord& side, const GeglRectangle& own, const GeglRectangle& picture,
                       const char* pad) {
  if (gegl_rectangle_contains(&own, &picture) != FALSE) return picture;
  const auto size_of = [](const GeglRectangle& box) {
    return Shape{.width = box.width, .height = box.height};
  };
  if (belongs_to(side, size_of(own), size_of(picture))) return own;
  throw Error(ErrorKind::usage, std::string(pad) + " (" + side.name + ") does not cover the picture of " +
                                    std::to_string(picture.width) + " x " + std::to_string(picture.height) +
                                    " pixels: scale or move it.");
}

/// Returns the curves by which integers of this format are decoded, or null: those of sRGB.
const ToneCurves* curves_for(OperationState& state, const Babl* format) {
  if (state.curves_format != format) state.curves = tone_curves_of(format);
  state.curves_format = format;
  return state.curves ? &*state.curves : nullptr;
}

/// Filters the buffers of the pads "input", "aux" and "aux2", of which the latter may be null.
Image filtered(GeglOperation* operation, const std::array<GeglBuffer*, 3>& buffers) {
  OperationState& state = state_of(operation);
  const GeglRectangle box = box_of(operation, "input");
  if (gegl_rectangle_is_infinite_plane(&box) != FALSE)
    throw Error(ErrorKind::usage, "the picture has no end. Crop it first, by gegl:crop.");
  apply_settings(state);
  const FilterRecord& filter = *state.record->filter;
  const Babl* const format = gegl_operation_get_format(operation, "input");
  const ToneCurves* const curves = in_linear_light(state) ? curves_for(state, format) : nullptr;

  Image picture = read(buffers[0], box, format);
  if (curves != nullptr) picture = curves->decoded(picture);
  std::vector<Image> sides;
  std::vector<ImageView> inputs(1 + filter.inputs.size());
  inputs[0] = picture.view();
  for (std::size_t i = 0; i < state.record->sides.size(); ++i) {
    GeglBuffer* const buffer = buffers[i + 1];
    const InputRecord& side = *state.record->sides[i];
    const char* const pad = side_pads[i];
    if (buffer == nullptr && (side.required || side.role == Role::depth))
      throw Error(ErrorKind::usage,
                  std::string(pad) + " (" + side.name + ") is not connected: " + side.help + ".");
    if (buffer == nullptr) continue;
    sides.push_back(read(buffer, side_box(side, box_of(operation, pad), box, pad),
                         gegl_operation_get_format(operation, pad)));
    inputs[static_cast<std::size_t>(&side - filter.inputs.data()) + 1] = sides.back().view();
  }
  Shape shape = picture.shape();
  if (filter.shape == OutputShape::grey) shape = {.width = box.width, .height = box.height};
  Image result(shape);
  const std::string refusal = state.runner.run(inputs, result.view());
  if (!refusal.empty()) throw Error(ErrorKind::usage, refusal);
  return curves != nullptr ? curves->encoded(result) : std::move(result);
}

/// Filters and stores. On an error the picture stays as it is, and a warning says why.
gboolean run(GeglOperation* operation, const std::array<GeglBuffer*, 3>& buffers, GeglBuffer* output) {
  OperationState& state = state_of(operation);
  const std::lock_guard lock(state.running);
  const GeglRectangle box = box_of(operation, "input");
  try {
    const Image result = filtered(operation, buffers);
    gegl_buffer_set(output, &box, 0, gegl_operation_get_format(operation, "output"), result.data(),
                    GEGL_AUTO_ROWSTRIDE);
    return TRUE;
  } catch (const std::exception& error) {
    g_warning("%s: %s", state.record->name.c_str(), error.what());
  }
  if (gegl_rectangle_is_infinite_plane(&box) != FALSE) return FALSE;
  gegl_buffer_copy(buffers[0], &box, GEGL_ABYSS_NONE, output, &box);
  return TRUE;
}

gboolean process_filter(GeglOperation* operation, GeglBuffer* input, GeglBuffer* output,
                        const GeglRectangle* /*result*/, gint /*level*/) {
  return run(operation, {input, nullptr, nullptr}, output);
}

gboolean process_composer(GeglOperation* operation, GeglBuffer* input, GeglBuffer* aux, GeglBuffer* output,
                          const GeglRectangle* /*result*/, gint /*level*/) {
  return run(operation, {input, aux, nullptr}, output);
}

gboolean process_composer3(GeglOperation* operation, GeglBuffer* input, GeglBuffer* aux, GeglBuffer* aux2,
                           GeglBuffer* output, const GeglRectangle* /*result*/, gint /*level*/) {
  return run(operation, {input, aux, aux2}, output);
}

// --- Classes ---

void finalize(GObject* object) {
  OperationState* const state = &state_of(object);
  const OperationRecord& record = *state->record;
  for (GValue& value : state->values) g_value_unset(&value);
  delete state;
  record.parent->finalize(object);
}

void instance_init(GTypeInstance* instance, gpointer klass) {
  const auto& record = *records().at(G_TYPE_FROM_CLASS(klass));
  auto* const state = new OperationState{&record, {}, {}, Runner(*record.filter)};
  for (const Parameter& parameter : record.parameters) {
    const GParamSpec* const property =
        g_object_class_find_property(G_OBJECT_CLASS(klass), parameter.record->name.c_str());
    g_value_init(&state->values.emplace_back(), property->value_type);
  }
  reinterpret_cast<Operation*>(instance)->state = state;
}

/// Sets what differs between the three base classes of operations.
void set_process(gpointer klass, const OperationRecord& record) {
  if (record.sides.empty()) {
    GEGL_OPERATION_FILTER_CLASS(klass)->process = process_filter;
    return;
  }
  if (record.sides.size() == 1) {
    auto* const composer = GEGL_OPERATION_COMPOSER_CLASS(klass);
    composer->process = process_composer;
    composer->aux_label = record.sides[0]->name.c_str();
    composer->aux_description = record.sides[0]->help.c_str();
    return;
  }
  auto* const composer = GEGL_OPERATION_COMPOSER3_CLASS(klass);
  composer->process = process_composer3;
  composer->aux_label = record.sides[0]->name.c_str();
  composer->aux_description = record.sides[0]->help.c_str();
  composer->aux2_label = record.sides[1]->name.c_str();
  composer->aux2_description = record.sides[1]->help.c_str();
}

void class_init(gpointer klass, gpointer data) {
  auto& record = *static_cast<OperationRecord*>(data);
  record.parent = G_OBJECT_CLASS(g_type_class_peek_parent(klass));
  records()[G_TYPE_FROM_CLASS(klass)] = &record;

  auto* const object = G_OBJECT_CLASS(klass);
  object->set_property = set_property;
  object->get_property = get_property;
  object->finalize = finalize;
  guint id = 0;
  for (const Parameter& parameter : record.parameters)
    g_object_class_install_property(object, ++id, property_of(*record.filter, parameter));

  auto* const operation = GEGL_OPERATION_CLASS(klass);
  operation->prepare = prepare;
  operation->get_bounding_box = get_bounding_box;
  operation->get_required_for_output = whole;
  operation->get_cached_region = get_cached_region;
  operation->get_invalidated_by_change = get_invalidated_by_change;
  operation->threaded = FALSE;  // the filter has its own threads
  set_process(klass, record);
  gegl_operation_class_set_keys(operation, "name", record.name.c_str(), "title", record.title.c_str(),
                                "categories", record.filter->category.c_str(), "description",
                                record.description.c_str(), nullptr);
}

/// Registers a type of operation. GEGL keeps it until the process ends, and so the record.
void register_operation(GTypeModule* module, const FilterRecord& filter) {
  auto* const record = new OperationRecord{&filter,     "satin:" + filter.name,     "Satin " + filter.name,
                                           filter.help, parameters_of_form(filter), {}};
  for (const InputRecord& side : filter.inputs)
    if (side.role != Role::aperture && record->sides.size() < side_pads.size()) {
      record->description += std::string("; ") + side_pads[record->sides.size()] + ": " + side.name;
      record->sides.push_back(&side);
    }

  GTypeInfo info{};
  GType parent = GEGL_TYPE_OPERATION_COMPOSER3;
  info.class_size = sizeof(GeglOperationComposer3Class);
  if (record->sides.empty()) {
    parent = GEGL_TYPE_OPERATION_FILTER;
    info.class_size = sizeof(GeglOperationFilterClass);
  } else if (record->sides.size() == 1) {
    parent = GEGL_TYPE_OPERATION_COMPOSER;
    info.class_size = sizeof(GeglOperationComposerClass);
  }
  info.class_init = class_init;
  info.class_data = record;
  info.instance_size = sizeof(Operation);
  info.instance_init = instance_init;
  gegl_module_register_type(module, parent, ("SatinGegl-" + filter.name).c_str(), &info, GTypeFlags{});
}

}  // namespace
}  // namespace satin::host

extern "C" {

G_MODULE_EXPORT const GeglModuleInfo* gegl_module_query(GTypeModule* /*module*/) {
  static constexpr GeglModuleInfo info = {GEGL_MODULE_ABI_VERSION};
  return &info;
}

G_MODULE_EXPORT gboolean gegl_module_register(GTypeModule* module) {
  for (const satin::FilterRecord& filter : satin::filters())
    if (satin::host::keeps_size(filter)) satin::host::register_operation(module, filter);
  return TRUE;
}
}

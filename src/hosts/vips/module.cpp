// The module that libvips loads: registers an operation satin_NAME for every filter that makes a picture.
//
// libvips lists, documents and parses operations by the properties of their classes. These are made from the
// filters' records: names, ranges, defaults and descriptions.

#include <algorithm>
#include <cctype>
#include <limits>
#include <list>

#include "hosts/vips/operation.h"

namespace satin::vips {
namespace {

using host::Control;

constexpr auto read_write = static_cast<GParamFlags>(G_PARAM_READWRITE);

int to_int(double number) {
  using Limits = std::numeric_limits<int>;
  return static_cast<int>(std::clamp<double>(number, Limits::min(), Limits::max()));
}

/// Returns a name in the form of class names: "edge-smooth" is "EdgeSmooth".
std::string in_capitals(const std::string& name) {
  std::string result;
  bool starts = true;
  for (const char c : name) {
    if (c != '-') result += starts ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    starts = c == '-';
  }
  return result;
}

/// Registers the enumeration of a choice. libvips leaves out the last value of every enumeration.
GType register_choices(const OperationRecord& operation, const Argument& argument) {
  const std::vector<std::string>& choices = argument.parameter.choices;
  const std::string name = "Satin" + in_capitals(operation.filter->name + "-" + argument.name);
  auto* const values = g_new0(GEnumValue, choices.size() + 2);  // the type keeps them
  for (std::size_t i = 0; i < choices.size(); ++i)
    values[i] = {static_cast<int>(i), choices[i].c_str(), choices[i].c_str()};
  values[choices.size()] = {static_cast<int>(choices.size()), "last", "last"};
  return g_enum_register_static(name.c_str(), values);
}

GParamSpec* property_of(const OperationRecord& operation, const Argument& argument) {
  const host::Parameter& parameter = argument.parameter;
  const char* const name = argument.name.c_str();
  const char* const help = argument.help.c_str();
  if (parameter.record == nullptr) return g_param_spec_object(name, name, help, VIPS_TYPE_IMAGE, read_write);
  switch (parameter.control) {
    // Any number is accepted, so that the filter refuses those out of range by name. GLib would warn, drop
    // the number and go on. The help has the range.
    case Control::number: {
      constexpr double most = std::numeric_limits<double>::max();
      return g_param_spec_double(name, name, help, -most, most, parameter.initial, read_write);
    }
    case Control::whole: {
      using Limits = std::numeric_limits<int>;
      return g_param_spec_int(name, name, help, Limits::min(), Limits::max(), to_int(parameter.initial),
                              read_write);
    }
    case Control::flag:
      return g_param_spec_boolean(name, name, help, parameter.initial != 0, read_write);
    case Control::choice:
      return g_param_spec_enum(name, name, help, register_choices(operation, argument),
                               to_int(parameter.initial), read_write);
    case Control::text:
      break;
  }
  return g_param_spec_string(name, name, help, parameter.record->default_text.c_str(), read_write);
}

/// Adds properties to a class, in the order in which libvips lists them.
class Properties {
 public:
  explicit Properties(gpointer type) : type_(type) {}

  /// `offset` is the place of the value in an instance.
  void add(GParamSpec* property, int flags, std::size_t offset) {
    g_object_class_install_property(G_OBJECT_CLASS(type_), static_cast<guint>(vips_argument_get_id()),
                                    property);
    vips_object_class_install_argument(VIPS_OBJECT_CLASS(type_), property,
                                       static_cast<VipsArgumentFlags>(flags), count_++,
                                       static_cast<guint>(offset));
  }

 private:
  gpointer type_;
  int count_ = 0;
};

void initialise_class(gpointer type, gpointer data) {
  const auto& operation = *static_cast<const OperationRecord*>(data);
  static_cast<OperationClass*>(type)->record = &operation;
  G_OBJECT_CLASS(type)->set_property = vips_object_set_property;
  G_OBJECT_CLASS(type)->get_property = vips_object_get_property;
  VIPS_OBJECT_CLASS(type)->nickname = operation.nickname.c_str();
  VIPS_OBJECT_CLASS(type)->description = operation.filter->help.c_str();
  VIPS_OBJECT_CLASS(type)->build = build;
  // Rows are read from top to bottom, so that libvips need not hold decoded files.
  VIPS_OPERATION_CLASS(type)->flags = VIPS_OPERATION_SEQUENTIAL;

  Properties properties(type);
  properties.add(g_param_spec_object("in", "Input", "picture to filter", VIPS_TYPE_IMAGE, read_write),
                 VIPS_ARGUMENT_REQUIRED_INPUT, offsetof(Operation, in));
  properties.add(g_param_spec_object("out", "Output", "filtered picture", VIPS_TYPE_IMAGE, read_write),
                 VIPS_ARGUMENT_REQUIRED_OUTPUT, offsetof(Operation, out));
  std::size_t offset = offset_of_values;
  for (const Argument& argument : operation.arguments) {
    properties.add(property_of(operation, argument), VIPS_ARGUMENT_OPTIONAL_INPUT, offset);
    offset += sizeof(Value);
  }
}

void register_operation(const OperationRecord& operation) {
  GTypeInfo type{};
  type.class_size = sizeof(OperationClass);
  type.class_init = initialise_class;
  type.class_data = &operation;
  type.instance_size = static_cast<guint16>(offset_of_values + operation.arguments.size() * sizeof(Value));
  const std::string name = "Satin" + in_capitals(operation.filter->name);
  g_type_register_static(VIPS_TYPE_OPERATION, name.c_str(), &type, GTypeFlags{});
}

}  // namespace

OperationRecord::OperationRecord(const FilterRecord& record)
    : filter(&record), nickname("satin_" + record.name) {
  std::replace(nickname.begin(), nickname.end(), '-', '_');
  for (const host::Parameter& parameter : host::parameters_of(record)) {
    const std::string& name = parameter.record->name;
    arguments.push_back({name, host::explanation_of(parameter), parameter});
    if (parameter.record->kind == ParameterKind::radius)
      arguments.push_back({name + "-y", name + " along y, if it differs from that along x", parameter, true});
  }
  for (const InputRecord& input : record.inputs) arguments.push_back({input.name, input.help});
}

}  // namespace satin::vips

/// Package of no operations, in the form of libvips 7, which `vips --plugin` asks for up to libvips 8.14.
struct Package {
  const char* name;
  int count;
  void** operations;
};
extern "C" G_MODULE_EXPORT const Package package_table;
const Package package_table = {"satin", 0, nullptr};

/// Called by GLib when the module is loaded. Returns null, which means success.
extern "C" G_MODULE_EXPORT const gchar* g_module_check_init(GModule* /*module*/) {
  // Never freed: the classes refer to them for the life of the process.
  auto* const operations = new std::list<satin::vips::OperationRecord>;
  for (const satin::FilterRecord& filter : satin::filters())
    if (satin::host::makes_picture(filter)) satin::vips::register_operation(operations->emplace_back(filter));
  return nullptr;
}

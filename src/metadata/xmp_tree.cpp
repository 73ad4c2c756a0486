#include "metadata/xmp_tree.h"

#include <expat.h>

#include <memory>
#include <new>
#include <utility>

#include "metadata/xmp_properties.h"

namespace satin::io {
namespace {

constexpr char separator = '\n';  // between namespace and name; it cannot be a part of either
constexpr std::size_t deepest = 64;
constexpr std::size_t most_nodes = std::size_t{1}
                                   << 20;  // a node takes 30 times the bytes of the shortest tag

XmpNode node_of(std::string_view qualified) {
  const std::size_t end = qualified.rfind(separator);
  XmpNode node;
  if (end != std::string_view::npos) node.space = qualified.substr(0, end);
  node.name = end == std::string_view::npos ? qualified : qualified.substr(end + 1);
  return node;
}

void trim(std::string& text) {
  constexpr std::string_view blanks = " \t\r\n";
  text.erase(text.find_last_not_of(blanks) + 1);
  text.erase(0, text.find_first_not_of(blanks));
}

class TreeParser {
 public:
  TreeParser() : parser_(XML_ParserCreateNS(nullptr, separator), &XML_ParserFree), open_(1) {
    if (parser_ == nullptr) throw std::bad_alloc();
    XML_SetUserData(parser_.get(), this);
    XML_SetElementHandler(
        parser_.get(),
        [](void* tree, const char* name, const char** attributes) {
          static_cast<TreeParser*>(tree)->start(name, attributes);
        },
        [](void* tree, const char*) { static_cast<TreeParser*>(tree)->end(); });
    XML_SetCharacterDataHandler(parser_.get(), [](void* tree, const char* text, int length) {
      static_cast<TreeParser*>(tree)->open_.back().text.append(text, static_cast<std::size_t>(length));
    });
    XML_SetStartDoctypeDeclHandler(parser_.get(), [](void* tree, const char*, const char*, const char*, int) {
      XML_StopParser(static_cast<TreeParser*>(tree)->parser_.get(), XML_FALSE);
    });
  }

  std::optional<XmpNode> of(Bytes packet) {
    const auto* text = reinterpret_cast<const char*>(packet.data());
    constexpr std::size_t largest = std::size_t{1} << 30;
    if (packet.size() > largest ||
        XML_Parse(parser_.get(), text, static_cast<int>(packet.size()), XML_TRUE) != XML_STATUS_OK)
      return std::nullopt;
    return std::move(open_.front());
  }

 private:
  void start(const char* qualified, const char** attributes) {
    names_ += std::string_view(qualified).size();
    for (const char** name = attributes; *name != nullptr; name += 2)
      names_ += std::string_view(*name).size();
    if (open_.size() > deepest || ++nodes_ > most_nodes || names_ > most_xmp_names)
      return static_cast<void>(XML_StopParser(parser_.get(), XML_FALSE));
    XmpNode node = node_of(qualified);
    for (; attributes[0] != nullptr; attributes += 2, ++nodes_) {
      node.children.push_back(node_of(attributes[0]));
      node.children.back().text = attributes[1];
    }
    open_.push_back(std::move(node));
  }

  void end() {
    XmpNode node = std::move(open_.back());
    open_.pop_back();
    trim(node.text);
    open_.back().children.push_back(std::move(node));
  }

  std::unique_ptr<XML_ParserStruct, void (*)(XML_Parser)> parser_;
  std::vector<XmpNode> open_;  ///< a root without a name, and the elements that have begun
  std::size_t nodes_ = 0;
  std::size_t names_ = 0;  ///< bytes of the names of all nodes
};

}  // namespace

const XmpNode* XmpNode::find(std::string_view wanted_space, std::string_view wanted_name) const {
  for (const XmpNode& child : children) {
    if (child.space == wanted_space && child.name == wanted_name) return &child;
    if (const XmpNode* below = child.find(wanted_space, wanted_name)) return below;
  }
  return nullptr;
}

std::string XmpNode::text_of(std::string_view wanted_space, std::string_view wanted_name) const {
  const XmpNode* node = find(wanted_space, wanted_name);
  return node == nullptr ? std::string() : node->text;
}

std::vector<const XmpNode*> XmpNode::all(std::string_view wanted_space, std::string_view wanted_name) const {
  std::vector<const XmpNode*> found;
  for (const XmpNode& child : children) {
    if (child.space == wanted_space && child.name == wanted_name) found.push_back(&child);
    for (const XmpNode* below : child.all(wanted_space, wanted_name)) found.push_back(below);
  }
  return found;
}

std::optional<XmpNode> parse_xmp(Bytes packet) { return TreeParser().of(without_zeros(packet)); }

}  // namespace satin::io

#pragma once
// Starts a session of `satin view`: one browser on one picture, or on the pictures of a folder.

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "satin/batch.h"
#include "satin/device.h"
#include "satin/pipeline.h"

namespace satin::view {

/// Options of a command line: names without dashes, and "true" for a flag.
using LineOptions = std::vector<std::pair<std::string, std::string>>;

/// A parsed command line.
struct Line {
  Pipeline pipeline;
  BatchOptions options;  ///< inputs, output, and options for reading and writing
  LineOptions kept;      ///< options that the command lines of the session repeat
};

/// Arguments of a session.
struct Start {
  Line line;
  Device device;
  bool may_choose = false;  ///< no filter was named: photographs with depth start with depth of field
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  ///< 0 for any free port
  /// Parses the words of a command line, beginning with "satin". Throws Error(usage).
  std::function<Line(const std::vector<std::string>& words)> understand;
  /// Called once with the address of the page.
  std::function<void(const std::string& url)> listening;
  /// Polled from several threads. True ends the session.
  std::function<bool()> ended;
};

/// Serves the page until `ended`. Throws Error(usage) for wrong inputs and names, Error(input) for a folder
/// without pictures, Error(environment) if the server module is missing or cannot listen.
void serve(const Start& start);

/// Opens the address in the user's browser. The address is passed in a file that only the user can read, so
/// that it does not show in the list of processes. The destructor removes the file.
class Browser {
 public:
  explicit Browser(const std::string& url);
  ~Browser();
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;

 private:
  std::string file_;
};

}  // namespace satin::view

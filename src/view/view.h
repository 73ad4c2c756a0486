#pragma once
// A session of `satin view`: one browser on one picture, or on the pictures of a folder.

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "satin/batch.h"
#include "satin/device.h"
#include "satin/pipeline.h"

namespace satin::view {

/// Options as a command line has them: names without dashes; "true" for a flag.
using LineOptions = std::vector<std::pair<std::string, std::string>>;

/// A command line, understood.
struct Line {
  Pipeline pipeline;
  BatchOptions options;  ///< the inputs, the output, how pictures are read and written
  LineOptions kept;      ///< those of `options` that the session's command lines repeat
};

/// The beginning of a session.
struct Start {
  Line line;
  Device device;
  bool may_choose = false;  ///< nobody has named a filter: a photograph with depth begins with depth of field
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  ///< 0: any that is free
  /// Takes the words of a command line, the first of them "satin". Throws Error(usage).
  std::function<Line(const std::vector<std::string>& words)> understand;
  /// Called once with the address of the page.
  std::function<void(const std::string& url)> listening;
  /// Asked from several threads; true ends the session.
  std::function<bool()> ended;
};

/// Serves the page until `ended`. Throws Error(usage) for inputs and names to be corrected, Error(input) for
/// a folder without pictures, Error(environment) if the module of the server is missing or cannot listen.
void serve(const Start& start);

/// Gives the user's browser the address in a file that nobody else can read, so that no list of processes
/// shows it. The file is there as long as the object.
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

#pragma once
// The interface between the command and the server. The server is a module that only `satin view` loads: it
// contains Boost.Beast and the files of the page.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace satin::view {

/// An admitted request for a path below /api/.
struct Request {
  std::string method;  ///< "GET" or "POST"
  std::string path;    ///< "/api/view"
  std::string query;   ///< text after the question mark
  std::string body;
};

/// Path of uploads. Its bodies are files, which may be longer than other bodies.
constexpr std::string_view upload_path = "/api/drop";
constexpr std::uint64_t longest_upload = std::uint64_t{256} << 20;

struct Answer {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> fields{};
};

/// Answers requests.
class Application {
 public:
  virtual ~Application() = default;
  /// Called on one of a few threads of the server, never on the one that reads and writes sockets. `reply` is
  /// called once, immediately or later, from any thread.
  virtual void answer(const Request& request, std::function<void(Answer)> reply) = 0;
  /// Ends the work. No reply is called afterwards.
  virtual void stop() = 0;
};

struct ServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  ///< 0 for any free port
  /// The secret of the session, 256 bits in hexadecimal: the fragment of the printed address. The page sends
  /// it with every request for /api/.
  std::string secret{};
  std::function<void(const std::string& url)> listening{};  ///< called once with the address of the page
  std::function<bool()> ended{};                            ///< polled regularly
};

struct ServerModule {
  int version;
  /// Runs until `ended` returns true. Returns an empty text, or the reason why it cannot listen.
  std::string (*run)(const ServerOptions& options, Application& application);
};

constexpr int server_version = 2;
constexpr const char* server_file = "satin_view.so";
constexpr const char* server_entry = "satin_view";

/// A file of src/view/page, which the build embeds in the module.
struct PageFile {
  std::string_view name;  ///< such as "main.js"
  std::string_view text;
};

/// Returns all files of the page.
[[nodiscard]] std::span<const PageFile> page_files();

}  // namespace satin::view

#pragma once
// The interface between the server and the command. The server is a module that only `satin view` loads: it
// holds Boost.Beast and the files of the page.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace satin::view {

/// A request that was let in, for a path below /api/.
struct Request {
  std::string method;  ///< "GET" or "POST"
  std::string path;    ///< "/api/view"
  std::string query;   ///< the text behind the question mark
  std::string body;
};

struct Answer {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> fields{};
};

/// An object that answers requests.
class Application {
 public:
  virtual ~Application() = default;
  /// Called on the server's one thread. `reply` is called once, at once or later, from any thread.
  virtual void answer(const Request& request, std::function<void(Answer)> reply) = 0;
  /// Ends the work; no reply is called afterwards.
  virtual void stop() = 0;
};

/// The secrets of a session, 256 bits each, in hexadecimal.
struct Secrets {
  std::string token;   ///< opens the page
  std::string cookie;  ///< the page has it afterwards
  std::string header;  ///< the page repeats it with every change
};

struct ServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  ///< 0: any that is free
  Secrets secrets{};
  std::function<void(const std::string& url)> listening{};  ///< told once where the page is
  std::function<bool()> ended{};                            ///< asked every now and then
};

struct ServerModule {
  int version;
  /// Runs until `ended` says so. Returns an empty text, or why it cannot listen.
  std::string (*run)(const ServerOptions& options, Application& application);
};

constexpr int server_version = 1;
constexpr const char* server_file = "satin_view.so";
constexpr const char* server_entry = "satin_view";

struct PageFile {
  std::string_view name;  ///< "view.js"
  std::string_view text;
};

/// The files of src/view/page.
[[nodiscard]] std::span<const PageFile> page_files();

}  // namespace satin::view

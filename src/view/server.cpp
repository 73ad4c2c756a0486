#include "view/server.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>

#include "view/connection.h"

namespace satin::view {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::size_t most_connections = 64;
constexpr std::chrono::milliseconds between_looks{50};

class Server {
 public:
  Server(const ServerOptions& options, Application& application)
      : options_(options), application_(application), acceptor_(io_), timer_(io_) {}

  /// Begins to listen. Returns an empty text, or why it cannot.
  std::string listen();
  void run();

 private:
  void accept();
  void admit(tcp::socket socket);
  bool make_room();
  void look_for_end();

  const ServerOptions& options_;
  Application& application_;
  asio::io_context io_{1};
  tcp::acceptor acceptor_;
  asio::steady_timer timer_;
  bool accepting_ = false;
  std::vector<std::shared_ptr<Connection>> connections_;
};

std::string Server::listen() {
  error_code error;
  const auto address = asio::ip::make_address(options_.address, error);
  if (error) return "'" + options_.address + "' is no address. Give one such as 127.0.0.1.";
  const tcp::endpoint wanted(address, options_.port);
  acceptor_.open(wanted.protocol(), error);
  if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor_.bind(wanted, error);
  if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (error)
    return "The page cannot be served at " + options_.address + ", port " + std::to_string(options_.port) +
           ": " + error.message() + ". Choose another one by --port.";
  const std::string host = address.is_v6() ? "[" + address.to_string() + "]" : address.to_string();
  const std::string port = std::to_string(acceptor_.local_endpoint().port());
  options_.listening("http://" + host + ":" + port + "/?t=" + options_.secrets.token);
  return "";
}

void Server::run() {
  look_for_end();
  io_.run();
  application_.stop();
}

/// An error is one of this moment, such as too many open files: the next look tries again.
void Server::accept() {
  accepting_ = true;
  acceptor_.async_accept([this](const error_code& error, tcp::socket socket) {
    accepting_ = false;
    if (error) return;
    admit(std::move(socket));
    accept();
  });
}

void Server::admit(tcp::socket socket) {
  const auto connection = std::make_shared<Connection>(std::move(socket), options_.secrets, application_);
  if (!make_room()) return connection->refuse_busy();
  connections_.push_back(connection);
  connection->start([this](const Connection* closed) {
    std::erase_if(connections_, [&](const auto& each) { return each.get() == closed; });
  });
}

/// The connection that has waited longest for a request gives way.
bool Server::make_room() {
  if (connections_.size() < most_connections) return true;
  std::shared_ptr<Connection> oldest;
  for (const auto& each : connections_)
    if (each->idle_since() && (!oldest || *each->idle_since() < *oldest->idle_since())) oldest = each;
  if (!oldest) return false;
  oldest->close();
  std::erase(connections_, oldest);
  return true;
}

void Server::look_for_end() {
  if (options_.ended()) return io_.stop();
  if (!accepting_) accept();
  timer_.expires_after(between_looks);
  timer_.async_wait([this](const error_code& error) {
    if (!error) look_for_end();
  });
}

std::string run(const ServerOptions& options, Application& application) {
  Server server(options, application);
  if (std::string reason = server.listen(); !reason.empty()) return reason;
  server.run();
  return "";
}

}  // namespace
}  // namespace satin::view

extern "C" __attribute__((visibility("default"))) const satin::view::ServerModule* satin_view() {
  static const satin::view::ServerModule module{satin::view::server_version, satin::view::run};
  return &module;
}

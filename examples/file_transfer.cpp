// Files, as SMB Direct moves them: the client asks by a message that names a piece of the file and
// a buffer of its own; the server fetches or delivers the octets itself, by RDMA Read or Write, and
// answers when they are there. The data never takes a receive, and neither side holds more than a
// few chunks of any file. The two ends are in file_transfer.hpp.
//
//   file_transfer server 7471 /tmp/share
//   file_transfer client 127.0.0.1 7471 put README.md readme
//   file_transfer client 127.0.0.1 7471 get readme /tmp/copy
//   file_transfer                       there and back in this process, compared
//
// The server's file system is called between the messages, by the only thread: a program for slow
// disks would do that elsewhere.
#include "file_transfer.hpp"

#include <cstdlib>
#include <optional>

#include "program.hpp"

namespace net = boost::asio;
namespace iw = iwarp::asio;
namespace fs = std::filesystem;
using examples::client, examples::direction, examples::kChunk, examples::session;
using net::awaitable, net::use_awaitable;

namespace {

awaitable<void> serve_one(iw::connection peer, iw::domain& domain, fs::path folder) {
  session one(std::move(peer), domain, folder);
  co_await one.run();
}

awaitable<void> serve(iw::acceptor& acceptor, iw::domain& domain, fs::path folder) {
  for (;;) {
    auto peer = co_await acceptor.async_accept(domain, examples::kOptions, use_awaitable);
    examples::start_session(acceptor.get_executor(), serve_one(std::move(peer), domain, folder));
  }
}

awaitable<void> one_file(iw::domain& domain, iw::endpoint server, direction what, std::string name,
                         fs::path local) {
  client one(domain);
  co_await one.open(server);
  co_await one.move(what, name, local);
  co_await one.close();
}

// ---- Both in one process ----

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

awaitable<void> there_and_back(iw::domain& domain, iw::endpoint server, fs::path folder) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, kChunk, 9 * kChunk + 12'345}) {
    std::string text(size, '.');
    for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * i / 97);
    std::ofstream(folder / "original", std::ios::binary) << text;
    co_await one_file(domain, server, direction::put, "stored", folder / "original");
    co_await one_file(domain, server, direction::get, "stored", folder / "copy");
    if (content_of(folder / "copy") != text) throw std::runtime_error("the copy differs");
    std::cout << size << " octets there and back\n";
  }
}

// Removed at the end.
struct scratch_folder {
  fs::path path = (fs::temp_directory_path() / "file_transfer.XXXXXX").string();
  scratch_folder() {
    std::string name = path;
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path = name;
  }
  ~scratch_folder() { fs::remove_all(path); }
};

awaitable<void> one_command(iw::domain& domain, iw::endpoint server,
                            std::vector<std::string> words) {
  if (words.size() != 3 || (words[0] != "put" && words[0] != "get"))
    throw std::invalid_argument("put what, or get what?");
  if (words[0] == "put") return one_file(domain, server, direction::put, words[2], words[1]);
  return one_file(domain, server, direction::get, words[1], words[2]);
}

void run(const examples::command_line& given) {
  if (given.server && !given.client && given.rest.size() != 1)
    throw std::invalid_argument("which folder?");
  net::io_context context(1);  // one thread runs it
  iw::device device(context);
  iw::domain domain(device);
  std::optional<scratch_folder> scratch;
  fs::path folder;
  if (given.both()) folder = scratch.emplace().path;
  if (given.server && !given.client) folder = given.rest.front();
  const examples::ends<iw::acceptor> ends(
      given, context, device,
      [&](iw::acceptor& acceptor) { return serve(acceptor, domain, folder); },
      [&](iw::endpoint server) {
        return scratch ? there_and_back(domain, server, folder)
                       : one_command(domain, server, given.rest);
      });
  context.run();
}

}  // namespace

int main(int argc, char** argv) {
  return examples::run(argc, argv,
                       "file_transfer [server PORT FOLDER | client HOST PORT get NAME FILE | "
                       "client HOST PORT put FILE NAME]",
                       run);
}

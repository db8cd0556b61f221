#include "file_service/client/remote_listing.hpp"

#include <algorithm>

#include "context.hpp"
#include "file_service/wire/page_buffer.hpp"

namespace iwarp::cli::file_service {

std::vector<ListEntry> list_remote(Client& client, const std::string& prefix,
                                   const std::string& url) {
  const PageBuffer memory(kListingPage);
  std::vector<ListEntry> all;
  Request request{.operation = Operation::kList, .payload = std::as_bytes(std::span(prefix))};
  while (true) {
    std::uint32_t length = 0;
    {
      const auto region =
          require(client.domain().register_memory(memory.bytes(), verbs::Access::kLocalWrite |
                                                                      verbs::Access::kRemoteWrite |
                                                                      client.invalidated()),
                  "cannot register a page");
      request.buffer = region.remote();
      length = client.ask(request, url).length;
    }
    const auto page = parse_entries(memory.bytes().first(std::min(length, kListingPage)));
    if (!page) throw CommandError(url + ": the server sent a bad listing");
    if (page->empty()) break;
    all.insert(all.end(), page->begin(), page->end());
    request = Request{.operation = Operation::kListMore};
  }
  std::sort(all.begin(), all.end(),
            [](const ListEntry& a, const ListEntry& b) { return a.name < b.name; });
  return all;
}

}  // namespace iwarp::cli::file_service

#include "report/page_data.hpp"
#include "report/page_files.hpp"
#include "report/text.hpp"
#include "report/writers.hpp"

namespace iwarp::conform {
namespace {

// Each place occurs once in the page, and what is put there is not looked at again.
std::string filled(std::string_view page,
                   std::initializer_list<std::pair<std::string_view, std::string_view>> places) {
  std::string out;
  for (const auto& [place, content] : places) {
    const std::size_t at = page.find(place);
    out += page.substr(0, at);
    out += content;
    page.remove_prefix(at + place.size());
  }
  return out += page;
}

}  // namespace

std::string page_of(const Report& report) {
  return filled(kPageHtml, {{"{{title}}", xml_escaped(report.target)},
                            {"{{style}}", kPageStyle},
                            {"{{data}}", page_data_of(report)},
                            {"{{script}}", kPageScript}});
}

}  // namespace iwarp::conform

#include "man/option_item.hpp"

#include "help/option_values.hpp"
#include "man/roff.hpp"

namespace iwarp::cli::man {

std::string option_tag(const CLI::Option& option) {
  if (option.get_positional()) return italic(option.get_name(true, false));
  std::string roff;
  for (const std::string& name : names_of(option)) roff += (roff.empty() ? "" : ", ") + bold(name);
  const std::string value = values_of(option).name;
  return value.empty() ? roff : roff + " " + italic(value);
}

std::string option_text(const CLI::Option& option) { return prose(explanation_of(option)); }

}  // namespace iwarp::cli::man

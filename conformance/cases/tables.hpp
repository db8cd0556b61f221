#pragma once

#include <initializer_list>
#include <vector>

#include "harness/case.hpp"

/// Cases are data. The file of a group has tables of them, each below the functions that it names,
/// and one function that lists the tables in the order in which their cases run.
namespace iwarp::conform {

using Cases = std::vector<Case>;

/// A case for each row of a table. A row has `id`, `title` and what `run` wants to know.
template <typename Row>
Cases cases_of(Needs needs, void (*run)(Context&, const Row&), const std::vector<Row>& rows) {
  Cases cases;
  for (const Row& row : rows) {
    cases.push_back(
        {row.id, row.title, needs, [row, run](Context& context) { run(context, row); }});
  }
  return cases;
}

/// The cases of several tables, one table behind the other.
Cases joined(std::initializer_list<Cases> tables);

}  // namespace iwarp::conform

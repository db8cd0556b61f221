#include "support/vectors.hpp"

#include <fstream>

namespace iwarp::test {

// Only this file knows where the sources are, so that the others compile alike in every clone.
Vectors Vectors::load(const std::string& file) {
  std::ifstream in(IWARP_VECTORS + file);
  if (!in) throw std::runtime_error("cannot read test vectors: " + file);
  Vectors vectors;
  for (std::string line; std::getline(in, line);) vectors.add_line(line);
  return vectors;
}

}  // namespace iwarp::test

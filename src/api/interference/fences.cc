#include "api/interference/fences.h"

#include <fmt/format.h>

#include "api/wire/schema.h"
#include "base/number/fnv.h"
#include "json/value.h"

namespace mangrove::api {

static constexpr Schema kSpec{
    unlessUnset<&InterferenceFencesSpec::node>("node"),
    unlessUnset<&InterferenceFencesSpec::workload>("workload"),
    unlessUnset<&InterferenceFencesSpec::nodes>("nodes"),
    always<&InterferenceFencesSpec::book>("book"),
    unlessUnset<&InterferenceFencesSpec::updated>("updated"),
};
static bool read(const In& in, InterferenceFencesSpec& out) {
  return kSpec.read(in, out);
}
json::Value toJson(const InterferenceFencesSpec& value) {
  return kSpec.write(value);
}

bool read(const In& in, InterferenceFences& out) {
  static constexpr Fields fields{
      field<&InterferenceFences::meta>("metadata"),
      field<&InterferenceFences::spec>("spec"),
  };
  return fields.read(in, out);
}

std::string nodeFencesName(std::string_view node) {
  return fmt::format("node-{}", node);
}

std::string workloadFencesName(std::string_view workload) {
  return fmt::format("workload-{:016x}", fnv1a(workload));
}

Result<FenceBook> bookOf(const InterferenceFences& fences) {
  const auto parsed = json::parse(fences.spec.book);
  if (!parsed) return parsed.error().in("InterferenceFences {}", fences.meta.name.view());
  auto book = FenceBook::restore(*parsed);
  if (!book) return book.error().in("InterferenceFences {}", fences.meta.name.view());
  return book;
}

}  // namespace mangrove::api

// Aggregates of a metric window: the reference's average, percentiles, last and count.
#include <algorithm>
#include <numeric>
#include <vector>

#include "stats/percentile.h"
#include "stats/ring.h"
#include "vector_runner/handlers.h"

namespace mangrove::vectors {
namespace {

std::vector<stats::Point> pointsOf(const json::Object& c) {
  const json::Array& values = member(c, "values").get_array();
  const json::Value& times = member(c, "at_second");
  std::vector<stats::Point> points;
  for (size_t i = 0; i < values.size(); ++i) {
    const double second = times.is_array() ? times.at(i).to_number<double>() : double(i);
    points.push_back({MonoTime(std::chrono::milliseconds(int64_t(second * 1000))),
                      values[i].to_number<double>()});
  }
  return points;
}

void expectNumber(std::string_view field, const json::Object& want, std::optional<double> got,
                  double relative, Report& r) {
  const json::Value& value = member(want, field);
  if (!got || !value.is_number()) {
    r.expect(field, value, got ? json::Value(*got) : json::Value("error"));
  } else {
    r.expectNear(field, value.to_number<double>(), *got, relative);
  }
}

}  // namespace

void metricAggregation(const json::Object& c, Report& r) {
  const json::Object& want = member(c, "expect").get_object();
  std::vector<stats::Point> points = pointsOf(c);
  std::stable_sort(points.begin(), points.end(), [](auto& a, auto& b) { return a.at < b.at; });
  stats::Ring ring(points.size() + 1);
  for (const auto& point : points) ring.push(point.at, point.value);

  std::vector<double> values(ring.size());
  const auto window = ring.all();
  const auto all = stats::aggregate(window.copyTo(values));
  const auto get = [&](double stats::Aggregate::*field) {
    return all ? std::optional((*all).*field) : std::nullopt;
  };
  expectNumber("avg", want, get(&stats::Aggregate::avg), 1e-12, r);
  expectNumber("p50", want, get(&stats::Aggregate::p50), 0, r);
  expectNumber("p90", want, get(&stats::Aggregate::p90), 0, r);
  expectNumber("p95", want, get(&stats::Aggregate::p95), 0, r);
  expectNumber("p99", want, get(&stats::Aggregate::p99), 0, r);
  const bool empty = window.empty();
  expectNumber("last", want, empty ? std::nullopt : std::optional(window.back().value), 0, r);
  expectNumber("count", want, double(all ? all->count : 0), 0, r);
}

}  // namespace mangrove::vectors

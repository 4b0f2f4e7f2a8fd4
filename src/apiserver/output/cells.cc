#include "apiserver/output/cells.h"

#include <algorithm>

#include <fmt/core.h>

#include "apiserver/output/age.h"
#include "base/text/strings.h"
#include "json/print.h"

namespace mangrove::apiserver {

void Cells::next() {
  if (count_++ > 0) out_ += ',';
}

void Cells::text(std::string_view text) {
  next();
  json::appendString(text, out_);
}

void Cells::number(int64_t number) {
  next();
  json::appendInteger(number, out_);
}

void Cells::real(double number) {
  next();
  json::appendDouble(number, out_);
}

void Cells::flag(bool flag) {
  next();
  out_ += flag ? "true" : "false";
}

void Cells::nothing() {
  next();
  out_ += "null";
}

std::string_view TableRow::name() const {
  return textOf(meta()["name"]);
}

std::string TableRow::age() const {
  return ageSince(meta()["creationTimestamp"], now);
}

std::string_view TableRow::createdAt() const {
  return textOf(meta()["creationTimestamp"], kUnknown);
}

std::string_view textOf(json::View view, std::string_view absent) {
  return view.string().value_or(absent);
}

int64_t intOf(json::View view, int64_t absent) {
  return view.integer().value_or(absent);
}

bool flagOf(json::View view, bool absent) {
  return view.boolean().value_or(absent);
}

std::string scalarOf(json::View view) {
  if (auto text = view.string()) return std::string(*text);
  if (auto flag = view.boolean()) return *flag ? "true" : "false";
  return view.numberText();
}

std::string firstFew(const std::vector<std::string>& texts, size_t most, size_t total) {
  const size_t shown = std::min(texts.size(), most);
  std::string out = join(std::span(texts.data(), shown), ",");
  if (total > shown) out += fmt::format(" + {} more...", total - shown);
  return out;
}

json::View conditionOf(json::View status, std::string_view type) {
  for (json::View condition : status["conditions"].elements())
    if (textOf(condition["type"]) == type) return condition;
  return {};
}

bool conditionIsTrue(json::View status, std::string_view type) {
  return textOf(conditionOf(status, type)["status"]) == "True";
}

namespace {

std::vector<std::string> sortedPairs(json::View labels) {
  std::vector<std::string> pairs;
  for (auto [key, value] : labels.members())
    pairs.push_back(fmt::format("{}={}", key, textOf(value)));
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

std::string requirementText(json::View requirement) {
  const std::string_view key = textOf(requirement["key"]);
  const std::string_view op = textOf(requirement["operator"]);
  if (op == "Exists") return std::string(key);
  if (op == "DoesNotExist") return "!" + std::string(key);
  std::vector<std::string> values;
  for (json::View value : requirement["values"].elements()) values.emplace_back(textOf(value));
  std::sort(values.begin(), values.end());
  return fmt::format("{} {} ({})", key, op == "In" ? "in" : "notin", join(values, ","));
}

}  // namespace

std::string labelsText(json::View labels) {
  const auto pairs = sortedPairs(labels);
  return pairs.empty() ? std::string(kNone) : join(pairs, ",");
}

std::string selectorText(json::View selector) {
  auto parts = sortedPairs(selector["matchLabels"]);
  for (json::View requirement : selector["matchExpressions"].elements())
    parts.push_back(requirementText(requirement));
  return parts.empty() ? std::string(kNone) : join(parts, ",");
}

void containerCells(json::View podSpec, Cells& out) {
  std::vector<std::string_view> names, images;
  for (json::View container : podSpec["containers"].elements()) {
    names.push_back(textOf(container["name"]));
    images.push_back(textOf(container["image"]));
  }
  out.text(join(names, ","));
  out.text(join(images, ","));
}

}  // namespace mangrove::apiserver

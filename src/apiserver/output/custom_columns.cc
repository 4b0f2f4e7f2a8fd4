// Columns of custom kinds, as the author of the definition wants them: additionalPrinterColumns.

#include <cmath>
#include <optional>
#include <vector>

#include <fmt/core.h>

#include "apiserver/core/object.h"
#include "apiserver/output/age.h"
#include "apiserver/output/json_path.h"
#include "apiserver/output/table.h"
#include "base/text/time_text.h"

namespace mangrove::apiserver {

namespace {

struct CustomColumn {
  std::string name, type, format, description;
  int priority = 0;
  std::optional<JsonPath> path;  // nullopt: no path, its cells stay empty

  Column shown() const { return {name, type, description, priority, format}; }
};

CustomColumn columnFrom(const json::Object& source) {
  CustomColumn column;
  column.name = textAt(source, "name");
  column.type = textAt(source, "type");
  column.format = textAt(source, "format");
  column.description = textAt(source, "description");
  const json::Value* priority = source.if_contains("priority");
  if (priority && priority->is_int64()) column.priority = static_cast<int>(priority->get_int64());
  const std::string_view path = textAt(source, "jsonPath");
  if (column.description.empty()) column.description = fmt::format("The value at {}", path);
  if (auto parsed = JsonPath::parse(path)) column.path = std::move(*parsed);
  return column;
}

void dateCell(json::View value, WallTime now, Cells& out) {
  auto text = value.string();
  if (!text) return out.nothing();
  out.text(parseTime(*text) ? ageSince(value, now) : "<invalid>");
}

void textCell(json::View value, Cells& out) {
  std::string text = scalarOf(value);
  if (value.isObject() || value.isArray()) json::write(value, text);
  out.text(text);
}

// Whole numbers that were written with a point are still whole.
void integerCell(json::View value, Cells& out) {
  if (auto whole = value.integer()) return out.number(*whole);
  auto number = value.number();
  if (!number || std::abs(*number) > 9e15) return out.nothing();
  out.number(static_cast<int64_t>(*number));
}

void cell(const CustomColumn& column, const TableRow& row, Cells& out) {
  const json::View value = column.path ? column.path->first(row.object) : json::View();
  if (!value.exists() || value.isNull()) return out.nothing();
  if (column.type == "string") return textCell(value, out);
  if (column.type == "date") return dateCell(value, row.now, out);
  if (column.type == "integer") return integerCell(value, out);
  if (column.type == "number" && value.isNumber()) return out.real(*value.number());
  if (column.type == "boolean" && value.isBool()) return out.flag(*value.boolean());
  out.nothing();
}

class CustomPrinter final : public Printer {
 public:
  explicit CustomPrinter(const KindInfo& kind) {
    if (kind.printerColumns == nullptr || !kind.printerColumns->is_array()) return;
    for (const json::Value& source : kind.printerColumns->get_array())
      if (source.is_object()) columns_.push_back(columnFrom(source.get_object()));
  }

  void columns(std::string& out) const override {
    out += '[';
    appendColumn(kName, out);
    for (const CustomColumn& column : columns_) {
      out += ',';
      appendColumn(column.shown(), out);
    }
    if (columns_.empty()) {
      out += ',';
      appendColumn(kAge, out);
    }
    out += ']';
  }

  void cells(const TableRow& row, Cells& out) const override {
    out.text(row.name());
    for (const CustomColumn& column : columns_) cell(column, row, out);
    if (columns_.empty()) out.text(row.age());
  }

 private:
  std::vector<CustomColumn> columns_;
};

}  // namespace

std::unique_ptr<const Printer> customPrinter(const KindInfo& kind) {
  return std::make_unique<CustomPrinter>(kind);
}

}  // namespace mangrove::apiserver

#include "apiserver/output/table.h"

#include "apiserver/output/columns.h"
#include "base/check.h"
#include "json/print.h"

namespace mangrove::apiserver {

namespace {

const TableKind* findTable(std::string_view group, std::string_view kind) {
  for (auto list : {podTables(), workloadTables(), batchTables(), nodeTables(), networkTables(),
                    storageTables(), configTables(), policyTables(), accessTables(), eventTables()})
    for (const TableKind& table : list)
      if (table.kind == kind && table.group == group) return &table;
  return nullptr;
}

class BuiltInPrinter final : public Printer {
 public:
  explicit BuiltInPrinter(const TableKind& table) : table_(table) {}

  void columns(std::string& out) const override {
    out += '[';
    for (const Column& column : table_.columns) {
      if (&column != table_.columns.data()) out += ',';
      appendColumn(column, out);
    }
    out += ']';
  }

  void cells(const TableRow& row, Cells& out) const override {
    table_.cells(row, out);
    CHECK(out.count() == table_.columns.size(), "{} cells for {} columns of {}", out.count(),
          table_.columns.size(), table_.kind);
  }

 private:
  const TableKind& table_;
};

}  // namespace

std::unique_ptr<const Printer> printerFor(const KindInfo& kind) {
  if (!kind.isCustom) {
    const std::string_view group = kind.storage ? kind.group : kind.storedGroup;
    if (const TableKind* table = findTable(group, kind.kind))
      return std::make_unique<BuiltInPrinter>(*table);
  }
  return customPrinter(kind);
}

void appendColumn(const Column& column, std::string& out) {
  out += R"({"name":)";
  json::appendString(column.name, out);
  out += R"(,"type":)";
  json::appendString(column.type, out);
  out += R"(,"format":)";
  json::appendString(column.format, out);
  out += R"(,"description":)";
  json::appendString(column.description, out);
  out += R"(,"priority":)";
  json::appendInteger(column.priority, out);
  out += '}';
}

void Table::open(std::string& out, std::string_view version, std::string_view metadata,
                 bool columns) {
  out += R"({"kind":"Table","apiVersion":"meta.k8s.io/)";
  out += version;
  out += R"(","metadata":)";
  out += metadata;
  out += R"(,"columnDefinitions":)";
  if (columns)
    printer_->columns(out);
  else
    out += "null";
  out += R"(,"rows":[)";
  first_ = true;
}

void Table::row(json::View stored, std::string_view shown, std::string& out) {
  if (!std::exchange(first_, false)) out += ',';
  out += R"({"cells":)";
  Cells cells(out);
  printer_->cells(TableRow{stored, now_}, cells);
  cells.end();
  out += R"(,"object":)";
  out += shown;
  out += '}';
}

}  // namespace mangrove::apiserver

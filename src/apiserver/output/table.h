#pragma once
// meta.k8s.io Tables: what `kubectl get` prints, made on the server from column definitions and one
// row of cells per object.
//
//   Table table(kind, now);
//   table.open(out, "v1", R"({"resourceVersion":"7"})", true);
//   for (…) table.row(view, object, out);
//   table.close(out);
//
// Built-in kinds have their columns in columns_*.cc, custom kinds in their definition
// (additionalPrinterColumns); everything else shows name and age. One thread at a time.

#include <memory>
#include <string>
#include <string_view>

#include "apiserver/kinds/catalogue.h"
#include "apiserver/output/cells.h"

namespace mangrove::apiserver {

// What a row says: column definitions and cells of one kind.
class Printer {
 public:
  virtual ~Printer() = default;
  // [{"name":…,"type":…,"format":…,"description":…,"priority":0},…]
  virtual void columns(std::string& out) const = 0;
  virtual void cells(const TableRow& row, Cells& out) const = 0;
};
std::unique_ptr<const Printer> printerFor(const KindInfo& kind);
// custom_columns.cc; also for kinds that have none: Name and Age.
std::unique_ptr<const Printer> customPrinter(const KindInfo& kind);
void appendColumn(const Column& column, std::string& out);

class Table {
 public:
  Table(const KindInfo& kind, WallTime now) : printer_(printerFor(kind)), now_(now) {}

  // `metadata` is a JSON object. Without `columns` the definitions are null, as in all watch events
  // but the first.
  void open(std::string& out, std::string_view version, std::string_view metadata, bool columns);
  // `stored` is the object as it is stored, `shown` the JSON that goes with the row.
  void row(json::View stored, std::string_view shown, std::string& out);
  void close(std::string& out) { out += "]}"; }

 private:
  std::unique_ptr<const Printer> printer_;
  WallTime now_;
  bool first_ = true;
};

}  // namespace mangrove::apiserver

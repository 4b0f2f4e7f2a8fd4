#pragma once
// What one kind looks like in `kubectl get`: its columns, and a function that writes the cells of
// one object. The columns_*.cc files are made of these; table.h puts them together.
//
//   constexpr Column kColumns[] = {kName, {"Value", "integer", "Higher goes first"}, kAge};
//   void cells(const TableRow& row, Cells& out) {
//     out.text(row.name());
//     out.number(intOf(row.object["value"]));
//     out.text(row.age());
//   }
//
// A function writes exactly one cell per column, whatever the object lacks. Pure; any thread.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/number/units.h"
#include "json/view.h"

namespace mangrove::apiserver {

struct Column {
  std::string_view name;
  std::string_view type;         // "string", "integer", "number", "boolean", "date"
  std::string_view description;  //
  int priority = 0;              // above 0: with -o wide only
  std::string_view format = "";  // "name" for the object's name
};

inline constexpr std::string_view kNone = "<none>";
inline constexpr std::string_view kUnset = "<unset>";
inline constexpr std::string_view kUnknown = "<unknown>";

inline constexpr Column kName{"Name", "string", "Unique among its kind and namespace", 0, "name"};
inline constexpr Column kAge{"Age", "string", "Time since the object was created"};
inline constexpr Column kCreatedAt{"Created At", "date", "When the object was created"};
inline constexpr Column kContainers{"Containers", "string", "Names of the containers", 1};
inline constexpr Column kImages{"Images", "string", "Images of the containers", 1};
inline constexpr Column kSelector{"Selector", "string", "Labels of the pods it looks after", 1};

// One JSON array of cells, written as it grows.
class Cells {
 public:
  explicit Cells(std::string& out) : out_(out) { out_ += '['; }
  void text(std::string_view text);
  void textOr(std::string_view text, std::string_view instead) {
    this->text(text.empty() ? instead : text);
  }
  void number(int64_t number);
  void real(double number);
  void flag(bool flag);
  void nothing();  // null
  void end() { out_ += ']'; }
  size_t count() const { return count_; }

 private:
  void next();
  std::string& out_;
  size_t count_ = 0;
};

struct TableRow {
  json::View object;  // as it is stored
  WallTime now;

  json::View meta() const { return object["metadata"]; }
  json::View spec() const { return object["spec"]; }
  json::View status() const { return object["status"]; }
  std::string_view name() const;
  std::string age() const;
  std::string_view createdAt() const;
  bool deleting() const { return meta()["deletionTimestamp"].isString(); }
};

struct TableKind {
  std::string_view group, kind;  // of the stored form
  std::span<const Column> columns;
  void (*cells)(const TableRow& row, Cells& out);
};

std::string_view textOf(json::View view, std::string_view absent = "");
int64_t intOf(json::View view, int64_t absent = 0);
bool flagOf(json::View view, bool absent = false);
// Text, number or boolean as text; "" for everything else.
std::string scalarOf(json::View view);

// The first `most` and how many more there are: "a,b,c + 2 more...".
std::string firstFew(const std::vector<std::string>& texts, size_t most, size_t total);
// The condition of that type; absent when there is none.
json::View conditionOf(json::View status, std::string_view type);
bool conditionIsTrue(json::View status, std::string_view type);
std::string labelsText(json::View labels);      // "a=b,c=d", "<none>"
std::string selectorText(json::View selector);  // of a LabelSelector; "<none>"
// Containers and images of a pod spec, two cells.
void containerCells(json::View podSpec, Cells& out);

}  // namespace mangrove::apiserver

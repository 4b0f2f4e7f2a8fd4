#include "apiserver/kinds/kind_table.h"

#include <unordered_map>

#include "base/text/strings.h"

namespace mangrove::apiserver {
namespace {

constexpr std::string_view kMeta = "meta";
constexpr std::string_view kCore = "v1";

struct Line {
  std::vector<std::string_view> words;
  std::string_view description;
  bool indented = false;
};

Line splitLine(std::string_view text) {
  Line line;
  line.indented = text.starts_with("  ");
  if (size_t dash = text.find(" -- "); dash != std::string_view::npos) {
    line.description = trim(text.substr(dash + 4));
    text = text.substr(0, dash);
  }
  for (std::string_view word : split(text, ' '))
    if (!word.empty()) line.words.push_back(word);
  return line;
}

struct GroupName {
  std::string_view text;     // "apps/v1", "v1", "meta"
  std::string_view openApi;  // "io.k8s.api.apps.v1"
};

class TableReader {
 public:
  explicit TableReader(KindTables& out) : out_(out), set_(*out.set) { addScalars(); }

  Result<> declare(const TableFile& file) {
    return eachLine(file, [this](const Line& line) { return declareLine(line); });
  }
  Result<> define(const TableFile& file) {
    return eachLine(file, [this](const Line& line) { return defineLine(line); });
  }

 private:
  template <class Fn>
  Result<> eachLine(const TableFile& file, Fn use);
  void addScalars();
  Result<> declareLine(const Line& line);
  Result<> defineLine(const Line& line);
  Result<> defineEnum(const Line& line);
  Result<> defineKind(const Line& line);
  Result<> kindFlag(KindInfo& kind, std::string_view flag);
  Result<> defineKindPart(const Line& line);
  Result<> defineField(const Line& line);
  Result<> fieldFlag(Field& field, Schema& own, std::string_view flag);
  const Schema* known(std::string_view name) const;
  Result<Schema*> typeOf(std::string_view text);

  KindTables& out_;
  SchemaSet& set_;
  GroupName group_;
  Schema* type_ = nullptr;
  KindInfo* kind_ = nullptr;
  std::unordered_map<std::string, Schema*> types_;  // "apps/v1 Deployment"; scalars " string"
};

std::string keyOf(std::string_view group, std::string_view name) {
  return std::string(group) + ' ' + std::string(name);
}

template <class Fn>
Result<> TableReader::eachLine(const TableFile& file, Fn use) {
  size_t number = 0;
  for (std::string_view text : split(file.text, '\n')) {
    ++number;
    if (text.empty() || text.front() == '#') continue;
    if (auto done = use(splitLine(text)); !done)
      return done.error().in("{} line {} '{}'", file.name, number, text);
  }
  return {};
}

void TableReader::addScalars() {
  auto add = [&](std::string_view name, Type type, uint8_t bits = 0) {
    types_[keyOf("", name)] = set_.add(Schema{.type = type, .bits = bits});
  };
  add("string", Type::kString);
  add("int32", Type::kInteger, 32);
  add("int64", Type::kInteger, 64);
  add("number", Type::kNumber, 64);
  add("bool", Type::kBoolean);
  add("intOrString", Type::kIntOrString);
  add("quantity", Type::kQuantity);
  add("time", Type::kTime);
  add("microTime", Type::kMicroTime);
  add("duration", Type::kDuration);
  add("bytes", Type::kBytes);
  add("any", Type::kAny);
  add("object", Type::kObject);
  types_[keyOf("", "object")]->preserveUnknown = true;
}

Result<> TableReader::declareLine(const Line& line) {
  const auto& words = line.words;
  if (line.indented) return {};
  if (words[0] == "group") {
    if (words.size() != 3) return invalid("want: group GROUP/VERSION OPENAPI-PREFIX");
    group_ = {words[1], words[2]};
  }
  bool isType = words[0] == "type";
  if (!isType && words[0] != "enum" && words[0] != "openenum") return {};
  if (words.size() < 2) return invalid("want a name");
  Schema* node = set_.add(Schema{.type = isType ? Type::kObject : Type::kString});
  if (!types_.emplace(keyOf(group_.text, words[1]), node).second) return invalid("defined twice");
  if (!isType) return {};
  node->name = set_.text(std::string(group_.openApi) + "." + std::string(words[1]));
  out_.types.push_back({node->name, node});
  return {};
}

Result<> TableReader::defineLine(const Line& line) {
  const auto& words = line.words;
  if (line.indented) {
    if (kind_ != nullptr) return defineKindPart(line);
    return type_ != nullptr ? defineField(line) : invalid("belongs to no type");
  }
  kind_ = nullptr;
  type_ = nullptr;
  if (words[0] == "group") {
    group_ = {words[1], words[2]};
    return {};
  }
  if (words[0] == "kind") return defineKind(line);
  if (words[0] == "enum" || words[0] == "openenum") return defineEnum(line);
  if (words[0] != "type") return invalid("want group, kind, enum, openenum or type");
  type_ = types_[keyOf(group_.text, words[1])];
  type_->description = line.description;
  type_->atomicMap = words.size() > 2 && words[2] == "atomic";
  return {};
}

Result<> TableReader::defineEnum(const Line& line) {
  Schema* node = types_[keyOf(group_.text, line.words[1])];
  node->openEnum = line.words[0] == "openenum";
  Constraints* constraints = set_.add(Constraints{});
  for (size_t i = 2; i < line.words.size(); ++i)
    constraints->enumValues.emplace_back(line.words[i] == "\"\"" ? "" : line.words[i]);
  node->constraints = constraints;
  return {};
}

const std::vector<std::string_view> kUsualVerbs = {"create", "delete", "deletecollection", "get",
                                                   "list",   "patch",  "update",           "watch"};

Result<> TableReader::defineKind(const Line& line) {
  const auto& words = line.words;
  if (words.size() < 3) return invalid("want: kind KIND plural");
  auto kind = std::make_shared<KindInfo>();
  Halves gv = cut(group_.text, '/');
  kind->group = gv.found ? gv.before : std::string_view();
  kind->version = gv.found ? gv.after : gv.before;
  kind->kind = words[1];
  kind->plural = words[2];
  kind->singular = set_.text(lower(words[1]));
  kind->listKind = set_.text(std::string(words[1]) + "List");
  kind->namespaced = false;
  kind->verbs = kUsualVerbs;
  for (size_t i = 3; i < words.size(); ++i)
    if (auto done = kindFlag(*kind, words[i]); !done) return done;
  const Schema* schema = known(kind->kind);
  if (schema == nullptr) return invalid("no type {} in {}", kind->kind, group_.text);
  kind->schema = set_.ref(schema);
  kind_ = out_.kinds.emplace_back(std::move(kind)).get();
  return {};
}

Result<> setVerbs(KindInfo& kind, std::string_view list) {
  if (!list.starts_with('-')) {
    kind.verbs = split(list, ',');
    return {};
  }
  for (std::string_view verb : split(list, ','))
    if (std::erase(kind.verbs, verb.substr(1)) == 0) return invalid("no usual verb '{}'", verb);
  return {};
}

Result<> setNameRule(KindInfo& kind, std::string_view rule) {
  if (rule == "label")
    kind.nameRule = NameRule::kLabel;
  else if (rule == "label1035")
    kind.nameRule = NameRule::kLabel1035;
  else if (rule == "path")
    kind.nameRule = NameRule::kPathSegment;
  else
    return invalid("name rule '{}': want label, label1035 or path", rule);
  return {};
}

void setStored(KindInfo& kind, std::string_view where) {
  Halves gv = cut(where, '/');
  kind.storage = false;
  kind.storedGroup = gv.found ? gv.before : std::string_view();
  kind.storedVersion = gv.found ? gv.after : gv.before;
}

Result<> TableReader::kindFlag(KindInfo& kind, std::string_view flag) {
  Halves parts = cut(flag, '=');
  if (flag == "namespaced")
    kind.namespaced = true;
  else if (parts.before == "short")
    kind.shortNames = split(parts.after, ',');
  else if (parts.before == "categories")
    kind.categories = split(parts.after, ',');
  else if (parts.before == "storage")
    setStored(kind, parts.after);
  else if (parts.before == "verbs")
    return setVerbs(kind, parts.after);
  else if (parts.before == "name")
    return setNameRule(kind, parts.after);
  else
    return invalid("unknown flag '{}'", flag);
  return {};
}

Result<> TableReader::defineKindPart(const Line& line) {
  const auto& words = line.words;
  if (words[0] == "select") {
    kind_->selectable.insert(kind_->selectable.end(), words.begin() + 1, words.end());
    return {};
  }
  if (!words[0].starts_with('/')) return invalid("want /subresource or select");
  Subresource sub{.name = words[0].substr(1),
                  .verbs = {"get", "patch", "update"},
                  .group = kind_->group,
                  .version = kind_->version,
                  .kind = kind_->kind};
  if (words.size() > 1) sub.verbs = split(words[1], ',');
  if (words.size() > 2) {
    std::vector<std::string_view> gvk = split(words[2], '/');
    sub.kind = gvk.back();
    if (gvk.size() == 3) sub.group = gvk[0];
    if (gvk.size() >= 2) sub.version = gvk[gvk.size() - 2];
  }
  kind_->subresources.push_back(std::move(sub));
  return {};
}

const Schema* TableReader::known(std::string_view name) const {
  for (std::string_view group : {std::string_view(), group_.text, kMeta, kCore})
    if (auto at = types_.find(keyOf(group, name)); at != types_.end()) return at->second;
  return nullptr;
}

// A node of its own for lists, maps and T|bool, which flags of the field may then change; the
// shared one for everything else.
Result<Schema*> TableReader::typeOf(std::string_view text) {
  if (text.starts_with("[]")) {
    auto items = typeOf(text.substr(2));
    if (!items) return items;
    return set_.add(Schema{.type = Type::kArray, .items = *items});
  }
  if (text.starts_with("map[") && text.ends_with("]")) {
    auto values = typeOf(text.substr(4, text.size() - 5));
    if (!values) return values;
    return set_.add(Schema{.type = Type::kObject, .values = *values});
  }
  bool orBoolean = text.ends_with("|bool");
  if (orBoolean) text.remove_suffix(5);
  const Schema* found = known(text);
  if (found == nullptr) return invalid("unknown type '{}'", text);
  // Nodes are shared, not copied: being or-boolean is harmless where the value is an object.
  Schema* node = const_cast<Schema*>(found);
  if (orBoolean) node->orBoolean = true;
  return node;
}

Result<> TableReader::defineField(const Line& line) {
  const auto& words = line.words;
  if (words.size() < 2) return invalid("want: name type");
  std::string_view text = words[1];
  Field field{.name = words[0], .description = line.description};
  field.isAlwaysThere = text.ends_with('&');
  field.keepsZero = text.ends_with('*') || field.isAlwaysThere;
  if (field.keepsZero) text.remove_suffix(1);
  auto schema = typeOf(text);
  if (!schema) return pass(schema.error());
  field.schema = *schema;
  for (size_t i = 2; i < words.size(); ++i)
    if (auto done = fieldFlag(field, **schema, words[i]); !done) return done;
  type_->fields.push_back(field);
  return {};
}

Result<ProtoChoice> choiceOf(std::string_view text) {
  if (text.empty()) return ProtoChoice::kNone;
  if (text == "orArray") return ProtoChoice::kOrArray;
  if (text == "orBool") return ProtoChoice::kOrBool;
  if (text == "orStrings") return ProtoChoice::kOrStrings;
  return invalid("'{}': want orArray, orBool or orStrings", text);
}

// "2.7", "24:orArray".
Result<ProtoPlace> protoPlace(std::string_view text) {
  ProtoPlace place;
  const Halves parts = cut(text, ':');
  const auto steps = split(parts.before, '.');
  if (steps.size() > place.numbers.size()) return invalid("@{}: more than three numbers", text);
  for (size_t i = 0; i < steps.size(); ++i) {
    const auto number = parseInt<uint16_t>(steps[i]);
    if (!number || *number == 0) return invalid("@{}: want numbers from 1 on", text);
    place.numbers[i] = *number;
  }
  auto choice = choiceOf(parts.after);
  if (!choice) return pass(choice.error());
  place.choice = *choice;
  return place;
}

Result<> TableReader::fieldFlag(Field& field, Schema& own, std::string_view flag) {
  if (flag.starts_with('@')) {
    auto place = protoPlace(flag.substr(1));
    if (!place) return pass(place.error());
    field.proto = *place;
    return {};
  }
  if (flag.starts_with('=')) {
    auto value = json::parse(flag.substr(1));
    if (!value) return value.error().in("default of {}", field.name);
    field.defaultValue = set_.add(std::move(*value));
    return {};
  }
  Halves parts = cut(flag, '=');
  if (flag == "!")
    field.required = true;
  else if (flag == "retainKeys")
    field.patch.retainKeys = true;
  else if (flag == "replace")
    field.patch.replace = true;
  else if (parts.before == "merge")
    field.patch.merge = true, field.patch.mergeKey = parts.after;
  else if (flag == "set" && own.isArray())
    own.listType = ListType::kSet;
  else if (flag == "atomic" && own.isMap())
    own.atomicMap = true;
  else if (parts.before == "map" && own.isArray())
    own.listType = ListType::kMap, own.listKeys = split(parts.after, '/');
  else
    return invalid("flag '{}' does not fit {}", flag, typeText(own));
  return {};
}

}  // namespace

Result<KindTables> readKindTables(std::span<const TableFile> files) {
  KindTables tables;
  tables.set = SchemaSet::make();
  TableReader reader(tables);
  for (const TableFile& file : files)
    if (auto done = reader.declare(file); !done) return pass(done.error());
  for (const TableFile& file : files)
    if (auto done = reader.define(file); !done) return pass(done.error());
  tables.set->finish();
  return tables;
}

}  // namespace mangrove::apiserver

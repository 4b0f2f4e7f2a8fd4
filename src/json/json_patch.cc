#include "json/json_patch.h"

#include <algorithm>

#include "json/pointer.h"

namespace mangrove::json {
namespace {

constexpr size_t kShownBytes = 100;  // of a value in a message

std::string shown(const Value& value) {
  std::string text = write(value);
  if (text.size() > kShownBytes) text = text.substr(0, kShownBytes) + "…";
  return text;
}

size_t depthOf(const Value& value) {
  size_t deepest = 0;
  if (const Object* object = value.if_object())
    for (const auto& member : *object) deepest = std::max(deepest, depthOf(member.value()));
  else if (const Array* array = value.if_array())
    for (const Value& element : *array) deepest = std::max(deepest, depthOf(element));
  return deepest + (value.is_object() || value.is_array() ? 1 : 0);
}

class Patcher {
 public:
  Patcher(Value& document, const PatchLimits& limits) : document_(document), limits_(limits) {}

  Result<void> apply(const Object& operation, size_t index) {
    auto name = text(operation, "op");
    if (!name) return name.error().in("operation {}", index);
    auto path = pointer(operation, "path");
    if (!path) return path.error().in("operation {} ({})", index, *name);
    auto done = run(*name, *path, operation);
    if (!done) return done.error().in("operation {} ({} {})", index, *name, path->text());
    return done;
  }

 private:
  Result<void> run(const std::string& name, const Pointer& path, const Object& operation) {
    if (name == "remove") return removeAt(path);
    if (name == "move" || name == "copy") return transfer(name == "move", path, operation);
    if (name != "add" && name != "replace" && name != "test")
      return invalid("unknown op '{}'; want add, remove, replace, move, copy or test", name);
    const Value* value = operation.if_contains("value");
    if (value == nullptr) return invalid("'value' is missing");
    if (name == "add") return add(path, *value);
    return name == "replace" ? replace(path, *value) : test(path, *value);
  }

  Result<void> removeAt(const Pointer& path) {
    auto removed = remove(document_, path);
    if (!removed) return pass(removed.error());
    return {};
  }

  Result<void> add(const Pointer& path, Value value) {
    if (path.tokens().size() + depthOf(value) > limits_.maxDepth)
      return fail(Code::kTooLarge, "the document would be nested deeper than {} levels",
                  limits_.maxDepth);
    return insert(document_, path, std::move(value));
  }

  Result<void> replace(const Pointer& path, const Value& value) {
    auto target = locate(document_, path);
    if (!target) return pass(target.error());
    if (path.tokens().size() + depthOf(value) > limits_.maxDepth)
      return fail(Code::kTooLarge, "the document would be nested deeper than {} levels",
                  limits_.maxDepth);
    **target = value;
    return {};
  }

  Result<void> test(const Pointer& path, const Value& value) {
    auto target = locate(document_, path);
    if (!target) return pass(target.error());
    if (equal(**target, value)) return {};
    return fail(Code::kConflict, "the value is {}, not {}", shown(**target), shown(value));
  }

  Result<void> transfer(bool move, const Pointer& path, const Object& operation) {
    auto from = pointer(operation, "from");
    if (!from) return pass(from.error());
    auto source = locate(document_, *from);
    if (!source) return source.error().in("from");
    if (!move) return copy(path, **source);
    if (*from == path) return {};
    if (from->contains(path))
      return invalid("a value cannot be moved into itself ({} is above {})", from->text(),
                     path.text());
    return add(path, *remove(document_, *from));
  }

  Result<void> copy(const Pointer& path, const Value& source) {
    copiedBytes_ += write(source).size();
    if (copiedBytes_ > limits_.maxCopyBytes)
      return fail(Code::kTooLarge,
                  "the copies of this patch add up to {} bytes; at most {} are accepted",
                  copiedBytes_, limits_.maxCopyBytes);
    return add(path, source);
  }

  static Result<std::string> text(const Object& operation, std::string_view member) {
    const Value* value = operation.if_contains(member);
    if (value == nullptr) return invalid("'{}' is missing", member);
    if (!value->is_string()) return invalid("'{}' is {}; want a string", member, shown(*value));
    return std::string(value->get_string());
  }

  static Result<Pointer> pointer(const Object& operation, std::string_view member) {
    auto string = text(operation, member);
    if (!string) return pass(string.error());
    return Pointer::parse(*string);
  }

  Value& document_;
  const PatchLimits& limits_;
  size_t copiedBytes_ = 0;
};

class Differ {
 public:
  void compare(const Value& from, const Value& to, const Pointer& at) {
    if (from.is_object() && to.is_object()) return objects(from.get_object(), to.get_object(), at);
    if (from.is_array() && to.is_array()) return arrays(from.get_array(), to.get_array(), at);
    if (!equal(from, to)) emit("replace", at, &to);
  }
  Array take() && { return std::move(operations_); }

 private:
  void emit(std::string_view name, const Pointer& at, const Value* value) {
    Object operation{{"op", name}, {"path", at.text()}};
    if (value != nullptr) operation.emplace("value", *value);
    operations_.push_back(std::move(operation));
  }

  void objects(const Object& from, const Object& to, const Pointer& at) {
    for (const auto& member : from)
      if (!to.contains(member.key())) emit("remove", at.child(member.key()), nullptr);
    for (const auto& member : to) {
      const Value* before = from.if_contains(member.key());
      if (before == nullptr)
        emit("add", at.child(member.key()), &member.value());
      else
        compare(*before, member.value(), at.child(member.key()));
    }
  }

  // What is equal at both ends stays; the middle is compared pairwise and then grows or shrinks at
  // its end. An element inserted or removed anywhere is therefore one operation.
  void arrays(const Array& from, const Array& to, const Pointer& at) {
    const size_t common = std::min(from.size(), to.size());
    size_t head = 0, tail = 0;
    while (head < common && equal(from[head], to[head])) ++head;
    while (tail < common - head && equal(from[from.size() - 1 - tail], to[to.size() - 1 - tail]))
      ++tail;
    const size_t paired = common - tail;
    for (size_t i = head; i < paired; ++i) compare(from[i], to[i], at.child(i));
    for (size_t i = from.size() - tail; i > paired; --i) emit("remove", at.child(i - 1), nullptr);
    for (size_t i = paired; i < to.size() - tail; ++i) emit("add", at.child(i), &to[i]);
  }

  Array operations_;
};

}  // namespace

Result<void> applyJsonPatch(Value& document, const Value& patch, const PatchLimits& limits) {
  const Array* operations = patch.if_array();
  if (operations == nullptr) return invalid("a JSON patch is an array of operations");
  if (operations->size() > limits.maxOperations)
    return fail(Code::kTooLarge, "the patch has {} operations; at most {} are accepted",
                operations->size(), limits.maxOperations);
  Value patched = document;
  Patcher patcher(patched, limits);
  for (size_t i = 0; i < operations->size(); ++i) {
    const Object* operation = (*operations)[i].if_object();
    if (operation == nullptr) return invalid("operation {}: want an object", i);
    if (auto done = patcher.apply(*operation, i); !done) return done;
  }
  document = std::move(patched);
  return {};
}

Value jsonDiff(const Value& from, const Value& to) {
  Differ differ;
  differ.compare(from, to, {});
  return std::move(differ).take();
}

}  // namespace mangrove::json

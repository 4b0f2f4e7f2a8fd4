#pragma once
// An object under inspection: reads members without caring whether they are there, and complains
// at their paths. The vocabulary of the validate_*.cc files.
//
//   void checkPort(const Inspect& port) {
//     port.inRange("containerPort", 1, 65535);
//     if (port.has("name")) port.check("name", portNameTrouble(port.text("name")));
//   }
//   Inspect spec = pod.child("spec");
//   spec.each("containers", [](const Inspect& container) { … });
//
// An Inspect points to its parent's path: keep the parent in a variable while using a child (a
// child of a temporary does not compile).

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "apiserver/schema/field_error.h"
#include "apiserver/schema/field_path.h"
#include "json/value.h"

namespace mangrove::apiserver {

class Inspect {
 public:
  Inspect(const json::Object& object, FieldErrors& errors) : object_(&object), errors_(&errors) {}
  Inspect(const json::Object& object, FieldPath at, FieldErrors& errors)
      : object_(&object), at_(at), errors_(&errors) {}

  const json::Object& object() const { return *object_; }
  const FieldPath& at() const { return at_; }
  FieldErrors& errors() const { return *errors_; }

  bool has(std::string_view key) const { return object_->contains(key); }
  bool empty() const { return object_->empty(); }
  const json::Value* find(std::string_view key) const { return object_->if_contains(key); }
  // The value, or null when absent.
  const json::Value& value(std::string_view key) const;
  std::string_view text(std::string_view key) const;           // "" when absent
  std::optional<int64_t> integer(std::string_view key) const;  // nullopt when absent
  bool flag(std::string_view key) const;                       // false when absent
  const json::Array& array(std::string_view key) const;        // empty when absent
  const json::Object& map(std::string_view key) const;         // empty when absent

  // An absent member is inspected as an empty object.
  Inspect child(std::string_view key) const& { return {map(key), at_.child(key), *errors_}; }
  Inspect child(std::string_view key) const&& = delete;
  // Calls use(element) for each object of a list.
  template <class Use>
  void each(std::string_view key, Use use) const {
    FieldPath list = at_.child(key);
    size_t index = 0;
    for (const json::Value& element : array(key)) {
      FieldPath here = list.at(index++);
      if (element.is_object()) use(Inspect(element.get_object(), here, *errors_));
    }
  }
  // Calls use(value, path) for each element, whatever it is.
  template <class Use>
  void eachValue(std::string_view key, Use use) const {
    FieldPath list = at_.child(key);
    size_t index = 0;
    for (const json::Value& element : array(key)) use(element, list.at(index++));
  }

  // Complaints about a member.
  void required(std::string_view key, std::string_view why = "") const;
  void invalid(std::string_view key, std::string_view why) const;
  void forbidden(std::string_view key, std::string_view why) const;
  void notSupported(std::string_view key, const std::vector<std::string_view>& supported) const;
  void duplicate(std::string_view key) const;
  void notFound(std::string_view key) const;

  // True when the text is there and not empty; complains otherwise.
  bool wants(std::string_view key, std::string_view why = "") const;
  // The same for a list with at least one element, a map with at least one member, any value.
  bool wantsSome(std::string_view key, std::string_view why = "") const;
  // Complains with the sentence unless it is "".
  void check(std::string_view key, const std::string& trouble) const;
  // Absent members pass.
  void notNegative(std::string_view key) const;
  void atLeast(std::string_view key, int64_t least) const;
  void inRange(std::string_view key, int64_t least, int64_t most) const;
  void oneOf(std::string_view key, const std::vector<std::string_view>& supported) const;
  // "field is immutable" unless the old object has the same value (or both have none).
  void immutable(std::string_view key, const json::Object& old) const;

 private:
  const json::Object* object_;
  FieldPath at_;
  FieldErrors* errors_;
};

// Both absent, or both the same JSON.
bool sameMember(const json::Object& a, const json::Object& b, std::string_view key);
// Inside objects that may be absent: an empty object then.
const json::Object& objectIn(const json::Object& object, std::string_view key);
const json::Array& arrayIn(const json::Object& object, std::string_view key);
std::string_view textIn(const json::Object& object, std::string_view key);
// For defaulting: the member as an object, made if absent; nullptr when it is something else.
json::Object* ensureObject(json::Object& object, std::string_view key);
json::Object* mutableObject(json::Object& object, std::string_view key);  // nullptr when absent
json::Array* mutableArray(json::Object& object, std::string_view key);
// Sets the member unless it is there.
void setMissing(json::Object& object, std::string_view key, json::Value value);
template <class Text>
  requires std::is_convertible_v<Text, std::string_view>
void setMissing(json::Object& object, std::string_view key, const Text& text) {
  setMissing(object, key, json::Value(std::string_view(text)));
}

}  // namespace mangrove::apiserver

#pragma once
// Elements of lists that managed fields walk into: what they are called there, and finding them by
// that name. Owner thread.
//
//   elementOf(list, {"port":80,"protocol":"TCP"})    // k:{"port":80,"protocol":"TCP"}
//   Elements known(list, array);
//   known.find("v:\"a\"");                           // one of a set

#include <optional>
#include <string>
#include <unordered_map>

#include "apiserver/schema/schema.h"
#include "json/value.h"

namespace mangrove::apiserver {

const Schema& anySchema();  // where nothing is known
const Schema& itemsOf(const Schema& list);
std::string elementOf(const Schema& list, const json::Value& element);
// Two elements of one list that have one name, which nobody could merge: where and which; "" where
// all can be told apart.
std::string doubledElement(const Schema& schema, const json::Object& object);

// Names are made once, at the first question: a list of thousands in another order would cost its
// square, on the thread that everybody waits for. What is asked about must stay where it is.
class Elements {
 public:
  Elements(const Schema& list, const json::Array& array) : list_(list), array_(array) {}

  std::optional<size_t> place(const std::string& name);  // of the first that has this name
  const json::Value* find(const std::string& name);
  void add(std::string name, size_t place);  // one that is not in the array

 private:
  const Schema& list_;
  const json::Array& array_;
  std::unordered_map<std::string, size_t> places_;
  bool known_ = false;
};

// What lies below a value, by elements of a path; `parent` may be null.
class Below {
 public:
  Below(const Schema& schema, const json::Value* parent);
  const json::Value* at(const std::string& element);

 private:
  const json::Object* object_;
  std::optional<Elements> list_;
};

}  // namespace mangrove::apiserver

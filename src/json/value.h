#pragma once
// The mutable JSON value: an arena-backed tree that keeps unknown members and the order of keys.
// Use it where a document is changed or built; where it is only read, use view.h, which is ten
// times faster and allocates nothing.

#include <string>
#include <string_view>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "base/result.h"

namespace mangrove::json {

using Value = boost::json::value;
using Object = boost::json::object;
using Array = boost::json::array;

class View;

// A deep copy of what a view shows; null for an absent one.
Value toValue(View view);

// The same JSON value: keys in any order, numbers by amount (1, 1.0 and 1e0 are one number).
bool equal(const Value& a, const Value& b);

// Errors name line and column and show the line with a caret.
Result<Value> parse(std::string_view text);

std::string write(const Value& value);        // compact, keys in the order they have
std::string writeSorted(const Value& value);  // compact, keys sorted: canonical, for comparing
std::string writePretty(const Value& value, int indent = 2);

}  // namespace mangrove::json

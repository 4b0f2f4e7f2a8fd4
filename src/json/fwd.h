#pragma once
// The names of JSON values for headers that only pass them on: `const json::Value&`, a pointer, what
// a function gives back. Who looks inside, keeps one or calls parse() and write() includes
// json/value.h (json/view.h for views), which costs a second of compiling.

#include <boost/json/fwd.hpp>

namespace mangrove::json {

using Value = boost::json::value;
using Object = boost::json::object;
using Array = boost::json::array;

class View;

}  // namespace mangrove::json

#pragma once
// How things may be called, each rule as a function that returns "" or a sentence that says what is
// wrong and what would be right. Label keys and values are in api/select/label_syntax.h. Pure; any thread.

#include <string>
#include <string_view>

#include "apiserver/kinds/catalogue.h"

namespace mangrove::apiserver {

std::string subdomainTrouble(std::string_view name);     // DNS-1123 subdomain, up to 253 bytes
std::string labelTrouble(std::string_view name);         // DNS-1123 label, up to 63
std::string label1035Trouble(std::string_view name);     // the same, starting with a letter
std::string pathSegmentTrouble(std::string_view name);   // no "/", no "%", not "." or ".."
std::string portNameTrouble(std::string_view name);      // IANA service name, up to 15
std::string configKeyTrouble(std::string_view key);      // key of a ConfigMap or Secret
std::string variableTrouble(std::string_view name);      // environment variable
std::string pathInVolumeTrouble(std::string_view path);  // relative, without ".."
// [prefix/]name of labels, annotations, taints and finalizers, and a label's value.
std::string qualifiedTrouble(std::string_view key);
std::string labelValueTrouble(std::string_view value);

std::string nameTrouble(NameRule rule, std::string_view name);
// For generateName: what follows is made by the server, so a trailing "-" or "." is fine.
std::string prefixTrouble(NameRule rule, std::string_view prefix);

}  // namespace mangrove::apiserver

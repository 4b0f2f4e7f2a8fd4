#pragma once
// What is asked of an API server: the verbs of its rules, and the operations of admission.

namespace mangrove::api {

// RBAC's words; list and watch are told from get by the path and the query.
enum class Verb { kGet, kList, kWatch, kCreate, kUpdate, kPatch, kDelete, kDeleteCollection };
const char* verbName(Verb verb);  // "get", "list", …

enum class Operation { kCreate, kUpdate, kDelete, kConnect };
const char* operationName(Operation operation);  // "CREATE", …

}  // namespace mangrove::api

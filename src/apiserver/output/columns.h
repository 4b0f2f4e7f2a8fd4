#pragma once
// The tables of the built-in kinds, one list per file. No static registration: table.cc names them
// all.

#include <span>

#include "apiserver/output/cells.h"

namespace mangrove::apiserver {

std::span<const TableKind> podTables();       // columns_pods.cc
std::span<const TableKind> workloadTables();  // columns_workloads.cc
std::span<const TableKind> batchTables();     // columns_batch.cc
std::span<const TableKind> nodeTables();      // columns_nodes.cc
std::span<const TableKind> networkTables();   // columns_network.cc
std::span<const TableKind> storageTables();   // columns_storage.cc
std::span<const TableKind> configTables();    // columns_config.cc
std::span<const TableKind> policyTables();    // columns_policy.cc
std::span<const TableKind> accessTables();    // columns_access.cc
std::span<const TableKind> eventTables();     // columns_events.cc

}  // namespace mangrove::apiserver

//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Allowlist and blocklist files, and what they say as attributes on the edges.
// Writes `fuse.edge_hints` only.
//
//===----------------------------------------------------------------------===//

#include "fuse/Plan/Overrides.h"
#include "fuse/Support/Json.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace fuse;

static constexpr int64_t kListVersion = 1;

llvm::Expected<EdgeList> EdgeList::load(StringRef path) {
  auto fail = [&](const Twine &what) {
    return llvm::createStringError(path + what);
  };
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return fail(": cannot be read: " + buffer.getError().message());
  llvm::Expected<llvm::json::Value> value =
      parseJson(path, (*buffer)->getBuffer());
  if (!value)
    return value.takeError();
  const llvm::json::Object *object = value->getAsObject();
  std::optional<int64_t> version =
      object ? object->getInteger("version") : std::nullopt;
  if (!version)
    return fail(": expected an object with the key 'version'");
  if (*version != kListVersion)
    return fail(": is of version " + Twine(*version) +
                ", this build reads version " + Twine(kListVersion));
  const llvm::json::Array *entries = object->getArray("entries");
  if (!entries)
    return fail(": expected an array 'entries'");
  EdgeList list;
  for (auto [index, entry] : llvm::enumerate(*entries)) {
    const llvm::json::Object *fields = entry.getAsObject();
    std::optional<StringRef> key =
        fields ? fields->getString("key") : std::nullopt;
    if (!key || key->empty())
      return fail(": entry " + Twine(index) + " has no string 'key'");
    list.entries.push_back(key->str());
  }
  return list;
}

bool EdgeList::matches(StringRef key) {
  bool found = false;
  for (StringRef candidate : {key, key.split('#').first})
    if (llvm::is_contained(entries, candidate)) {
      used.insert(candidate);
      found = true;
    }
  return found;
}

std::vector<std::string> EdgeList::unused() const {
  std::vector<std::string> result;
  for (const std::string &entry : entries)
    if (!used.contains(entry))
      result.push_back(entry);
  return result;
}

/// Removes what an earlier run wrote from lists.
static void eraseListHints(Operation *op) {
  auto hints = op->getAttrOfType<DictionaryAttr>(names::kEdgeHints);
  if (!hints)
    return;
  SmallVector<NamedAttribute> rest;
  for (NamedAttribute entry : hints) {
    auto word = dyn_cast<StringAttr>(entry.getValue());
    if (!word || (word != "blocklist" && word != "allowlist"))
      rest.push_back(entry);
  }
  if (rest.empty())
    op->removeAttr(names::kEdgeHints);
  else if (rest.size() != hints.size())
    op->setAttr(names::kEdgeHints, DictionaryAttr::get(op->getContext(), rest));
}

/// Adds `word` for one edge, unless the user has hinted at it.
static void addListHint(Operation *consumer, const std::string &key,
                        StringRef word) {
  MLIRContext *context = consumer->getContext();
  NamedAttrList hints(
      consumer->getAttrOfType<DictionaryAttr>(names::kEdgeHints));
  if (hints.get(key))
    return;
  hints.set(key, StringAttr::get(context, word));
  consumer->setAttr(names::kEdgeHints, hints.getDictionary(context));
}

/// Loads a list; nothing, with a warning, if it cannot be read.
static std::optional<EdgeList> loadOrWarn(Operation *module, StringRef path) {
  if (path.empty())
    return std::nullopt;
  llvm::Expected<EdgeList> list = EdgeList::load(path);
  if (list)
    return std::move(*list);
  emitWarning(module->getLoc())
      << "list ignored: " << llvm::toString(list.takeError());
  return std::nullopt;
}

void fuse::resolveLists(Operation *module, StringRef blocklist,
                        StringRef allowlist) {
  std::pair<StringRef, StringRef> given[] = {{"blocklist", blocklist},
                                             {"allowlist", allowlist}};
  module->walk([](Operation *op) { eraseListHints(op); });
  for (auto [word, path] : given) {
    std::optional<EdgeList> list = loadOrWarn(module, path);
    if (!list)
      continue;
    EdgeKeys keys;
    for (FunctionOpInterface function : functionsOf(module)) {
      FunctionFacts facts(function);
      std::vector<std::string> edgeKeys = keys.of(facts);
      unsigned part = 0;
      for (size_t i = 0; i < facts.edges.size(); ++i) {
        const Edge &edge = facts.edges[i];
        bool same = i > 0 && edge.consumer == facts.edges[i - 1].consumer &&
                    edge.operand == facts.edges[i - 1].operand;
        part = same ? part + 1 : 0;
        if (list->matches(edgeKeys[i]))
          addListHint(facts.operators[edge.consumer].op,
                      std::to_string(edge.operand) + "." + std::to_string(part),
                      word);
      }
    }
    for (const std::string &entry : list->unused())
      emitWarning(module->getLoc()) << word << " '" << path << "': entry '"
                                    << entry << "' matches no edge";
  }
}

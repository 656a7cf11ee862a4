//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// FunctionFacts: operators, edges, dependences, consumers, effects and copies
// of one function. Computed anew by whoever needs them; never read back from
// attributes.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_ANALYSIS_FACTS_H
#define FUSE_ANALYSIS_FACTS_H

#include "fuse/Analysis/Footprint.h"
#include "fuse/Analysis/Operators.h"
#include "fuse/Dialect/FuseDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"

namespace fuse {

/// Who reads a result of an operator, looking through glue.
struct Consumers {
  llvm::SmallVector<unsigned, 2> operators; ///< ids, ascending, each once
  unsigned escapes = 0;  ///< uses that leave: return, yield, call, other ops
  unsigned captures = 0; ///< operators whose body captures the value
  unsigned count() const { return operators.size() + escapes + captures; }
};

/// One operator.
struct OperatorFacts {
  mutable mlir::linalg::LinalgOp op; ///< interface methods are not const
  Role role;
  Footprint footprint; ///< as `fuse.cost_override` and `fuse.dim_hint` have it
  Footprint counted;   ///< as the program has it, dynamic extents symbolic
  llvm::SmallVector<Consumers, 1> consumers; ///< per result
  std::string effect;   ///< name of the side effect in the body; empty if none
  bool inPlace = false; ///< on memrefs: reads the data it overwrites
  bool copyOfReadInit =
      false; ///< a copy is needed for an `outs` that the body reads
  bool fromParameters =
      false; ///< depends on constants and `fuse.param` arguments only
  unsigned position = 0; ///< index of the op in its block
};

/// RAW, WAR or WAW between two operators.
struct Dependence {
  DepKind kind;
  unsigned from, to;               ///< operator ids, from < to
  std::optional<unsigned> operand; ///< of `to`, where one operand carries it
};

/// An operand whose buffer cannot be reused: a copy is needed.
struct CopyNeeded {
  mlir::OpOperand *operand;
  llvm::StringRef why;
};

/// (producer, consumer, operand number): the consumer reads, through `operand`
/// and the glue, what the producer computes.
struct Edge {
  unsigned producer, consumer;
  unsigned operand;
  unsigned result = 0; ///< result number of the producer (tensors)
  llvm::SmallVector<mlir::Operation *, 2>
      glue;              ///< from the producer to the consumer
  bool onMemory = false; ///< through a memref instead of an SSA tensor
  Count bytesRead;       ///< of the intermediate, by the consumer
  Count bytesWritten;    ///< of the intermediate, by the producer
};

/// A compiler's own idea of what an operator costs: changes what was counted.
/// It runs before `fuse.cost_override`, which has the last word.
using CostCallback = std::function<void(mlir::linalg::LinalgOp, Footprint &)>;

class FunctionFacts {
public:
  explicit FunctionFacts(mlir::FunctionOpInterface function,
                         const CostCallback &cost = {});

  mutable mlir::FunctionOpInterface
      function; ///< interface methods are not const
  std::vector<OperatorFacts>
      operators; ///< in program order; the index is the id
  /// Structured operations that only move or initialise data: costs, no
  /// verdicts.
  std::vector<std::pair<mlir::linalg::LinalgOp, Footprint>> movers;
  std::vector<Edge> edges; ///< by consumer, then operand, then producer
  std::vector<Dependence> dependences; ///< on memrefs, by `to`
  std::vector<CopyNeeded> copies;

  /// The id of `op`, if it is an operator of this function.
  std::optional<unsigned> idOf(mlir::Operation *op) const;
  /// True if a wall (an operation with effects that must not move) stands
  /// between the two operators of one block. `memory` walls count memory writes
  /// of other operations too.
  bool wallBetween(unsigned from, unsigned to, bool memory) const;
  /// True if a WAR or WAW leads from `from` to `to`.
  bool hasHazard(unsigned from, unsigned to) const;
  /// True if a path leads from `from` to `to` through an operation that can be
  /// part of no kernel. Says yes where the search would take too long.
  bool pathThroughOther(unsigned from, unsigned to) const;

private:
  void collectOperators(const CostCallback &cost);
  void findParameterValues();
  void countWalls();
  void collectEdges();
  void collectConsumers();
  void measureEdges();

  ExtentNamer namer;
  llvm::DenseMap<mlir::Operation *, unsigned> ids;
  /// Per operation of a block that holds operators: walls before it.
  llvm::DenseMap<mlir::Operation *, std::pair<unsigned, unsigned>> wallsBefore;
  /// Per operation: number of foreign operations on the longest path to it.
  llvm::DenseMap<mlir::Operation *, unsigned> foreignDepth;
  llvm::DenseSet<std::pair<unsigned, unsigned>> hazards;
};

/// Calls `visit` for every operation of `function` in program order, those in
/// bodies of structured operations and in formed kernels left out.
void walkProgram(mlir::FunctionOpInterface function,
                 llvm::function_ref<void(mlir::Operation *)> visit);

/// Name of the first effect in the body of `op` that must happen exactly once
/// (a store, an atomic, an unknown operation); empty if there is none.
std::string bodyEffect(mlir::linalg::LinalgOp op);

/// Replaces in `footprint` what `fuse.cost_override` on `op` states, and
/// evaluates it under `fuse.dim_hint` of `function`. Entries that are not
/// understood are left out: see diagnoseStated.
void applyStated(mlir::Operation *op, mlir::FunctionOpInterface function,
                 Footprint &footprint);

/// The numbers that `fuse.dim_hint` of `function` gives to dynamic extents.
std::map<std::string, int64_t> dimHints(mlir::FunctionOpInterface function);

/// Warns about entries of `fuse.cost_override` and `fuse.dim_hint` that are
/// negative, not numbers, or name nothing.
void diagnoseStated(const FunctionFacts &facts);

// The parts of FunctionFacts that live in files of their own.
void collectMemoryDependences(FunctionFacts &facts);
void collectCopies(FunctionFacts &facts);

} // namespace fuse

#endif // FUSE_ANALYSIS_FACTS_H

//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Stand-ins whose parsers say which conversion to run first.
//
//===----------------------------------------------------------------------===//

#include "ForeignDialects.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/DialectRegistry.h"

using namespace mlir;

namespace {

template <typename Concrete> class ForeignDialect : public Dialect {
public:
  explicit ForeignDialect(MLIRContext *context)
      : Dialect(Concrete::getDialectNamespace(), context,
                TypeID::get<Concrete>()) {
    allowUnknownOperations();
    allowUnknownTypes();
  }

  Type parseType(DialectAsmParser &parser) const override {
    (void)emit(parser, "type");
    return Type();
  }

  std::optional<ParseOpHook>
  getParseOperationHook(StringRef opName) const override {
    return ParseOpHook([](OpAsmParser &parser, OperationState &) {
      return ParseResult(emit(parser, "operation"));
    });
  }

private:
  template <typename Parser>
  static LogicalResult emit(Parser &parser, StringRef what) {
    return parser.emitError(parser.getNameLoc(), "")
           << "'" << Concrete::getDialectNamespace() << "' " << what
           << " in the input, expected linalg on tensors or memrefs; run `"
           << Concrete::conversion << "` first";
  }
};

#define FOREIGN_DIALECT(Class, name, command)                                  \
  struct Class : ForeignDialect<Class> {                                       \
    using ForeignDialect::ForeignDialect;                                      \
    static constexpr StringLiteral getDialectNamespace() { return name; }      \
    static constexpr StringLiteral conversion = command;                       \
    MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Class)                        \
  };

FOREIGN_DIALECT(
    TorchDialect, "torch",
    "torch-mlir-opt --torch-backend-to-linalg-on-tensors-backend-pipeline")
FOREIGN_DIALECT(StablehloDialect, "stablehlo",
                "stablehlo-opt --stablehlo-legalize-to-linalg")
FOREIGN_DIALECT(
    ChloDialect, "chlo",
    "stablehlo-opt --chlo-legalize-to-stablehlo --stablehlo-legalize-to-linalg")
FOREIGN_DIALECT(MhloDialect, "mhlo", "mlir-hlo-opt --hlo-legalize-to-linalg")
FOREIGN_DIALECT(OnnxDialect, "onnx",
                "torch-mlir-import-onnx and torch-mlir's ONNX pipeline")
#undef FOREIGN_DIALECT

} // namespace

void fuse::registerForeignDialects(DialectRegistry &registry) {
  registry.insert<TorchDialect, StablehloDialect, ChloDialect, MhloDialect,
                  OnnxDialect>();
}

"""lit configuration: fuse-opt and, where a test asks for it, stock mlir-opt with the plugin."""

import contextlib
import ctypes
import os
import shutil

import lit.formats

config.name = "fuse"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "CMakeLists.txt", "refs", "tools"]
config.test_source_root = os.path.dirname(__file__)

build_bin = os.path.join(config.fuse_build_dir, "bin")
config.environment["PATH"] = os.pathsep.join([build_bin, config.llvm_tools_dir, config.environment.get("PATH", "")])
config.environment["FUSE_LLVM_BIN"] = config.llvm_tools_dir
config.environment["FUSE_BUILD_DIR"] = config.fuse_build_dir

plugin = os.path.join(config.fuse_build_dir, "lib", "FusePlugin.so")
config.substitutions += [
    ("%fuse_plugin", plugin),
    ("%mlir_opt_fuse", f"mlir-opt --load-dialect-plugin={plugin} --load-pass-plugin={plugin}"),
    ("%fuse_src", config.fuse_source_dir),
    ("%fuse_bin", build_bin),
    ("%fuse_llvm_lib", config.llvm_lib_dir),
    ("%fuse_lib", os.path.join(config.fuse_build_dir, "lib")),
    ("%tools", os.path.join(config.fuse_source_dir, "test", "tools")),
    ("%python", config.python_executable),
]

with contextlib.suppress(OSError):
    ctypes.CDLL("libcuda.so.1")
    config.available_features.add("cuda")
if shutil.which("valgrind"):
    config.available_features.add("valgrind")

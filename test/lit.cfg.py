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

lib_dir = os.path.join(config.fuse_build_dir, "lib")
if config.sanitized:
    # Stock tools cannot load libraries that have sanitizers in them: they get those of the default build. LLVM's own
    # libraries have none, so what their containers hold is not known.
    lib_dir = os.path.join(config.fuse_source_dir, "build", "lib")
    config.available_features.add("sanitized")
    config.environment["ASAN_OPTIONS"] = "detect_container_overflow=0:allow_user_poisoning=0"
plugin = os.path.join(lib_dir, "FusePlugin.so")
config.substitutions += [
    ("%fuse_plugin", plugin),
    ("%mlir_opt_fuse", f"mlir-opt --load-dialect-plugin={plugin} --load-pass-plugin={plugin}"),
    ("%fuse_src", config.fuse_source_dir),
    ("%fuse_bin", build_bin),
    ("%fuse_llvm_lib", config.llvm_lib_dir),
    ("%fuse_lib", lib_dir),
    ("%tools", os.path.join(config.fuse_source_dir, "test", "tools")),
    ("%python", config.python_executable),
]

with contextlib.suppress(OSError):
    ctypes.CDLL("libcuda.so.1")
    config.available_features.add("cuda")
if shutil.which("valgrind") and not config.sanitized:
    config.available_features.add("valgrind")
if os.path.exists(os.path.join(build_bin, "kernel_classes")):
    config.available_features.add("benchmark")

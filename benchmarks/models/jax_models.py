# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The memory-bound modules of torch_models.py in JAX, to time XLA on.

`MODELS[name]()` gives a function and its arguments: the input, then weights.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

#: How many elements an input of the row models has.
ROWS, WIDTH = 4096, 1024


def _values(*shape: int) -> jax.Array:
    return jnp.asarray(np.random.default_rng(0).normal(size=shape).astype(np.float32))


def softmax() -> tuple[Callable[..., jax.Array], tuple[Any, ...]]:
    return (lambda x: jax.nn.softmax(x, -1)), (_values(ROWS, WIDTH),)


def layernorm() -> tuple[Callable[..., jax.Array], tuple[Any, ...]]:
    def function(x: jax.Array, weight: jax.Array, bias: jax.Array) -> jax.Array:
        centred = x - x.mean(-1, keepdims=True)
        return centred * jax.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5) * weight + bias

    return function, (_values(ROWS, WIDTH), _values(WIDTH), _values(WIDTH))


def gelu_chain() -> tuple[Callable[..., jax.Array], tuple[Any, ...]]:
    def function(x: jax.Array, b: jax.Array, g: jax.Array) -> jax.Array:
        y = jax.nn.gelu(x + b, approximate=False)
        y = jax.nn.gelu(y * g, approximate=False)
        y = jax.nn.gelu(y + x, approximate=True)
        return jax.nn.sigmoid(y) * y

    return function, (_values(ROWS, WIDTH), _values(WIDTH), _values(WIDTH))


def rms_rope() -> tuple[Callable[..., jax.Array], tuple[Any, ...]]:
    length, heads, width = 1024, 12, 64

    def function(x: jax.Array, w: jax.Array, cos: jax.Array, sin: jax.Array) -> jax.Array:
        x = x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * w
        x = x.reshape(1, length, heads, width)
        half = width // 2
        rotated = jnp.concatenate((-x[..., half:], x[..., :half]), -1)
        return x * cos + rotated * sin

    angle = np.outer(np.arange(length), 1e4 ** (-np.arange(0, width, 2) / width)).astype(np.float32)
    angles = np.concatenate((angle, angle), -1)[:, None, :]
    arguments = (_values(1, length, heads * width), _values(heads * width), jnp.cos(angles), jnp.sin(angles))
    return function, arguments


MODELS = {"softmax": softmax, "layernorm": layernorm, "gelu_chain": gelu_chain, "rms_rope": rms_rope}

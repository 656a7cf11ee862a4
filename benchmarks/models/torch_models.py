# Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Model set for peer measurements. build(name) -> (torch.nn.Module in eval mode, tuple of inputs).
functionalize(mod) -> (module taking (x, *weights), list of weight tensors)."""
import math, torch, torch.nn as nn, torch.nn.functional as F

def _rand_bn(m):
    g = torch.Generator().manual_seed(1)
    for b in m.modules():
        if isinstance(b, nn.BatchNorm2d):
            with torch.no_grad():
                b.running_mean.copy_(torch.randn(b.running_mean.shape, generator=g) * 0.1)
                b.running_var.copy_(torch.rand(b.running_var.shape, generator=g) + 0.5)
                b.weight.copy_(torch.rand(b.weight.shape, generator=g) + 0.5)
                b.bias.copy_(torch.randn(b.bias.shape, generator=g) * 0.1)
    return m

class ConvBnRelu(nn.Module):
    def __init__(s, ci=64, co=64, k=3, st=1, groups=1, act=nn.ReLU):
        super().__init__()
        s.conv = nn.Conv2d(ci, co, k, st, (k - 1) // 2, groups=groups, bias=False)
        s.bn = nn.BatchNorm2d(co)
        s.act = act() if act else None
    def forward(s, x):
        x = s.bn(s.conv(x))
        return s.act(x) if s.act else x

class BasicBlock(nn.Module):
    def __init__(s, ci, co, st=1):
        super().__init__()
        s.a = ConvBnRelu(ci, co, 3, st); s.b = ConvBnRelu(co, co, 3, 1, act=None)
        s.down = ConvBnRelu(ci, co, 1, st, act=None) if st != 1 or ci != co else None
    def forward(s, x):
        r = s.down(x) if s.down else x
        return F.relu(s.b(s.a(x)) + r)

class Bottleneck(nn.Module):
    def __init__(s, ci, w, st=1):
        super().__init__()
        co = 4 * w
        s.a = ConvBnRelu(ci, w, 1); s.b = ConvBnRelu(w, w, 3, st); s.c = ConvBnRelu(w, co, 1, act=None)
        s.down = ConvBnRelu(ci, co, 1, st, act=None) if st != 1 or ci != co else None
    def forward(s, x):
        r = s.down(x) if s.down else x
        return F.relu(s.c(s.b(s.a(x))) + r)

class ResNet(nn.Module):
    def __init__(s, kind, layers):
        super().__init__()
        s.stem = ConvBnRelu(3, 64, 7, 2); s.pool = nn.MaxPool2d(3, 2, 1)
        bl, ci, exp = [], 64, (1 if kind is BasicBlock else 4)
        for i, n in enumerate(layers):
            for j in range(n):
                w = 64 << i
                bl.append(kind(ci, w, 2 if i and not j else 1)); ci = w * exp
        s.blocks = nn.Sequential(*bl); s.fc = nn.Linear(ci, 1000)
    def forward(s, x):
        x = s.blocks(s.pool(s.stem(x)))
        return s.fc(x.mean((2, 3)))

class InvRes(nn.Module):
    def __init__(s, ci, co, st, t):
        super().__init__()
        h = ci * t; L = []
        if t != 1: L.append(ConvBnRelu(ci, h, 1, act=nn.ReLU6))
        L += [ConvBnRelu(h, h, 3, st, groups=h, act=nn.ReLU6), ConvBnRelu(h, co, 1, act=None)]
        s.f = nn.Sequential(*L); s.skip = st == 1 and ci == co
    def forward(s, x): return x + s.f(x) if s.skip else s.f(x)

class MobileNetV2(nn.Module):
    def __init__(s):
        super().__init__()
        L = [ConvBnRelu(3, 32, 3, 2, act=nn.ReLU6)]; ci = 32
        for t, c, n, st in [(1,16,1,1),(6,24,2,2),(6,32,3,2),(6,64,4,2),(6,96,3,1),(6,160,3,2),(6,320,1,1)]:
            for j in range(n): L.append(InvRes(ci, c, st if j == 0 else 1, t)); ci = c
        L.append(ConvBnRelu(ci, 1280, 1, act=nn.ReLU6))
        s.f = nn.Sequential(*L); s.fc = nn.Linear(1280, 1000)
    def forward(s, x): return s.fc(s.f(x).mean((2, 3)))

class MLP(nn.Module):
    def __init__(s):
        super().__init__(); s.a = nn.Linear(768, 3072); s.b = nn.Linear(3072, 768)
    def forward(s, x): return s.b(F.gelu(s.a(x)))

class Attn(nn.Module):
    def __init__(s, d=768, h=12, causal=0):
        super().__init__()
        s.h = h; s.q = nn.Linear(d, d); s.k = nn.Linear(d, d); s.v = nn.Linear(d, d); s.o = nn.Linear(d, d)
        s.causal = causal
        if causal: s.register_buffer("mask", torch.full((causal, causal), -1e9).triu(1))
    def forward(s, x):
        B, T, D = x.shape; sp = lambda t: t.view(B, T, s.h, D // s.h).transpose(1, 2)
        q, k, v = sp(s.q(x)), sp(s.k(x)), sp(s.v(x))
        a = torch.matmul(q, k.transpose(-1, -2)) * (1.0 / math.sqrt(D // s.h))
        if s.causal: a = a + s.mask
        a = torch.softmax(a, -1)
        return s.o(torch.matmul(a, v).transpose(1, 2).reshape(B, T, D))

class BertLayer(nn.Module):
    def __init__(s, d=768):
        super().__init__()
        s.at = Attn(d); s.n1 = nn.LayerNorm(d); s.n2 = nn.LayerNorm(d); s.f1 = nn.Linear(d, 4*d); s.f2 = nn.Linear(4*d, d)
    def forward(s, x):
        x = s.n1(x + s.at(x))
        return s.n2(x + s.f2(F.gelu(s.f1(x))))

class Gpt2Block(nn.Module):
    def __init__(s, d=768, T=256):
        super().__init__()
        s.at = Attn(d, causal=T); s.n1 = nn.LayerNorm(d); s.n2 = nn.LayerNorm(d); s.f1 = nn.Linear(d, 4*d); s.f2 = nn.Linear(4*d, d)
    def forward(s, x):
        x = x + s.at(s.n1(x))
        return x + s.f2(F.gelu(s.f1(s.n2(x)), approximate="tanh"))

class LN(nn.Module):
    def __init__(s): super().__init__(); s.n = nn.LayerNorm(1024)
    def forward(s, x): return s.n(x)

class Softmax(nn.Module):
    def forward(s, x): return torch.softmax(x, -1)

class GeluChain(nn.Module):
    def __init__(s):
        super().__init__(); s.b = nn.Parameter(torch.randn(1024)); s.g = nn.Parameter(torch.randn(1024))
    def forward(s, x):
        y = F.gelu(x + s.b)
        y = F.gelu(y * s.g)
        y = F.gelu(y + x, approximate="tanh")
        return torch.sigmoid(y) * y

class RmsRope(nn.Module):
    def __init__(s, T=1024, H=12, E=64):
        super().__init__()
        s.H, s.E = H, E; s.w = nn.Parameter(torch.ones(H * E))
        f = torch.outer(torch.arange(T).float(), 1e4 ** (-torch.arange(0, E, 2).float() / E))
        e = torch.cat((f, f), -1)[:, None, :]
        s.register_buffer("cos", e.cos().contiguous()); s.register_buffer("sin", e.sin().contiguous())
    def forward(s, x):
        x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * s.w
        B, T, D = x.shape; x = x.view(B, T, s.H, s.E)
        h = s.E // 2
        r = torch.cat((-x[..., h:], x[..., :h]), -1)
        return x * s.cos + r * s.sin

BUILD = {
 "conv_bn_relu_b1": lambda: (ConvBnRelu(), (1, 64, 56, 56)),
 "conv_bn_relu_b8": lambda: (ConvBnRelu(), (8, 64, 56, 56)),
 "residual_block":  lambda: (BasicBlock(64, 64), (1, 64, 56, 56)),
 "mlp":             lambda: (MLP(), (512, 768)),
 "bert_layer":      lambda: (BertLayer(), (1, 128, 768)),
 "gpt2_block":      lambda: (Gpt2Block(), (1, 256, 768)),
 "layernorm":       lambda: (LN(), (4096, 1024)),
 "softmax":         lambda: (Softmax(), (4096, 1024)),
 "gelu_chain":      lambda: (GeluChain(), (4096, 1024)),
 "rms_rope":        lambda: (RmsRope(), (1, 1024, 768)),
 "resnet18":        lambda: (ResNet(BasicBlock, [2,2,2,2]), (1, 3, 224, 224)),
 "mobilenetv2":     lambda: (MobileNetV2(), (1, 3, 224, 224)),
 "resnet50":        lambda: (ResNet(Bottleneck, [3,4,6,3]), (1, 3, 224, 224)),
}
NAMES = list(BUILD)

def build(name):
    torch.manual_seed(0)
    m, shape = BUILD[name]()
    _rand_bn(m); m.eval()
    for p in m.parameters(): p.requires_grad_(False)
    return m, (torch.randn(*shape, generator=torch.Generator().manual_seed(2)),)

class Functional(nn.Module):
    def __init__(s, mod, names):
        super().__init__(); object.__setattr__(s, "mod", mod); s.names = names
    def forward(s, x, *ws):
        return torch.func.functional_call(s.mod, dict(zip(s.names, ws)), (x,))

def functionalize(mod):
    sd = {k: v.detach() for k, v in mod.state_dict().items() if not k.endswith("num_batches_tracked")}
    return Functional(mod, list(sd)), list(sd.values())

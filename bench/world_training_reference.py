"""PyTorch's side of `npm run bench -- world-training`: eager steps of the OpenSora denoiser, a JSON line a request.

The network is world_opensora_reference's; the step does what ours does: rectified-flow loss on new frames, gradients in float32,
clipping, fused AdamW on float32 masters, averaged weights. The lesson is drawn once.
"""
import json, sys, time
import torch
from world_opensora_reference import STDiT3

answers, sys.stdout = sys.stdout, sys.stderr
torch.set_num_threads(1)
torch.backends.cuda.matmul.allow_tf32 = True
torch.backends.cudnn.allow_tf32 = True


def lesson(r, device):
    b, side, m, c = r["batch"], r["latent"], r["memory"], r["chunk"]
    latents = torch.randn(b, 4, m + c, side, side, device=device)
    velocity = torch.randn(b, 4, c, side, side, device=device)
    return latents, torch.rand(b, device=device) * 1000, torch.rand(b, c, 7, device=device), velocity


def rate(r):
    device = r["device"]
    with torch.device(device):
        model = STDiT3(r["sizes"])
    model.rope.freqs.requires_grad_(False)
    if r["dtype"] == "bf16":
        model.bfloat16()
    weights = [w for w in model.parameters() if w.requires_grad]
    masters = [w.detach().float().clone() for w in weights]
    averages = [w.clone() for w in masters]
    optimizer = torch.optim.AdamW(masters, lr=5e-4, betas=(0.9, 0.99), weight_decay=0, fused=device == "cuda")
    latents, time_, actions, velocity = lesson(r, device)

    def step():
        out = model(latents, time_, actions, r["memory"])
        loss = (out[:, :4] - velocity).square().mean()
        for master, grad in zip(masters, torch.autograd.grad(loss, weights)):
            master.grad = grad.float()
        torch.nn.utils.clip_grad_norm_(masters, 1.0)
        optimizer.step()
        with torch.no_grad():
            torch._foreach_copy_(weights, masters)
            torch._foreach_lerp_(averages, masters, 0.001)

    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    for _ in range(3):
        step()
    wait()
    began, steps = time.perf_counter(), 0
    while time.perf_counter() - began < r["seconds"] or steps < 2:
        for _ in range(2):
            step()
        steps += 2
        wait()
    return steps / (time.perf_counter() - began)


for line in sys.stdin:
    try:
        answer = {"rate": rate(json.loads(line))}
    except Exception as error:
        answer = {"error": f"{type(error).__name__}: {error}"}
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    print(json.dumps(answer), file=answers, flush=True)

"""The Python twin of node-rank.ts: the same collectives through torch.distributed."""
import json, sys
from datetime import timedelta
import torch
import torch.distributed as dist

rank, world, port = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
address = f"tcp://127.0.0.1:{port}"
dist.init_process_group("gloo", init_method=address, rank=rank, world_size=world, timeout=timedelta(seconds=20))
total = torch.tensor([rank + 1.0, 10.0 * (rank + 1)])
dist.all_reduce(total)
root = torch.tensor([42.0 if rank == 0 else 0.0])
dist.broadcast(root, 0)
gathered = torch.zeros(world)
dist.all_gather_into_tensor(gathered, torch.tensor([rank + 5.0]))
scattered = torch.zeros(1)
dist.reduce_scatter_tensor(scattered, torch.tensor([float(i + rank) for i in range(world)]))
dist.barrier()
print(json.dumps({"sum": total.tolist(), "fromRoot": root.tolist(), "gathered": gathered.tolist(), "scattered": scattered.tolist()}))

"""The Python twin of node-rank.ts: the same collectives through torch.distributed. Rank 0 listens on loopback only, and first prints its port."""
import json, socket, sys
from datetime import timedelta
import torch
import torch.distributed as dist

rank, world, port = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
listener = None
if rank == 0:
    listener = socket.create_server(("127.0.0.1", port))
    port = listener.getsockname()[1]
    print(json.dumps({"port": port}), flush=True)
    listener = listener.detach()
patience = timedelta(seconds=60)
store = dist.TCPStore("127.0.0.1", port, world, rank == 0, timeout=patience, multi_tenant=True, master_listen_fd=listener)
store = dist.PrefixStore("default_pg", store)  # as init_process_group does with a store of its own making
dist.init_process_group("gloo", store=store, rank=rank, world_size=world, timeout=patience)
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

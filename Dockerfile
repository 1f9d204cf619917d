# Reverie on Debian 12: the steps of docs/set-up.md, as a user without privileges. test/docker.test.ts compares them.
#   docker build -t reverie .                                         CPU
#   docker build -t reverie:cuda --build-arg TORCH_BUILD=cuda .       CUDA; run it with --gpus all
FROM node:20-bookworm-slim

# What the README asks of the machine, and the renderers that set-up would install as root.
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates python3 python3-venv git g++ \
    libegl1 libegl-mesa0 libgl1 libgl1-mesa-dri libosmesa6 \
 && rm -rf /var/lib/apt/lists/*

# cpu or cuda. No GPU answers while an image is built, so it has to be said; it stays in force in the container.
ARG TORCH_BUILD=cpu
ENV REVERIE_TORCH_BUILD=${TORCH_BUILD}
# What NVIDIA's container runtime brings in: CUDA, nvidia-smi, and EGL for cameras.
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility,graphics

WORKDIR /reverie
RUN chown node:node /reverie
USER node
COPY --chown=node:node . .
RUN node scripts/setup.mjs && npm cache clean --force && rm -rf build/objects ~/.cache/pip

CMD ["npm", "start"]

#!/usr/bin/env bash
# Trains with a configuration: run_embodiment.sh [CONFIG] [LIBERO|ALOHA|BRIDGE] [key=value …]
#
# The same as `reverie train CONFIG key=value …`, with the log folder and the log file of the documentation:
# logs/<time>-<config>/run_embodiment.log. STEPS, SAVE_INTER and NODES in the environment are overrides too.
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
repo="$(cd "$here/../.." && pwd)"
export EMBODIED_PATH="$here"
export MUJOCO_GL="${MUJOCO_GL:-egl}"

config="tabletop_spatial_grpo_openvlaoft_mini" # runs on a fresh clone
if [[ $# -gt 0 && "$1" != *=* && "$1" != -* ]]; then
  config="$1"
  shift
fi
if [[ $# -gt 0 && "$1" =~ ^(LIBERO|ALOHA|BRIDGE)$ ]]; then
  export ROBOT_PLATFORM="$1" # the model's own settings decide its action space; kept for scripts that pass it
  shift
fi

overrides=()
[[ -n "${STEPS:-}" ]] && overrides+=("runner.max_steps=$STEPS")
[[ -n "${SAVE_INTER:-}" ]] && overrides+=("runner.save_interval=$SAVE_INTER")
[[ -n "${NODES:-}" ]] && overrides+=("cluster.num_nodes=$NODES")

name="$(basename "$config")"
logs="$repo/logs/$(date +%Y%m%d-%H%M%S)-${name%.yaml}"
mkdir -p "$logs"
command=(node "$repo/bin/reverie.mjs" train "$config" "runner.logger.log_path=$logs" ${overrides[@]+"${overrides[@]}"} "$@")
printf '%q ' "${command[@]}" > "$logs/run_embodiment.log"
printf '\n' >> "$logs/run_embodiment.log"
# The run takes this shell's place, so that signals reach it; the log outlives them, because Ctrl-C is meant for the run alone.
exec "${command[@]}" > >(trap '' INT HUP TERM; exec tee -a "$logs/run_embodiment.log") 2>&1

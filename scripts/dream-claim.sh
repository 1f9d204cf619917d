#!/usr/bin/env bash
# Checks the claim that learning in a world model helps in the simulator. At the same time, on one machine: co-evolving runs, the same with
# shuffled advantages, and runs in the world as it was given. Then all policies, and the one they began with, play all stored starts.
#
#   OUT=claims/dream DATA="runs/world/scripted runs/world/played" WORLD=runs/world/world MINUTES=8 scripts/dream-claim.sh [key=value…]
#
# A run that fails says so in its log and lets the others go on. `node --import tsx scripts/dream-claim.ts OUT` prints the tables again.
set -uo pipefail
cd "$(dirname "$0")/.."

CONFIG=${CONFIG:-opensora_tabletop_object_grpo_openvlaoft_mini}
OUT=${OUT:-claims/dream}
WORLD=${WORLD:-}                     # the world to begin with; absent: the configuration's own
WORLD_KEY=${WORLD_KEY:-env.train.opensora_wm_hf_ckpt_path}
DATA=${DATA:?folders of the recordings that the world was made from}
MINUTES=${MINUTES:-8}                # a run that is not done by then ends after its step, with a checkpoint
DEVICE=${DEVICE:-cuda}
SEEDS=${SEEDS:-0 1 2}
CONTROL_SEEDS=${CONTROL_SEEDS:-0 1 2}
FROZEN_SEEDS=${FROZEN_SEEDS:-0}
CONTROL_WORLD=${CONTROL_WORLD:-evolving} # the controls' world: evolving, or frozen
CONTROL=${CONTROL:-algorithm.shuffle_advantages=true} # settings of the controls; add algorithm.shuffle_within_groups=true, or env.train.random_judge=true instead
CORES=${CORES:-$(nproc)}

reverie() { node bin/reverie.mjs "$@"; }
mkdir -p "$OUT"
read -r -a folders <<<"$DATA"
data="runner.co_evolution.data=[$(IFS=,; echo "${folders[*]}")]"
world=(); [ -n "$WORLD" ] && world=("$WORLD_KEY=$WORLD")
count=$(wc -w <<<"$SEEDS $CONTROL_SEEDS $FROZEN_SEEDS")
workers=$((CORES / count > 0 ? CORES / count : 1))

run() { # name seed overrides…
  local name=$1 seed=$2; shift 2
  [ -d "$OUT/$name" ] && return
  timeout --foreground -s TERM -k 120 "$((60 * MINUTES))" node bin/reverie.mjs train "$CONFIG" --device "$DEVICE" --out "$OUT/$name" runner.seed="$seed" \
    "${world[@]}" "$data" runner.co_evolution.enabled=true runner.co_evolution.workers="$workers" "$@" >"$OUT/$name.log" 2>&1 \
    || echo "$name ended with code $? (124: its time was up)"
}
for seed in $SEEDS; do run "true_$seed" "$seed" "$@" & done
still=(); [ "$CONTROL_WORLD" = frozen ] && still=(runner.co_evolution.episodes=0)
for seed in $CONTROL_SEEDS; do run "control_$seed" "$seed" "$@" "${still[@]}" $CONTROL & done
for seed in $FROZEN_SEEDS; do run "frozen_$seed" "$seed" "$@" runner.co_evolution.episodes=0 & done
wait

evaluate() { # name mode [model]
  local name=$1 mode=$2 out="$OUT/eval/$1_$2"; shift 2
  [ -f "$out/results.json" ] && return
  reverie eval "$CONFIG" --device "$DEVICE" --out "$out" "${world[@]}" env.eval.env_workers=4 \
    $([ "$mode" = greedy ] && echo --greedy) "$@" >"$out.log" 2>&1 || { echo "evaluation of $name failed:"; tail -n 3 "$out.log"; }
}
mkdir -p "$OUT/eval"
for mode in sampled greedy; do
  evaluate base $mode &
  for run in "$OUT"/true_? "$OUT"/control_? "$OUT"/frozen_?; do
    model=$(ls -d "$run"/*/checkpoints/global_step_*/actor/model 2>/dev/null | sort -V | tail -n 1)
    [ -n "$model" ] || { [ -d "$run" ] && echo "$run left no checkpoint"; continue; }
    while [ "$(jobs -rp | wc -l)" -ge $((CORES / 4 > 0 ? CORES / 4 : 1)) ]; do wait -n; done
    evaluate "$(basename "$run")" $mode --model "$model" &
  done
  wait
done
node --import tsx scripts/dream-claim.ts "$OUT"

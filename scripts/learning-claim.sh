#!/usr/bin/env bash
# Checks a learning claim: some seeds of a configuration, and beside each the same run with shuffled advantages, which
# must not gain. Then all policies, and the one they began with, are evaluated: sampled on fresh starts, which no training draws from, then
# sampled and greedy on the stored ones.
#
#   scripts/learning-claim.sh OUT CONFIG [key=value…]        e.g. on a machine with one GPU and 16 cores:
#   DEVICE=cuda scripts/learning-claim.sh claims/grpo tabletop_object_grpo_openvlaoft_mini runner.max_epochs=40
#
# All runs go at the same time when PARALLEL=1 (the default with cuda), one after the other otherwise. A run that is not done after
# MINUTES ends after its step, with a checkpoint.
set -uo pipefail
out=$1 config=$2
shift 2
cd "$(dirname "$0")/.."
device=${DEVICE:-cpu}
seeds=${SEEDS:-0 1 2}
minutes=${MINUTES:-600}
fresh=${FRESH_PER_TASK:-150}
cores=${CORES:-$(nproc)}
parallel=${PARALLEL:-$([ "$device" = cuda ] && echo 1 || echo 0)}
at_once=$([ "$parallel" = 1 ] && echo $((cores / 3 > 0 ? cores / 3 : 1)) || echo 1)
mkdir -p "$out/eval"

run() { # name seed overrides…
  local name=$1 seed=$2
  shift 2
  [ -d "$out/$name" ] && return
  timeout --foreground -s TERM -k 120 "$((60 * minutes))" node bin/reverie.mjs train "$config" "$@" runner.seed="$seed" \
    --device "$device" --out "$out/$name" >"$out/$name.log" 2>&1 || echo "$name ended with code $? (124: its time was up)"
}
for seed in $seeds; do
  for kind in true control; do
    shuffled=$([ $kind = control ] && echo true || echo false)
    run "${kind}_$seed" "$seed" "$@" algorithm.shuffle_advantages="$shuffled" &
    [ "$parallel" = 1 ] || wait
  done
done
wait

evaluate() { # name how [options…]
  local name=$1 how=$2 result="$out/eval/$1_$2"
  shift 2
  [ -f "$result/results.json" ] && return
  [ "$how" = fresh ] && set -- "$@" --starts fresh --starts-per-task "$fresh"
  [ "$how" = greedy ] && set -- "$@" --greedy
  node bin/reverie.mjs eval "$config" "$@" --device "$device" --out "$result" env.eval.env_workers="$((cores / at_once))" \
    >"$result.log" 2>&1 || { echo "evaluation of $name ($how) failed:"; tail -n 3 "$result.log"; }
}
for how in fresh sampled greedy; do
  for run in base "$out"/true_? "$out"/control_?; do
    model=()
    if [ "$run" != base ]; then
      folder=$(ls -d "$run"/*/checkpoints/global_step_*/actor/model 2>/dev/null | sort -V | tail -n 1)
      [ -n "$folder" ] || { echo "$run left no checkpoint"; continue; }
      model=(--model "$folder")
    fi
    while [ "$(jobs -rp | wc -l)" -ge "$at_once" ]; do wait -n; done
    evaluate "$(basename "$run")" $how "${model[@]}" &
  done
done
wait
node --import tsx scripts/draw-claim.ts "$out/curves.png" "$out"/true_? "$out"/control_?
node --import tsx scripts/claim-table.ts "$out"

#!/usr/bin/env bash
# Checks a learning claim: three seeds of a configuration, and beside each the same run with shuffled advantages, which
# must not gain. Then all policies, and the one they began with, are evaluated on all stored starts, sampled and greedy.
#
#   scripts/learning-claim.sh OUT CONFIG [key=value…]        e.g. on a machine with one GPU and 16 cores:
#   DEVICE=cuda scripts/learning-claim.sh claims/grpo tabletop_object_grpo_openvlaoft_mini runner.max_epochs=40
#
# All six runs go at the same time when PARALLEL=1 (the default with cuda), one after the other otherwise.
set -euo pipefail
out=$1 config=$2
shift 2
device=${DEVICE:-cpu}
parallel=${PARALLEL:-$([ "$device" = cuda ] && echo 1 || echo 0)}
reverie() { node "$(dirname "$0")/../bin/reverie.mjs" "$@"; }
mkdir -p "$out"

run() { # name seed overrides…
  local name=$1 seed=$2
  shift 2
  reverie train "$config" "$@" runner.seed="$seed" --device "$device" --out "$out/$name" >"$out/$name.log" 2>&1
}
names=()
for seed in 0 1 2; do
  for kind in true control; do
    extra=$([ $kind = control ] && echo "${CONTROL:-algorithm.shuffle_advantages=true}" || echo algorithm.shuffle_advantages=false)
    names+=("${kind}_$seed")
    if [ "$parallel" = 1 ]; then run "${kind}_$seed" $seed "$@" $extra & else run "${kind}_$seed" $seed "$@" $extra; fi
  done
done
wait

for mode in sampled greedy; do
  flag=$([ $mode = greedy ] && echo --greedy || true)
  reverie eval "$config" $flag --device "$device" --out "$out/base_$mode"
  for name in "${names[@]}"; do
    model=$(ls -d "$out/$name"/*/checkpoints/global_step_*/actor/model | sort -V | tail -n 1)
    reverie eval "$config" $flag --model "$model" --device "$device" --out "$out/${name}_$mode"
  done
done
node --import tsx "$(dirname "$0")/draw-claim.ts" "$out/curves.png" "$out"/true_? "$out"/control_?

#!/usr/bin/env bash
# Checks the claim that learning in a world model helps in the simulator. At the same time, on one machine: the runs, the same with
# advantages shuffled within their groups, and, where wanted, with a judge that is random. Then all policies, and the one they began with,
# play the stored starts and fresh ones, which no training draws from.
#
#   scripts/dream-claim.sh [key=value…]                      in the configuration's own world, which stays as it is
#   OUT=claims/dream DATA="runs/world/scripted runs/world/played" WORLD=runs/world/world MINUTES=8 scripts/dream-claim.sh [key=value…]
#
# With DATA the runs co-evolve, and FROZEN_SEEDS are runs in the world as it was given. A run that fails says so in its log and lets the
# others go on. `node --import tsx scripts/claim-table.ts OUT` prints the table again.
set -uo pipefail
cd "$(dirname "$0")/.."

CONFIG=${CONFIG:-opensora_tabletop_object_grpo_openvlaoft_mini}
EVAL_CONFIG=${EVAL_CONFIG:-tabletop_object_grpo_openvlaoft_mini}
OUT=${OUT:-claims/dream}
WORLD=${WORLD:-}                     # the world to begin with; absent: the configuration's own
WORLD_KEY=${WORLD_KEY:-env.train.opensora_wm_hf_ckpt_path}
DATA=${DATA:-}                       # folders of the recordings that the world was made from; absent: no co-evolution
MINUTES=${MINUTES:-8}                # a run that is not done by then ends after its step, with a checkpoint
DEVICE=${DEVICE:-cuda}
SEEDS=${SEEDS-0 1 2}
CONTROL_SEEDS=${CONTROL_SEEDS-0 1 2}
JUDGE_SEEDS=${JUDGE_SEEDS-0}         # controls with a random judge
FROZEN_SEEDS=${FROZEN_SEEDS-}
CONTROL_WORLD=${CONTROL_WORLD:-evolving} # the controls' world: evolving, or frozen
FRESH_PER_TASK=${FRESH_PER_TASK:-150}
EVAL_SEED=${EVAL_SEED:-7}
CORES=${CORES:-$(nproc)}

mkdir -p "$OUT/eval"
world=(); [ -n "$WORLD" ] && world=("$WORLD_KEY=$WORLD")
count=$(wc -w <<<"$SEEDS $CONTROL_SEEDS $JUDGE_SEEDS $FROZEN_SEEDS")
evolve=()
if [ -n "$DATA" ]; then
  read -r -a folders <<<"$DATA"
  evolve=("runner.co_evolution.data=[$(IFS=,; echo "${folders[*]}")]" runner.co_evolution.enabled=true
    runner.co_evolution.workers="$((CORES / count > 0 ? CORES / count : 1))")
fi
still=(); [ -n "$DATA" ] && still=(runner.co_evolution.episodes=0)

run() { # name seed overrides…
  local name=$1 seed=$2; shift 2
  [ -d "$OUT/$name" ] && return
  timeout --foreground -s TERM -k 120 "$((60 * MINUTES))" node bin/reverie.mjs train "$CONFIG" --device "$DEVICE" --out "$OUT/$name" \
    runner.seed="$seed" "${world[@]}" "${evolve[@]}" "$@" >"$OUT/$name.log" 2>&1 \
    || echo "$name ended with code $? (124: its time was up)"
}
control=(algorithm.shuffle_advantages=true algorithm.shuffle_within_groups=true)
[ "$CONTROL_WORLD" = frozen ] && control+=("${still[@]}")
for seed in $SEEDS; do run "true_$seed" "$seed" "$@" & done
for seed in $CONTROL_SEEDS; do run "control_$seed" "$seed" "$@" "${control[@]}" & done
for seed in $JUDGE_SEEDS; do run "judge_$seed" "$seed" "$@" "${still[@]}" env.train.random_judge=true & done
for seed in $FROZEN_SEEDS; do run "frozen_$seed" "$seed" "$@" "${still[@]}" & done
wait

evaluate() { # name starts [options…]
  local name=$1 starts=$2 out="$OUT/eval/$1_$2"; shift 2
  [ -f "$out/results.json" ] && return
  [ "$starts" = fresh ] && set -- "$@" --starts fresh --starts-per-task "$FRESH_PER_TASK"
  [ "$starts" = greedy ] && set -- "$@" --greedy
  node bin/reverie.mjs eval "$EVAL_CONFIG" --device "$DEVICE" --out "$out" runner.seed="$EVAL_SEED" env.eval.env_workers=4 "$@" \
    >"$out.log" 2>&1 || { echo "evaluation of $name failed:"; tail -n 3 "$out.log"; }
}
for starts in fresh stored greedy; do
  for run in base "$OUT"/true_? "$OUT"/control_? "$OUT"/judge_? "$OUT"/frozen_?; do
    model=()
    if [ "$run" != base ]; then
      [ -d "$run" ] || continue
      folder=$(ls -d "$run"/*/checkpoints/global_step_*/actor/model 2>/dev/null | sort -V | tail -n 1)
      [ -n "$folder" ] || { echo "$run left no checkpoint"; continue; }
      model=(--model "$folder")
    fi
    while [ "$(jobs -rp | wc -l)" -ge $((CORES / 2 > 0 ? CORES / 2 : 1)) ]; do wait -n; done
    evaluate "$(basename "$run")" "$starts" "${model[@]}" &
  done
done
wait
node --import tsx scripts/draw-claim.ts "$OUT/curves.png" "$OUT"/true_? "$OUT"/control_?
node --import tsx scripts/claim-table.ts "$OUT"
[ -n "$DATA" ] && node --import tsx scripts/dream-claim.ts "$OUT"

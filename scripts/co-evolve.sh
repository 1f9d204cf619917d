#!/usr/bin/env bash
# Trains a policy inside a world that keeps up with it: some steps of RL in the dream, then episodes of the new policy in the simulator,
# then a refresh of denoiser and judge that is rolled back if the truth meters got worse. Every part can be interrupted and called again.
#
#   WORLD=checkpoints/opensora-tabletop-object DATA="runs/world/scripted runs/world/played" OUT=runs/co-evolution scripts/co-evolve.sh
set -euo pipefail
cd "$(dirname "$0")/.."

CONFIG=${CONFIG:-opensora_tabletop_object_grpo_openvlaoft_mini}
SUITE=${SUITE:-tabletop_object}
WORLD=${WORLD:?the world to begin with}
DATA=${DATA:?folders of the recordings that it was made from}
OUT=${OUT:-runs/co-evolution}
ROUNDS=${ROUNDS:-4}
STEPS=${STEPS:-15}              # training steps between refreshes: beyond that a policy learns the world's mistakes
EPISODES=${EPISODES:-1500}      # of the current policy, to learn from
EXAM=${EXAM:-256}               # of the current policy, to measure on
DEVICE=${DEVICE:-cuda}
WORKERS=${WORKERS:-$(nproc)}
TRAIN_OPTIONS=${TRAIN_OPTIONS:-}   # more settings for reverie train
REFRESH_OPTIONS=${REFRESH_OPTIONS:-} # more options for reverie world refresh

reverie() { node bin/reverie.mjs "$@"; }
world="$OUT/world"
mkdir -p "$OUT"
[ -d "$world" ] || cp -r "$WORLD" "$world"   # the world that was given stays as it is
read -r -a data <<<"$DATA"

for ((round = 1; round <= ROUNDS; round++)); do
  done="$OUT/round-$round.done"
  [ -f "$done" ] && { data+=("$OUT/played-$round"); continue; }
  echo "== round $round: training to step $((round * STEPS))"
  # shellcheck disable=SC2086 # options are words
  reverie train "$CONFIG" --out "$OUT/run" --resume runner.max_epochs=$((ROUNDS * STEPS)) runner.max_steps=$((round * STEPS)) \
    runner.save_interval="$STEPS" env.train.opensora_wm_hf_ckpt_path="$world" $TRAIN_OPTIONS
  policy=$(find "$OUT/run" -type d -path "*global_step_$((round * STEPS))/actor/model" | head -n 1)
  for part in "played $EPISODES $((100 + round)) 1,1,1.3" "exam $EXAM $((200 + round)) 1"; do
    read -r name count seed temperatures <<<"$part"
    [ -f "$OUT/$name-$round/dataset.json" ] || {
      rm -rf "${OUT:?}/$name-$round"
      reverie world collect "$SUITE" --out "$OUT/$name-$round" --episodes "$count" --seed "$seed" --workers "$WORKERS" --policy "$policy" --temperatures "$temperatures"
    }
  done
  data+=("$OUT/played-$round")
  # shellcheck disable=SC2086
  reverie world refresh --world "$world" --device "$DEVICE" "${data[@]/#/--data=}" --exam "$OUT/exam-$round" $REFRESH_OPTIONS
  touch "$done"
done
cat "$world/rounds.jsonl"

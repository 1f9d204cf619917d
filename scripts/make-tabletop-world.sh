#!/usr/bin/env bash
# Makes a small world of a tabletop suite, OpenSora, Wan (FAMILY=wan) or EVAC (FAMILY=evac), with its judge and starts, and measures it: about 15 minutes on an H200 with
# 16 cores. Every step is skipped when its result is there, so the script can be called again after an interruption.
#
#   POLICY=runs/sft/step_000900 OUT=runs/world scripts/make-tabletop-world.sh
#
# Settings are variables; the defaults are those of the committed world.
set -euo pipefail
cd "$(dirname "$0")/.."

FAMILY=${FAMILY:-opensora}
SUITE=${SUITE:-tabletop_object}
OUT=${OUT:-runs/worlds/$FAMILY-$SUITE}     # world and reports go here
DATA=${DATA:-$OUT}                          # recordings; another world's OUT, to learn from the same ones
POLICY=${POLICY:-}                          # a policy checkpoint; without one only scripted episodes are recorded
DEVICE=${DEVICE:-cuda}
WORKERS=${WORKERS:-$(nproc)}
STEPS=${STEPS:-40}                          # control steps of an episode
SCRIPTED=${SCRIPTED:-2600}                  # episodes
PLAYED=${PLAYED:-3200}                      # the policy's own episodes
TESTED=${TESTED:-400}                       # episodes kept apart for the meters
DREAMT=${DREAMT:-256}                       # episodes in which the policy acts in the dream; 0: none
STARTS=${STARTS:-512}
VAE_MINUTES=${VAE_MINUTES:-0.65}                 # more are better: the committed world had these, and detail_weight 0
MINUTES=${MINUTES:-6}                       # the denoiser's
MORE_MINUTES=${MORE_MINUTES:-4.2}           # a second time, from where it is, with the rate raised again; 0: none
JUDGE_MINUTES=${JUDGE_MINUTES:-0.9}
VAE_STEPS=${VAE_STEPS:-20000} DENOISER_STEPS=${DENOISER_STEPS:-200000} JUDGE_STEPS=${JUDGE_STEPS:-20000} # time limits end training first, with schedules complete
HIDDEN=${HIDDEN:-192} DEPTH=${DEPTH:-5} HEADS=${HEADS:-4} PATCH=${PATCH:-2} BATCH=${BATCH:-128} VAE_BATCH=${VAE_BATCH:-256} JUDGE_BATCH=${JUDGE_BATCH:-256}
CHANNELS=${CHANNELS:-64}                    # of EVAC's denoiser, a multiple of 32
PREDICTOR_STEPS=${PREDICTOR_STEPS:-2000}    # of EVAC's action predictor
PRECISION=${PRECISION:-bf16}
VAE_PRECISION=${VAE_PRECISION:-fp32}         # of OpenSora's autoencoder; bf16 takes more steps in the same time
JUDGE_WIDTHS=${JUDGE_WIDTHS:-[24,48,72,96]}
FLOW_STEPS=${FLOW_STEPS:-2}
KEYFRAMES=${KEYFRAMES:-0}                    # keyframe starts, for Wan

world="$OUT/world"
reverie() { node bin/reverie.mjs "$@"; }
say() { printf '\n== %s (%s s)\n' "$1" "$SECONDS"; }
# A captured step is the fast way; should capturing fail on this machine, the plain way still makes the world.
learn() {
  local what=$1; shift
  local call=(reverie world "$what" "${data[@]}" --world "$world" --family "$FAMILY" --device "$DEVICE" "$@")
  "${call[@]}" || { say "$what again, without CUDA graphs"; "${call[@]}" --set cuda_graph=false; }
}
record() { # name episodes seed [more options]
  local folder="$DATA/$1" count=$2 seed=$3; shift 3
  [ -f "$folder/dataset.json" ] && return
  rm -rf "$folder"
  say "recording $folder"
  reverie world collect "$SUITE" --out "$folder" --episodes "$count" --seed "$seed" --workers "$WORKERS" --set steps="$STEPS" "$@"
}

mkdir -p "$world" "$DATA"
record scripted "$SCRIPTED" 11
data=(--data "$DATA/scripted")
if [ -n "$POLICY" ]; then
  record played "$PLAYED" 12 --policy "$POLICY" --temperatures 1,1,1.3,1.6
  record tested "$TESTED" 13 --policy "$POLICY" --temperatures 1
  data+=(--data "$DATA/played")
else
  record tested "$TESTED" 13
fi

sizes=(--set hidden_size="$HIDDEN" --set depth="$DEPTH" --set num_heads="$HEADS" --set "patch_size=[1,$PATCH,$PATCH]")
[ "$FAMILY" = wan ] && sizes=(--set dim="$HIDDEN" --set num_layers="$DEPTH" --set num_heads="$HEADS" --set ffn_dim=$((4 * HIDDEN)))
[ "$FAMILY" = evac ] && sizes=(--set model_channels="$CHANNELS" --set predictor_steps="$PREDICTOR_STEPS")
[ -e "$world/vae" ] || [ -f "$world/Wan2.2_VAE.pth" ] || [ -f "$world/first_stage_model.json" ] || {
  say "autoencoder"
  fast=()
  [ "$FAMILY" = opensora ] && fast=(--set precision="$VAE_PRECISION")
  learn train-vae --steps "$VAE_STEPS" --batch "$VAE_BATCH" --minutes "$VAE_MINUTES" "${fast[@]}"
}
[ -f "$world/model-00001.safetensors" ] || [ -f "$world/evac.json" ] || {
  say "denoiser"
  learn train --steps "$DENOISER_STEPS" --batch "$BATCH" --minutes "$MINUTES" "${sizes[@]}" --set precision="$PRECISION" --set ema_decay=0.9995
}
[ "$MORE_MINUTES" = 0 ] || [ -d "$OUT/first" ] || {
  say "denoiser, a second time"
  rm -rf "$OUT/first.part"; cp -r "$world" "$OUT/first.part"
  learn train --steps "$DENOISER_STEPS" --batch "$BATCH" --minutes "$MORE_MINUTES" "${sizes[@]}" --set precision="$PRECISION" --set ema_decay=0.9995 \
    --set init_from="$OUT/first.part" --set lr=4e-4
  mv "$OUT/first.part" "$OUT/first"
}
[ -f "$world/taskemb_resnet_rm.pth" ] || {
  say "judge"
  learn train-reward --steps "$JUDGE_STEPS" --batch "$JUDGE_BATCH" --minutes "$JUDGE_MINUTES" --set widths="$JUDGE_WIDTHS"
}
[ -d "$world/dataset" ] || { say "starts"; reverie world starts "${data[@]}" --world "$world" --set count="$STARTS" --set keyframes="$KEYFRAMES"; }

chunks=$((STEPS / 8))
say "truth, against recordings"
reverie world evaluate --world "$world" --data "$DATA/tested" --device "$DEVICE" --out "$OUT/report" \
  --set episodes="$TESTED" --set chunks="$chunks" --set batch=128 --set num_sampling_steps="$FLOW_STEPS"
cp "$OUT/report/truth.json" "$world/" # runs in this world read it: warnings, and horizons from drift
if [ -n "$POLICY" ] && [ "$DREAMT" -gt 0 ]; then
  say "truth, the policy in the dream"
  reverie world evaluate --world "$world" --suite "$SUITE" --policy "$POLICY" --device "$DEVICE" --out "$OUT/report" \
    --set episodes="$DREAMT" --set chunks="$chunks" --set batch=64 --set num_sampling_steps="$FLOW_STEPS"
fi

tar -C "$OUT" --exclude='*.resume.safetensors' -czf "$OUT/world.tar.gz" world report
say "done: $(du -sh "$OUT/world.tar.gz" | cut -f1) in $OUT/world.tar.gz"

#!/usr/bin/env bash
# Makes a small world of a tabletop suite, OpenSora, Wan (FAMILY=wan) or EVAC (FAMILY=evac), with its judge and starts, and measures it: 15 to 40 minutes on an H200 with
# 16 cores. Every step is skipped when its result is there, so the script can be called again after an interruption.
#
#   POLICY=checkpoints/openvla-oft-mini OUT=runs/world scripts/make-tabletop-world.sh
#
# Settings are variables; the defaults are those of the worlds in docs/worlds.md.
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
DREAMT=${DREAMT:-256}                       # episodes of the last meter, in which the policy acts in the dream; 0: none
STARTS=${STARTS:-512}
PRECISION=${PRECISION:-bf16}
FLOW_STEPS=${FLOW_STEPS:-2}
KEYFRAMES=${KEYFRAMES:-0}                   # keyframe starts, for Wan
MINUTES=${MINUTES:-}                        # the most that each training may take; absent: its steps decide
shipped=checkpoints/opensora-tabletop-object

# Training steps: autoencoder, denoiser, denoiser a second time with the rate raised again, judge. RATE is the first time's schedule,
# EMA: how slowly averaged weights forget. Then rounds, ROUND_STEPS each: ROUND_EPISODES are acted in the dream and played by the simulator (or found in DATA,
# where another family's world has recorded them; 0: none), and the denoiser goes on learning from all recordings, a share of lessons (ROUND_IMAGINED) with memories
# that it imagined itself.
case $FAMILY in
  opensora)
    VAE_STEPS=${VAE_STEPS:-1200} VAE_BATCH=${VAE_BATCH:-256} VAE_PRECISION=${VAE_PRECISION:-fp32} # more are better; the committed world also had detail_weight=0
    DENOISER_STEPS=${DENOISER_STEPS:-14300} BATCH=${BATCH:-128} RATE=${RATE:-cosine}
    MORE_STEPS=${MORE_STEPS:-10300} MORE_RATE=${MORE_RATE:-4e-4} EMA=${EMA:-0.9995} MORE_EMA=${MORE_EMA:-0.9995}
    JUDGE_STEPS=${JUDGE_STEPS:-2600} JUDGE_FROM=${JUDGE_FROM:-}
    ROUND_STEPS=${ROUND_STEPS:-} # the committed world had none
    HIDDEN=${HIDDEN:-192} DEPTH=${DEPTH:-5} HEADS=${HEADS:-4} PATCH=${PATCH:-2}
    VAE_FROM=${VAE_FROM:-}                  # an EVAC world of this script, to begin with its autoencoder: 8 × 8 × 32 instead of 16 × 16 × 4
    vae_sizes=()
    [ -z "$VAE_FROM" ] || vae_sizes=(--set init_from="$VAE_FROM" --set lr=1e-4 --set "block_out_channels=[16,32,64,64]" --set latent_channels=32)
    sizes=(--set hidden_size="$HIDDEN" --set depth="$DEPTH" --set num_heads="$HEADS" --set "patch_size=[1,$PATCH,$PATCH]") ;;
  evac)
    VAE_STEPS=${VAE_STEPS:-5400} VAE_BATCH=${VAE_BATCH:-128} VAE_PRECISION=${VAE_PRECISION:-bf16}
    DENOISER_STEPS=${DENOISER_STEPS:-3900} BATCH=${BATCH:-128} RATE=${RATE:-constant}
    MORE_STEPS=${MORE_STEPS:-2900} MORE_RATE=${MORE_RATE:-5e-4} EMA=${EMA:-0.9995} MORE_EMA=${MORE_EMA:-0.999}
    JUDGE_STEPS=${JUDGE_STEPS:-1200} JUDGE_FROM=${JUDGE_FROM-$shipped}
    ROUND_STEPS=${ROUND_STEPS-5400 4100 6900 6100}
    CHANNELS=${CHANNELS:-64}                # of its denoiser, a multiple of 32
    PREDICTOR_STEPS=${PREDICTOR_STEPS:-1500} # of its action predictor
    vae_sizes=()
    sizes=(--set model_channels="$CHANNELS" --set predictor_steps="$PREDICTOR_STEPS") ;;
  wan)
    VAE_STEPS=${VAE_STEPS:-9900} VAE_BATCH=${VAE_BATCH:-32} VAE_PRECISION=${VAE_PRECISION:-bf16}
    DENOISER_STEPS=${DENOISER_STEPS:-22000} BATCH=${BATCH:-256} RATE=${RATE:-cosine}
    MORE_STEPS=${MORE_STEPS:-0} MORE_RATE=${MORE_RATE:-4e-4} EMA=${EMA:-0.999} MORE_EMA=${MORE_EMA:-0.999}
    JUDGE_STEPS=${JUDGE_STEPS:-1500} JUDGE_FROM=${JUDGE_FROM-$shipped}
    ROUND_STEPS=${ROUND_STEPS-18000} ROUND_EPISODES=${ROUND_EPISODES:-0} ROUND_RATES=${ROUND_RATES:-4e-4} ROUND_IMAGINED=${ROUND_IMAGINED:-0.5}
    PLAYED_MORE=${PLAYED_MORE-9000} IMAGINED_EPISODES=${IMAGINED_EPISODES:-3000}
    HIDDEN=${HIDDEN:-288} DEPTH=${DEPTH:-8} HEADS=${HEADS:-6} LATENTS=${LATENTS:-48} LEVELS=${LEVELS:-[1,2,2]} ENCODER=${ENCODER:-32} DECODER=${DECODER:-48} PATCH=${PATCH:-2}
    vae_sizes=(--set z_dim="$LATENTS" --set dim_mult="$LEVELS" --set vae_dim="$ENCODER" --set vae_dec_dim="$DECODER")
    sizes=(--set dim="$HIDDEN" --set num_layers="$DEPTH" --set num_heads="$HEADS" --set ffn_dim=$((4 * HIDDEN)) --set "patch_size=[1,$PATCH,$PATCH]") ;;
  *) echo "FAMILY is $FAMILY; there are opensora, evac and wan" >&2; exit 2 ;;
esac
ROUND_EPISODES=${ROUND_EPISODES:-2000 1200 2000 0}
ROUND_RATES=${ROUND_RATES:-5e-4 4e-4 5e-4 4e-4}
ROUND_EMAS=${ROUND_EMAS:-0.999 0.999 0.999 0.999}
ROUND_IMAGINED=${ROUND_IMAGINED:-0 0 0.5 0.5}
IMAGINED_EPISODES=${IMAGINED_EPISODES:-4000}
PLAYED_MORE=${PLAYED_MORE:-0}               # further episodes of the policy, for the denoiser
JUDGE_BATCH=${JUDGE_BATCH:-256}
JUDGE_WIDTHS=${JUDGE_WIDTHS:-[24,48,72,96]}

world="$OUT/world"
reverie() { node bin/reverie.mjs "$@"; }
say() { printf '\n== %s (%s s)\n' "$1" "$SECONDS"; }
# A captured step is the fast way; should capturing fail on this machine, the plain way still makes the world.
learn() {
  local what=$1; shift
  local call=(reverie world "$what" "${data[@]}" --world "$world" --family "$FAMILY" --device "$DEVICE" ${MINUTES:+--minutes "$MINUTES"} "$@")
  "${call[@]}" || { say "$what again, without CUDA graphs"; "${call[@]}" --set cuda_graph=false; }
}
go_on() { # folder-for-the-world-before what-to-say steps rate ema [more options]: the denoiser learns on from where it is, once
  local before="$OUT/$1"
  [ -d "$before" ] && return
  say "denoiser, $2"
  rm -rf "$before.part"; cp -r "$world" "$before.part"
  learn train --steps "$3" --batch "$BATCH" "${sizes[@]}" --set precision="$PRECISION" --set ema_decay="$5" --set init_from="$before.part" --set lr="$4" "${@:6}"
  mv "$before.part" "$before"
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
  record tested "$TESTED" 13 --policy "$POLICY" --temperatures 1 --set steps_after_success="$STEPS" --set purpose=exams # to their ends
  data+=(--data "$DATA/played")
else
  record tested "$TESTED" 13 --set steps_after_success="$STEPS" --set purpose=exams
fi

[ -e "$world/vae" ] || [ -f "$world/Wan2.2_VAE.pth" ] || [ -f "$world/first_stage_model.json" ] || {
  say "autoencoder"
  learn train-vae --steps "$VAE_STEPS" --batch "$VAE_BATCH" --set precision="$VAE_PRECISION" "${vae_sizes[@]}"
}
few=("${data[@]}") # a judge needs no more
[ -z "$POLICY" ] || [ "$PLAYED_MORE" = 0 ] || {
  record played-more "$PLAYED_MORE" 71 --policy "$POLICY" --temperatures 1,1,1,1.3
  data+=(--data "$DATA/played-more")
}
[ -f "$world/model-00001.safetensors" ] || [ -f "$world/evac.json" ] || {
  say "denoiser"
  learn train --steps "$DENOISER_STEPS" --batch "$BATCH" "${sizes[@]}" --set precision="$PRECISION" --set ema_decay="$EMA" --set lr_scheduler="$RATE"
}
[ "$MORE_STEPS" = 0 ] || go_on first "a second time" "$MORE_STEPS" "$MORE_RATE" "$MORE_EMA"
[ -f "$world/taskemb_resnet_rm.pth" ] || {
  say "judge"
  from=(); [ -n "$JUDGE_FROM" ] && from=(--set init_from="$JUDGE_FROM" --set lr=6e-4)
  (data=("${few[@]}"); learn train-reward --steps "$JUDGE_STEPS" --batch "$JUDGE_BATCH" --set widths="$JUDGE_WIDTHS" "${from[@]}")
}
[ -d "$world/dataset" ] || { say "starts"; reverie world starts "${few[@]}" --world "$world" --set count="$STARTS" --set keyframes="$KEYFRAMES"; }

# Recorded actions tell how an episode went; actions taken in a dream tell only what the dream showed. So a world must see what they really lead to.
if [ -n "$POLICY" ]; then
  for name in steps episodes rates emas imagined; do declare -n setting="ROUND_${name^^}"; read -r -a "$name" <<<"$setting"; done
  temperatures=(1,1,1.3,1.6 1,1,1.3 1,1,1.3,1.6)
  for round in "${!steps[@]}"; do
    count=${episodes[round]:-0} share=${imagined[round]:-0}
    [ "$count" = 0 ] || {
      record "dreamt$round" "$count" "$((41 + round))" --policy "$POLICY" --temperatures "${temperatures[round]:-1,1,1.3}" --world "$world" --device "$DEVICE"
      data+=(--data "$DATA/dreamt$round")
    }
    go_on "before-round$round" "round $round" "${steps[round]}" "${rates[round]:-4e-4}" "${emas[round]:-0.999}" \
      --set imagined_share="$share" --set imagined_episodes="$IMAGINED_EPISODES"
  done
fi

chunks=$((STEPS / 8))
say "truth, against recordings" # success counts in two frames in a row, as in runs
reverie world evaluate --world "$world" --data "$DATA/tested" --device "$DEVICE" --out "$OUT/report" \
  --set episodes="$TESTED" --set chunks="$chunks" --set batch=128 --set num_sampling_steps="$FLOW_STEPS" --set hold_frames=2
cp "$OUT/report/truth.json" "$world/" # runs in this world read it: warnings, and horizons from drift
if [ -n "$POLICY" ] && [ "$DREAMT" -gt 0 ]; then
  say "truth, the policy in the dream"
  reverie world evaluate --world "$world" --suite "$SUITE" --policy "$POLICY" --device "$DEVICE" --out "$OUT/report" \
    --set episodes="$DREAMT" --set chunks="$chunks" --set batch=64 --set num_sampling_steps="$FLOW_STEPS" --set hold_frames=2
fi

tar -C "$OUT" --exclude='*.resume.safetensors' --exclude='*.finished.safetensors' -czf "$OUT/world.tar.gz" world report
say "done: $(du -sh "$OUT/world.tar.gz" | cut -f1) in $OUT/world.tar.gz"

/** The files of an EVAC world that our own commands make, in its folder. */
export const evacFiles = {
  checkpoint: "evac.ckpt", // all networks, as published
  description: "evac.json", // what published worlds leave to constants
  predictor: "action_predictor.pth",
  /** Where training leaves the autoencoder, until the denoiser is there too. */
  autoencoder: "first_stage_model.ckpt",
  autoencoderSizes: "first_stage_model.json",
} as const;

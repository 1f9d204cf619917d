/** The files of a Wan world, as published; ours add a description of all sizes. */
export const wanFiles = {
  autoencoder: "Wan2.2_VAE.pth",
  denoiser: "model-00001.safetensors",
  description: "config.json",
} as const;

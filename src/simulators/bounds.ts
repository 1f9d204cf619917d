/** The most that a setting or a file may ask of a simulator: beyond it no machine answers in time, or at all. */
import { z } from "zod";

/** Width or height of a picture, in pixels: the largest square of RGB bytes is 48 MB. */
export const pictureSide = z.int().positive().max(4096);

/** Actions of rest after a reset; LIBERO's 15 take 0.3 s. */
export const settleSteps = z.int().min(0).max(1000);

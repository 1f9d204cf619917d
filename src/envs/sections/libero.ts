/** `env_type: libero`: LIBERO's suites, and our own tabletop suites behind the same environment. */
import { z } from "zod";
import { robosuiteActions } from "#data";
import { freshStartsPerTask, pictureSide, settleSteps, startsPattern, suiteNames } from "#simulators";
import { defineEnv, type PlayableEnv } from "../env-family.ts";

const settings = (): z.ZodObject =>
  z.strictObject({
    task_suite_name: z.enum(suiteNames(1)).describe("whose tasks and starts are played"),
    reset_gripper_open: z.boolean().default(true).describe("hold the gripper open while a reset settles"),
    use_step_penalty: z.boolean().default(false).describe("every action costs 1"),
    starts: z
      .string()
      .regex(startsPattern, 'expected "stored", "fresh" or "fresh:SEED"')
      .default("stored")
      .describe(
        "of evaluations: the stored starts, or new scenes that nothing trains on (fresh, fresh:SEED)",
      ),
    starts_per_task: z
      .int()
      .positive()
      .max(freshStartsPerTask)
      .nullish()
      .describe("of fresh starts: how many scenes of each task; absent: as many as are stored"),
    specific_reset_id: z.int().min(0).nullish().describe("always start from this state"),
    task_id_filter: z.array(z.int().min(0)).nullish().describe("only these tasks of the suite"),
    libero_variant: z.enum(["standard"]).nullish().describe("LIBERO-PRO and LIBERO-plus are not here"),
    perturbation_suffix: z.null().optional().describe("of LIBERO-PRO and LIBERO-plus, which are not here"),
    settle_steps: settleSteps
      .nullish()
      .describe("actions of rest after a reset; the reference's 15 if unset"),
    wrist_camera: z.boolean().default(true).describe("draw the wrist's view too"),
    env_workers: z
      .int()
      .min(0)
      .optional()
      .describe("processes that simulate; 0: in the env worker's own; absent: one per core"),
    worker_timeout: z
      .number()
      .positive()
      .default(300)
      .describe("seconds until a process with a request before it that is silent is replaced"),
    worker_start_timeout: z
      .number()
      .positive()
      .default(300)
      .describe("seconds that a process may take to start"),
    init_params: z
      .strictObject({
        camera_heights: pictureSide.default(256).describe("pixels of the pictures that a policy sees"),
        camera_widths: pictureSide.default(256).describe("pixels of the pictures that a policy sees"),
      })
      .prefault({}),
  });

/** Made when it is asked for: plugins may have added suites by then. */
export const libero = (): PlayableEnv =>
  defineEnv({
    plays: "suite",
    settings: settings(),
    actions: () => robosuiteActions,
    sentences: async (section) => (await import("../vector/opened.ts")).sentencesOf(section),
    open: async (section, place) => (await import("../vector/opened.ts")).openSimulator(section, place),
    footprint: () => ({
      parameters: 0,
      deviceBytes: 0.5e9,
      deviceBytesPerSlot: 50e6,
      note: "env: off-screen rendering only",
    }),
  });

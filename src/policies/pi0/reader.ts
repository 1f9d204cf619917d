/**
 * Observations to what π0 is fed, and recorded inputs back onto the device.
 *
 * Everything recorded is kept on the host in its smallest exact form: bytes for pictures, ids for words.
 *
 * Shapes: B batch, N cameras, L prompt columns.
 */
import type { ForwardInputs, Observation } from "#data";
import type { Device, Tensor } from "#tensor";
import type { PromptTokenizer } from "../prismatic/tokenizer.ts";
import type { Pi0Codec } from "./actions.ts";
import type { Pi0Config } from "./config.ts";
import { cameraSlots, type PrefixInputs } from "./model.ts";
import { padRight, promptRows, requirePromptsFit, takePictures, toPixels, trimRight } from "./prompt.ts";

export interface ReaderParts {
  readonly config: Pi0Config;
  readonly codec: Pi0Codec;
  readonly tokenizer: () => PromptTokenizer;
  readonly cameras: number;
  readonly device: Device;
}

/** What the network is fed of an observation, on the device, and whether prompts differ in length. */
interface Seen {
  readonly fed: Readonly<Record<string, Tensor>>;
  readonly padded: boolean;
}

export class Pi0Reader {
  readonly #parts: ReaderParts;

  constructor(parts: ReaderParts) {
    this.#parts = parts;
  }

  requireReadable(tasks: readonly string[]): void {
    const { max_token_len: length, discrete_state_input: spelled } = this.#parts.config;
    requirePromptsFit(this.#parts.tokenizer(), tasks, { length, spelled: Boolean(spelled) });
  }

  /** Forward inputs of an observation, on the host, without actions. */
  describe(observation: Observation): ForwardInputs {
    const { codec, cameras, tokenizer, config, device } = this.#parts;
    const { max_token_len: length, discrete_state_input: spelled, sizes } = config;
    const state = codec.normalizedState(observation.states);
    const rows = promptRows(tokenizer(), observation.taskDescriptions, spelled ? state : undefined);
    const { ids_BL, mask_BL } = padRight(rows, length);
    return {
      images: takePictures(observation, cameras, sizes.vision.image_size, device),
      tokenized_prompt: ids_BL,
      tokenized_prompt_mask: mask_BL,
      state: codec.padState(state),
    };
  }

  /** `whole` keeps padding that nobody looks at. */
  seen(inputs: ForwardInputs, whole: boolean): Seen {
    const { device } = this.#parts;
    const given = { ids_BL: inputs.tokenized_prompt!, mask_BL: inputs.tokenized_prompt_mask! };
    const { ids_BL, mask_BL, padded } = whole ? { ...given, padded: true } : trimRight(given);
    return {
      padded,
      fed: {
        images: inputs.images!.to({ device }),
        tokenized_prompt: ids_BL.to({ device }),
        tokenized_prompt_mask: mask_BL.to({ device }),
        state: inputs.state!.to({ device }),
      },
    };
  }

  /** `whole` also looks at black pictures for absent cameras. */
  prefixInputs(fed: Seen["fed"], padded: boolean, whole: boolean): PrefixInputs {
    return {
      pixels_BNCSS: toPixels(fed.images!),
      blanks: whole ? cameraSlots - fed.images!.size(1) : 0,
      ids_BL: fed.tokenized_prompt!,
      mask_BL: fed.tokenized_prompt_mask!,
      padded,
    };
  }
}

/**
 * How many layers a file may ask for.
 *
 * A network is built from what its configuration says before its weights are looked at: widths that no memory holds are refused by the
 * allocator, but a hundred million small layers would fill the heap first.
 */
import { z } from "zod";

export const layerCount = z.int().positive().max(1000);

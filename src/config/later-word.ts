/**
 * Which of two places in a configuration spoke later, and therefore counts where both speak of one thing under
 * different names: the command line over files, a file over what it includes, a lower line over a higher one.
 */
import { commandLine, type Origin } from "./tree.ts";

/** Whether the first was written later than the second. */
export type IsLater = (one: Origin, other: Origin) => boolean;

/** `layers`: the files in the order in which their keys were laid over each other. */
export function laterWord(layers: readonly string[]): IsLater {
  const layer = ({ file }: Origin): number =>
    file === commandLine.file ? layers.length : layers.lastIndexOf(file);
  return (one, other) => {
    const ahead = layer(one) - layer(other);
    return ahead === 0 ? one.line > other.line : ahead > 0;
  };
}

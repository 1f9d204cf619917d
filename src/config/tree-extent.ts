/**
 * How large and how deep a tree is for whoever walks it, when parts of it stand in many places.
 *
 * A part that is shared is measured once, so measuring takes time in proportion to what is in memory, whatever it unfolds to.
 */
import type { ConfigNode } from "./tree.ts";

export const mostNodes = 100_000;
export const mostDepth = 100;
export const tooLarge = "too large when its references are unfolded, or nested too deep";

interface Measure {
  readonly nodes: number;
  readonly depth: number;
}

export class Extent {
  readonly #known = new WeakMap<ConfigNode, Measure>();

  exceeds(node: ConfigNode): boolean {
    const { nodes, depth } = this.#measure(node);
    return nodes > mostNodes || depth > mostDepth;
  }

  #measure(node: ConfigNode): Measure {
    if (node.kind === "scalar") return { nodes: 1, depth: 1 };
    const known = this.#known.get(node);
    if (known) return known;
    let [nodes, depth] = [1, 0];
    for (const inner of node.kind === "list" ? node.items : node.entries.values()) {
      const measure = this.#measure(inner);
      nodes += measure.nodes;
      depth = Math.max(depth, measure.depth);
    }
    const measure = { nodes, depth: depth + 1 };
    this.#known.set(node, measure);
    return measure;
  }
}

/**
 * Places the nodes of a graph without cycles in rows, every arrow pointing down.
 *
 * The usual four steps (Sugiyama, Tagawa and Toda 1981): arrows that follow from others are left out, rows come from the longest way
 * down, long arrows pass through points of their own in the rows between, and rows are ordered by what they are tied to.
 */

export type Graph = Readonly<Record<string, readonly string[]>>;

interface Node {
  readonly name: string; // empty: a point that a long arrow passes
  readonly row: number;
  readonly width: number;
  readonly up: Node[];
  readonly down: Node[];
  x: number;
}

export interface Placed {
  readonly x: number; // of the middle
  readonly row: number; // 0 is the lowest
}

export interface Layout {
  readonly places: ReadonlyMap<string, Placed>;
  readonly arrows: readonly { readonly from: string; readonly to: string; readonly way: readonly Placed[] }[];
  readonly rows: number;
}

const reach = (graph: Graph, name: string): Set<string> =>
  new Set((graph[name] ?? []).flatMap((next) => [next, ...reach(graph, next)]));

/** Without the arrows that a longer way replaces. */
const reduced = (graph: Graph): Graph =>
  Object.fromEntries(
    Object.entries(graph).map(([name, targets]) => {
      const further = new Set(targets.flatMap((target) => [...reach(graph, target)]));
      return [name, targets.filter((target) => !further.has(target))];
    }),
  );

const rowOf = (graph: Graph, name: string): number =>
  Math.max(-1, ...(graph[name] ?? []).map((target) => rowOf(graph, target))) + 1;

export function layers(graph: Graph, widths: { readonly box: number; readonly passing: number }): Layout {
  const links = reduced(graph);
  const nodes = new Map<string, Node>();
  const rows: Node[][] = [];
  const add = (name: string, row: number, width: number): Node => {
    const node = { name, row, width, up: [], down: [], x: 0 };
    (rows[row] ??= []).push(node);
    return node;
  };
  for (const name of Object.keys(links)) nodes.set(name, add(name, rowOf(links, name), widths.box));
  const ways = Object.entries(links).flatMap(([from, targets]) =>
    targets.map((to) => {
      const way = [nodes.get(from) as Node];
      const end = nodes.get(to) as Node;
      for (let row = rowOf(links, from) - 1; row > end.row; row--) way.push(add("", row, widths.passing));
      way.push(end);
      return { from, to, way };
    }),
  );
  for (const { way } of ways) {
    way.slice(1).forEach((lower, i) => {
      way[i]?.down.push(lower);
      lower.up.push(way[i] as Node);
    });
  }
  settle(rows);
  return { places: nodes, arrows: ways, rows: rows.length };
}

/** Sweeps up and down: each row in the order of the middles of what it is tied to, then moved towards them. */
function settle(rows: readonly Node[][]): void {
  for (const row of rows) spread(row, () => 0);
  for (let sweep = 0; sweep < 40; sweep++) {
    const downwards = sweep % 2 === 0;
    for (const row of downwards ? rows.toReversed() : rows) {
      const wanted = new Map(row.map((node) => [node, middle(downwards ? node.up : node.down, node.x)]));
      if (sweep < 30) row.sort((a, b) => (wanted.get(a) as number) - (wanted.get(b) as number));
      spread(row, (node) => wanted.get(node) as number);
    }
  }
  for (const row of rows) spread(row, (node) => middle([...node.up, ...node.down], node.x));
}

const middle = (ties: readonly Node[], otherwise: number): number =>
  ties.length === 0 ? otherwise : ties.reduce((sum, { x }) => sum + x, 0) / ties.length;

/** As near to the wanted places as order and widths allow: isotonic regression, by pooling neighbors that collide. */
function spread(row: readonly Node[], wanted: (node: Node) => number): void {
  const packed: number[] = []; // where each would stand if all stood side by side
  const pools: { sum: number; count: number }[] = [];
  row.forEach((node, i) => {
    packed.push(i === 0 ? 0 : (packed[i - 1] as number) + ((row[i - 1] as Node).width + node.width) / 2);
    let pool = { sum: wanted(node) - (packed[i] as number), count: 1 };
    for (let last = pools.at(-1); last && mean(last) > mean(pool); last = pools.at(-1)) {
      pools.pop();
      pool = { sum: last.sum + pool.sum, count: last.count + pool.count };
    }
    pools.push(pool);
  });
  const shifts = pools.flatMap((pool) => Array<number>(pool.count).fill(mean(pool)));
  row.forEach((node, i) => {
    node.x = (packed[i] as number) + (shifts[i] as number);
  });
}

const mean = ({ sum, count }: { readonly sum: number; readonly count: number }): number => sum / count;

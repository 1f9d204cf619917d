/**
 * How modules are found while plugins are read; runs in Node's loader thread, which is why it is JavaScript.
 *
 * `import … from "reverie"` means the program that runs, wherever the plugin's file is: a second copy would have registries of its
 * own. TypeScript outside packages is taken for ECMAScript modules also where no package.json says so.
 */
let home = "";

export function initialize(data) {
  home = data.home;
}

export async function resolve(specifier, context, next) {
  if (specifier === "reverie") return next(home, context);
  const found = await next(specifier, context);
  // tsx marks what it takes for CommonJS in the address.
  const [, file] = /^(file:[^?]*?\.ts)(?:$|(?:%3F|\?).*tsx-commonjs)/.exec(found.url) ?? [];
  if (file === undefined || file.includes("/node_modules/")) return found;
  return { ...found, url: file, format: "module" };
}

/** The addons' stamps and libraries: a checkout may be moved, and an addon that is made anew says why. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

const folder = mkdtempSync(join(tmpdir(), "reverie-addons-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const site = ".deps/venv/lib/python3.11/site-packages";

/** A checkout whose MuJoCo and addon are one function each, so that it is built in a second. */
function smallCheckout(name: string): string {
  const checkout = join(folder, name);
  cpSync(dirname(fileURLToPath(import.meta.url)), join(checkout, "scripts", "setup"), { recursive: true });
  for (const place of ["native/mujoco", "build", `${site}/mujoco/include`])
    mkdirSync(join(checkout, place), { recursive: true });
  writeFileSync(join(checkout, "native/mujoco/one.cpp"), "int mj(); int one() { return mj(); }\n");
  const library = join(checkout, site, "mujoco", "libmujoco.so.3.3.7");
  writeFileSync(join(folder, "mj.cpp"), "int mj() { return 1; }\n");
  const flags = ["-shared", "-fPIC", "-Wl,-soname,libmujoco.so.3.3.7"];
  execFileSync(process.env.CXX ?? "g++", [...flags, join(folder, "mj.cpp"), "-o", library]);
  return checkout;
}

/** The set-up of the checkout that lies there now; each place has its own copy of the modules. */
const addonOf = async (checkout: string) =>
  (await import(pathToFileURL(join(checkout, "scripts/setup/addons.mjs")).href)).mujocoAddon;

const quiet = { detail() {}, progress: { note() {}, advise() {} } };

test("an addon that was built in a checkout is current and finds its library after the checkout was moved", async () => {
  const first = smallCheckout("first");
  await (await addonOf(first)).run(quiet);
  const moved = join(folder, "elsewhere", "second");
  mkdirSync(dirname(moved));
  renameSync(first, moved);
  assert.equal((await addonOf(moved)).isDone(), true);
  const found = execFileSync("ldd", [join(moved, "build/mujoco.node")], { encoding: "utf8" });
  assert.match(found, new RegExp(`libmujoco\\.so\\.3\\.3\\.7 => ${moved}/`));
});

test("an addon that is not current names the reason, and says it when it is made anew", async () => {
  const checkout = smallCheckout("third");
  const addon = await addonOf(checkout);
  assert.equal(addon.state(), "build/mujoco.node");
  await addon.run(quiet);
  writeFileSync(join(checkout, "native/mujoco/one.cpp"), "int mj(); int one() { return mj() + 1; }\n");
  assert.equal(addon.isDone(), false);
  assert.match(addon.state(), /its C\+\+ sources have changed/);
  const said: string[] = [];
  await addon.run({ ...quiet, progress: { note: (text: string) => said.push(text) } });
  assert.match(said.join(), /made anew: its C\+\+ sources have changed/);
  writeFileSync(join(checkout, site, "mujoco/libmujoco.so.3.3.7"), "another library");
  assert.match(addon.state(), /the libraries that it is linked with are others/);
  writeFileSync(join(checkout, "build/mujoco.node.stamp"), "not ours");
  assert.match(addon.state(), /an earlier or interrupted set-up made it/);
});

test("a CUDA build of torch without CUDA's headers is built for the CPU alone, and that is said", async () => {
  const torch = join(folder, "own", "torch");
  mkdirSync(join(torch, "lib"), { recursive: true });
  writeFileSync(join(torch, "lib", "libtorch_cuda.so"), "");
  const before = { REVERIE_TORCH: process.env.REVERIE_TORCH, CUDA_HOME: process.env.CUDA_HOME };
  Object.assign(process.env, { REVERIE_TORCH: torch, CUDA_HOME: join(folder, "no-toolkit") });
  try {
    const { torchFlags } = await import(new URL("./torch-flags.mjs", import.meta.url).href);
    const { warning, note, compile, link } = await torchFlags(process.env.CXX ?? "g++");
    assert.match(warning, /headers or libcudart are missing: the GPU cannot be used/);
    assert.equal(note, "CPU only");
    assert.equal(compile.includes("-DREVERIE_CUDA"), false);
    assert.ok(
      link.includes(`-Wl,-rpath,${join(torch, "lib")}`),
      "a torch outside the checkout keeps its own path",
    );
  } finally {
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
});

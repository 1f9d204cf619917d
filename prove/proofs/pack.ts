/**
 * Packs the package as it would be published, installs it into an empty folder with an empty HOME and empty caches, and uses it there: the
 * command, which sets itself up first, and a TypeScript program that trains with an environment of its own.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readExample } from "../../test/support/extend-page.ts";
import { Checks, type Proof } from "../proof.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** How this machine reaches the network at all: certificates and proxies. Everything else of the reader's is taken away. */
const network = /^(SSL_CERT_\w+|NODE_EXTRA_CA_CERTS|PIP_CERT|REQUESTS_CA_BUNDLE|\w+_proxy|\w+_PROXY)$/;
const largestTarball = 25e6; // bytes

const program = `import { trainRun } from "reverie";
const { metrics, checkpoint } = await trainRun("point.yaml", { out: "run", overrides: ["runner.max_epochs=1", "runner.save_interval=1"] });
console.log(JSON.stringify({ trained: "train/actor/grad_norm" in metrics, checkpoint }));
`;

const compiler = {
  compilerOptions: {
    ...{ strict: true, noEmit: true, skipLibCheck: true, types: [] },
    ...{ module: "nodenext", target: "es2023", lib: ["es2023", "dom", "esnext.disposable"] },
  },
  include: ["*.ts"],
};

export const proof: Proof = {
  claim:
    "the packed tarball, installed into an empty folder, runs the command and a program with an environment of its own",
  goal: "all checks hold",
  minutes: 4,
  needs: "the network (about 350 MB are fetched) and 3 GB of disk",

  async run(say) {
    const checks = new Checks(say);
    const place = mkdtempSync(join(tmpdir(), "reverie-pack-"));
    try {
      walk(place, checks, say);
    } finally {
      rmSync(place, { recursive: true, force: true });
    }
    return checks.outcome();
  },
};

function walk(place: string, checks: Checks, say: (line: string) => void): void {
  const project = join(place, "project");
  for (const folder of ["home", "project"]) mkdirSync(join(place, folder));
  execFileSync("npm", ["pack", "--silent", "--pack-destination", place], { cwd: root, stdio: "ignore" });
  const tarball = join(place, readdirSync(place).find((name) => name.endsWith(".tgz"))!);
  const { size } = statSync(tarball);
  checks.check(`the tarball has ${(size / 1e6).toFixed(1)} MB`, size < largestTarball, String(size));
  const files = execFileSync("tar", ["-tzf", tarball], { encoding: "utf8", maxBuffer: 2 ** 24 }).split("\n");
  checks.check("it holds no tests", !files.some((file) => file.endsWith(".test.ts")));
  const kept = Object.entries(process.env).filter(([name]) => network.test(name));
  const env = { ...Object.fromEntries(kept), HOME: join(place, "home"), PATH: process.env.PATH };
  const run = (what: string, words: readonly string[]): string => {
    const begun = Date.now();
    const [file = "", ...args] = words;
    const options = {
      cwd: project,
      env,
      encoding: "utf8",
      timeout: 25 * 60_000,
      maxBuffer: 2 ** 26,
    } as const;
    const { status, stdout, stderr } = spawnSync(file, args, options);
    const seconds = Math.round((Date.now() - begun) / 1000);
    checks.check(`${what} (${seconds} s)`, status === 0, `${stdout}${stderr}`.slice(-600));
    return `${stdout}${stderr}`;
  };
  writeFileSync(join(project, "package.json"), '{ "type": "module" }\n');
  run("npm install TARBALL", ["npm", "install", "--no-audit", "--no-fund", tarball]);
  const doctor = run("npx reverie doctor sets up first", ["npx", "reverie", "doctor"]);
  say(doctor.replace(/^/gm, "  | "));
  checks.check(
    "it says so, and that nothing is missing",
    /first time: setting up/.test(doctor) && /Nothing is missing/.test(doctor),
  );
  const again = run("npx reverie list suites", ["npx", "reverie", "list", "suites"]);
  checks.check("set-up is done once", !/setting up/.test(again) && /tabletop_object/.test(again));
  for (const [name, text] of readExample("env").files) writeFileSync(join(project, name), text);
  writeFileSync(join(project, "my-program.ts"), program);
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify(compiler));
  const trained = run("a program trains with its own environment", [
    process.execPath,
    "--import",
    "tsx",
    "my-program.ts",
  ]);
  checks.check(
    "it took a step and left a checkpoint",
    /"trained":true,"checkpoint":"run/.test(trained),
    trained.slice(-300),
  );
  checks.check(
    "the checkpoint is there",
    existsSync(join(project, "run", "point", "checkpoints", "global_step_1")),
  );
  run("the compiler accepts the program and the plugin", [
    process.execPath,
    join(root, "node_modules/typescript/bin/tsc"),
    "-p",
    project,
  ]);
}
